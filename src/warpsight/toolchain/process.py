"""The one place where the toolchain starts programs: argument lists, own process group, bare environment, no shell.

A program is given a deadline and an output cap and is killed as a group when it passes either. Nothing here knows CUDA.
What must stay true: every program of the toolchain starts in `spawn`, so that a jail has one thing to wrap.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from warpsight.errors import ToolchainError, ToolMissing

ERROR_TEXT_BYTES = 16 << 10

Program = subprocess.Popen[bytes]


class DeadlinePassed(ToolchainError):
    """The program did not finish in the time it was given, and was killed."""


class ProgramDied(ToolchainError):
    """The program ended by a signal or closed its output before it answered."""


def bare_environment() -> dict[str, str]:
    """What a child may know: no home, no credentials, no library overrides; C locale for stable messages."""
    return {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/nonexistent", "CUDA_CACHE_DISABLE": "1"}


def spawn(argv: Sequence[str | Path]) -> Program:
    """Start a program with piped input and output, in `/`, as the leader of a new process group."""
    try:
        return subprocess.Popen(
            [str(part) for part in argv],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=bare_environment(),
            cwd="/",
            start_new_session=True,
            bufsize=0,
        )
    except OSError as problem:
        raise ToolMissing(f"could not start {argv[0]}: {problem}", hint="warpsight doctor") from problem


def stop(program: Program) -> None:
    """Kill the whole group at once and collect what is left; fine to call twice."""
    if program.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(program.pid, signal.SIGKILL)
        program.wait()
    for stream in (program.stdin, program.stdout, program.stderr):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()


class Exchange:
    """One conversation with a program under a deadline: sends while it reads, so neither side can block the other."""

    def __init__(self, program: Program, what: str, deadline_s: float, cap_bytes: int) -> None:
        self._program = program
        self._what = what
        self._deadline_s = deadline_s
        self._ends_at = time.monotonic() + deadline_s
        self._cap_bytes = cap_bytes
        self.output = bytearray()
        self.error_text = bytearray()

    def run(self, send: bytes, want: int | None) -> bytes:
        """Send, then read until `want` more bytes are there (returned), or to the end of output if `want` is None."""
        assert self._program.stdin and self._program.stdout and self._program.stderr
        pending = memoryview(send)
        with selectors.DefaultSelector() as selector:
            selector.register(self._program.stdout, selectors.EVENT_READ, self.output)
            selector.register(self._program.stderr, selectors.EVENT_READ, self.error_text)
            if pending:
                os.set_blocking(self._program.stdin.fileno(), False)
                selector.register(self._program.stdin, selectors.EVENT_WRITE)
            while want is None or len(self.output) < want:
                for key, _ in selector.select(self._time_left()):
                    if key.data is None:
                        pending = self._write(selector, key, pending)
                    elif not self._read(key.fd, key.data):
                        selector.unregister(key.fileobj)
                        if key.data is self.output and want is not None:
                            raise self._died()
                if want is None and len(selector.get_map()) == 0:
                    break
        if want is None:
            return bytes(self.output)
        taken, self.output = bytes(self.output[:want]), self.output[want:]
        return taken

    def _time_left(self) -> float:
        left = self._ends_at - time.monotonic()
        if left <= 0:
            stop(self._program)
            raise DeadlinePassed(
                f"{self._what} did not finish within {self._deadline_s:g} s and was stopped",
                hint="make the source smaller, or give it a longer deadline",
            )
        return left

    def _write(self, selector: selectors.BaseSelector, key: selectors.SelectorKey, pending: memoryview) -> memoryview:
        with contextlib.suppress(BrokenPipeError):
            with contextlib.suppress(BlockingIOError):
                pending = pending[os.write(key.fd, pending[: 1 << 16]) :]
            if pending:
                return pending
        selector.unregister(key.fileobj)
        return pending

    def _read(self, fd: int, into: bytearray) -> bool:
        chunk = os.read(fd, 1 << 16)
        into += chunk
        if into is self.error_text:
            del into[:-ERROR_TEXT_BYTES]
        elif len(into) > self._cap_bytes:
            stop(self._program)
            raise ToolchainError(f"{self._what} wrote more than {self._cap_bytes} bytes and was stopped")
        return bool(chunk)

    def _died(self) -> ProgramDied:
        stop(self._program)
        text = self.error_text.decode(errors="replace").strip()[-2000:]
        return ProgramDied(
            f"{self._what} ended without an answer (exit status {self._program.returncode}): {text or 'no message'}",
            hint="warpsight doctor",
        )


def run_to_end(argv: Sequence[str | Path], what: str, *, deadline_s: float, cap_bytes: int) -> bytes:
    """Run a program to its end and return its output; anything but exit status 0 is a ToolchainError."""
    program = spawn(argv)
    try:
        assert program.stdin
        program.stdin.close()
        exchange = Exchange(program, what, deadline_s, cap_bytes)
        output = exchange.run(b"", None)
        status = program.wait(timeout=max(0.1, deadline_s))
    except subprocess.TimeoutExpired:
        raise DeadlinePassed(f"{what} closed its output but did not end within {deadline_s:g} s") from None
    finally:
        stop(program)
    if status != 0:
        text = exchange.error_text.decode(errors="replace").strip()[-2000:]
        raise ToolchainError(
            f"{what} failed with exit status {status}: {text or 'no message'}", hint="warpsight doctor"
        )
    return output
