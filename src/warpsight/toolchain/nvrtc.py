"""The parent's side of the compiler process: one lock, one worker, started when needed and restarted when it died.

Safe from several threads (they take turns) and after a fork (the child starts a worker of its own). A failed compile
is an answer here; only a compiler that crashed, hung or spoke nonsense raises.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import struct
import sys
import threading
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from warpsight.errors import ToolchainError, ToolMissing
from warpsight.toolchain.process import Exchange, Program, spawn, stop

WORKER = Path(__file__).with_name("worker.py")
START_DEADLINE_S = 30.0
ANSWER_CAP_BYTES = 256 << 20


@dataclass(frozen=True)
class RawCompile:
    """What the worker said, with its shape checked and nothing interpreted."""

    result: str
    log: str
    ptx: str
    cubin: bytes


class NvrtcProcess:
    """A compiler process that outlives single compiles."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._program: Program | None = None
        self._owner = 0
        self._requests = 0
        self._close: weakref.finalize[..., Any] | None = None
        self.starts = 0  # how many processes were started; a cache hit leaves it alone

    @property
    def pid(self) -> int | None:
        """The process id of the live worker, if there is one."""
        return self._program.pid if self._program is not None and self._program.poll() is None else None

    def compile(self, source: str, name: str, options: Sequence[str], deadline_s: float) -> RawCompile:
        """Compile one text. DeadlinePassed or ProgramDied leave the next call to start a fresh worker."""
        with self._lock:
            program = self._live_program()
            self._requests += 1
            request = {
                "id": self._requests, "source": source, "name": name,
                "options": list(options), "deadline_s": deadline_s,
            }  # fmt: skip
            try:
                answer = _ask(program, "the CUDA compiler", json.dumps(request).encode(), deadline_s)
                if answer.get("id") != self._requests:
                    raise ToolchainError("the CUDA compiler process answered another request than the one asked")
                return _checked(answer)
            except BaseException:
                stop(program)  # also when interrupted: a late answer must not meet the next request
                raise

    def close(self) -> None:
        """End the worker; a later compile starts another."""
        with self._lock:
            if self._close is not None:
                self._close()
            self._program, self._close = None, None

    def _live_program(self) -> Program:
        if self._program is not None and self._owner == os.getpid() and self._program.poll() is None:
            return self._program
        if self._close is not None:
            # After a fork the process belongs to our parent: forget it, do not end it.
            self._close() if self._owner == os.getpid() else self._close.detach()
        program = spawn([sys.executable, "-I", WORKER])
        self._program, self._owner, self._close = program, os.getpid(), weakref.finalize(self, stop, program)
        self.starts += 1
        try:
            hello = _ask(program, "the start of the CUDA compiler", b"", START_DEADLINE_S)
        except BaseException:
            stop(program)
            raise
        if hello.get("ready") is not True:
            stop(program)
            raise ToolMissing(
                f"NVRTC does not load: {hello.get('problem', 'no reason given')}",
                hint="pip install cuda-bindings nvidia-cuda-nvrtc",
            )
        return program


def _ask(program: Program, what: str, body: bytes, deadline_s: float) -> dict[str, Any]:
    exchange = Exchange(program, what, deadline_s, ANSWER_CAP_BYTES)
    (size,) = struct.unpack(">I", exchange.run(struct.pack(">I", len(body)) + body if body else b"", 4))
    if size > ANSWER_CAP_BYTES:
        raise ToolchainError(f"{what} announced an answer of {size} bytes, the cap is {ANSWER_CAP_BYTES}")
    try:
        answer: object = json.loads(exchange.run(b"", size))
    except ValueError as problem:
        raise ToolchainError(f"{what} answered something that is not JSON: {problem}") from problem
    if not isinstance(answer, dict):
        raise ToolchainError(f"{what} answered {type(answer).__name__}, expected an object")
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
