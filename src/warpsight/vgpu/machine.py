"""Running a Program on the C++ core: lay out memory, patch addresses, launch, and read back counts and faults.

The caller's arrays are used in place: a launch changes the writable ones. The core reports faults with instruction
indices; faults.py turns them into source lines, threads and array names.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpsight.errors import DeviceError, UnsupportedInstruction
from warpsight.events import event
from warpsight.nouns import Fault
from warpsight.vgpu.bytecode import GLOBAL_BASE, OPS, Program, Space, Symbol
from warpsight.vgpu.faults import FaultReport
from warpsight.vgpu.flow import flow_of
from warpsight.vgpu.sass.bank import fill_bank_zero
from warpsight.vgpu.stores import Unwritten, find_stores

if TYPE_CHECKING:
    from warpsight.vgpu._core import LaunchRecord, Traces
    from warpsight.vgpu._core import Memory as CoreMemory
    from warpsight.vgpu._core import Program as LoadedProgram

ALIGN, GAP = 256, 4096
HEAP_BYTES = 8 << 20
MOST_VARIABLE_BYTES = 256 << 20  # this is the memory of our own process
ROUND_TRIP = 64
NO_END = 0xFFFFFFFF
DEFAULT_INSTRUCTIONS = 4_000_000_000
Dim3 = tuple[int, int, int]


@dataclass
class Region:
    """One allocation of global memory: the caller's bytes at a device address."""

    name: str
    address: int
    data: NDArray[np.uint8]
    writable: bool = True
    initialised: bool = True


