"""Operations that only machine code has: sums and products with carries, halves of 64-bit comparisons and shifts, warp
operations among the lanes that happen to run together, convergence masks.
"""

from __future__ import annotations

import numpy as np

from warpsight.vgpu.definition import warp
from warpsight.vgpu.definition.lanes import LANES, SIGNED_TYPES, Ins, Lanes, exact, lanes_of, mask_of
from warpsight.vgpu.definition.operations import lanewise, operation
from warpsight.vgpu.definition.state import Warp, action

WORD, PAIR = (1 << 32) - 1, (1 << 64) - 1


@action("ADD3")
def add_three(w: Warp, x: Ins, mask: int) -> None:
    registers = w.registers
    rows = [exact(registers.row(r)) ^ (WORD if x.imm >> i & 1 else 0) for i, r in enumerate((x.a, x.b, x.c))]
    carries = [registers.predicate(p).astype(object) * 1 for p in (x.e, x.target)]
    total: Lanes = rows[0] + rows[1] + rows[2] + (x.imm >> 4 & 3) + carries[0] + carries[1]
    registers.put(x.d0, (total & WORD).astype(np.uint32), mask)
    registers.put_predicate(x.d1, (total >> 32 >= 1).astype(np.bool_), mask)
    registers.put_predicate(x.vec, (total >> 32 >= 2).astype(np.bool_), mask)


@operation("WMAD")
def multiply_add_wide(x: Ins, a: Lanes, b: Lanes, c: Lanes, e: Lanes) -> tuple[Lanes, Lanes]:
    signed = x.ta in SIGNED_TYPES
    left, right = (exact(v.view(np.int32) if signed else v) for v in (a, b))
    total = (left * right & PAIR) + exact(c) + e.astype(object) * 1
    value = (total & PAIR).astype(np.uint64)
    return (value >> np.uint64(32)).astype(np.uint32) if x.sub else value, (total > PAIR).astype(np.bool_)


@operation("SETPX")
def test_upper(x: Ins, a: Lanes, b: Lanes, c: Lanes, e: Lanes) -> tuple[Lanes, Lanes]:
    left, right = (v.view(np.int32) if x.ta in SIGNED_TYPES else v for v in (a, b))
    tie = left == right
    strict = left < right if x.sub in (2, 3) else left > right
    truth = {0: tie & e, 1: ~tie | e}.get(x.sub, strict | tie & e)
    joined = [(test & c, test | c, test ^ c)[x.imm] for test in (truth, ~truth)]
    return joined[0], joined[1]


@operation("SHF64")
def shift_both(x: Ins, a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    top = 64 if x.sub & 8 else 32

    def shift(low: int, high: int, amount: int) -> int:
        value, n = high << 32 | low, amount & (top - 1) if x.sub & 2 else min(amount, top)
        if x.ta in SIGNED_TYPES and value >> 63:
            value -= 1 << 64
        result = value >> n if x.sub & 1 else value << n
        return result >> (32 if x.sub & 4 else 0) & WORD

    return lanewise(shift, np.uint32, a, b, c)


@operation("FCHK")
def check_quotient(x: Ins, a: Lanes, b: Lanes) -> Lanes:
    top, bottom = ((v >> np.uint32(23) & np.uint32(255)).astype(np.int64) for v in (a, b))
    far = (top - bottom > 125) | (top - bottom < -124)
    return (bottom == 0) | (bottom >= 253) | (top == 255) | (top < 25) | far


@action("SHFLA")
def shuffle(w: Warp, x: Ins, mask: int) -> None:
    warp.shuffle(w, x, mask)


@action("VOTEA")
def vote(w: Warp, x: Ins, mask: int) -> None:
    warp.vote(w, x, mask)


@action("MATCHA")
def match(w: Warp, x: Ins, mask: int) -> None:
    warp.match(w, x, mask)


@action("REDUXA")
def reduce_members(w: Warp, x: Ins, mask: int) -> None:
    warp.reduce_members(w, x, mask)


@action("DIVERGED")
def diverged(w: Warp, x: Ins, mask: int) -> None:
    living = exact(w.registers.row(x.a)) & w.alive
    agree = mask & mask_of(w.registers.predicate(x.b))
    w.registers.put_predicate(x.d0, (living != agree).astype(np.bool_), mask)


@action("BSSY")
def note_lanes(w: Warp, x: Ins, mask: int) -> None:
    w.registers.put(x.d0, np.full(LANES, mask, np.uint32), mask)


@action("BREAK")
def leave_mask(w: Warp, x: Ins, mask: int) -> None:
    w.registers.put(x.d0, w.registers.row(x.d0) & ~np.uint32(mask), WORD)
    w.at_sync = 0  # who waits looks again whether everybody who is left has come


YIELDS = 64
"""Turns through a waiting loop before the lanes that wait at its end are let go."""


@action("YIELD")
def let_go(w: Warp, x: Ins, mask: int) -> None:
    """Lanes that spin on memory while others wait for them behind the loop: those others may hold what is spun on."""
    row = w.registers.row(x.d0)
    w.registers.put(x.d0, row + np.uint32(1), mask)
    if not w.spins or w.registers.row(x.d0)[lanes_of(mask)[0]] < YIELDS:
        return
    w.registers.put(x.d0, np.zeros(LANES, np.uint32), mask)
    for lane in lanes_of(w.at_sync):
        at = w.launch.code[w.pc[lane]]
        if at.op == "WARPBAR" and at.a >= 0 and w.sync_mask[lane] & mask:
            w.registers.put(at.a, w.registers.row(at.a) & ~np.uint32(1 << lane), WORD)
            w.pc[lane] += 1
            w.at_sync &= ~(1 << lane)
