"""Start a program: place its symbols, patch addresses, run its blocks in order; or run a fragment on registers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warpsight.errors import UsageError
from warpsight.vgpu.bytecode import CONST_WINDOW, LOCAL_WINDOW, SHARED_WINDOW, Program, Relocation, Space, Symbol
from warpsight.vgpu.definition.lanes import LANES, Lanes, bools_of, decode_code, mask_of
from warpsight.vgpu.definition.machine import run_block
from warpsight.vgpu.definition.memory import DefinitionFault, Memory
from warpsight.vgpu.definition.state import Block, LaunchState
from warpsight.vgpu.sass.bank import fill_bank_zero

_WINDOW = {Space.SHARED: SHARED_WINDOW, Space.LOCAL: LOCAL_WINDOW, Space.CONST: CONST_WINDOW}


@dataclass(frozen=True)
class Result:
    """What a run printed and how often each instruction ran: by warps, by lanes, by lanes whose guard was true."""

    output: str
    warps: NDArray[np.int64]
    threads: NDArray[np.int64]
    threads_on: NDArray[np.int64]
    executed: int


def _address(symbol: Symbol, memory: Memory, generic: bool) -> int:
    if symbol.space == Space.GLOBAL:
        found = memory.address_of(symbol.name)
        assert found is not None, "global symbols are allocated before addresses are asked for"
        return found
    return symbol.offset + (_WINDOW[symbol.space] if generic else 0)


def _place_symbols(program: Program, memory: Memory) -> None:
    for symbol in program.symbols:
        if symbol.space == Space.GLOBAL and memory.address_of(symbol.name) is None:
            memory.alloc(symbol.name, symbol.data.ljust(symbol.size, b"\0"))


def _patch(program: Program, memory: Memory, consts: Lanes, const_data: bytearray) -> None:
    """Put symbol addresses where the relocations say: constant rows, or bytes of another symbol."""
    symbols = {s.name: s for s in program.symbols}
    for relocation in program.relocations:
        value = _address(symbols[relocation.symbol], memory, relocation.generic) + relocation.addend
        if relocation.row >= 0:
            consts[relocation.row] = value & 0xFFFFFFFF
            consts[relocation.row + 1] = value >> 32 & 0xFFFFFFFF
        else:
            _patch_bytes(relocation, symbols[relocation.in_symbol], value, memory, const_data)


def _patch_bytes(relocation: Relocation, holder: Symbol, value: int, memory: Memory, const_data: bytearray) -> None:
    word = (value & (1 << 64) - 1).to_bytes(8, "little")
    if holder.space == Space.CONST:
        at = holder.offset + relocation.at
        const_data[at : at + 8] = word
    else:
        memory.write(_address(holder, memory, generic=True) + relocation.at, word)


def run(
    program: Program,
    *,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    shared_bytes: int = 0,
    params: bytes = b"",
    memory: Memory | None = None,
    blocks: Sequence[int] | None = None,
    max_instructions: int = 10_000_000,
) -> Result:
    """Run a kernel: all blocks in ascending order, or those given by number. `shared_bytes` is the dynamic shared
    memory.
    """
    if len(params) < program.param_bytes:
        raise UsageError(
            f"expected {program.param_bytes} bytes of parameters, got {len(params)}",
            "pack them as the kernel's params say",
        )
    memory = Memory() if memory is None else memory
    consts, const_data = program.consts.copy(), bytearray(program.const_data)
    _place_symbols(program, memory)
    _patch(program, memory, consts, const_data)
    consts = fill_bank_zero(program, consts, grid, block, params)
    launch = LaunchState(
        program,
        decode_code(program),
        consts,
        grid,
        block,
        shared_bytes,
        bytearray(params),
        const_data,
        memory,
        max_instructions,
    )
    for number in range(grid[0] * grid[1] * grid[2]) if blocks is None else blocks:
        run_block(Block(launch, number))
        if launch.executed > launch.max_instructions:
            raise DefinitionFault("launch_too_large", -1, number, 0)
    return Result("".join(launch.output), launch.warps, launch.threads, launch.threads_on, launch.executed)


def run_lanes(
    program: Program, rows: NDArray[np.uint32], preds: NDArray[np.uint32], mask: int = 0xFFFFFFFF
) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Run a program on one warp from given rows [n_rows, 32] and predicates (one 32-bit mask each); both after it.

    Lanes outside `mask` never run. Predicate 0 is true whatever was given. Running past the last instruction ends a
    lane.
    """
    launch = LaunchState(
        program, decode_code(program), program.consts.copy(), (1, 1, 1), (LANES, 1, 1), 0, bytearray(),
        bytearray(program.const_data), Memory(), 10_000_000,
    )  # fmt: skip
    block = Block(launch, 0)
    (warp,) = block.warps
    warp.registers.rows[:] = rows
    for index, bits in enumerate(preds[1:].tolist(), start=1):
        warp.registers.preds[index] = bools_of(bits)
    warp.alive = mask
    run_block(block)
    return warp.registers.rows, np.array([mask_of(p) for p in warp.registers.preds], np.uint32)
