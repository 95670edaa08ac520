"""The parent's side of the compiler: one lock, one jailed process, started when needed and restarted when it died.

Safe from several threads (they take turns) and after a fork (the child starts a worker of its own). A failed compile
is an answer here; only a compiler that crashed, hung or spoke nonsense raises. Of what comes back only the number of
the request and the end of the compiling child are believed; the rest is bytes whose shape is checked.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import struct
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from warpsight.errors import ToolchainError, ToolMissing
from warpsight.jail import JailedWorker, Limits, WorkerLost, event_of
from warpsight.toolchain import packages
from warpsight.toolchain.process import MEMORY_CAP_BYTES, ended_badly, wall_limit_s

WORKER = Path(__file__).with_name("worker.py")
START_DEADLINE_S = 30.0
ANSWER_CAP_BYTES = 256 << 20
# The process that forks the compiling children lives long and works little; each child has its own, lower, cap.
LIMITS = Limits(wall_s=START_DEADLINE_S, cpu_s=24 * 3600, memory_bytes=MEMORY_CAP_BYTES, answer_bytes=ANSWER_CAP_BYTES)
NO_HEADERS: Mapping[str, str] = MappingProxyType({})
_HEAD = struct.Struct(">Qi")


@dataclass(frozen=True)
class RawCompile:
    """What the worker said, with its shape checked and nothing interpreted."""

    result: str
    log: str
    ptx: str
    cubin: bytes


class NvrtcProcess:
    """A compiler process that outlives single compiles; each compile happens in a disposable copy of it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._worker: JailedWorker | None = None
        self._owner = 0
        self._requests = 0
        self.starts = 0  # how many processes were started; a cache hit leaves it alone
        self.missing: tuple[str, ...] = ()  # protections the compiler ran without

    @property
    def pid(self) -> int | None:
        """The process id of the live jail, if there is one."""
        return self._worker.pid if self._worker is not None and self._owner == os.getpid() else None

    def compile(
        self, source: str, name: str, options: Sequence[str], deadline_s: float, headers: Mapping[str, str] = NO_HEADERS
    ) -> RawCompile:
        """Compile one text. DeadlinePassed or ProgramDied leave the next call to start a fresh worker if need be.

        `headers` are texts by the names they can be included under, beside those in the header folders.
        """
        with self._lock:
            worker = self._live_worker()
            self._requests += 1
            request = {
                "id": self._requests, "source": source, "name": name, "options": list(options),
                "headers": dict(headers), "deadline_s": deadline_s, "folders": [str(folder) for folder in _folders()],
            }  # fmt: skip
            try:
                frame = worker.ask(json.dumps(request).encode(), wall_limit_s(deadline_s))
            except WorkerLost as lost:
                raise ended_badly("the CUDA compiler", lost.event, deadline_s, lost.log) from None
            return _checked(_body(frame, self._requests, worker, deadline_s))

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
        self._worker = JailedWorker(
            [sys.executable, "-I", "-S", str(WORKER), str(packages.nvrtc_library())],
            limits=LIMITS,
            readable=_folders(),
            name="the CUDA compiler",
            level="serve",
        )
        self._owner = os.getpid()
        self.starts += 1
        try:
            problem = self._worker.ask(b"", START_DEADLINE_S)
        except WorkerLost as lost:
            raise ended_badly("the start of the CUDA compiler", lost.event, START_DEADLINE_S, lost.log) from None
        self.missing = self._worker.missing
        if problem:
            self._worker.close()
            raise ToolMissing(
                f"NVRTC does not load: {problem.decode(errors='replace')}",
                hint="pip install --force-reinstall " + next(iter(packages.cuda_line().versions)),
            )
        return self._worker


def _folders() -> tuple[Path, ...]:
    """All that a compiling child may read: the headers, and the libraries NVRTC loads when it needs them."""
    return *packages.include_dirs(), packages.nvrtc_library().parent


def _body(frame: bytes, number: int, worker: JailedWorker, deadline_s: float) -> dict[str, Any]:
    """What the compiling child wrote, if it ended well."""
    if len(frame) < _HEAD.size:
        raise ToolchainError("the CUDA compiler process sent less than a header")
    answered, status = _HEAD.unpack_from(frame)
    if answered != number:
        worker.close()
        raise ToolchainError("the CUDA compiler process answered another request than the one asked")
    if status != 0:
        raise ended_badly("the CUDA compiler", event_of(status, LIMITS, worker.log()), deadline_s, worker.log())
    try:
        answer: object = json.loads(frame[_HEAD.size :])
    except ValueError as problem:
        raise ToolchainError(f"the CUDA compiler answered something that is not JSON: {problem}") from problem
    if not isinstance(answer, dict):
        raise ToolchainError(f"the CUDA compiler answered {type(answer).__name__}, expected an object")
    return cast("dict[str, Any]", answer)


def _checked(answer: dict[str, Any]) -> RawCompile:
    fields = [answer.get(key) for key in ("result", "log", "ptx", "cubin")]
    if not all(isinstance(field, str) for field in fields):
        raise ToolchainError("the CUDA compiler process left out result, log, ptx or cubin")
    result, log, ptx, cubin = cast("list[str]", fields)
    try:
        return RawCompile(result, log, ptx, base64.b64decode(cubin, validate=True))
    except binascii.Error as problem:
        raise ToolchainError(f"the CUDA compiler process sent a broken cubin: {problem}") from problem
