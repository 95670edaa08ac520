"""The parent's side of Triton: one lock, one jailed process that has imported it, a disposable copy for each text.

The copy runs the candidate's Python. Of what it answers the shape is checked and nothing else is believed: PTX is text,
shared memory is a number within bounds. A text that does not compile is an answer; only a process that crashed, hung or
spoke nonsense raises.
"""

from __future__ import annotations

import functools
import json
import os
import struct
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, cast

from warpsight.errors import ToolchainError, ToolMissing
from warpsight.jail import JailedWorker, Limits, WorkerLost, event_of, package_files, scrubbed
from warpsight.toolchain.process import MEMORY_CAP_BYTES, ended_badly, wall_limit_s
from warpsight.toolchain.triton_assemble import INSTALL, triton_folder

WORKER = Path(__file__).with_name("triton_worker.py")
START_DEADLINE_S = 90.0
ANSWER_CAP_BYTES = 64 << 20
MOST_SHARED_BYTES = 228 << 10
MESSAGE_CHARS = 2000
LIMITS = Limits(wall_s=START_DEADLINE_S, cpu_s=24 * 3600, memory_bytes=MEMORY_CAP_BYTES, answer_bytes=ANSWER_CAP_BYTES)
_HEAD = struct.Struct(">Qi")
_WHAT = "the Triton compiler"


@dataclass(frozen=True)
class RawTriton:
    """What the worker said, with its shape checked. Not `ok`: a message, at a line of the kernel where known."""

    ok: bool
    message: str = ""
    line: int | None = None
    column: int | None = None
    ptx: str = ""
    shared_bytes: int = 0
    log: str = ""


@functools.cache
def triton_version() -> str:
    """The installed version, or ToolMissing with the command that installs it."""
    triton_folder()
    return metadata.version("triton")


class TritonProcess:
    """A process with Triton imported that outlives single compiles; each text gets a disposable copy of it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._worker: JailedWorker | None = None
        self._owner = 0
        self._requests = 0
        self.starts = 0
        self.missing: tuple[str, ...] = ()

    def compile(
        self,
        source: str,
        name: str,
        entry: str,
        arguments: Sequence[tuple[str, str, bool]],
        options: Sequence[str],
        capability: int,
        deadline_s: float,
    ) -> RawTriton:
        """Compile one text for sm_`capability`."""
        with self._lock:
            worker = self._live_worker()
            self._requests += 1
            request = {
                "id": self._requests, "source": source, "name": name, "entry": entry, "arguments": list(arguments),
                "options": list(options), "capability": capability, "deadline_s": deadline_s,
            }  # fmt: skip
            try:
                frame = worker.ask(json.dumps(request).encode(), wall_limit_s(deadline_s))
            except WorkerLost as lost:
                raise ended_badly(_WHAT, lost.event, deadline_s, lost.log) from None
            return _checked(_answer(frame, self._requests, worker, deadline_s))

    def close(self) -> None:
        """End the worker; a later compile starts another."""
        with self._lock:
            if self._worker is not None and self._owner == os.getpid():
                self._worker.close()
            self._worker = None

    def _live_worker(self) -> JailedWorker:
        if self._worker is not None and self._owner == os.getpid() and self._worker.pid is not None:
            return self._worker
        if self._worker is not None and self._owner != os.getpid():
            self._worker.forget()  # after a fork the process belongs to our parent: do not end it
        triton_version()
        self._worker = JailedWorker(
            [sys.executable, "-I", str(WORKER)],
            limits=LIMITS,
            readable=(*package_files("triton"), WORKER.with_name("worker.py")),
            name=_WHAT,
            level="serve",
        )
        self._owner = os.getpid()
        self.starts += 1
        try:
            problem = self._worker.ask(b"", START_DEADLINE_S)
        except WorkerLost as lost:
            raise ended_badly(f"the start of {_WHAT}", lost.event, START_DEADLINE_S, lost.log) from None
        self.missing = self._worker.missing
        if problem:
            self._worker.close()
            raise ToolMissing(f"Triton does not load: {problem.decode(errors='replace')}", hint=INSTALL)
        return self._worker


def _answer(frame: bytes, number: int, worker: JailedWorker, deadline_s: float) -> dict[str, Any]:
    """What the copy wrote, if it ended well."""
    if len(frame) < _HEAD.size:
        raise ToolchainError(f"{_WHAT} sent less than a header")
    answered, status = _HEAD.unpack_from(frame)
    if answered != number:
        worker.close()
        raise ToolchainError(f"{_WHAT} answered another request than the one asked")
    if status != 0:
        raise ended_badly(_WHAT, event_of(status, LIMITS, worker.log()), deadline_s, worker.log())
    try:
        answer: object = json.loads(frame[_HEAD.size :])
    except (ValueError, RecursionError) as problem:
        return {"ok": False, "message": f"the candidate's Python answered something that is not JSON: {problem}"}
    return cast("dict[str, Any]", answer) if isinstance(answer, dict) else {"ok": False, "message": "no answer"}


def _checked(answer: dict[str, Any]) -> RawTriton:
    """The fixed schema; whatever does not fit it is a text that does not compile."""
    message, log = _text(answer, "message")[:MESSAGE_CHARS], _text(answer, "log")
    if answer.get("ok") is not True:
        place = [n if isinstance(n := answer.get(key), int) and 0 < n < 10**7 else None for key in ("line", "column")]
        return RawTriton(False, scrubbed(message) or "Triton gave no reason", place[0], place[1], log=scrubbed(log))
    shared = answer.get("shared")
    if not isinstance(shared, int) or not 0 <= shared <= MOST_SHARED_BYTES:
        limit = f"at most {MOST_SHARED_BYTES} bytes of shared memory"
        return RawTriton(False, f"expected a kernel with {limit}, it needs {str(shared)[:40]}", log=scrubbed(log))
    return RawTriton(True, ptx=_text(answer, "ptx"), shared_bytes=shared, log=scrubbed(log))


def _text(answer: dict[str, Any], key: str) -> str:
    found = answer.get(key, "")
    return found if isinstance(found, str) else ""
