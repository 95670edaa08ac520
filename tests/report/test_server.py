"""The local page: what it shows, and everything it refuses."""

from __future__ import annotations

import hashlib
import http.client
import json
import threading
from collections.abc import Generator
from pathlib import Path

import pytest
from tests.report.made import FAILURE, HOSTILE, SUCCESS, Outline, make_failure, make_hostile, make_success

from warpsight.errors import UsageError
from warpsight.report.readonly import ReadOnlyStore
from warpsight.report.server import HOST, Viewer


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("data")
    for make in (make_success, make_failure, make_hostile):
        make(found)
    return found


@pytest.fixture(scope="module")
def viewer(folder: Path) -> Generator[Viewer]:
    made = Viewer(folder)
    thread = threading.Thread(target=made.serve_forever)
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.close()


def ask(viewer: Viewer, path: str, *, method: str = "GET", token: str | None = None, **headers: str) -> tuple[int, str]:
    line = http.client.HTTPConnection(HOST, viewer.port, timeout=20)
    secret = viewer.token if token is None else token
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    line.request(method, f"/{secret}/{path}" if secret else f"/{path}", headers=named)
    answer = line.getresponse()
    text = answer.read().decode()
    line.close()
    return answer.status, text


def test_lists_and_filters(viewer: Viewer) -> None:
    status, text = ask(viewer, "runs")
    assert status == 200 and all(run in Outline(text).ids["runs"] for run in (SUCCESS, FAILURE, HOSTILE))
    _, text = ask(viewer, "runs?outcome=submitted&words=small-a")
    assert SUCCESS in text and FAILURE not in text
    _, text = ask(viewer, "runs?task=other")
    assert "No run fits" in text


def test_opens_a_run_and_compares_two(viewer: Viewer) -> None:
    _, text = ask(viewer, f"run/{SUCCESS}")
    assert Outline(text).ids["card-ratio"].startswith("4.50×")
    _, text = ask(viewer, f"compare?run={SUCCESS}&run={FAILURE}")
    facts = Outline(text).ids["facts"]
    assert "4.500× simulated" in facts and "none" in facts
    assert ask(viewer, f"compare?run={SUCCESS}")[0] == 400
    assert json.loads(ask(viewer, f"state/{SUCCESS}")[1]) == {"state": "submitted 20"}


def test_harmful_text_stays_text(viewer: Viewer) -> None:
    for path in ("runs", f"run/{HOSTILE}", f"compare?run={HOSTILE}&run={SUCCESS}", "runs?words=%3Cscript%3Ex"):
        found = Outline(ask(viewer, path)[1])
        assert len(found.scripts) == 1 and found.acting == [] and "window.harmed" not in found.scripts[0]


@pytest.mark.parametrize("token", ["", "wrong", "x" * 32, "%00", "..", "%C3%A9"])
def test_refuses_without_the_token(viewer: Viewer, token: str) -> None:
    for path in ("runs", f"run/{SUCCESS}", f"state/{SUCCESS}", ""):
        status, text = ask(viewer, path, token=token)
        assert status == 403 and SUCCESS not in text and viewer.token not in text


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://192.0.2.1"},
        {"Origin": "null"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
        {"Host": "evil.example"},
        {"Host": "127.0.0.1"},
    ],
)
def test_refuses_other_origins_and_names(viewer: Viewer, headers: dict[str, str]) -> None:
    status, text = ask(viewer, "runs", **headers)
    assert status == 403 and SUCCESS not in text


@pytest.mark.parametrize(
    "path",
    [
        "run/../../../../etc/passwd", "../runs.db", "run/%2e%2e%2f%2e%2e%2fruns.db", "artefacts", "runs.db", "run/",
        "run/nothing", "state/nothing", "run/' OR 1=1 --".replace(" ", "%20"), "run/%00", "",
    ],
)  # fmt: skip
def test_refuses_paths_outside_the_store(viewer: Viewer, path: str) -> None:
    status, text = ask(viewer, path)
    assert status in (403, 404) and "root:" not in text and "SQLite format" not in text


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_has_no_way_to_write(viewer: Viewer, method: str) -> None:
    assert ask(viewer, "runs", method=method)[0] == 501


def test_the_store_is_not_changed_and_cannot_be(viewer: Viewer, folder: Path) -> None:
    before = hashlib.sha256((folder / "runs.db").read_bytes()).hexdigest()
    for path in ("runs", f"run/{SUCCESS}", f"compare?run={SUCCESS}&run={FAILURE}"):
        ask(viewer, path)
    assert hashlib.sha256((folder / "runs.db").read_bytes()).hexdigest() == before
    with ReadOnlyStore(folder) as store, pytest.raises(Exception, match="readonly"):
        store.create_run(store.read(SUCCESS).model_copy(update={"id": "another"}))


def test_headers_say_what_the_browser_must_not_do(viewer: Viewer) -> None:
    line = http.client.HTTPConnection(HOST, viewer.port, timeout=20)
    line.request("HEAD", f"/{viewer.token}/runs")
    answer = line.getresponse()
    assert answer.status == 200 and answer.read() == b""
    policy = answer.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-") and "frame-ancestors 'none'" in policy
    assert answer.headers["Referrer-Policy"] == "no-referrer" and answer.headers["Cache-Control"] == "no-store"
    line.close()


def test_listens_on_loopback_alone_with_a_new_token_each_time(folder: Path, viewer: Viewer) -> None:
    other = Viewer(folder)
    try:
        assert other._server.server_address[0] == "127.0.0.1"
        assert other.token != viewer.token and len(other.token) >= 32
    finally:
        other.close()


def test_an_empty_place_is_told_and_left_empty(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there are no runs"):
        Viewer(tmp_path / "nothing")
    assert not (tmp_path / "nothing").exists()


def test_a_strange_address_gets_words(viewer: Viewer, monkeypatch: pytest.MonkeyPatch) -> None:
    many = "&".join(f"f{number}=1" for number in range(21))
    status, words = ask(viewer, f"runs?{many}")
    assert status == 400 and "more than 20 fields" in words
    assert ask(viewer, "/[", token="")[0] in (400, 403)
    assert ask(viewer, "runs?words=%ff%00")[0] == 200


def test_a_fault_of_ours_is_said_and_not_silence(viewer: Viewer, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> str:
        raise KeyError("search")

    monkeypatch.setattr("warpsight.report.server.home_body", broken)
    status, words = ask(viewer, "runs")
    assert status == 500 and "a fault in warpsight" in words
