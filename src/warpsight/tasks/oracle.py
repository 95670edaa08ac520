"""The parent's end of the reference process: starts it when first needed, keeps it, kills it at a deadline.

One process serves many calls, so the start is paid once. A reference that exits, crashes or hangs is a TaskError that
says so; the next call gets a new process. What comes back is read as raw bytes of a declared dtype and shape, with a
cap on the size. Not a jail: the reference is the task author's file, and the task is as trusted as its author.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from warpsight.errors import BrokenMachine

WORKER = Path(__file__).with_name("oracle_worker.py")
DEADLINE_SECONDS = 120.0
MOST_HEADER_BYTES = 1 << 20
MOST_ANSWER_BYTES = 1 << 32


class ReferenceFailed(Exception):
    """The reference gave no values: `found` says what it did instead, `line` where in its file."""

    def __init__(self, found: str, line: int | None = None) -> None:
        super().__init__(found)
        self.found = found
        self.line = line


@dataclass(frozen=True)
class Returned:
    """What the reference returned: `arrays` by name, or one under "" when it returned no dict."""

    named: bool
    type: str
    arrays: Mapping[str, np.ndarray]
    unusable: Mapping[str, str]


class Oracle:
    """One process that calls references. Safe to use from several threads, one call at a time."""

    def __init__(self, deadline_seconds: float = DEADLINE_SECONDS) -> None:
        self.deadline_seconds = deadline_seconds
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def call(
        self, text: str, file: str, function: str, values: Mapping[str, np.ndarray], axes: Mapping[str, int]
    ) -> Returned:
        """The outputs of `function` in the text of a reference. Raises ReferenceFailed."""
        header = {
            "text": text,
            "file": file,
            "function": function,
            "axes": dict(axes),
            "deadline_seconds": self.deadline_seconds,
            "arrays": [{"name": n, "dtype": a.dtype.str, "shape": list(a.shape)} for n, a in values.items()],
        }
        body = json.dumps(header).encode()
        with self._lock:
            process = self._started()
            end = time.monotonic() + self.deadline_seconds
            try:
                self._send(process, [len(body).to_bytes(4, "big") + body, *(a.tobytes() for a in values.values())])
                return _read_answer(_Reader(process, end))
            except ReferenceFailed:
                raise
            except TimeoutError:
                self._stop()
                raise ReferenceFailed(f"no answer within {self.deadline_seconds:g} s") from None
            except (EOFError, OSError, ValueError, KeyError) as broken:
                status = self._stop()
                how = f"was killed by signal {-status}" if status < 0 else f"ended its process with status {status}"
                raise ReferenceFailed(f"it {how}") from broken

    def close(self) -> None:
        with self._lock:
            self._stop()

    def __enter__(self) -> Oracle:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._stop()
            environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-I", str(WORKER)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    env=environment,
                    start_new_session=True,
                )
            except OSError as problem:
                raise BrokenMachine(f"cannot start the reference process: {problem}") from problem
        return self._process

    def _send(self, process: subprocess.Popen[bytes], parts: list[bytes]) -> None:
        # The worker reads a whole request before it answers, so a plain blocking write cannot lock both ends.
        assert process.stdin is not None
        for part in parts:
            process.stdin.write(part)
        process.stdin.flush()

    def _stop(self) -> int:
        """Kill the process with all it started, and give its status."""
        process, self._process = self._process, None
        if process is None:
            return 0
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.05)  # one that ended by itself keeps its own status
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        for stream in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()
        return process.wait()


@functools.cache
def _oracle_of(process_id: int) -> Oracle:
    return Oracle()


def default_oracle() -> Oracle:
    """The oracle that callers without one of their own share; a forked process gets a new one."""
    return _oracle_of(os.getpid())


class _Reader:
    """Exact reads from the process's pipe, up to a deadline."""

    def __init__(self, process: subprocess.Popen[bytes], end: float) -> None:
        assert process.stdout is not None
        self.handle = process.stdout.fileno()
        self.end = end

    def read(self, size: int) -> bytearray:
        data = bytearray(size)
        view, at = memoryview(data), 0
        while at < size:
            left = self.end - time.monotonic()
            if left <= 0 or not select.select([self.handle], [], [], left)[0]:
                raise TimeoutError
            got = os.readv(self.handle, [view[at:]])
            if got == 0:
                raise EOFError
            at += got
        return data


def _read_answer(reader: _Reader) -> Returned:
    length = int.from_bytes(reader.read(4), "big")
    if length > MOST_HEADER_BYTES:
        raise ValueError(f"a header of {length} bytes")
    header: dict[str, Any] = json.loads(reader.read(length))
    if "error" in header:
        raise ReferenceFailed(str(header["error"]), header["line"])
    arrays, unusable = dict[str, np.ndarray](), dict[str, str]()
    for one in header["outputs"]:
        name, shape = str(one["name"]), tuple(int(extent) for extent in one["shape"])
        if not one["dtype"]:
            unusable[name] = str(one["found"])
            continue
        dtype = np.dtype(str(one["dtype"]))
        size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        if dtype.kind not in "fiub" or not 0 <= size <= MOST_ANSWER_BYTES:
            raise ValueError(f"{dtype}, {size} bytes")
        arrays[name] = np.frombuffer(reader.read(size), dtype).reshape(shape)
    return Returned(bool(header["named"]), str(header["type"]), arrays, unusable)
