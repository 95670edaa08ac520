"""Which lanes run next, and every operation that moves a program counter or waits.

The group of lanes with the lowest counter runs until it meets, splits, waits or ends; warps of a block take turns in
order; barriers open after each round. Results of race-free programs do not depend on any of this; the order of
atomics, printf and spinning does, so it is fixed.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from warpsight.errors import UnsupportedInstruction
from warpsight.vgpu.bytecode import FUNCTION_WINDOW, LOCAL_WINDOW, Flag
from warpsight.vgpu.definition import operations
from warpsight.vgpu.definition.lanes import LANES, Ins, bools_of, lanes_of, mask_of
from warpsight.vgpu.definition.state import ACTIONS, Block, Warp, action

QUANTUM = 1 << 16
PATIENCE = 4096
MEMBER_MASK = {"SHFL": "e", "VOTE": "b", "MATCH": "b", "REDUX": "b", "ELECT": "a", "WARPBAR": "a"}
NOWHERE = 1 << 62


class Next(Enum):
    """What a group does after an instruction: go on in place, or let the warp choose again."""

    ON, CHOOSE = range(2)


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
        w = self.w
        while g.pc < g.limit:
            g.stay += g.has_others
            if g.stay > PATIENCE and g.spins:
                self.held = g.lanes
                break
            self.left -= 1
            if self.left == 0:
                _set_pc(w, g.lanes, g.pc)
                return False
            if self._execute(g) == Next.CHOOSE:
                return True
        _set_pc(w, g.lanes, g.pc)
        return True

    def _execute(self, g: Group) -> Next:
        w, code = self.w, self.w.launch.code
        w.now = g.pc
        if g.pc >= len(code):
            return _end_lanes(w, g.lanes)
        x = code[g.pc]
        on = g.lanes & mask_of(w.registers.predicate(x.guard)) if x.guard else g.lanes
        if x.op in MEMBER_MASK and on:
            return _meet(w, x, g, on)
        _count(w, x, g.pc, g.lanes, on)
        g.spins = g.spins or x.op == "ATOM" or bool(x.flags & Flag.VOLATILE)
        if x.op in _JUMPS and on:
            _set_pc(w, g.lanes, g.pc + 1)
            return _JUMPS[x.op](w, x, g, on)
        if x.op == "NANOSLEEP":
            return self._sleep(g)
        w.active = g.lanes
        if on:
            perform(w, x, on)
        g.pc += 1
        return Next.ON

    def _sleep(self, g: Group) -> Next:
        g.pc += 1
        if g.has_others:
            self.held = g.lanes
            _set_pc(self.w, g.lanes, g.pc)
            return Next.CHOOSE
        self.left = 1
        return Next.ON


def perform(w: Warp, x: Ins, mask: int) -> None:
    """Do an operation that neither jumps nor waits, for the lanes of mask."""
    if x.op in ACTIONS:
        ACTIONS[x.op](w, x, mask)
    elif operations.find(x) is not None:
        operations.evaluate(x, w.registers, mask)
    elif x.op not in ("NOP", "FENCE", *_JUMPS):
        raise UnsupportedInstruction(f"{x.op} on {x.ta.name}")


def _count(w: Warp, x: Ins, pc: int, lanes: int, on: int) -> None:
    launch = w.launch
    launch.executed += 1
    w.executed += 1
    if launch.executed > launch.max_instructions:
        w.fail("endless_loop", lanes_of(lanes)[0])
    if not x.flags & Flag.HIDDEN:
        launch.warps[pc] += 1
        launch.threads[pc] += lanes.bit_count()
        launch.threads_on[pc] += on.bit_count()


def _branch(w: Warp, x: Ins, g: Group, on: int) -> Next:
    if on == g.lanes:
        g.pc = x.target
        return Next.ON
    _set_pc(w, on, x.target)
    return Next.CHOOSE


def _exit(w: Warp, x: Ins, g: Group, on: int) -> Next:
    return _end_lanes(w, on)


def _end_lanes(w: Warp, lanes: int) -> Next:
    w.alive &= ~lanes
    _run_complete_meetings(w)
    return Next.CHOOSE


def _jump_table(w: Warp, x: Ins, g: Group, on: int) -> Next:
    for lane in lanes_of(on):
        entry = int(w.registers.row(x.a)[lane])
        if entry >= x.target:
            w.fail("bad_jump", lane)
        w.pc[lane] = int(w.launch.program.tables[x.imm + entry])
    return Next.CHOOSE


def _call(w: Warp, x: Ins, g: Group, on: int) -> Next:
    targets = [x.target] * LANES if x.op == "CALL" else w.registers.pair(x.a).tolist()
    for lane in lanes_of(on):
        target = targets[lane]
        if x.op == "CALLX":
            index = (target - FUNCTION_WINDOW) // 16
            if not 0 <= index < len(w.launch.program.functions):
                w.fail("bad_jump", lane)
            target = w.launch.program.functions[index]
        w.pc[lane] = target
        w.registers.rows[x.d0][lane] = g.pc + 1
        w.registers.rows[x.d0 + 1][lane] = w.frame[lane]
        w.frame[lane] += x.imm
        if w.frame[lane] > len(w.local[lane]):
            w.fail("stack_overflow", lane, LOCAL_WINDOW + w.frame[lane])
    return Next.CHOOSE


def _return(w: Warp, x: Ins, g: Group, on: int) -> Next:
    links, frames = w.registers.row(x.a).tolist(), w.registers.high_row(x.a).tolist()
    for lane in lanes_of(on):
        if links[lane] >= len(w.launch.code):
            w.fail("bad_jump", lane)
        w.pc[lane], w.frame[lane] = links[lane], frames[lane]
    return Next.CHOOSE


def _barrier(w: Warp, x: Ins, g: Group, on: int) -> Next:
    """Lanes arrive together: the lowest one's operands name the barrier and its count."""
    first = lanes_of(on)[0]
    number = int(w.registers.row(x.a)[first]) & 15
    barrier = w.block.barriers[number]
    barrier.expected = int(w.registers.row(x.b)[first])
    barrier.arrived += on.bit_count()
    barrier.votes += w.registers.predicate(x.c)[bools_of(on)].tolist() if x.sub >= 2 else []
    if x.sub != 1:
        w.at_barrier |= on
        for lane in lanes_of(on):
            w.pc[lane], w.barrier_id[lane] = g.pc, number
    return Next.CHOOSE


