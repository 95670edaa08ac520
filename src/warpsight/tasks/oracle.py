"""The parent's end of the reference process: starts it when first needed, keeps it, ends it at a deadline.

The process is in the jail: it sees Python and NumPy (and SciPy, where installed), no other file, no network, and
its memory is capped. So a task from a stranger is no program that runs with our rights. One process serves many calls,
so the start is paid once. A reference that exits, crashes or hangs is a TaskError that says so; the next call gets a
new process. What comes back is read as raw bytes of a declared dtype and shape, with a cap on the size.
"""

from __future__ import annotations

import functools
import json
import os
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from warpsight.jail import Event, JailedWorker, Limits, WorkerLost, package_files

WORKER = Path(__file__).with_name("oracle_worker.py")
DEADLINE_SECONDS = 120.0
PACKAGES = ("numpy", "scipy")
MOST_HEADER_BYTES = 1 << 20
MOST_REQUEST_BYTES = (1 << 32) - 1
LIMITS = Limits(
    wall_s=DEADLINE_SECONDS,
    cpu_s=24 * 3600,  # of many calls together; each has a deadline of its own
    memory_bytes=16 << 30,
    answer_bytes=MOST_REQUEST_BYTES,
    log_bytes=1 << 20,
)


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
        self._worker: JailedWorker | None = None
        self._owner = os.getpid()

    def call(
        self, text: str, file: str, function: str, values: Mapping[str, np.ndarray], axes: Mapping[str, int]
    ) -> Returned:
        """The outputs of `function` in the text of a reference. Raises ReferenceFailed."""
        header = {
            "text": text,
            "file": file,
            "function": function,
            "axes": dict(axes),
            "arrays": [{"name": n, "dtype": a.dtype.str, "shape": list(a.shape)} for n, a in values.items()],
        }
        body = json.dumps(header).encode()
        size = 4 + len(body) + sum(array.nbytes for array in values.values())
        if size > MOST_REQUEST_BYTES:
            raise ReferenceFailed(f"inputs of {size} bytes, and it is given at most {MOST_REQUEST_BYTES}")
        request = b"".join([len(body).to_bytes(4, "big"), body, *(a.tobytes() for a in values.values())])
        with self._lock:
            worker = self._live_worker()
            try:
                answer = worker.ask(request, self.deadline_seconds)
                sys.stderr.write(worker.log().decode(errors="replace"))  # for its author; never a part of an answer
                return _read_answer(answer)
            except WorkerLost as lost:
                raise ReferenceFailed(self._how_it_ended(lost.event)) from None
            except (ValueError, KeyError, TypeError) as broken:
                worker.close()
                raise ReferenceFailed(f"its process gave no valid answer: {broken}") from broken

    @property
    def process_id(self) -> int | None:
        """The process that watches over the jail, while there is one."""
        return None if self._worker is None else self._worker.pid

    def close(self) -> None:
        with self._lock:
            if self._worker is not None and self._owner == os.getpid():
                self._worker.close()
            self._worker = None

    def __enter__(self) -> Oracle:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _live_worker(self) -> JailedWorker:
        if self._worker is not None and self._owner == os.getpid() and self._worker.pid is not None:
            return self._worker
        if self._worker is not None and self._owner != os.getpid():
            self._worker.forget()  # after a fork the process belongs to our parent: do not end it
        self._owner = os.getpid()
        self._worker = JailedWorker(
            [sys.executable, "-I", str(WORKER)],
            limits=LIMITS,
            readable=_packages(),
            name="the reference",
            level="work",
        )
        return self._worker

    def _how_it_ended(self, event: Event) -> str:
        if event.kind == "deadline":
            return f"no answer within {self.deadline_seconds:g} s"
        return f"it was stopped ({event.kind}): {event.detail}"


@functools.cache
def _packages() -> tuple[Path, ...]:
    return package_files(*PACKAGES)


@functools.cache
def _oracle_of(process_id: int) -> Oracle:
    return Oracle()


def default_oracle() -> Oracle:
    """The oracle that callers without one of their own share; a forked process gets a new one."""
    return _oracle_of(os.getpid())


def _read_answer(answer: bytes) -> Returned:
    at = 4 + int.from_bytes(answer[:4], "big")
    if not 4 <= at <= min(len(answer), MOST_HEADER_BYTES):
        raise ValueError(f"a header of {at - 4} bytes in {len(answer)}")
    header: dict[str, Any] = json.loads(answer[4:at])
    if "error" in header:
        raise ReferenceFailed(str(header["error"]), None if header["line"] is None else int(header["line"]))
    arrays, unusable = dict[str, np.ndarray](), dict[str, str]()
    for one in header["outputs"]:
        name, shape = str(one["name"]), tuple(int(extent) for extent in one["shape"])
        if not one["dtype"]:
            unusable[name] = str(one["found"])
            continue
        dtype = np.dtype(str(one["dtype"]))
        count = int(np.prod(shape, dtype=np.int64))
        if dtype.kind not in "fiub" or min(shape, default=0) < 0 or count * dtype.itemsize > len(answer) - at:
            raise ValueError(f"{dtype} of shape {shape}")
        arrays[name] = np.frombuffer(answer, dtype, count, at).reshape(shape)
        at += count * dtype.itemsize
    return Returned(bool(header["named"]), str(header["type"]), arrays, unusable)
