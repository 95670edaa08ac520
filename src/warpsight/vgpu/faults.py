"""Faults in words: from the core's numbers to kind, source line, threads, arrays, and what is known of the cause.

The line is that of the cause where it is known: the barrier that a thread went past, the loop that does not end.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpsight.nouns import Fault
from warpsight.vgpu.bytecode import SHARED_SLOT, SHARED_WINDOW, Program, Space

if TYPE_CHECKING:
    from warpsight.vgpu._core import FaultRecord
    from warpsight.vgpu.machine import GlobalMemory

Dim3 = tuple[int, int, int]

SAYS = {
    "out_of_bounds": "access outside the array",
    "misaligned": "address is not a multiple of the access size",
    "uninitialised_read": "reads memory that nothing has written",
    "write_to_const": "writes memory that is read-only",
    "shared_race": "shared memory is touched by two threads without a barrier between",
    "global_race": "global memory is touched by two blocks without an atomic",
    "barrier_divergence": "not all threads of the block come to this barrier",
    "deadlock": "threads wait at a barrier that the others never reach",
    "endless_loop": "this loop does not end",
    "launch_too_large": "the instruction budget is used up, and no loop is to blame: the launch is too large",
    "deadline": "the time allowed is used up",
    "assert_failed": "assertion failed",
    "trap": "the kernel trapped",
    "stack_overflow": "calls are nested too deeply for local memory",
    "warp_sync_divergence": "lanes named in the member mask never arrive together",
    "shuffle_outside_mask": "the result depends on a shuffle from a lane that takes no part in it",
    "bad_jump": "jump to a place that is not code",
    "interrupted": "interrupted",
}
_WINDOWS = {0x70: "shared memory", 0x71: "local memory", 0x72: "constant memory", 0x73: "kernel parameters"}


def coordinates(index: int, size: Dim3) -> Dim3:
    return index % size[0], index // size[0] % size[1], index // size[0] // size[1]


def plain_name(symbol: str) -> str:
    """The name as it stands in the source: `_ZZ6kernelE4tile` and `_ZN2ns4tileE` are `tile`."""
    if not symbol.startswith("_Z"):
        return symbol
    rest, name = symbol.rstrip("E"), symbol
    for found in re.finditer(r"(?=(\d+)([A-Za-z_]))", rest):
        length, start = int(found[1]), found.start() + len(found[1])
        if start + length == len(rest):
            name = rest[start:]
    return name


def kernel_name(symbol: str) -> str:
    """A kernel's name as it stands in the source: `_Z5saxpyifPKfPf` is `saxpy`, `_ZN2ns1kEv` is `k`."""
    rest, name = symbol.removeprefix("_ZN").removeprefix("_Z"), symbol
    while symbol.startswith("_Z") and (found := re.match(r"(\d+)", rest)):
        length, start = int(found[1]), found.end()
        name, rest = rest[start : start + length], rest[start + length :]
        if not symbol.startswith("_ZN"):
            break
    return name or symbol


def _in_array(kind: str, name: str, offset: int, size: int) -> str:
    where = f"byte {offset} of {kind} {name!r} ({size} bytes)"
    if offset >= size:
        return f"{where}, {offset - size + 1} past its end"
    return f"{where}, {-offset} past its start" if offset < 0 else where


@dataclass(frozen=True)
class FaultReport:
    """All that a launch knows of its program, to name faults with."""

    program: Program
    memory: GlobalMemory
    grid: Dim3
    block: Dim3
    dynamic_shared_bytes: int
    source: list[str]

    def fault(self, raw: FaultRecord) -> Fault:
        pc, kind = raw["pc"], raw["kind"]
        line = self._line(pc)
        is_access = raw["address"] or raw["size"]  # address 0 is a null pointer
        array, where = self._place(raw["address"]) if is_access else (None, "")
        what = f"{raw['size']} bytes at {where}" if where and raw["size"] else where
        parts = [SAYS.get(kind, kind), *self._cause(raw, what)]
        return Fault(
            kind=kind,
            message="; ".join(part for part in parts if part),
            line=line,
            line_text=self.source[line - 1].strip() if line and line <= len(self.source) else None,
            thread=coordinates(raw["thread"], self.block),
            block=coordinates(raw["block"], self.grid),
            address=raw["address"] or None,
            array=array,
            instruction=self.program.texts[pc] if pc >= 0 else None,
            count=raw["count"],
        )

    def _line(self, pc: int) -> int | None:
        return int(self.program.lines[pc]) or None if pc >= 0 else None

    def _other(self, raw: FaultRecord) -> str:
        who = f"thread {coordinates(raw['other_thread'], self.block)}"
        if raw["other_block"] != raw["block"]:
            who += f" of block {coordinates(raw['other_block'], self.grid)}"
        return who

    def _cause(self, raw: FaultRecord, what: str) -> list[str]:
        """What is said beside the kind, by what is known of the cause."""
        at, seen = self._line(raw["other_pc"]), self._line(raw["seen_pc"])
        text = raw["text"].decode(errors="replace")
        match raw["why"]:
            case "skipped":
                waits = f" and waits at line {seen}" if seen else ""
                return [f"{self._other(raw)} goes past it at line {at}{waits}"]
            case "elsewhere":
                return [f"{self._other(raw)} waits at line {at} instead"]
            case "returned":
                said = f"threads returned before it, such as {self._other(raw)} at line {at}"
                return [said, f"line {seen} then touches what they should have written or waited for: {what}"]
            case "loops":
                return [f"it went round about {raw['rounds']:,} times"]
            case "polls":
                said = f"it waits at line {seen} for a value that no running block writes"
                return [said, f"it asked about {raw['rounds']:,} times"]
            case "used" if raw["kind"] == "shuffle_outside_mask":
                said = f"it reads {self._other(raw)}, which is not in the mask or does not run this instruction"
                return [said, f"line {seen} stores what comes of it"]
            case "used":
                return [what, f"line {seen} stores what comes of it"]
            case _ if raw["other_pc"] >= 0:
                return [what, text, f"the other access: {self._other(raw)} at line {at}"]
            case _:
                return [what, text]

    def _place(self, address: int) -> tuple[str | None, str]:
        """The array an address belongs to, and words for where in it."""
        window = _WINDOWS.get(address >> 40)
        offset = address & 0xFF_FFFF_FFFF
        if window == "shared memory":
            return self._shared_place(address - SHARED_WINDOW)
        if window is not None:
            return window, f"byte {offset} of {window}"
        found = self.memory.describe(address)
        if found is None:
            return None, f"address {address:#x}, near no array" if address else "a null pointer"
        name = plain_name(found[0])
        return name, _in_array("array", name, found[1], found[2])

    def _shared_place(self, address: int) -> tuple[str, str]:
        """The array that the address names or, without a name, the one that lies there."""
        named = address >= SHARED_SLOT // 2
        for s in (s for s in self.program.symbols if s.space is Space.SHARED):
            size = s.size or self.dynamic_shared_bytes
            offset = address - (s.offset if named else s.start)
            margin = SHARED_SLOT // 2 if named else 0
            if -margin <= offset < size + margin:
                name = plain_name(s.name)
                return name, _in_array("shared array", name, offset, size)
        return "shared memory", f"byte {address} of shared memory"