_JUMPS = {
    "BRA": _branch, "EXIT": _exit, "BRX": _jump_table, "CALL": _call, "CALLX": _call, "RET": _return, "BAR": _barrier,
}  # fmt: skip


def _meeting(w: Warp, lane: int) -> int:
    """The waiting lanes that run together with this one: same mask, same instruction (any warp barrier for a warp
    barrier).
    """
    code = w.launch.code
    place = code[w.pc[lane]].op if code[w.pc[lane]].op == "WARPBAR" else w.pc[lane]
    return sum(
        1 << other
        for other in lanes_of(w.at_sync)
        if w.sync_mask[other] == w.sync_mask[lane] and place in (w.pc[other], code[w.pc[other]].op)
    )


def _meet(w: Warp, x: Ins, g: Group, on: int) -> Next:
    """Lanes arrive at an operation of several lanes; it runs, once, when every living lane of the member mask is
    there.
    """
    _set_pc(w, g.lanes & ~on, g.pc + 1)
    masks = w.registers.row(getattr(x, MEMBER_MASK[x.op])).tolist()
    for lane in lanes_of(on):
        if not masks[lane] >> lane & 1:
            w.fail("warp_sync_divergence", lane, text="the lane is not in its own member mask")
        w.sync_mask[lane], w.pc[lane] = masks[lane], g.pc
    w.at_sync |= on
    together = _meeting(w, lanes_of(on)[0])
    if masks[lanes_of(on)[0]] & w.alive & ~together:
        return Next.CHOOSE
    _run_meeting(w, together, g.lanes | together)
    if together == g.lanes:
        g.pc += 1
        return Next.ON
    return Next.CHOOSE


