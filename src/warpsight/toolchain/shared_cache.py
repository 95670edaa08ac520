"""A second cache behind the one of this machine, which many machines share: a folder they all mount, or an fsspec URL.

`WARPSIGHT_SHARED_CACHE` names it, such as `/nfs/warpsight` or `s3://bucket/warpsight`. It holds the same entries, hash
first; who reads one checks it. It is never cleaned here: let your storage expire what is old. A place that cannot be
reached stops nothing: work goes on without it, and that is said once on stderr. Whoever can write it is trusted.
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
from pathlib import Path
from typing import Any, Protocol

from warpsight.errors import ToolMissing
from warpsight.files import write_whole

VARIABLE = "WARPSIGHT_SHARED_CACHE"


class SharedPlace(Protocol):
    """Where entries are. Both may raise whatever the storage raises."""

    def read(self, name: str) -> bytes | None: ...

    def write(self, name: str, data: bytes) -> None: ...


class SharedFolder:
    """A folder that every machine mounts."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, name: str) -> bytes | None:
        try:
            return (self._folder / name).read_bytes()
        except FileNotFoundError:
            return None

    def write(self, name: str, data: bytes) -> None:
        path = self._folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, data)


class SharedUrl:
    """A storage that fsspec knows."""

    def __init__(self, url: str) -> None:
        try:
            fsspec: Any = importlib.import_module("fsspec")
        except ModuleNotFoundError:
            raise ToolMissing(f"{VARIABLE}={url} needs fsspec", hint="pip install 'warpsight[scale]'") from None
        self._files, self._root = fsspec.core.url_to_fs(url)

    def read(self, name: str) -> bytes | None:
        try:
            return self._files.cat_file(f"{self._root}/{name}")
        except FileNotFoundError:
            return None

    def write(self, name: str, data: bytes) -> None:
        path = f"{self._root}/{name}"
        self._files.makedirs(path.rpartition("/")[0], exist_ok=True)
        self._files.pipe_file(path, data)


class SharedCache:
    """The shared place, while it answers. After the first failure this process goes on without it."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._place: SharedPlace | None = SharedUrl(where) if "://" in where else SharedFolder(Path(where).expanduser())

    def get(self, name: str) -> bytes | None:
        if self._place is None:
            return None
        try:
            return self._place.read(name)
        except Exception as problem:  # of whatever storage it is
            return self._leave(problem)

    def put(self, name: str, data: bytes) -> None:
        if self._place is None:
            return
        try:
            self._place.write(name, data)
        except Exception as problem:
            self._leave(problem)

    def _leave(self, problem: Exception) -> None:
        self._place = None
        told = f"{type(problem).__name__}: {problem}"
        sys.stderr.write(f"warning: going on without the shared cache {self._where}: {told[:300]}\n")


def shared_cache() -> SharedCache | None:
    """The one of this process, where one is named."""
    where = os.environ.get(VARIABLE, "")
    return _opened(where) if where else None


@functools.lru_cache(maxsize=4)
def _opened(where: str) -> SharedCache:
    return SharedCache(where)
