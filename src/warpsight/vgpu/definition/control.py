"""Jumps through tables, calls, returns, and the frames that calls need in local memory.

Each jump sets the program counters of its lanes; the others of the group already point to the next instruction.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from warpsight.vgpu.bytecode import FUNCTION_WINDOW, LOCAL_WINDOW
from warpsight.vgpu.definition.lanes import LANES, Ins, lanes_of
from warpsight.vgpu.definition.state import Warp, action


def jump_table(w: Warp, x: Ins, mask: int) -> None:
    for lane in lanes_of(mask):
        entry = int(w.registers.row(x.a)[lane])
        if entry >= x.target:
            w.fail("bad_jump", lane)
        w.pc[lane] = int(w.launch.program.tables[x.imm + entry])


def _function_at(w: Warp, lane: int, address: int) -> int:
    functions = w.launch.program.functions
    index = (address - FUNCTION_WINDOW) // 16
    if not 0 <= index < len(functions):
        w.fail("bad_jump", lane, address)
    return functions[index]


def call(w: Warp, x: Ins, mask: int) -> None:
    addresses = w.registers.pair(x.a).tolist() if x.op == "CALLX" else [0] * LANES
    for lane in lanes_of(mask):
        w.pc[lane] = _function_at(w, lane, addresses[lane]) if x.op == "CALLX" else x.target
        w.registers.rows[x.d0][lane] = w.now + 1
        w.registers.rows[x.d0 + 1][lane] = w.frame[lane]
        w.frame[lane] += x.imm
        if w.frame[lane] > len(w.local[lane]):
            w.fail("stack_overflow", lane, LOCAL_WINDOW + w.frame[lane])


def give_back(w: Warp, x: Ins, mask: int) -> None:
    links, frames = w.registers.row(x.a).tolist(), w.registers.high_row(x.a).tolist()
    for lane in lanes_of(mask):
        if links[lane] >= len(w.launch.code):
            w.fail("bad_jump", lane)
        w.pc[lane], w.frame[lane] = links[lane], frames[lane]


JUMPS: dict[str, Callable[[Warp, Ins, int], None]] = {
    "BRX": jump_table,
    "CALL": call,
    "CALLX": call,
    "RET": give_back,
}


def _frame_rows(w: Warp, x: Ins, lane: int) -> tuple[list[int], int]:
    """Rows that PUSH and POP move (`target` says how many), and where they lie in the lane's local memory."""
    rows = w.list_rows(x, x.target)
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
