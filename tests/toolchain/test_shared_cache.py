"""The cache that many machines share: what one stores another finds, checked; a place that fails stops nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsight.toolchain.cache import Cache, content_key
from warpsight.toolchain.shared_cache import VARIABLE

KEY = content_key("a key")


@pytest.fixture(params=["folder", "url"])
def shared(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "shared"
    if request.param == "url":
        pytest.importorskip("fsspec")
    monkeypatch.setenv(VARIABLE, str(folder) if request.param == "folder" else folder.as_uri())
    return folder


def test_what_one_machine_stores_another_finds(shared: Path, tmp_path: Path) -> None:
    one, other = Cache(tmp_path / "one" / "builds"), Cache(tmp_path / "other" / "builds")
    assert one.get(KEY) is None
    one.put(KEY, b"bytes")
    assert other.get(KEY) == b"bytes"
    (entry,) = [path for path in shared.rglob("*") if path.is_file()]
    entry.unlink()
    assert other.get(KEY) == b"bytes", "it is kept on the second machine too"
    assert Cache(tmp_path / "one" / "profiles").get(KEY) is None, "kinds of results do not meet"


def test_a_damaged_or_moved_entry_is_not_believed(shared: Path, tmp_path: Path) -> None:
    Cache(tmp_path / "one" / "builds").put(KEY, b"bytes")
    (entry,) = [path for path in shared.rglob("*") if path.is_file()]
    moved = entry.parent.parent / content_key("b")[:2] / content_key("b")
    moved.parent.mkdir(exist_ok=True)
    moved.write_bytes(entry.read_bytes())
    entry.write_bytes(entry.read_bytes()[:-1] + b"!")
    other = Cache(tmp_path / "other" / "builds")
    assert other.get(KEY) is None and other.get(content_key("b")) is None
    other.put(KEY, b"bytes")
    assert Cache(tmp_path / "third" / "builds").get(KEY) == b"bytes", "it was mended"


def test_a_place_that_fails_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "file" / "below"))
    cache = Cache(tmp_path / "own" / "builds")
    cache.put(KEY, b"bytes")
    cache.put(content_key("other"), b"more")
    assert cache.get(KEY) == b"bytes"
    assert capfd.readouterr().err.count("going on without the shared cache") == 1


def test_an_own_cache_that_is_off_asks_nobody(shared: Path, tmp_path: Path) -> None:
    Cache(tmp_path / "one" / "builds").put(KEY, b"bytes")
    assert Cache(None).get(KEY) is None
