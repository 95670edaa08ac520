"""The one place where the toolchain starts programs: each in a jail of its own, with a deadline and an output cap.

A deadline is in seconds of processor time, so that a busy machine makes nothing fail. The wall clock gets a limit of
`WALL_TIMES` that; what reaches it was waiting for the machine, and nothing is said of the source.

A program sees its own files, the system's shared libraries and one input file in an empty folder; it has no
environment but the locale. Nothing here knows CUDA. A jail that ended badly becomes an error of the toolchain here,
with the event.
"""

from __future__ import annotations

import json
import math
import signal
import struct
import sys
from collections.abc import Sequence
from pathlib import Path

from warpsight.errors import ToolchainError, ToolMissing
from warpsight.jail import Limits, WorkerEvent, run_jailed

TOOL_WORKER = Path(__file__).with_name("tool_worker.py")
MEMORY_CAP_BYTES = 8 << 30
WALL_TIMES = 5
_HEAD = struct.Struct(">iI")


class DeadlinePassed(ToolchainError):
    """The program did not finish in the time it was given, and was killed."""


class MachineTooBusy(DeadlinePassed):
    """The wall clock ran out before the program had its processor time: no fault of what it worked on."""


class ProgramDied(ToolchainError):
    """The program ended by a signal, or without an answer; `event` is how the jail saw it."""

    def __init__(self, message: str, hint: str | None = None, event: WorkerEvent | None = None) -> None:
        super().__init__(message, hint)
        self.event = event


def wall_limit_s(deadline_s: float) -> float:
    """How long a program with so much processor time may take by the clock on the wall."""
    return WALL_TIMES * deadline_s


def cpu_limit_s(deadline_s: float) -> int:
    """The processor time in whole seconds, as a limit of the system is set."""
    return max(1, math.ceil(deadline_s))


def ended_badly(what: str, event: WorkerEvent, deadline_s: float, log: bytes = b"") -> ToolchainError:
    """The error for an event of the jail; `deadline_s` is the processor time that was given."""
    if event.kind == "cpu_limit":
        return DeadlinePassed(
            f"{what} did not finish within {deadline_s:g} s of processor time and was stopped",
            hint="make the source smaller, or give it a longer deadline",
        )
    if event.kind == "deadline":
        return MachineTooBusy(
            f"{what} had {wall_limit_s(deadline_s):g} s for work of at most {deadline_s:g} s, and did not finish",
            hint="the machine is too busy: try again when less runs on it",
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
        wall_s=wall_limit_s(deadline_s),
        cpu_s=cpu_limit_s(deadline_s),
        memory_bytes=MEMORY_CAP_BYTES,
        answer_bytes=cap_bytes + (1 << 16),
    )
    request = json.dumps({"argv": words, "file": file[0], "cap_bytes": cap_bytes}).encode() + b"\n" + file[1]
    worker = [sys.executable, "-I", "-S", str(TOOL_WORKER)]  # of the standard library alone: no site
    shown = [Path(words[0]), *readable]
    answer = run_jailed(worker, request, limits=limits, readable=shown, level="tools")
    if answer.event is not None:
        raise ended_badly(what, answer.event, deadline_s, answer.log)
    return _output(answer.body or b"", what, cap_bytes, deadline_s)


def _output(body: bytes, what: str, cap_bytes: int, deadline_s: float) -> bytes:
    if len(body) < _HEAD.size:
        raise ToolchainError(f"{what} came back without its exit status")
    status, said = _HEAD.unpack_from(body)
    text = body[_HEAD.size : _HEAD.size + said].decode(errors="replace").strip()[-2000:]
    output = body[_HEAD.size + said :]
    if len(output) > cap_bytes:
        raise ToolchainError(f"{what} wrote more than {cap_bytes} bytes and was stopped")
    if status == -signal.SIGXCPU:
        raise ended_badly(what, WorkerEvent("cpu_limit", "used up its processor time"), deadline_s)
    if status != 0:
        raise ToolchainError(
            f"{what} failed with exit status {status}: {text or 'no message'}", hint="warpsight doctor"
        )
    return output
