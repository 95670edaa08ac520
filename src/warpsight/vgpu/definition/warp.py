"""Operations between the lanes of a warp, and special registers. They run when every lane of the member mask has
arrived (machine.py).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import numpy as np

from warpsight.vgpu.bytecode import SPECIALS, T
from warpsight.vgpu.definition.lanes import LANE_INDEX, LANES, SIGNED_TYPES, UNSIGNED, Ins, Lanes, lanes_of
from warpsight.vgpu.definition.state import Warp, action

SM_COUNT = 108
TICK = np.uint64(64)


def _same(value: int) -> Lanes:
    return np.full(LANES, value & 0xFFFFFFFF, np.uint32)


def _truth(value: bool) -> Lanes:
    return np.full(LANES, value, np.bool_)


def _shuffle_source(kind: int, lane: int, b: int, c: int) -> tuple[int, bool]:
    """PTX's table: which lane is read, and whether it was in range (else the lane reads itself)."""
    amount, clamp, segment = b & 31, c & 31, c >> 8 & 31
    lowest = lane & segment
    highest = lowest | clamp & ~segment
    source = (lane - amount, lane + amount, lane ^ amount, lowest | amount & ~segment)[kind]
    in_range = source >= highest if kind == 0 else source <= highest
    return (source if in_range else lane), in_range


@action("SHFL")
def shuffle(w: Warp, x: Ins, mask: int) -> None:
    a, b, c = (w.registers.row(r) for r in (x.a, x.b, x.c))
    picks = [_shuffle_source(x.sub, lane, int(b[lane]), int(c[lane])) for lane in range(LANES)]
    values = a[[source for source, _ in picks]]
    w.registers.put(x.d0, values, mask)
    w.registers.put_predicate(x.d1, np.array([ok for _, ok in picks]), mask)


@action("VOTE")
def vote(w: Warp, x: Ins, mask: int) -> None:
    members = lanes_of(mask)
    votes = [bool(w.registers.predicate(x.a)[lane]) for lane in members]
    if x.sub == 3:
        w.registers.put(x.d0, _same(sum(1 << lane for lane, v in zip(members, votes, strict=True) if v)), mask)
    else:
        w.registers.put_predicate(x.d1, _truth((all(votes), any(votes), len(set(votes)) == 1)[x.sub]), mask)


@action("MATCH")
def match(w: Warp, x: Ins, mask: int) -> None:
    members = lanes_of(mask)
    values = w.registers.value(x.a, x.ta)
    equal = [sum(1 << other for other in members if values[other] == values[lane]) for lane in range(LANES)]
    if x.sub == 0:
        w.registers.put(x.d0, np.array(equal, np.uint32), mask)
        return
    all_equal = equal[members[0]] == mask
    w.registers.put(x.d0, _same(mask if all_equal else 0), mask)
    w.registers.put_predicate(x.d1, _truth(all_equal), mask)


@action("REDUX")
def reduce_members(w: Warp, x: Ins, mask: int) -> None:
    values = w.registers.value(x.a, T.S32 if x.ta in SIGNED_TYPES else T.U32)
    combine: tuple[Callable[[int, int], int], ...] = (
        lambda p, q: p + q,
        min,
        max,
        lambda p, q: p & q,
        lambda p, q: p | q,
        lambda p, q: p ^ q,
    )
    w.registers.put(x.d0, _same(reduce(combine[x.sub], (int(values[lane]) for lane in lanes_of(mask)))), mask)


@action("ELECT")
def elect(w: Warp, x: Ins, mask: int) -> None:
    leader = lanes_of(mask)[0]
    w.registers.put(x.d0, _same(leader), mask)
    w.registers.put_predicate(x.d1, np.equal(LANE_INDEX, leader), mask)


@action("ACTIVEMASK")
def active_mask(w: Warp, x: Ins, mask: int) -> None:
    w.registers.put(x.d0, _same(w.active), mask)


def _thread_index(w: Warp, axis: int) -> Lanes:
    bx, by, bz = w.launch.block
    linear = w.number * LANES + LANE_INDEX
    return (linear % bx, linear // bx % by, linear // (bx * by) % bz)[axis].astype(np.uint32)


def _lane_mask(name: str) -> Lanes:
    below = (1 << LANE_INDEX.astype(object)) - 1
    own = 1 << LANE_INDEX.astype(object)
    everyone = 0xFFFFFFFF
    masks = {"eq": own, "lt": below, "le": below | own, "ge": everyone & ~below, "gt": everyone & ~(below | own)}
    return masks[name].astype(np.uint32)


def next_tick(w: Warp, mask: int) -> Lanes:
    """A clock goes on each time a lane looks at it, and by nothing else: PTX and machine code see the same."""
    w.clock_reads += np.array([mask >> lane & 1 for lane in range(LANES)], np.uint64)
    return w.clock_reads * TICK


def special_register(w: Warp, number: int, mask: int) -> Lanes:
    name = SPECIALS[number]
    dimensions = {"ntid": w.launch.block, "ctaid": w.block.index, "nctaid": w.launch.grid}
    base, _, axis = name.partition(".")
    if base == "tid":
        return _thread_index(w, "xyz".index(axis))
    if base in dimensions:
        return _same(dimensions[base]["xyz".index(axis)])
    if name.startswith("lanemask_"):
        return _lane_mask(name.removeprefix("lanemask_"))
    if name == "laneid":
        return LANE_INDEX.astype(np.uint32)
    if name in ("clock", "globaltimer_lo"):
        return next_tick(w, mask).astype(np.uint32)
    if name in ("clock_hi", "globaltimer_hi"):
        return (w.clock_reads * TICK >> np.uint64(32)).astype(np.uint32)
    return _same(
        {
            "warpid": w.number,
            "nwarpid": len(w.block.warps),
            "smid": w.block.number % SM_COUNT,
            "nsmid": SM_COUNT,
            "gridid": 0,
            "dynamic_smem_size": w.launch.dynamic_shared,
            "total_smem_size": w.launch.shared_bytes,
            "envreg0": 0,
        }[name]
    )


@action("S2R")
def read_special(w: Warp, x: Ins, mask: int) -> None:
    w.registers.put(x.d0, special_register(w, x.sub, mask), mask)


@action("CLOCK")
def read_clock(w: Warp, x: Ins, mask: int) -> None:
    size = 8 if x.ta in (T.B64, T.U64, T.S64) else 4
    w.registers.put(x.d0, next_tick(w, mask).astype(UNSIGNED[size]), mask)
