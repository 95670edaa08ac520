"""The machine code of a kernel, an instruction a row, with what each cost."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from warpsight.errors import UsageError

if TYPE_CHECKING:
    from warpsight.nouns import Build, Profile, Task


SCOREBOARDS = 6
Counters = Mapping[int, Mapping[str, int | float]]


@dataclass(frozen=True)
class SassRow:
    """One instruction: its place, text, control bits and, after a run, its counters."""

    address: int
    text: str
    line: int | None
    stall: int
    write_barrier: int | None
    read_barrier: int | None
    waits: tuple[int, ...]
    counters: Mapping[str, int | float]

    @property
    def samples(self) -> int | float:
        return self.counters.get("stall_samples", 0)

    @property
    def schedule(self) -> str:
        waits = "".join(str(k) if k in self.waits else "-" for k in range(SCOREBOARDS))
        read = "-" if self.read_barrier is None else self.read_barrier
        write = "-" if self.write_barrier is None else self.write_barrier
        return f"B{waits} R{read} W{write} S{self.stall:02}"

    def document(self) -> dict[str, Any]:
        control = {
            "stall": self.stall,
            "write_barrier": self.write_barrier,
            "read_barrier": self.read_barrier,
            "waits": list(self.waits),
        }
        place = {"address": self.address, "text": self.text, "line": self.line}
        return {**place, "control": control, "counters": dict(self.counters)}


def line_range(text: str) -> range:
    """`12` or `12:20`, both ends included."""
    form = re.fullmatch(r"(\d+)(?::(\d+))?", text.strip())
    first, last = (int(form[1]), int(form[2] or form[1])) if form else (0, 0)
    if first < 1 or last < first:
        raise UsageError(f"--lines: expected a line or two that rise, found {text!r}", "write 12, or 12:20")
    return range(first, last + 1)


def of_lines(rows: Sequence[SassRow], wanted: range) -> tuple[SassRow, ...]:
    kept = tuple(row for row in rows if row.line in wanted)
    if not kept:
        there = ", ".join(str(n) for n in sorted({row.line for row in rows if row.line is not None})) or "none"
        raise UsageError(f"--lines: no machine code comes from lines {wanted[0]} to {wanted[-1]}", f"one of {there}")
    return kept


def machine_rows(task: Task, build: Build, profile: Profile | None) -> tuple[SassRow, ...]:
    """Every instruction of the kernel; the padding behind the last one left out."""
    from warpsight.tasks import kernel_name
    from warpsight.toolchain.sass import disassemble
    from warpsight.vgpu.sass.read import schedule

    name = kernel_name(task, build.language)
    raws = [raw for raw in disassemble(build.cubin, name=name) if raw.function == task.entry]
    while raws and raws[-1].text == "NOP":
        raws.pop()
    counted: Counters = {} if profile is None else by_address(build, task.entry, profile)
    none: Mapping[str, int | float] = {}
    return tuple(
        SassRow(
            address=raw.address,
            text=raw.text,
            line=raw.line,
            stall=int(bits["stall"]),
            write_barrier=barrier(int(bits["write_bar"])),
            read_barrier=barrier(int(bits["read_bar"])),
            waits=tuple(k for k in range(6) if int(bits["wait_mask"]) >> k & 1),
            counters=counted.get(raw.address, none),
        )
        for raw, bits in zip(raws, schedule(raws), strict=True)
    )


def barrier(number: int) -> int | None:
    return None if number == 7 else number


def by_address(build: Build, entry: str, profile: Profile) -> Counters:
    """The counters of each machine instruction; nothing when the profile is of the PTX."""
    from warpsight.devices.machine_code import machine_code

    program = machine_code(build.cubin, entry).program
    if profile.isa != "sass" or program is None or program.sched is None:
        return {}
    addresses = program.sched["address"]
    return {int(addresses[row.index]): row.counters for row in profile.instructions}
