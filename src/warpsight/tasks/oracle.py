"""The parent's end of the reference processes: one for each text, started when first needed, a few kept, all ended.

Each process is in a jail of its own: it sees Python and NumPy (and SciPy, where installed), no other file, no network,
and its memory is capped. It is given one text and no second one, so what a stranger's reference does to NumPy or to
Python in there reaches no other task. A reference that exits, crashes or hangs is ReferenceFailed; the next call gets a
new process. One that gives other values when it is asked the same again is Unsteady, which nobody may take for a size
or an input that it does not support. What comes back is raw bytes of a declared dtype and shape, capped in size.
"""

from __future__ import annotations

import functools
import json
import os
import sys
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from warpsight.errors import WarpsightError
from warpsight.jail import JailedWorker, Limits, WorkerEvent, WorkerLost, package_files

WORKER = Path(__file__).with_name("oracle_worker.py")
DEADLINE_SECONDS = 120.0
MOST_ALIVE = 3
PACKAGES = ("numpy", "scipy")
MOST_HEADER_BYTES = 1 << 20
MOST_REQUEST_BYTES = (1 << 32) - 1
ALIGNED = 64  # bytes: where the first array of a request begins, so that it need not be copied
MOST_WITNESS_BYTES = 1 << 20
ASKED_AGAIN = 32  # every so many calls, and at each power of two: the first small call, which must not have changed
SAME = 1e-9  # of the largest number; the reference works in float64
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


class Unsteady(WarpsightError):
    """The reference gave other values for the same inputs: nothing that it says can be held against a kernel."""

    exit_code = 2

    def __init__(self, file: str) -> None:
        super().__init__(
            f"{file}: expected the same values for the same inputs, found others when asked again",
            hint="keep nothing between calls, and seed what is random inside the function",
        )


@dataclass(frozen=True)
class Returned:
    """What the reference returned: `arrays` by name, or one under "" when it returned no dict."""

    named: bool
    type: str
    arrays: Mapping[str, np.ndarray]
    unusable: Mapping[str, str]


@dataclass(frozen=True)
class Text:
    """What one process is for: the text of a reference, the name of its file, the function that is called."""

    text: str
    file: str
    function: str


class _Process:
    """One jailed process and the one text it was given."""

    def __init__(self, text: Text) -> None:
        self.text = text
        self.worker = JailedWorker(
            [sys.executable, "-I", str(WORKER)],
            limits=LIMITS,
            readable=_packages(),
            name="the reference",
            level="work",
        )
        self._calls = 0
        self._witness: tuple[bytes, Returned] | None = None

    def ask(self, request: bytes, deadline_seconds: float) -> bytes:
        """The answer to a call. Raises WorkerLost."""
        if self._calls == 0:
            self.worker.ask(json.dumps(vars(self.text)).encode(), deadline_seconds)
        answer = self.worker.ask(request, deadline_seconds)
        sys.stderr.write(self.worker.log().decode(errors="replace"))  # for its author; never a part of an answer
        self._calls += 1
        return answer

    def confirm(self, request: bytes, returned: Returned, deadline_seconds: float) -> None:
        """After a call that gave values: now and then the first one is asked again. Raises Unsteady if it differs."""
        if self._witness is None and len(request) <= MOST_WITNESS_BYTES:
            self._witness = (request, returned)
        if self._witness is None or (self._calls & (self._calls - 1) and self._calls % ASKED_AGAIN):
            return
        first, before = self._witness
        if not _same(before, _read_answer(self.worker.ask(first, deadline_seconds))):
            self.worker.close()
            raise Unsteady(self.text.file)


class Oracle:
    """A process for each of the last few texts. Safe to use from several threads, one call at a time."""

    def __init__(self, deadline_seconds: float = DEADLINE_SECONDS, alive: int = MOST_ALIVE) -> None:
        self.deadline_seconds, self.alive = deadline_seconds, alive
        self._lock = threading.Lock()
        self._live: OrderedDict[Text, _Process] = OrderedDict()
        self._owner = os.getpid()

    def call(
        self, text: str, file: str, function: str, values: Mapping[str, np.ndarray], axes: Mapping[str, int]
    ) -> Returned:
        """The outputs of `function` in the text of a reference. Raises ReferenceFailed or Unsteady."""
        header = {
            "axes": dict(axes),
            "arrays": [{"name": n, "dtype": a.dtype.str, "shape": list(a.shape)} for n, a in values.items()],
        }
        body = json.dumps(header).encode()
        body += b" " * (-(4 + len(body)) % ALIGNED)
        size = 4 + len(body) + sum(array.nbytes for array in values.values())
        if size > MOST_REQUEST_BYTES:
            raise ReferenceFailed(f"inputs of {size} bytes, and it is given at most {MOST_REQUEST_BYTES}")
        raw = (np.ascontiguousarray(a).reshape(-1).view(np.uint8).data for a in values.values())
        request = b"".join([len(body).to_bytes(4, "big"), body, *raw])
        with self._lock:
            process = self._process_of(Text(text, file, function))
            try:
                returned = _read_answer(process.ask(request, self.deadline_seconds))
                process.confirm(request, returned, self.deadline_seconds)
                return returned
            except WorkerLost as lost:
                raise ReferenceFailed(self._how_it_ended(lost.event)) from None
            except (ValueError, KeyError, TypeError) as broken:
                process.worker.close()
                raise ReferenceFailed(f"its process gave no valid answer: {broken}") from broken

    @property
    def process_ids(self) -> tuple[int, ...]:
        """The processes that watch over the jails, the one used last at the end."""
        return tuple(pid for process in self._live.values() if (pid := process.worker.pid) is not None)

    def cpu_s(self) -> float:
        """Processor time that the processes which are alive have used."""
        return sum(process.worker.cpu_s() for process in self._live.values())

    def close(self) -> None:
        with self._lock:
            self._disown()
            while self._live:
                self._live.popitem()[1].worker.close()

    def __enter__(self) -> Oracle:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _process_of(self, text: Text) -> _Process:
        self._disown()
        found = self._live.pop(text, None)
        if found is None or found.worker.pid is None:
            while len(self._live) >= self.alive:
                self._live.popitem(last=False)[1].worker.close()
            found = _Process(text)
        self._live[text] = found
        return found

    def _disown(self) -> None:
        """After a fork the processes belong to our parent: let go of them without ending them."""
        if self._owner == os.getpid():
            return
        for process in self._live.values():
            process.worker.forget()
        self._live.clear()
        self._owner = os.getpid()

    def _how_it_ended(self, event: WorkerEvent) -> str:
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


def _same(one: Returned, other: Returned) -> bool:
    """Whether two answers are one: to the last digits, which may depend on where in memory NumPy had the numbers."""
    if set(one.arrays) != set(other.arrays):
        return False
    for name, a in one.arrays.items():
        b = other.arrays[name]
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        with np.errstate(all="ignore"):
            reach = SAME * float(np.max(np.abs(a), where=np.isfinite(a), initial=0)) if a.dtype.kind == "f" else 0.0
            if not np.allclose(a, b, rtol=0.0, atol=reach, equal_nan=True):
                return False
    return True


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
