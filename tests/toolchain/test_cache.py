"""The cache on disk: hits, damage, eviction, several users."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from warpsight import files
from warpsight.nouns import Build
from warpsight.toolchain.cache import Cache, cache_folder, content_key
from warpsight.toolchain.compile import compile_cuda
from warpsight.toolchain.nvrtc import NvrtcProcess

SOURCE = 'extern "C" __global__ void k(float* x) { x[0] = 3; }'


def test_a_hit_starts_no_compiler(cache: Cache, compiled: Callable[..., Build]) -> None:
    first = compiled(SOURCE)
    unused = NvrtcProcess()
    again = compile_cuda(SOURCE, process=unused, cache=cache)
    assert again.cached and unused.starts == 0
    assert again.model_copy(update={"cached": False}) == first


def test_failed_builds_are_cached_too(cache: Cache, compiled: Callable[..., Build]) -> None:
    compiled("broken")
    unused = NvrtcProcess()
    again = compile_cuda("broken", process=unused, cache=cache)
    assert not again.ok and again.cached and again.diagnostics and unused.starts == 0


@pytest.mark.parametrize("more", [{"options": ["--fmad=false"]}, {"gpu_arch": "sm_90"}, {"name": "other.cu"}])
def test_other_requests_miss(compiled: Callable[..., Build], more: dict[str, object]) -> None:
    compiled(SOURCE)
    assert not compiled(SOURCE, **more).cached


@pytest.mark.parametrize("damage", [b"", b"short", b"\0" * 4000])
def test_damaged_entry_is_a_miss(cache: Cache, compiled: Callable[..., Build], damage: bytes) -> None:
    first = compiled(SOURCE)
    assert cache.folder
    (entry,) = [path for path in cache.folder.rglob("*") if path.is_file()]
    entry.write_bytes(damage)
    second = compiled(SOURCE)
    assert not second.cached and second == first
    assert compiled(SOURCE).cached


def test_entry_of_other_records_is_a_miss(cache: Cache, compiled: Callable[..., Build]) -> None:
    compiled(SOURCE)
    assert cache.folder
    (entry,) = [path for path in cache.folder.rglob("*") if path.is_file()]
    cache.put(entry.name, b'{"ok": true}')
    assert not compiled(SOURCE).cached


def test_oldest_entries_go_first(tmp_path: Path) -> None:
    cache = Cache(tmp_path, cap_bytes=10_000)
    keys = [content_key(str(i)) for i in range(9)]
    for age, key in enumerate(keys):
        cache.put(key, b"x" * 1000)
        os.utime(tmp_path / key[:2] / key, (age, age))
    assert cache.get(keys[0]) is not None  # used now, so no longer the oldest
    cache.put(content_key("last"), b"x" * 1000)
    assert cache.size_bytes() <= 8_000
    assert cache.get(keys[0]) is not None and cache.get(content_key("last")) is not None
    assert cache.get(keys[1]) is None and cache.get(keys[8]) is not None


def test_two_processes_write_the_same_keys(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from warpsight.toolchain.cache import Cache, content_key\n"
        "cache = Cache(Path(sys.argv[1]), cap_bytes=200_000)\n"
        "for turn in range(300):\n"
        "    n = turn % 40; body = bytes([n]) * (5000 + n)\n"
        "    cache.put(content_key(str(n)), body)\n"
        "    assert cache.get(content_key(str(n))) in (body, None)\n"
    )
    runs = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path)]) for _ in range(2)]
    assert [run.wait(timeout=60) for run in runs] == [0, 0]
    assert not list(tmp_path.rglob(".new-*"))


@pytest.mark.parametrize("move", [shutil.copy, shutil.move])
def test_an_entry_under_another_key_is_a_miss_and_goes(tmp_path: Path, move: Callable[[Path, Path], object]) -> None:
    cache, one, other = Cache(tmp_path), content_key("one"), content_key("other")
    cache.put(one, b"of one")
    place = tmp_path / other[:2] / other
    place.parent.mkdir(exist_ok=True)
    move(tmp_path / one[:2] / one, place)
    assert cache.get(other) is None and not place.exists()


def test_a_build_of_another_source_is_not_believed(cache: Cache, compiled: Callable[..., Build]) -> None:
    """Neither as a copied file nor as an entry that was stored under the wrong key."""
    other = SOURCE.replace("3", "4")
    compiled(SOURCE)
    compiled(other)
    assert cache.folder
    entries = [path for path in cache.folder.rglob("*") if path.is_file()]
    bodies = {path.name: cache.get(path.name) or b"" for path in entries}
    shutil.copy(entries[0], entries[1])
    assert [compiled(text).cached for text in (SOURCE, other)].count(False) == 1
    for (name, _), (_, body) in zip(bodies.items(), reversed(bodies.items()), strict=True):
        cache.put(name, body)
    for text in (SOURCE, other):
        found = compiled(text)
        assert not found.cached and found.source_sha256 == hashlib.sha256(text.encode()).hexdigest()


def unwritable(tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that takes nothing: the disk is full, the folder is not ours to write, or it is no folder."""
    folder = tmp_path / how

    def failing(number: int) -> Callable[..., None]:
        def fail(*_: object, **__: object) -> None:
            raise OSError(number, os.strerror(number))

        return fail

    if how == "full when written":
        # A real full file: every write to it fails as on a full disk, after the entry's file was made.
        monkeypatch.setattr(files, "_opened", lambda *_: os.open("/dev/full", os.O_WRONLY))
    elif how == "full when made":
        monkeypatch.setattr(Path, "mkdir", failing(errno.ENOSPC))
    elif how == "read-only":
        monkeypatch.setattr(files, "_opened", failing(errno.EROFS))
    else:
        folder.write_text("not a folder")
    return folder


