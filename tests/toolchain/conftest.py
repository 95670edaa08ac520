"""A compiler process for the whole session and a fresh cache for each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from warpsight.nouns import Build
from warpsight.toolchain.cache import Cache
from warpsight.toolchain.compile import compile_cuda
from warpsight.toolchain.nvrtc import NvrtcProcess

Compile = Callable[..., Build]


@pytest.fixture(scope="session")
def process() -> Iterator[NvrtcProcess]:
    process = NvrtcProcess()
    yield process
    process.close()


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


@pytest.fixture
def compiled(process: NvrtcProcess, cache: Cache) -> Compile:
    """compile_cuda with the session's process and this test's cache."""

    def run(source: str, **more: object) -> Build:
        return compile_cuda(source, **{"process": process, "cache": cache, **more})  # type: ignore[arg-type]

    return run