def _run_meeting(w: Warp, together: int, counted: int) -> None:
    first = lanes_of(together)[0]
    pc = w.pc[first]
    x = w.launch.code[pc]
    w.at_sync &= ~together
    w.now = pc
    _count(w, x, pc, counted, together)
    if x.op in ACTIONS:
        ACTIONS[x.op](w, x, together)
    for lane in lanes_of(together):
        w.pc[lane] += 1


def _run_complete_meetings(w: Warp) -> None:
    """After lanes have ended: those who waited only for them go on, the lowest instruction first."""
    for lane in sorted(lanes_of(w.at_sync), key=lambda at: w.pc[at]):
        together = _meeting(w, lane) if w.at_sync >> lane & 1 else 0
        if together and not w.sync_mask[lane] & w.alive & ~together:
            _run_meeting(w, together, together)


def _release_barriers(block: Block) -> bool:
    released = False
    for number, barrier in enumerate(block.barriers):
        if barrier.arrived == 0 or barrier.arrived < (barrier.expected or block.alive):
            continue
        released = True
        for w in block.warps:
            for lane in lanes_of(w.at_barrier):
                if w.barrier_id[lane] == number:
                    _leave_barrier(w, lane, barrier.votes)
        barrier.arrived, barrier.votes = 0, []
    return released


def _leave_barrier(w: Warp, lane: int, votes: list[bool]) -> None:
    x = w.launch.code[w.pc[lane]]
    w.pc[lane] += 1
    w.at_barrier &= ~(1 << lane)
    if x.sub == 2:
        w.registers.put(x.d0, np.full(LANES, sum(votes), np.uint32), 1 << lane)
    elif x.sub > 2:
        w.registers.put_predicate(x.d1, np.full(LANES, all(votes) if x.sub == 3 else any(votes)), 1 << lane)


def run_block(block: Block) -> None:
    """Run every thread of a block to its end."""
    while block.alive:
        moved = False
        for w in block.warps:
            if w.ready:
                moved = True
                Turn(w).run()
        if block.alive and not _release_barriers(block) and not moved:
            _report_stuck(block)


def _report_stuck(block: Block) -> None:
    for w in block.warps:
        for lane in lanes_of(w.at_sync):
            w.now = w.pc[lane]
            w.fail("warp_sync_divergence", lane, text="a lane of its member mask never arrives")
    for w in block.warps:
        for lane in lanes_of(w.at_barrier):
            w.now = w.pc[lane]
            w.fail("deadlock", lane, text="a barrier that not enough threads reach")


def _frame_rows(w: Warp, x: Ins, lane: int) -> tuple[list[int], int]:
    """Rows that PUSH and POP move, and where they lie in the lane's local memory."""
    rows = w.list_rows(x, x.target if x.target > 0 else x.vec)
    at = w.frame[lane] + x.imm
    if at < 0 or at + 4 * len(rows) > len(w.local[lane]):
        w.fail("stack_overflow", lane, LOCAL_WINDOW + at)
    return rows, at


@action("PUSH")
def push(w: Warp, x: Ins, mask: int) -> None:
    for lane in lanes_of(mask):
        rows, at = _frame_rows(w, x, lane)
        w.local[lane][at : at + 4 * len(rows)] = np.array([w.registers.row(r)[lane] for r in rows], "<u4").tobytes()


@action("POP")
def pop(w: Warp, x: Ins, mask: int) -> None:
    for lane in lanes_of(mask):
        rows, at = _frame_rows(w, x, lane)
        for row, value in zip(rows, np.frombuffer(bytes(w.local[lane][at : at + 4 * len(rows)]), "<u4"), strict=True):
            w.registers.rows[row][lane] = value


@action("LEAFP")
def frame_address(w: Warp, x: Ins, mask: int) -> None:
    w.registers.put(x.d0, np.array([f + x.imm for f in w.frame], np.int64).view(np.uint64), mask)
