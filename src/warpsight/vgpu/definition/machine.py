"""Which lanes run next: the warp loop.

The group of lanes with the lowest counter runs until it meets, splits, waits or ends; warps of a block take turns in
order; barriers open after each round. Results of race-free programs do not depend on any of this; the order of
atomics, printf and spinning does, so it is fixed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warpsight.errors import UnsupportedInstruction
from warpsight.vgpu.bytecode import Flag
from warpsight.vgpu.definition import operations
from warpsight.vgpu.definition.control import JUMPS
from warpsight.vgpu.definition.lanes import Ins, lanes_of, mask_of
from warpsight.vgpu.definition.state import ACTIONS, Block, Warp
from warpsight.vgpu.definition.waiting import (
    MEMBER_MASK,
    arrive,
    arrive_at_barrier,
    lanes_ended,
    release_barriers,
    report_stuck,
)

QUANTUM = 1 << 16
"""Instructions of one warp before another gets its turn."""
PATIENCE = 4096
"""Instructions of a spinning group of lanes while others of its warp could run."""
NOWHERE = 1 << 62


@dataclass
class Group:
    """Lanes that run together from `pc`; they stop before `limit`, where others of the warp are."""

    lanes: int
    pc: int
    limit: int
    has_others: bool
    stay: int = 0
    spins: bool = False


def choose(w: Warp, held: int) -> Group:
    """The lanes with the lowest counter; lanes of `held` had a long stay and give way once."""
    pool = w.ready & ~held or w.ready
    counters = {lane: w.pc[lane] for lane in lanes_of(pool)}
    lowest = min(counters.values())
    lanes = sum(1 << lane for lane, pc in counters.items() if pc == lowest)
    limit = min((pc for pc in counters.values() if pc != lowest), default=NOWHERE)
    return Group(lanes, lowest, limit, bool(w.ready & ~lanes))


def _set_pc(w: Warp, lanes: int, pc: int) -> None:
    for lane in lanes_of(lanes):
        w.pc[lane] = pc


class Turn:
    """One turn of a warp: at most QUANTUM instructions, until nothing in it can run."""

    def __init__(self, w: Warp) -> None:
        self.w = w
        self.left = QUANTUM
        self.held = 0

    def run(self) -> None:
        while self.w.ready:
            group = choose(self.w, self.held)
            self.held = 0
            if not self._run_group(group):
                return

    def _run_group(self, g: Group) -> bool:
        """Run a group until the warp must choose again; False when the turn is over."""
        while g.pc < g.limit:
            g.stay += g.has_others
            if g.stay > PATIENCE and g.spins:
                self.held = g.lanes
                break
            self.left -= 1
            if self.left == 0:
                _set_pc(self.w, g.lanes, g.pc)
                return False
            if not self._execute(g):
                return True
        _set_pc(self.w, g.lanes, g.pc)
        return True

    def _execute(self, g: Group) -> bool:
        """One instruction; True when the group goes on as it is, at g.pc."""
        w = self.w
        w.now = g.pc
        if g.pc >= len(w.launch.code):
            return _end(w, g.lanes)
        x = w.launch.code[g.pc]
        on = g.lanes & mask_of(w.registers.predicate(x.guard)) if x.guard else g.lanes
        w.issue(lanes_of(g.lanes)[0])
        if on and x.op in MEMBER_MASK:
            return _meet(w, x, g, on)
        w.launch.count(x, g.pc, g.lanes, on)
        if on and x.op == "BRA":
            w.note_jump(x.target)
            return _branch(w, x, g, on)
        if on and x.op in ("EXIT", "BAR", *JUMPS):
            return _leave(w, x, g, on)
        g.pc += 1
        if x.op == "NANOSLEEP":
            return self._sleep(g)
        if on:
            g.spins = g.spins or x.op == "ATOM" or bool(x.flags & Flag.VOLATILE)
            w.active, w.spins = g.lanes, g.spins
            perform(w, x, on)
        return True

    def _sleep(self, g: Group) -> bool:
        """Let others run: other lanes of the warp if there are any, else other warps."""
        if not g.has_others:
            self.left = 1
            return True
        self.held = g.lanes
        _set_pc(self.w, g.lanes, g.pc)
        return False


def _meet(w: Warp, x: Ins, g: Group, on: int) -> bool:
    _set_pc(w, g.lanes & ~on, g.pc + 1)
    together = arrive(w, x, g.lanes, on)
    g.pc += 1
    return together == g.lanes


def _branch(w: Warp, x: Ins, g: Group, on: int) -> bool:
    if on == g.lanes:
        g.pc = x.target
        return True
    _set_pc(w, g.lanes & ~on, g.pc + 1)
    _set_pc(w, on, x.target)
    return False


def _leave(w: Warp, x: Ins, g: Group, on: int) -> bool:
    """Lanes of `on` leave the group: they end, wait at a barrier, or jump each for itself."""
    _set_pc(w, g.lanes, g.pc + 1)
    if x.op == "EXIT":
        return _end(w, on)
    if x.op == "BAR":
        arrive_at_barrier(w, x, on)
    else:
        JUMPS[x.op](w, x, on)
    return False


def _end(w: Warp, lanes: int) -> bool:
    w.alive &= ~lanes
    lanes_ended(w)
    return False


def perform(w: Warp, x: Ins, mask: int) -> None:
    """Do an operation that neither jumps nor waits, for the lanes of mask."""
    if x.op in ACTIONS:
        ACTIONS[x.op](w, x, mask)
    elif operations.find(x) is not None:
        operations.evaluate(x, w.registers, mask)
    elif x.op not in ("NOP", "FENCE"):
        raise UnsupportedInstruction(f"{x.op} on {x.ta.name}")


def run_block(block: Block) -> None:
    """Run every thread of a block to its end."""
    # Infinities and NaNs are results here, not accidents: NumPy need not warn of them.
    with np.errstate(all="ignore"):
        while block.alive:
            moved = _run_round(block)
            if block.alive and not release_barriers(block) and not moved:
                report_stuck(block)


def _run_round(block: Block) -> bool:
    """One turn for every warp that can run; True when there was one."""
    ready = [w for w in block.warps if w.ready]
    for w in ready:
        Turn(w).run()
    return bool(ready)
