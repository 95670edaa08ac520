"""Which instructions may write an array, and what a launch left unwritten.

Pointers are followed from the kernel's parameters through address arithmetic. Not followed: pointers that come out of
memory. Only asked when something is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warpsight.vgpu import counters
from warpsight.vgpu.bytecode import OP_NAMES, OPS, Program, Space
from warpsight.vgpu.flow import END, flow_of

State = dict[int, int]
"""Of each row the parameters that its value was made from, one bit each."""

_WRITES = {OPS[name].number for name in ("ST", "ATOM", "WMMAST")}


@dataclass(frozen=True)
class StoreSite:
    """An instruction that writes, or should have written, an array: its source line, and the threads it ran for."""

    line: int | None
    ran: int


@dataclass(frozen=True)
class Unwritten:
    """What a launch left of an array that it should have filled, in bytes."""

    array: str
    size: int
    missing: int
    first: int
    stores: tuple[StoreSite, ...]
    threads: int

    @property
    def line(self) -> int | None:
        return next((store.line for store in self.stores if store.line is not None), None)

    def why(self, elements: int) -> str:
        """In words: who writes the array, how often, and whether the launch has enough threads for its elements."""
        if not self.stores:
            return f"no store of the kernel is known to write {self.array}"
        said = "; ".join(f"line {s.line} writes it, and {_ran(s.ran, self.threads)}" for s in self.stores[:3])
        most = sum(store.ran for store in self.stores)
        if self.threads < elements and 0 < most <= self.threads:
            said += f"; the launch has {self.threads} threads for {elements} elements"
        return said


def _ran(ran: int, threads: int) -> str:
    if ran == 0:
        return "never ran: its condition was false for every thread"
    return f"ran {ran} times" if ran > threads else f"ran for {ran} of {threads} threads"


def find_stores(
    program: Program, counts: NDArray[np.uint64], param: int | None, writers: Sequence[int]
) -> tuple[StoreSite, ...]:
    """The stores to the array that parameter number `param` points to, by line; `writers` are known to have written."""
    may = stores_to(program, param) if param is not None else []
    ran = counts[:, counters.INDEX["threads_on"]]
    by_line: dict[int, int] = {}
    for pc in sorted({*may, *writers}):
        line = int(program.lines[pc])
        by_line[line] = by_line.get(line, 0) + int(ran[pc])
    return tuple(StoreSite(line or None, n) for line, n in by_line.items())


def stores_to(program: Program, param: int) -> list[int]:
    """The instructions whose address was made from a parameter."""
    flow = flow_of(program)
    arriving: dict[int, State] = {0: {}}
    found, work = set[int](), [0]
    while work:
        start = work.pop()
        state = dict(arriving[start])
        for pc in range(start, flow.last[start] + 1):
            if int(program.code[pc]["op"]) in _WRITES and state.get(int(program.code[pc]["a"]), 0) >> param & 1:
                found.add(pc)
            _follow(program, pc, state)
        for follower in {*flow.following[start], *flow.calls[start]} - {END}:
            known = arriving.get(follower)
            merged = state if known is None else {r: state.get(r, 0) | known.get(r, 0) for r in {*state, *known}}
            if merged != known:
                arriving[follower] = merged
                work.append(follower)
    return sorted(found)


def _follow(program: Program, pc: int, state: State) -> None:
    """What the rows that an instruction writes were made from."""
    x = program.code[pc]
    results, sources = OPS[OP_NAMES[int(x["op"])]].signature.split("=")
    if results.startswith("L"):
        is_param = x["op"] == OPS["LD"].number and x["sub"] == Space.PARAM
        at = int(x["imm"])
        made = sum(1 << i for i, p in enumerate(program.params) if is_param and p.offset <= at < p.offset + p.size)
        for row in program.lists[int(x["list"]) : int(x["list"]) + int(x["vec"])].tolist():
            state[row] = made
    elif results[:1] in ("R", "U", "S", "D") and x["d0"] >= 0:
        rows = [letter for letter in sources if letter not in "L-"]
        names = [name for name, letter in zip("abce", rows, strict=False) if letter != "P"]
        made = 0
        for name in names if x["op"] != OPS["ATOM"].number else ():
            made |= state.get(int(x[name]), 0)
        state[int(x["d0"])] = made
