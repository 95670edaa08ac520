"""The one place where the toolchain starts programs: each in a jail of its own, with a deadline and an output cap.

A program sees its own files, the system's shared libraries and one input file in an empty folder; it has no
environment but the locale. Nothing here knows CUDA. A jail that ended badly becomes an error of the toolchain here,
with the event.
"""

from __future__ import annotations

import json
import struct
import sys
from collections.abc import Sequence
from pathlib import Path

from warpsight.errors import ToolchainError, ToolMissing
from warpsight.jail import Event, Limits, run_jailed

TOOL_WORKER = Path(__file__).with_name("tool_worker.py")
MEMORY_CAP_BYTES = 8 << 30
_HEAD = struct.Struct(">iI")


class DeadlinePassed(ToolchainError):
    """The program did not finish in the time it was given, and was killed."""


class ProgramDied(ToolchainError):
    """The program ended by a signal, or without an answer; `event` is how the jail saw it."""

    def __init__(self, message: str, hint: str | None = None, event: Event | None = None) -> None:
        super().__init__(message, hint)
        self.event = event


def ended_badly(what: str, event: Event, deadline_s: float, log: bytes = b"") -> ToolchainError:
    """The error for an event of the jail."""
    if event.kind == "deadline":
        return DeadlinePassed(
            f"{what} did not finish within {deadline_s:g} s and was stopped",
            hint="make the source smaller, or give it a longer deadline",
        )
    text = log.decode(errors="replace").strip()[-2000:]
    return ProgramDied(
        f"{what} ended without an answer ({event.kind}: {event.detail}): {text or 'no message'}",
        hint="warpsight doctor",
        event=event,
    )


def run_to_end(
    argv: Sequence[str | Path],
    what: str,
    *,
    deadline_s: float,
    cap_bytes: int,
    file: tuple[str, bytes] = ("input", b""),
    readable: Sequence[Path] = (),
) -> bytes:
    """Run a program to its end and return its output; anything but exit status 0 is a ToolchainError.

    `file` is written into the folder the program starts in, under its name.
    """
    words = [str(part) for part in argv]
    if not Path(words[0]).is_file():
        raise ToolMissing(f"could not start {words[0]}: there is no such program", hint="warpsight doctor")
    limits = Limits(
        wall_s=deadline_s, cpu_s=int(deadline_s) + 5, memory_bytes=MEMORY_CAP_BYTES, answer_bytes=cap_bytes + (1 << 16)
    )
    request = json.dumps({"argv": words, "file": file[0], "cap_bytes": cap_bytes}).encode() + b"\n" + file[1]
    worker = [sys.executable, "-I", "-S", str(TOOL_WORKER)]  # of the standard library alone: no site
    shown = [Path(words[0]), *readable]
    answer = run_jailed(worker, request, limits=limits, readable=shown, level="tools")
    if answer.event is not None:
        raise ended_badly(what, answer.event, deadline_s, answer.log)
    return _output(answer.body or b"", what, cap_bytes)


def _output(body: bytes, what: str, cap_bytes: int) -> bytes:
    if len(body) < _HEAD.size:
        raise ToolchainError(f"{what} came back without its exit status")
    status, said = _HEAD.unpack_from(body)
    text = body[_HEAD.size : _HEAD.size + said].decode(errors="replace").strip()[-2000:]
    output = body[_HEAD.size + said :]
    if len(output) > cap_bytes:
        raise ToolchainError(f"{what} wrote more than {cap_bytes} bytes and was stopped")
    if status != 0:
        raise ToolchainError(
            f"{what} failed with exit status {status}: {text or 'no message'}", hint="warpsight doctor"
        )
    return output
