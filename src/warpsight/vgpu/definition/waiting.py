"""Who waits for whom: lanes of a warp that must run an operation together, and threads of a block at a barrier.

An operation of several lanes runs once, when every lane of its member mask that has not ended is there. Must stay
true: a wait ends as soon as nobody it waits for is missing, also when the missing ones end instead of arriving.
"""

from __future__ import annotations

import numpy as np

from warpsight.vgpu.bytecode import NONE
from warpsight.vgpu.definition.lanes import LANES, Ins, bools_of, lanes_of
from warpsight.vgpu.definition.state import ACTIONS, Block, Warp

MEMBER_MASK = {"SHFL": "e", "VOTE": "b", "MATCH": "b", "REDUX": "b", "ELECT": "a", "WARPBAR": "a"}
"""The operand that names the lanes an operation waits for."""


def arrive(w: Warp, x: Ins, lanes: int, on: int) -> int:
    """The lanes of `on` come to the operation at w.now; the lanes it ran for, 0 when all still miss somebody.

    Lanes that come together may have different masks (tiles of a warp): each set runs when it is complete.
    """
    masks = w.registers.row(getattr(x, MEMBER_MASK[x.op])).tolist()
    for lane in lanes_of(on):
        if not masks[lane] >> lane & 1:
            w.fail("warp_sync_divergence", lane, text="the lane is not in its own member mask")
        w.sync_mask[lane], w.pc[lane] = masks[lane], w.now
    w.at_sync |= on
    done = 0
    for lane in lanes_of(on):
        together = _companions(w, lane) if not done >> lane & 1 else 0
        if together and not masks[lane] & w.alive & ~together:
            _run_together(w, together)
            done |= together
    if done:
        w.launch.count(x, w.now, lanes & ~on | done, done)
    return done


def _companions(w: Warp, lane: int) -> int:
    """Waiting lanes that run with this one: same mask, same instruction (for a warp barrier: any warp barrier)."""
    code = w.launch.code
    place = "WARPBAR" if code[w.pc[lane]].op == "WARPBAR" else w.pc[lane]
    return sum(
        1 << other
        for other in lanes_of(w.at_sync)
        if w.sync_mask[other] == w.sync_mask[lane] and place in (w.pc[other], code[w.pc[other]].op)
    )


def _run_together(w: Warp, together: int) -> None:
    x = w.launch.code[w.now]
    w.at_sync &= ~together
    if x.op in ACTIONS:
        ACTIONS[x.op](w, x, together)
    for lane in lanes_of(together):
        w.pc[lane] += 1


def lanes_ended(w: Warp) -> None:
    """After lanes have ended: those who waited only for them go on, the lowest instruction first."""
    for lane in sorted(lanes_of(w.at_sync), key=lambda at: w.pc[at]):
        together = _companions(w, lane) if w.at_sync >> lane & 1 else 0
        if together and not w.sync_mask[lane] & w.alive & ~together:
            w.now = w.pc[lane]
            _run_together(w, together)
            w.launch.count(w.launch.code[w.now], w.now, together, together)


def arrive_at_barrier(w: Warp, x: Ins, on: int) -> None:
    """Lanes arrive together: the lowest one's operands name the barrier and its count of threads (0: all that live)."""
    first = lanes_of(on)[0]
    number = int(w.registers.row(x.a)[first]) & 15
    barrier = w.block.barriers[number]
    barrier.expected = 0 if x.b == NONE else int(w.registers.row(x.b)[first])
    barrier.arrived += on.bit_count()
    barrier.votes += w.registers.predicate(x.c)[bools_of(on)].tolist() if x.sub >= 2 else []
    if x.sub != 1:
        w.at_barrier |= on
        for lane in lanes_of(on):
            w.pc[lane], w.barrier_id[lane] = w.now, number


def release_barriers(block: Block) -> bool:
    """Open every barrier that enough threads have reached; True when one opened."""
    released = False
    for number, barrier in enumerate(block.barriers):
        all_of_block = barrier.expected in (0, block.launch.block_threads)  # then those who have ended count as arrived
        if barrier.arrived == 0 or barrier.arrived < (block.alive if all_of_block else barrier.expected):
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


def report_stuck(block: Block) -> None:
    """Nobody can go on: name the first who waits, lanes of a warp before threads at a barrier."""
    for w in block.warps:
        for lane in lanes_of(w.at_sync):
            w.now = w.pc[lane]
            w.fail("warp_sync_divergence", lane, text="a lane of its member mask never arrives")
    for w in block.warps:
        for lane in lanes_of(w.at_barrier):
            w.now = w.pc[lane]
            w.fail("deadlock", lane, text="a barrier that not enough threads reach")
