"""Device memory of a program: one file in memory that both processes map, and the table of allocations in it.

The program maps it at the core's global base, so a device pointer is a host pointer there; here it lies anywhere. The
program may write any byte at any time, and lies about its allocations harm nobody but itself: the core takes bytes from
here, never addresses or sizes. What must stay true: the file cannot shrink (it is sealed), so no access here can fail;
an allocation lies in the part that is the program's, and meets no other.
"""

from __future__ import annotations

import fcntl
import math
import mmap
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from warpsight.programs.messages import BadRequest
from warpsight.vgpu.bytecode import GLOBAL_BASE
from warpsight.vgpu.machine import GlobalMemory, Region

if TYPE_CHECKING:
    from warpsight.vgpu._core import Memory as CoreMemory

OWN_BYTES = 1 << 30  # at the end, for the device heap and what else is ours
MOST_BYTES = 48 << 30  # traces place local memory after 64 GiB
MOST_ALLOCATIONS = 200_000
GAP = 256
DEVICE, HOST, MANAGED, VARIABLE = range(4)
SEALS = 0x0001 | 0x0002 | 0x0004  # no more seals, no shrinking, no growing
_NO_RESERVE = 0x4000


@dataclass(frozen=True)
class DevicePiece:
    """One allocation, as the program told it."""

    address: int
    size: int
    kind: int
    name: str = ""

    @property
    def seen_by_host(self) -> bool:
        """Whether host code may write it without saying so."""
        return self.kind in (HOST, MANAGED)


class DeviceMemory:
    """The file, our view of it, and the core's table of allocations. With `check`, what was written is remembered."""

    def __init__(self, wanted_bytes: int, *, check: bool) -> None:
        from warpsight.vgpu import _core

        self.program_bytes = -(-min(wanted_bytes, MOST_BYTES) // 4096) * 4096
        total = self.program_bytes + OWN_BYTES
        self.fd = os.memfd_create("device-memory", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.fd, total)
        fcntl.fcntl(self.fd, fcntl.F_ADD_SEALS, SEALS)
        self._total = total
        self._bytes = self._map(mmap.MAP_SHARED)
        self._own_next = GLOBAL_BASE + self.program_bytes + GAP
        self._check = check
        self.pieces: dict[int, DevicePiece] = {}
        self.core: CoreMemory = _core.Memory()

    def _map(self, sharing: int) -> NDArray[np.uint8]:
        mapped = mmap.mmap(self.fd, self._total, flags=sharing | _NO_RESERVE)
        return np.frombuffer(mapped, np.uint8)

    def close(self) -> None:
        os.close(self.fd)

    def used_bytes(self) -> int:
        """Memory of this machine that it takes, whoever wrote it."""
        return os.fstat(self.fd).st_blocks * 512

    def view(self, address: int, size: int) -> NDArray[np.uint8]:
        at = address - GLOBAL_BASE
        if at < 0 or size < 0 or at + size > self._total:
            raise BadRequest(f"{size} bytes at {address:#x} are not in device memory")
        return self._bytes[at : at + size]

    def allocate(self, address: int, size: int, kind: int) -> None:
        """Enter an allocation of the program."""
        if not 0 < size <= self.program_bytes or not GLOBAL_BASE <= address <= GLOBAL_BASE + self.program_bytes - size:
            raise BadRequest(f"an allocation of {size} bytes at {address:#x} is not in device memory")
        if len(self.pieces) >= MOST_ALLOCATIONS:
            raise BadRequest(f"expected at most {MOST_ALLOCATIONS} allocations at a time")
        self._enter(DevicePiece(address, size, kind), initialised=not self._check or kind != DEVICE)

    def take(self, size: int, name: str) -> int:
        """An allocation of our own, out of the program's reach."""
        address = -(-self._own_next // 512) * 512
        if address + size > GLOBAL_BASE + self._total:
            raise BadRequest(f"there is no room for {size} bytes of {name}")
        self._own_next = address + size + GAP
        self._enter(DevicePiece(address, size, VARIABLE, name), initialised=True)
        return address

    def _enter(self, piece: DevicePiece, *, initialised: bool) -> None:
        try:
            self.core.insert(piece.address, self.view(piece.address, piece.size), True, initialised)
        except ValueError as problem:
            raise BadRequest(f"allocation of {piece.size} bytes at {piece.address:#x}: {problem}") from None
        self.pieces[piece.address] = piece

    def release(self, address: int) -> None:
        if self.pieces.pop(address, None) is None:
            raise BadRequest(f"nothing was allocated at {address:#x}")
        self.core.remove(address)

    def name(self, address: int, name: str) -> None:
        """What an allocation is called in reports."""
        piece = self.pieces.get(address)
        if piece is not None:
            self.pieces[address] = DevicePiece(address, piece.size, piece.kind, name)

    def described(self) -> GlobalMemory:
        """All allocations with names, for reports of faults."""
        ordered = sorted(self.pieces.values(), key=lambda piece: piece.address)
        return GlobalMemory([Region(_called(p), p.address, self.view(p.address, p.size)) for p in ordered])

    def snapshot(self) -> GlobalMemory:
        """The same as it is now: who writes there changes nothing here. Only to be read while the program waits."""
        private = self._map(mmap.MAP_PRIVATE)
        ordered = sorted(self.pieces.values(), key=lambda piece: piece.address)
        cut = [(p, p.address - GLOBAL_BASE) for p in ordered]
        return GlobalMemory([Region(_called(p), p.address, private[at : at + p.size]) for p, at in cut])

    def bytes_under(self, params: bytes) -> int:
        """Bytes of the allocations that the parameters of a launch point into."""
        words = np.frombuffer(params[: len(params) // 8 * 8], "<u8")
        found = {self._piece_at(int(word)) for word in words} - {None}
        return sum(self.pieces[at].size for at in found if at is not None)

    def _piece_at(self, address: int) -> int | None:
        below = [at for at in self.pieces if at <= address < at + self.pieces[at].size]
        return below[0] if below else None


def _called(piece: DevicePiece) -> str:
    return piece.name or f"allocation of {_size(piece.size)} at {piece.address:#x}"


def _size(count: int) -> str:
    power = min(3, int(math.log(max(1, count), 1024)))
    return f"{count / 1024**power:.4g} {('bytes', 'KiB', 'MiB', 'GiB')[power]}"
