"""The cache on disk: hits, damage, eviction, several users."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from warpsight.errors import BrokenMachine
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


def test_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(BrokenMachine, match="WARPSIGHT_CACHE"):
        Cache(tmp_path / "file").put(content_key("a"), b"a")


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
