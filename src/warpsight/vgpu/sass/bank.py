"""Constant bank 0 of a launch: sizes of block and grid, windows of shared and local memory, stack, parameters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from warpsight.vgpu.bytecode import CONST_WINDOW, LOCAL_WINDOW, SHARED_WINDOW, Program

STACK_TOP = 0x28
CONST_WINDOW_AT = {0x160: 0x50, 0x210: 0xD0}  # by where the parameters begin, which tells designs apart


def bank_zero(
    program: Program, grid: tuple[int, int, int], block: tuple[int, int, int], params: bytes
) -> NDArray[np.uint32]:
    """The words of bank 0. What is not known to matter is zero (so are memory descriptors)."""
    words = np.zeros((program.param_base + len(params) + 7) // 4, np.uint32)
    words[0:6] = (*block, *grid)
    for offset, window in ((0x18, SHARED_WINDOW), (0x20, LOCAL_WINDOW)):
        words[offset // 4], words[offset // 4 + 1] = window & 0xFFFFFFFF, window >> 32
    at = CONST_WINDOW_AT.get(program.param_base)
    if at is not None:  # where generic addresses of `__constant__` data begin
        words[at // 4], words[at // 4 + 1] = CONST_WINDOW & 0xFFFFFFFF, CONST_WINDOW >> 32
    words[STACK_TOP // 4] = program.local_bytes
    words.view(np.uint8)[program.param_base : program.param_base + len(params)] = np.frombuffer(params, np.uint8)
    return words


def fill_bank_zero(
    program: Program, consts: NDArray[np.uint32], grid: tuple[int, int, int], block: tuple[int, int, int], params: bytes
) -> NDArray[np.uint32]:
    """Constant rows with those of bank 0 filled in; a program that has none is returned as it is."""
    if not program.bank0:
        return consts
    words = bank_zero(program, grid, block, params)
    rows, offsets = np.array(program.bank0).T
    consts = consts.copy()
    consts[rows] = words[offsets // 4]
    return consts
