"""One process that works for us, call after call, and can be told to stop the one that it is at.

Like a worker of a pool it starts fresh, ends with us, and does not hear Ctrl-C. The work gets a `say`: what it says
comes to the caller, and between two words it hears that it is to stop. One that does not stop within `GRACE_S` (it is
in a long C call) is killed, and the next call starts another process. A process that has grown past `most_bytes` is
replaced after its call. What must stay true: used by one thread, and that thread lives as long as the process.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, TypeAlias

from warpsight.errors import BrokenMachine
from warpsight.processes.guard import die_with_parent

GRACE_S = 2.0
LOOK_S = 0.05
MOST_BYTES = 3 << 30
Say = Callable[[str], None]
Pipe: TypeAlias = "Connection[Any, Any]"
_SAID, _DONE, _FAILED, _STOP = "said", "done", "failed", "stop"


class WorkStopped(BaseException):
    """Raised in work that is not wanted any more, and to its caller. No fault: what handles faults does not see it."""


class Helper:
    """A process that is started by the first call. `initializer` runs first in it."""

    def __init__(
        self,
        initializer: Callable[..., None] | None = None,
        initargs: tuple[Any, ...] = (),
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self._begin = (initializer, initargs)
        self._most_bytes = most_bytes
        self._running: tuple[BaseProcess, Pipe] | None = None

    @property
    def pid(self) -> int | None:
        return None if self._running is None else self._running[0].pid

    def start(self) -> None:
        """Have the process ready; a call does it otherwise."""
        if self._running is None:
            spawn = multiprocessing.get_context("spawn")
            ours, theirs = spawn.Pipe()
            process = spawn.Process(target=_serve, args=(theirs, *self._begin), daemon=True)
            process.start()
            theirs.close()
            self._running = process, ours

    def call(self, work: Callable[..., Any], *given: Any, say: Say, stopped: Callable[[], bool]) -> Any:
        """`work(say, *given)`, done there. WorkStopped where `stopped` came true before it was done."""
        self.start()
        assert self._running is not None
        pipe = self._running[1]
        try:
            pipe.send((work, given))
            kind, found, size = self._answer(pipe, say, stopped)
        except (EOFError, ConnectionError):
            self.close()
            hint = "call again: another process takes its place"
            raise BrokenMachine(
                "a worker process was ended from outside, perhaps for want of memory", hint=hint
            ) from None
        except BaseException:
            self.close()
            raise
        if size > self._most_bytes:
            self.close()
        if kind == _FAILED:
            raise found
        return found

    def _answer(self, pipe: Pipe, say: Say, stopped: Callable[[], bool]) -> tuple[str, Any, int]:
        until: float | None = None
        while True:
            if pipe.poll(LOOK_S):
                kind, found, size = pipe.recv()
                if kind != _SAID:
                    return kind, found, size
                if until is None:
                    say(found)
            if until is None and stopped():
                pipe.send(_STOP)
                until = time.monotonic() + GRACE_S
            if until is not None and time.monotonic() > until:
                raise WorkStopped

    def close(self) -> None:
        """End the process, whatever it does."""
        if self._running is not None:
            process, pipe = self._running
            self._running = None
            process.kill()
            process.join()
            pipe.close()


def _serve(pipe: Pipe, initializer: Callable[..., None] | None, initargs: tuple[Any, ...]) -> None:
    parent = multiprocessing.parent_process()
    if parent is None:
        raise BrokenMachine("expected to be started by another process, there is none")
    die_with_parent(parent.sentinel, group=False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def say(text: str) -> None:
        if pipe.poll():
            pipe.recv()
            raise WorkStopped
        pipe.send((_SAID, text, 0))

    if initializer is not None:
        initializer(*initargs)
    with contextlib.suppress(EOFError, ConnectionError):
        while True:
            asked = pipe.recv()
            if asked != _STOP:  # else it came after the answer
                _work(pipe, say, *asked)


def _work(pipe: Pipe, say: Say, work: Callable[..., Any], given: tuple[Any, ...]) -> None:
    try:
        answer = (_DONE, work(say, *given), _bytes_held())
    except (Exception, WorkStopped) as problem:
        answer = (_FAILED, _that_travels(problem), _bytes_held())
    pipe.send(answer)


def _that_travels(problem: BaseException) -> BaseException:
    """The failure, or its words where it cannot be sent."""
    try:
        pickle.loads(pickle.dumps(problem))
    except Exception:
        return BrokenMachine(f"{type(problem).__name__}: {problem}")
    return problem


def _bytes_held() -> int:
    """Of memory, by this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
