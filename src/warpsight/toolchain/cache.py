"""Results by content on disk: a key names bytes, a hit is exactly what was stored under that key, all else is a miss.

Several processes may use one folder: entries appear whole (written aside, then renamed) and never change. An entry's
hash covers its key, so one that was copied or renamed to another key is not believed; whoever can write the folder and
makes such hashes is not kept out. The size is capped; the entries unused for longest go first. A folder that cannot be
written stops nothing: work goes on without it, and that is said once on stderr. `WARPSIGHT_CACHE` moves the folder,
`WARPSIGHT_CACHE=off` turns it off. Behind it may stand one that many machines share (shared_cache.py).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from warpsight.events import event
from warpsight.files import write_whole
from warpsight.toolchain.shared_cache import shared_cache

DEFAULT_CAP_BYTES = 2 << 30  # of each kind of result: those of a benchmark of 150 tasks stay
KEEP_SHARE = 0.8  # evict down to this share of the cap, so that the next store does not evict again
HINT = "hint: free some space, or set WARPSIGHT_CACHE to a folder that can be written, or to off"
NEAR_SHARE = 0.25
_DIGEST_BYTES = 32
_PARTS = 256


def cache_folder(environment: Mapping[str, str] = os.environ) -> Path | None:
    """The folder to use, or None when the cache is turned off."""
    chosen = environment.get("WARPSIGHT_CACHE", "")
    if chosen == "off":
        return None
    if chosen:
        return Path(chosen).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("warpsight")


def content_key(*parts: str | bytes) -> str:
    """A sha256 over the parts, each with its length, so that no two lists of parts run together."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()


def _digest(key: str, body: bytes) -> bytes:
    return hashlib.sha256(key.encode() + b"\0" + body).digest()


def _body(key: str, data: bytes) -> bytes | None:
    """The bytes of an entry; None for one that is damaged or of another key."""
    digest, body = data[:_DIGEST_BYTES], data[_DIGEST_BYTES:]
    return body if _digest(key, body) == digest else None


class Cache:
    """A folder of entries `<first two>/<key>`, each a sha256 of key and bytes followed by the bytes."""

    _told: ClassVar[set[Path]] = set()  # folders that were already said not to take anything
    _sizes: ClassVar[dict[Path, int]] = {}  # of each folder, an estimate between scans: other processes store too
    _lock: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, folder: Path | None, cap_bytes: int = DEFAULT_CAP_BYTES) -> None:
        self.folder = folder
        self.cap_bytes = cap_bytes

    def get(self, key: str) -> bytes | None:
        """The stored bytes, or None. An entry that is damaged or of another key is removed and counts as absent."""
        if self.folder is None:
            return None
        path = self._path(key)
        try:
            data = path.read_bytes()
        except OSError:
            return self._shared(key)
        body = _body(key, data)
        if body is None:
            with contextlib.suppress(OSError):
                path.unlink()
            return self._shared(key)
        with contextlib.suppress(OSError):
            os.utime(path)  # the time of last use decides what is evicted
        event("cache_hit", kind=self.folder.name, key=key[:12])
        return body

    def put(self, key: str, body: bytes) -> None:
        """Store bytes under a key, if the folder takes them; the entry is absent or whole at every moment."""
        if self.folder is None:
            return
        self._put_here(key, body)
        if (shared := shared_cache()) is not None:
            shared.put(self._name(key), _digest(key, body) + body)

    def _shared(self, key: str) -> bytes | None:
        """The bytes from the cache that machines share, then kept here too."""
        shared = shared_cache()
        data = None if shared is None else shared.get(self._name(key))
        body = None if data is None else _body(key, data)
        if body is not None:
            self._put_here(key, body)
        return body

    def _name(self, key: str) -> str:
        assert self.folder is not None
        return f"{self.folder.name}/{key[:2]}/{key}"

    def _put_here(self, key: str, body: bytes) -> None:
        path = self._path(key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_whole(path, _digest(key, body) + body, mode=0o600)
        except OSError as problem:
            self._tell(problem)
            return
        self._after_store(path.parent, len(body) + _DIGEST_BYTES)

    def size_bytes(self) -> int:
        """How much the folder holds now."""
        return sum(size for _, size, _ in self._entries())

    def _tell(self, problem: OSError) -> None:
        assert self.folder is not None
        if self.folder.parent not in self._told:  # the kinds of results lie side by side: said once for all
            self._told.add(self.folder.parent)
            reason = problem.strerror or str(problem)
            sys.stderr.write(
                f"warning: going on without the cache, {self.folder} cannot be written: {reason} ({HINT})\n"
            )

    def _path(self, key: str) -> Path:
        assert self.folder is not None
        return self.folder / key[:2] / key

    def _entries(self) -> list[tuple[float, int, Path]]:
        entries: list[tuple[float, int, Path]] = []
        for path in self.folder.glob("??/*") if self.folder else ():
            with contextlib.suppress(OSError):
                stat = path.stat()
                entries.append((stat.st_mtime, stat.st_size, path))
        return entries

    def _after_store(self, stored_in: Path, added_bytes: int) -> None:
        assert self.folder is not None
        with self._lock:
            known = self._sizes.get(self.folder)
            size_bytes = self._estimate(stored_in) if known is None else known + added_bytes
            self._sizes[self.folder] = size_bytes
            if size_bytes <= self.cap_bytes:
                return
            entries = sorted(self._entries(), key=lambda entry: entry[0])
            size = sum(entry[1] for entry in entries)
            for _, entry_bytes, path in entries:
                if size <= self.cap_bytes * KEEP_SHARE:
                    break
                with contextlib.suppress(OSError):
                    path.unlink()
                size -= entry_bytes
            self._sizes[self.folder] = size

    def _estimate(self, part: Path) -> int:
        """How much the folder holds. One of its parts stands for all, which hashes fill alike; only where that is near
        the cap everything is counted: of tens of thousands of entries that takes longer than a compile."""
        held = 0
        with contextlib.suppress(OSError):
            held = sum(entry.stat().st_size for entry in os.scandir(part))
        return held * _PARTS if held * _PARTS < self.cap_bytes * NEAR_SHARE else self.size_bytes()
