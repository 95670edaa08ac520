"""The state of a launch, its blocks and warps, and how an address of any space is found in it.

Also the registry of actions: operations that need more than operand values (memory, other lanes, the launch).
Must stay true: every access goes through `Warp.locate`, which checks alignment, bounds and writability.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np

from warpsight.vgpu.bytecode import (
    CONST_WINDOW,
    FUNCTION_WINDOW,
    LOCAL_WINDOW,
    OPS,
    PARAM_WINDOW,
    SHARED_SLOT,
    SHARED_WINDOW,
    Flag,
    Program,
    Space,
)
from warpsight.vgpu.definition.lanes import LANES, Ins, Lanes, Registers, lanes_of
from warpsight.vgpu.definition.memory import DefinitionFault, FaultKind, Memory

WORD = (1 << 64) - 1
WINDOWS = {
    Space.SHARED: SHARED_WINDOW,
    Space.LOCAL: LOCAL_WINDOW,
    Space.CONST: CONST_WINDOW,
    Space.PARAM: PARAM_WINDOW,
}
WINDOW_BYTES = 1 << 40
GRACE = 1 << 12
"""Instructions past the budget in which the loop that does not end is looked for."""


def space_of(address: int) -> tuple[Space, int] | None:
    """Where a generic address points: space and address in it; None for function addresses."""
    for space, base in WINDOWS.items():
        if base <= address < base + WINDOW_BYTES:
            return space, address - base
    if FUNCTION_WINDOW <= address < FUNCTION_WINDOW + WINDOW_BYTES:
        return None
    return Space.GLOBAL, address


@dataclass
class LaunchState:
    """What all blocks share. `consts` already holds relocated addresses."""

    program: Program
    code: list[Ins]
    consts: Lanes
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    dynamic_shared: int
    params: bytearray
    const_data: bytearray
    memory: Memory
    max_instructions: int
    output: list[str] = field(default_factory=list[str])
    executed: int = 0
    widest_jump: int = -1
    heap_bytes: dict[int, int] = field(default_factory=dict[int, int])

    def __post_init__(self) -> None:
        size = len(self.code)
        self.warps: Lanes = np.zeros(size, np.int64)
        self.threads: Lanes = np.zeros(size, np.int64)
        self.threads_on: Lanes = np.zeros(size, np.int64)

    def count(self, x: Ins, pc: int, lanes: int, on: int) -> None:
        """Note that a warp ran an instruction with these lanes, of which `on` had a true guard."""
        if not x.flags & Flag.HIDDEN:
            self.warps[pc] += 1
            self.threads[pc] += lanes.bit_count()
            self.threads_on[pc] += on.bit_count()

    @property
    def block_threads(self) -> int:
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def shared_bytes(self) -> int:
        return self.program.shared_bytes + self.dynamic_shared


@dataclass
class Barrier:
    expected: int = 0
    arrived: int = 0
    votes: list[bool] = field(default_factory=list[bool])


class Block:
    """Threads that share memory and barriers."""

    def __init__(self, launch: LaunchState, number: int) -> None:
        self.launch = launch
        self.number = number
        gx, gy, _ = launch.grid
        self.index = (number % gx, number // gx % gy, number // (gx * gy))
        self.shared = bytearray(launch.shared_bytes)
        self.barriers = [Barrier() for _ in range(16)]
        self.warps = [Warp(self, i) for i in range(-(-launch.block_threads // LANES))]

    @property
    def alive(self) -> int:
        return sum(w.alive.bit_count() for w in self.warps)


Copy = tuple[int, bytes]


class Warp:
    """32 lanes: registers, program counters, and who is waiting for what."""

    def __init__(self, block: Block, number: int) -> None:
        self.block = block
        self.launch = block.launch
        self.number = number
        program = self.launch.program
        rows = np.zeros((program.n_rows, LANES), np.uint32)
        preds = np.zeros((max(program.n_preds, 1), LANES), np.bool_)
        preds[0] = True
        self.registers = Registers(rows, preds, self.launch.consts)
        self.alive = (1 << min(LANES, self.launch.block_threads - number * LANES)) - 1
        self.at_barrier = 0
        self.at_sync = 0
        self.pc = [0] * LANES
        self.frame = [0] * LANES
        self.sync_mask = [0] * LANES
        self.barrier_id = [0] * LANES
        self.local = [bytearray(program.local_bytes) for _ in range(LANES)]
        self.now = 0
        self.executed = 0
        self.clock_reads = np.zeros(LANES, np.uint64)
        self.active = 0
        self.spins = False
        self.open_copies: list[list[Copy]] = [[] for _ in range(LANES)]
        self.copy_groups: list[list[list[Copy]]] = [[] for _ in range(LANES)]

    @property
    def ready(self) -> int:
        return self.alive & ~(self.at_barrier | self.at_sync)

    def fail(self, kind: FaultKind, lane: int, address: int = 0, text: str = "") -> NoReturn:
        raise DefinitionFault(kind, self.now, self.block.number, self.number * LANES + lane, address, text)

    def issue(self, lane: int) -> None:
        """Take one instruction from the launch's budget."""
        self.executed += 1
        self.launch.executed += 1
        if self.launch.executed <= self.launch.max_instructions + GRACE:
            return
        self.now = self.launch.widest_jump
        self.fail("endless_loop" if self.now >= 0 else "launch_too_large", min(lanes_of(self.ready), default=lane))

    def note_jump(self, target: int) -> None:
        """Past the budget: of the jumps back that are taken, the widest is that of the loop without end."""
        launch = self.launch
        if launch.executed <= launch.max_instructions or target > self.now:
            return
        widest = launch.widest_jump
        if widest < 0 or self.now - target > widest - launch.code[widest].target:
            launch.widest_jump = self.now

    def list_rows(self, x: Ins, count: int, start: int = 0) -> list[int]:
        return [int(r) for r in self.launch.program.lists[x.list + start : x.list + start + count]]

    def addresses(self, operand: int, offset: int, space: Space, *, flags: int = 0) -> list[int]:
        """Addresses of all lanes; operand -1 is a static address, shared addresses have 32 bits."""
        if operand == -1:
            return [offset & WORD] * LANES
        if space == Space.SHARED:
            return [(int(a) + offset) & 0xFFFFFFFF for a in self.registers.row(operand)]
        if flags & Flag.ADDRESS32:
            return [(int(a) + offset) & WORD for a in self.registers.row(operand)]
        return [(int(a) + offset) & WORD for a in self.registers.pair(operand)]

    def _bytes(self, space: Space, lane: int) -> bytearray:
        if space == Space.SHARED:
            return self.block.shared
        if space == Space.LOCAL:
            return self.local[lane]
        return self.launch.const_data if space == Space.CONST else self.launch.params

    def locate(
        self, lane: int, space: Space, address: int, size: int, *, align: int = 1, write: bool = False
    ) -> tuple[bytearray, int]:
        """The bytes an access of one lane touches, as a buffer and an offset in it; faults when it may not."""
        generic = address if space in (Space.GENERIC, Space.GLOBAL) else (WINDOWS[space] + address) & WORD
        if address % align:
            self.fail("misaligned", lane, generic)
        if space == Space.GENERIC:
            found = space_of(address)
            if found is None:
                self.fail("out_of_bounds", lane, generic)
            space, address = found
        if space == Space.GLOBAL:
            allocation = self.launch.memory.find(address, size)
            if allocation is None:
                self.fail("out_of_bounds", lane, generic)
            if write and not allocation.writable:
                self.fail("write_to_const", lane, generic)
            return allocation.data, address - allocation.base
        data = self._bytes(space, lane)
        start, end = 0, len(data)
        if space == Space.SHARED and (slot := address // SHARED_SLOT):
            address -= slot * SHARED_SLOT
            start, length = self.launch.program.shared_slots.get(slot, (0, 0))
            end = min(end, start + length) if length is not None else end
        if not start <= address <= end - size:
            # In a called function it is the depth of the calls that has run out, as far as anyone can tell.
            too_deep = space == Space.LOCAL and self.frame[lane] > 0
            self.fail("stack_overflow" if too_deep else "out_of_bounds", lane, generic)
        if write and space in (Space.CONST, Space.PARAM):
            self.fail("write_to_const", lane, generic)
        return data, address

    def read(self, lane: int, space: Space, address: int, size: int, align: int = 1) -> bytes:
        data, at = self.locate(lane, space, address, size, align=align)
        return bytes(data[at : at + size])

    def write(self, lane: int, space: Space, address: int, content: bytes, align: int = 1) -> None:
        data, at = self.locate(lane, space, address, len(content), align=align, write=True)
        data[at : at + len(content)] = content

    def text(self, lane: int, address: int) -> bytes:
        """The zero-terminated bytes at a generic address."""
        found = bytearray()
        while (byte := self.read(lane, Space.GENERIC, address + len(found), 1)) != b"\0":
            found += byte
        return bytes(found)


Action = Callable[[Warp, Ins, int], None]
ACTIONS: dict[str, Action] = {}


def action(name: str) -> Callable[[Action], Action]:
    """Register an operation that acts on a warp for the lanes of a mask."""
    if name not in OPS:
        raise KeyError(f"expected an operation of ops.def, got {name}")

    def register(function: Action) -> Action:
        ACTIONS[name] = function
        return function

    return register
