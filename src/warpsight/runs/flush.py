"""Bringing what was written to the disk, in a thread of its own, while the run goes on.

What a process has written survives the end of that process at once: it is in the system's memory. Against a power cut
it must be flushed, which takes milliseconds. What must stay true: files are flushed in the order in which they were
handed over, nobody writes on while something has waited longer than LONGEST_WAIT_SECONDS, `settle` returns when all
of it is on the disk, and a flush that failed is never taken for one that did not.
"""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

LONGEST_WAIT_SECONDS = 0.05


class Flusher:
    """The files of one store that wait to be flushed. The thread is started by the first of them."""

    def __init__(self, longest_wait_seconds: float = LONGEST_WAIT_SECONDS) -> None:
        self._longest = longest_wait_seconds
        self._changed = threading.Condition()
        self._waiting: dict[Path, float] = {}  # in their order, with the time since which each waits
        self._flushing: dict[Path, float] = {}
        self._failure: OSError | None = None
        self._closed = False
        self._thread: threading.Thread | None = None

    def later(self, *paths: Path) -> None:
        """Have these flushed, folders too, after all that was handed over before."""
        with self._changed:
            for path in paths:
                since = self._waiting.pop(path, time.monotonic())  # once, at the end: it has changed since
                self._waiting[path] = since
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="warpsight flush", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def keep_up(self) -> None:
        """Wait while the oldest of them waits too long; OSError when a flush has failed."""
        with self._changed:
            while self._failure is None and self._oldest() < time.monotonic() - self._longest:
                self._changed.wait()
            self._require_success()

    def settle(self) -> None:
        """Wait until nothing waits; OSError when a flush has failed."""
        with self._changed:
            while self._failure is None and (self._waiting or self._flushing):
                self._changed.wait()
            self._require_success()

    def close(self) -> None:
        """Settle, and end the thread, however that went."""
        try:
            self.settle()
        finally:
            with self._changed:
                self._closed = True
                self._changed.notify_all()

    def _oldest(self) -> float:
        return min((*self._waiting.values(), *self._flushing.values()), default=float("inf"))

    def _require_success(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._closed:
                    self._changed.wait()
                if not self._waiting:
                    return
                self._flushing, self._waiting = self._waiting, {}
            failure: OSError | None = None
            try:
                for path in self._flushing:
                    flush(path)
            except OSError as problem:
                failure = problem
            with self._changed:
                self._flushing, self._failure = {}, failure
                self._changed.notify_all()
            if failure is not None:  # for good: what the system could not write is gone
                return


def flush(path: Path) -> None:
    """Returns when the content of a file, or the entries of a folder, are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle) if path.is_dir() else os.fdatasync(handle)
    finally:
        os.close(handle)