@pytest.mark.parametrize("how", ["full when written", "full when made", "read-only", "no folder"])
def test_work_goes_on_without_a_folder_that_cannot_be_written(
    tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], process: NvrtcProcess
) -> None:
    cache = Cache(unwritable(tmp_path, how, monkeypatch))
    builds = [compile_cuda(SOURCE, process=process, cache=cache) for _ in range(2)]
    assert all(build.ok and not build.cached for build in builds)
    Cache(cache.folder).put(content_key("more"), b"x")
    said = capfd.readouterr().err
    assert said.count("going on without the cache") == 1 and "WARPSIGHT_CACHE" in said
    assert not list(tmp_path.rglob("*new*"))


def test_a_small_disk_that_fills_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was stored before the disk was full is still found; what did not fit is not there in part."""
    cache, keys = Cache(tmp_path), [content_key(str(n)) for n in range(6)]
    room = [10_000]
    replace = Path.replace

    def replace_if_it_fits(path: Path, to: Path) -> Path:
        room[0] -= path.stat().st_size
        if room[0] < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return replace(path, to)

    monkeypatch.setattr(Path, "replace", replace_if_it_fits)
    for n, key in enumerate(keys):
        cache.put(key, bytes([n]) * 3000)
    found = [cache.get(key) for key in keys]
    assert found[:3] == [bytes([n]) * 3000 for n in range(3)] and found[3:] == [None] * 3
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 3


def test_where_the_folder_is(tmp_path: Path) -> None:
    assert cache_folder({"WARPSIGHT_CACHE": str(tmp_path)}) == tmp_path
    assert cache_folder({"WARPSIGHT_CACHE": "off"}) is None
    default = cache_folder({})
    assert default is not None and default.name == "warpsight"


def test_turned_off() -> None:
    cache = Cache(None)
    cache.put("ab", b"x")
    assert cache.get("ab") is None


def test_keys_do_not_run_together() -> None:
    assert content_key("ab", "c") != content_key("a", "bc")