@dataclass
class GlobalMemory:
    """The device's global memory: allocations in ascending order, never adjacent, so that running past one is seen."""

    regions: list[Region] = field(default_factory=list[Region])

    def add(self, name: str, array: NDArray[Any], *, writable: bool = True, initialised: bool = True) -> int:
        """Place `array` (used in place) and return its device address."""
        last = self.regions[-1] if self.regions else None
        start = GLOBAL_BASE if last is None else last.address + last.data.size + GAP
        address = -(-start // ALIGN) * ALIGN
        data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        if data.size and not np.shares_memory(data, array):
            raise DeviceError(f"array {name!r} is not contiguous", hint="pass a C-contiguous array")
        self.regions.append(Region(name, address, data, writable, initialised))
        return address

    def describe(self, address: int) -> tuple[str, int, int] | None:
        """(array name, byte offset, size) of the allocation that holds or lies nearest to an address."""
        near = [r for r in self.regions if r.address - GAP < address < r.address + r.data.size + GAP]
        if not near:
            return None
        best = min(near, key=lambda r: max(r.address - address, address - (r.address + r.data.size) + 1, 0))
        return best.name, address - best.address, best.data.size


class Wave(NamedTuple):
    """Distinct sectors that one wave of blocks loaded, by how many waves ago they were loaded last (at 0: never, or
    longer ago, or in a wave that nobody watched), and those that it stored."""

    number: int
    loaded: tuple[int, ...]
    stored: int


@dataclass(frozen=True)
class Launched:
    """What a launch did. `counts` is indexed [instruction, counter] as counters.RAW says.

    Of a watched launch: `work` is what each block did, indexed [block, number of core/work.hpp], what the chosen waves
    of blocks touched, distinct sectors that the launch loaded and stored, and the atomic passes at the sector that had
    most of them; polls that saw what they had seen, and by instruction exchanges on condition (CAS) that were not made,
    or made once after a load.
    `unwritten` are the arrays that came uninitialised and still have bytes that nothing wrote; only of checked launches
    of all blocks without a fault.
    """

    counts: NDArray[np.uint64]
    faults: tuple[Fault, ...]
    output: str
    blocks_run: int
    total_blocks: int
    warp_instructions: int
    cores_used: int
    traces: Traces
    work: NDArray[np.uint64]
    waves: tuple[Wave, ...]
    loaded_sectors: int
    stored_sectors: int
    hottest_atomic: int
    failed_polls: int
    excused_swaps: dict[int, int]
    unwritten: tuple[Unwritten, ...] = ()


Variables = dict[str, NDArray[np.uint8]]
"""The bytes of a module's `__device__` variables by name."""


def place_symbols(program: Program, memory: GlobalMemory, variables: Variables) -> dict[str, int]:
    """Put the program's global variables in memory; returns the generic address of every symbol.

    Those in `variables` go on with their bytes; the others begin with their initial ones and are added to it.
    """
    addresses: dict[str, int] = {}
    total = sum(symbol.size for symbol in program.symbols if symbol.space is Space.GLOBAL)
    if total > MOST_VARIABLE_BYTES:
        told = f"the virtual GPU holds {MOST_VARIABLE_BYTES} bytes of __device__ variables, the kernel has {total}"
        raise UnsupportedInstruction("__device__", message=told)
    for symbol in program.symbols:
        if symbol.space is Space.GLOBAL:
            data = variables.setdefault(symbol.name, _initial_bytes(symbol))
            addresses[symbol.name] = memory.add(symbol.name, data)
    for move in program.relocations:
        if move.in_symbol in variables:
            value = np.array([addresses[move.symbol] + move.addend], dtype="<u8").view(np.uint8)
            variables[move.in_symbol][move.at : move.at + 8] = value
    return addresses


def patched_const_data(program: Program, addresses: dict[str, int]) -> bytes:
    """Constant memory with the addresses of global variables filled in."""
    data = bytearray(program.const_data)
    places = {s.name: s.offset for s in program.symbols if s.space is Space.CONST}
    for move in program.relocations:
        if move.in_symbol in places and move.symbol in addresses:
            start = places[move.in_symbol] + move.at
            data[start : start + 8] = (addresses[move.symbol] + move.addend).to_bytes(8, "little")
    return bytes(data)


def _initial_bytes(symbol: Symbol) -> NDArray[np.uint8]:
    data = np.zeros(max(symbol.size, 1), dtype=np.uint8)
    data[: len(symbol.data)] = np.frombuffer(symbol.data, dtype=np.uint8)
    return data


def patched_consts(program: Program, addresses: dict[str, int]) -> NDArray[np.uint32]:
    consts = program.consts.astype(np.uint32, copy=True)
    for move in program.relocations:
        if move.row >= 0 and move.symbol in addresses:
            value = addresses[move.symbol] + move.addend
            consts[move.row] = value & 0xFFFFFFFF
            consts[move.row + 1] = value >> 32
    return consts


def load(program: Program, consts: NDArray[np.uint32] | None = None, *, check: bool = False) -> LoadedProgram:
    """The program in the core's own form. Raises UnsupportedInstruction, by name and line, for what it cannot run.

    With `check`, its branches that decide who comes to a barrier are watched.
    """
    from warpsight.vgpu import _core

    loaded = _core.load(
        program.code.tobytes(), program.lists, program.tables, program.consts if consts is None else consts,
        np.asarray(program.functions, dtype=np.int32), program.n_rows, program.n_preds, program.order_sensitive,
        _slot_table(program),
        [(g.pc, g.rejoins, sorted(g.toward), sorted(g.barriers)) for g in flow_of(program).guards] if check else [],
        sorted(flow_of(program).facing) if check else [],
    )  # fmt: skip
    if loaded.unsupported >= 0:
        at = loaded.unsupported
        raise UnsupportedInstruction(program.texts[at], line=int(program.lines[at]) or None)
    return loaded


def _slot_table(program: Program) -> NDArray[np.uint32]:
    slots = program.shared_slots
    table = np.zeros((max(slots, default=0) + 1, 2), np.uint32)
    for number, (start, size) in slots.items():
        table[number] = start, NO_END if size is None else size
    return table.reshape(-1)


def launch(
    program: Program,
    memory: GlobalMemory,
    *,
    grid: Dim3,
    block: Dim3,
    params: bytes = b"",
    dynamic_shared_bytes: int = 0,
    check: bool = False,
    count: bool = True,
    blocks: Sequence[int] = (),
    cores: int | None = None,
    max_instructions: int = DEFAULT_INSTRUCTIONS,
    deadline_seconds: float = 600.0,
    max_trace_steps: int = 0,
    traced: Sequence[int] = (),
    watched: NDArray[np.uint16] | None = None,
    concurrent: int = 0,
    round_trip: int = ROUND_TRIP,
    swap_passes: int = 1,
    last_warp_first: bool = False,
    waves: Sequence[int] = (),
    source: str = "",
    variables: Variables | None = None,
) -> Launched:
    """Run a grid (or only the chosen blocks). With `check`, races and uninitialised reads are looked for as well.

    With `max_trace_steps`, what each warp did is kept, up to so many steps, for the time model; of the `traced` blocks
    if some are given. With `watched`, the rows of `schedule.step_table`, each block's work is kept.
    So many `concurrent` blocks take short turns where they may wait for one another; 0 has each run as far as it can.
    Where they do, an access that may wait costs `round_trip` ticks of a turn.
    An exchange on condition (CAS) that succeeds counts as `swap_passes` atomics at its address: the next must see it.
    With `last_warp_first`, the warps of a block have their turns the other way round. `waves` numbers the waves of
    `concurrent` blocks whose sectors a watched launch tells apart.
    `variables` are those that a launch before has left, and are changed in place; without, all have their first values.
    """
    from warpsight.vgpu import _core

    if len(params) != program.param_bytes:
        raise DeviceError(
            f"kernel {program.entry!r} takes {program.param_bytes} bytes of parameters, got {len(params)}"
        )
    addresses = place_symbols(program, memory, {} if variables is None else variables)
    heap_base, heap_bytes = _heap(program, memory)
    loaded = load(
        program, fill_bank_zero(program, patched_consts(program, addresses), grid, block, params), check=check
    )
    core_memory = _core.Memory()
    for region in memory.regions:
        core_memory.add(region.address, region.data, region.writable, region.initialised or not check)
    started = time.monotonic()
    raw = _core.launch(
        loaded,
        core_memory,
        grid,
        block,
        shared_bytes=program.shared_bytes + dynamic_shared_bytes,
        dynamic_shared_bytes=dynamic_shared_bytes,
        local_bytes=program.local_bytes,
        params=params,
        const_data=patched_const_data(program, addresses),
        blocks=list(blocks),
        check=check,
        count=count,
        cores=cores or os.cpu_count() or 1,
        max_instructions=max_instructions,
        deadline_seconds=deadline_seconds,
        heap_base=heap_base,
        heap_bytes=heap_bytes,
        max_trace_steps=max_trace_steps,
        traced=list(traced),
        watched=watched,
        concurrent=concurrent,
        round_trip=round_trip,
        swap_passes=swap_passes,
        last_warp_first=last_warp_first,
        waves=list(waves),
    )
    _tell_launch(program, grid, block, raw, check, time.monotonic() - started)
    report = FaultReport(program, memory, grid, block, dynamic_shared_bytes, source.splitlines())
    return Launched(
        counts=raw["counts"],
        faults=tuple(report.fault(f) for f in raw["faults"]),
        output=raw["output"].decode(errors="replace"),
        blocks_run=raw["blocks_run"],
        total_blocks=grid[0] * grid[1] * grid[2],
        warp_instructions=raw["warp_instructions"],
        cores_used=raw["cores_used"],
        traces=raw["traces"],
        work=raw["work"],
        waves=tuple(
            Wave(number, tuple(loaded), stored) for number, (loaded, stored) in zip(waves, raw["waves"], strict=True)
        )
        if watched is not None
        else (),
        loaded_sectors=raw["loaded_sectors"],
        stored_sectors=raw["stored_sectors"],
        hottest_atomic=raw["hottest_atomic"],
        failed_polls=raw["failed_polls"],
        excused_swaps=dict(raw["excused_swaps"]),
        unwritten=_unwritten(program, memory, core_memory, raw, params, math.prod(grid) * math.prod(block))
        if check and not raw["faults"]
        else (),
    )


def _tell_launch(program: Program, grid: Dim3, block: Dim3, raw: Any, check: bool, seconds: float) -> None:
    event(
        "launch", device="virtual", kernel=program.entry,
        grid="x".join(map(str, grid)), block="x".join(map(str, block)),
        blocks=raw["blocks_run"], check=check, faults=len(raw["faults"]), seconds=seconds,
    )  # fmt: skip


def _unwritten(
    program: Program, memory: GlobalMemory, core: CoreMemory, raw: LaunchRecord, params: bytes, threads: int
) -> tuple[Unwritten, ...]:
    pointers = [int.from_bytes(params[p.offset : p.offset + 8], "little") if p.size == 8 else 0 for p in program.params]
    found = list[Unwritten]()
    for at, region in enumerate(memory.regions):
        missing = core.unwritten(at)
        if region.initialised or not missing[0] or region.name.startswith("("):
            continue
        param = pointers.index(region.address) if region.address in pointers else None
        stores = find_stores(program, raw["counts"], param, core.writers(at))
        found.append(Unwritten(region.name, region.data.size, *missing, stores, threads))
    return tuple(found)


def _heap(program: Program, memory: GlobalMemory) -> tuple[int, int]:
    """Memory for device malloc, only for programs that use it."""
    if OPS["MALLOC"].number not in program.code["op"]:
        return 0, 0
    return memory.add("(device heap)", np.zeros(HEAP_BYTES, dtype=np.uint8), initialised=False), HEAP_BYTES
