"""Global memory as named allocations, and the fault that ends a run.

Allocations never touch: at least 4096 bytes lie between two, so a small overrun is always caught. Shared, local,
const and param bytes belong to a block or a launch and live in state.py. Not here: races and uninitialised reads,
which only the fast core watches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from numpy.typing import NDArray

from warpsight.vgpu.bytecode import GLOBAL_BASE

ALIGNMENT = 256
GAP = 4096
FaultKind = Literal[
    "out_of_bounds",
    "misaligned",
    "write_to_const",
    "trap",
    "assert_failed",
    "stack_overflow",
    "deadlock",
    "endless_loop",
    "launch_too_large",
    "warp_sync_divergence",
    "bad_jump",
]


class DefinitionFault(Exception):
    """The kernel did something it must not: what, at which instruction, in which block and thread, at which address."""

    def __init__(
        self, kind: FaultKind, instruction: int, block: int, thread: int, address: int = 0, text: str = ""
    ) -> None:
        where = f"instruction {instruction}, block {block}, thread {thread}, address {address:#x}"
        super().__init__(f"{kind} at {where}{': ' + text if text else ''}")
        self.kind: FaultKind = kind
        self.instruction = instruction
        self.block = block
        self.thread = thread
        self.address = address
        self.text = text


@dataclass(frozen=True)
class Allocation:
    name: str
    base: int
    data: bytearray
    writable: bool

    @property
    def end(self) -> int:
        return self.base + len(self.data)


class Memory:
    """Allocations in ascending order of address."""

    def __init__(self) -> None:
        self._allocations: list[Allocation] = []
        self._next = GLOBAL_BASE

    def alloc(self, name: str, data: bytes | bytearray | NDArray[Any], *, writable: bool = True) -> int:
        """Copy `data` to a new allocation; its address."""
        content = bytearray(data) if isinstance(data, bytes | bytearray) else bytearray(data.tobytes())
        allocation = Allocation(name, self._next, content, writable)
        self._allocations.append(allocation)
        self._next = -(-(allocation.end + GAP) // ALIGNMENT) * ALIGNMENT
        return allocation.base

    def free(self, address: int) -> bool:
        """Forget the allocation that starts at `address`; False when there is none."""
        found = [a for a in self._allocations if a.base == address]
        for allocation in found:
            self._allocations.remove(allocation)
        return bool(found)

    def address_of(self, name: str) -> int | None:
        return next((a.base for a in self._allocations if a.name == name and name), None)

    def find(self, address: int, size: int) -> Allocation | None:
        """The allocation that holds all of [address, address + size)."""
        return next((a for a in self._allocations if a.base <= address and address + size <= a.end), None)

    def read(self, address: int, size: int) -> bytes:
        allocation = self.find(address, size)
        if allocation is None:
            raise ValueError(
                f"expected {size} bytes inside one allocation, got address {address:#x}; try an address from alloc()"
            )
        offset = address - allocation.base
        return bytes(allocation.data[offset : offset + size])

    def write(self, address: int, data: bytes) -> None:
        allocation = self.find(address, len(data))
        if allocation is None:
            raise ValueError(f"expected {len(data)} bytes inside one allocation, got address {address:#x}")
        offset = address - allocation.base
        allocation.data[offset : offset + len(data)] = data
