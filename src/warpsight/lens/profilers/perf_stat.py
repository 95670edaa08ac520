"""`perf stat`: counters of the processor for one program, for devices that are processors.

Its counters are of the whole process and have no place in the vocabulary of GPU counters, so they keep perf's names.
On virtual machines the hardware's counters are mostly missing, and perf ends with status 0 all the same: what was not
counted is named.
"""

from __future__ import annotations

import contextlib
import re
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from warpsight.lens.ncu_csv import read_number
from warpsight.lens.profilers.availability import Availability, look
from warpsight.lens.profilers.failures import BrokenOutput, ProfilerTimedOut, refusal
from warpsight.lens.profilers.process import alongside, run_tool

NAME = "perf"
HOW = "install perf (Debian and Ubuntu: linux-perf or linux-tools); on a virtual machine it may count no hardware"
AGAIN = "run it again with `perf stat -x ';'`"
EVENTS = ("task-clock", "cycles", "instructions", "cache-references", "cache-misses", "branches", "branch-misses")
BEGIN_S, END_S = 5.0, 5.0
WHY_NOT = "the processor's counters are not shown to this machine; run on bare metal, or let the host pass them on"


@dataclass(frozen=True)
class CpuCounts:
    """What perf counted, by event, with units; and what it did not count, with its words for why."""

    counts: Mapping[str, float]
    units: Mapping[str, str]
    not_measured: Mapping[str, str]

    def notes(self, of: str = "of the whole process") -> tuple[str, ...]:
        """For a Profile of the same program."""
        told = ", ".join(f"{name} {value:g} {self.units[name]}".strip() for name, value in self.counts.items())
        missing = ", ".join(f"{name} ({why})" for name, why in self.not_measured.items())
        counted = (f"perf, {of}: {told}",) if told else ()
        return (*counted, *((f"perf did not count: {missing}; {WHY_NOT}",) if missing else ()))


def available() -> Availability:
    return look(NAME, how=HOW)


def argv(program: Sequence[str], *, output: Path, path: str = NAME, events: Sequence[str] = EVENTS) -> list[str]:
    """The command. A semicolon parts the cells, since some locales write decimals with a comma."""
    return [path, "stat", "-x", ";", "-e", ",".join(events), "-o", str(output), "--", *program]


def argv_attached(pid: int, *, output: Path, path: str = NAME, events: Sequence[str] = EVENTS) -> list[str]:
    """The same for a process that runs already; it counts until it is interrupted."""
    return [path, "stat", "-x", ";", "-e", ",".join(events), "-o", str(output), "-p", str(pid)]


def parse(text: str) -> CpuCounts:
    """The file that perf wrote: a line for each event (value; unit; event; ...)."""
    counts: dict[str, float] = {}
    units: dict[str, str] = {}
    missing: dict[str, str] = {}
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        cells = line.split(";")
        if len(cells) < 3:
            raise refusal(NAME, text) or BrokenOutput(NAME, f"expected value;unit;event, found {line[:80]!r}", AGAIN)
        value, unit, event = cells[0].strip(), cells[1].strip(), cells[2].strip()
        if value.startswith("<"):
            missing[event] = value.strip("<>")
            continue
        # One dot or comma is a decimal sign here: perf groups no digits with -x.
        number = read_number(value, "," in value)
        if number is None or not event:
            raise BrokenOutput(NAME, f"expected a number and an event, found {line[:80]!r}", AGAIN)
        counts[event], units[event] = number, unit
    if not counts and not missing:
        raise refusal(NAME, text) or BrokenOutput(NAME, "it left nothing", AGAIN)
    return CpuCounts(counts, units, missing)


def measure(program: Sequence[str], *, folder: Path, deadline_s: float, events: Sequence[str] = EVENTS) -> CpuCounts:
    """Count one run of a program."""
    path = available().required()
    output = folder / "perf.csv"
    output.unlink(missing_ok=True)
    command = argv(program, output=output, path=path, events=events)
    said = run_tool(command, tool=NAME, deadline_s=deadline_s, folder=folder)
    return _counted(output, said.stderr or said.stdout, said.status)


def measure_attached(
    pid: int, work: Callable[[], object], *, folder: Path, events: Sequence[str] = EVENTS
) -> CpuCounts:
    """Count a process that runs already, while `work` keeps it busy."""
    path = available().required()
    output = folder / "perf.csv"
    output.unlink(missing_ok=True)
    with alongside(argv_attached(pid, output=output, path=path, events=events), tool=NAME, folder=folder) as perf:
        if _begins(perf.process):
            work()
            perf.process.send_signal(signal.SIGINT)  # it then writes what it has
        try:
            status = perf.process.wait(END_S)
        except subprocess.TimeoutExpired:
            raise ProfilerTimedOut(NAME, f"did not end within {END_S:g} s of being interrupted", AGAIN) from None
        return _counted(output, perf.printed(), status)


def _begins(perf: subprocess.Popen[bytes]) -> bool:
    """Wait until it counts: its counters are open files then. False when it ended, or does not come so far."""
    ends_at = time.monotonic() + BEGIN_S
    while perf.poll() is None and time.monotonic() < ends_at:
        with contextlib.suppress(OSError):
            if any("perf_event" in str(file.readlink()) for file in Path(f"/proc/{perf.pid}/fd").iterdir()):
                return True
        time.sleep(0.01)
    perf.kill()
    return False


def _counted(output: Path, printed: str, status: int) -> CpuCounts:
    text = output.read_text(errors="replace") if output.exists() else ""
    if not re.search(r"^[^#\s]", text, re.MULTILINE):
        told = printed.strip()[-300:]
        raise refusal(NAME, printed) or BrokenOutput(NAME, f"exit status {status}: {told}", AGAIN)
    return parse(text)
