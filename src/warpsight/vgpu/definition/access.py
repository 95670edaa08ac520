"""Memory operations: loads, stores, atomics, matrix loads, asynchronous copies, and what is known about generic
addresses.

Lanes act in ascending order; within a lane a vector access is one access of vec * width bytes, aligned to that size.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from warpsight.vgpu.bytecode import NONE, TYPE_BYTES, Atomic, Flag, Space
from warpsight.vgpu.definition.lanes import SIGNED_TYPES, Ins, Lanes, dtype_of, lanes_of
from warpsight.vgpu.definition.operations import compute, lanewise, operation
from warpsight.vgpu.definition.state import WINDOWS, Warp, action, space_of

MATRIX_ROW = 16
"""Bytes of one row of an 8x8 matrix of 16-bit elements."""


def _register_bits(x: Ins) -> int:
    """How wide a loaded small integer is kept: by the register, or 16 bits when nothing is said."""
    if x.flags & Flag.WIDE64:
        return 64
    return 32 if x.flags & Flag.WIDE32 else max(16, 8 * x.width)


def _put_lane(w: Warp, row: int, lane: int, value: int, size: int) -> None:
    if row == NONE:
        return
    w.registers.rows[row][lane] = value & 0xFFFFFFFF
    if size == 8:
        w.registers.rows[row + 1][lane] = value >> 32 & 0xFFFFFFFF


@action("LD")
def load(w: Warp, x: Ins, mask: int) -> None:
    addresses = w.addresses(x.a, x.imm, Space(x.sub), flags=x.flags)
    rows = w.list_rows(x, x.vec)
    bits = _register_bits(x)
    for lane in lanes_of(mask):
        data = w.read(lane, Space(x.sub), addresses[lane], x.vec * x.width, x.vec * x.width)
        for i, row in enumerate(rows):
            value = int.from_bytes(data[i * x.width : (i + 1) * x.width], "little", signed=x.ta in SIGNED_TYPES)
            _put_lane(w, row, lane, value & ((1 << bits) - 1), bits // 8)


@action("ST")
def store(w: Warp, x: Ins, mask: int) -> None:
    addresses = w.addresses(x.a, x.imm, Space(x.sub), flags=x.flags)
    rows = w.list_rows(x, x.vec)
    values = [w.registers.pair(r) if x.width == 8 else w.registers.row(r) for r in rows]
    for lane in lanes_of(mask):
        content = b"".join(int(v[lane]).to_bytes(8, "little")[: x.width] for v in values)
        w.write(lane, Space(x.sub), addresses[lane], content, x.vec * x.width)


def _atomic_result(x: Ins, old: Lanes, b: Lanes, c: Lanes) -> Lanes:
    which = Atomic(int(x.tb))
    arithmetic = {
        Atomic.ADD: "ADD",
        Atomic.MIN: "MIN",
        Atomic.MAX: "MAX",
        Atomic.AND: "AND",
        Atomic.OR: "OR",
        Atomic.XOR: "XOR",
    }
    if which in arithmetic:
        return compute(x._replace(op=arithmetic[which], sub=0, mod=0), old, b)[0]
    if which == Atomic.EXCH:
        return b
    if which == Atomic.CAS:
        return np.where(old == b, c, old)
    if which == Atomic.INC:
        return np.where(old >= b, 0, old + 1).astype(old.dtype)
    return np.where((old == 0) | (old > b), b, old - 1).astype(old.dtype)


@action("ATOM")
def atomic(w: Warp, x: Ins, mask: int) -> None:
    size, space = TYPE_BYTES[x.ta], Space(x.sub)
    addresses = w.addresses(x.a, x.imm, space, flags=x.flags)
    b = w.registers.value(x.b, x.ta).copy()
    c = w.registers.value(x.c, x.ta).copy() if x.tb == Atomic.CAS else b
    for lane in lanes_of(mask):
        data, at = w.locate(lane, space, addresses[lane], size, align=size, write=True)
        old = np.frombuffer(bytes(data[at : at + size]), dtype_of(x.ta))
        data[at : at + size] = _atomic_result(x, old, b[lane : lane + 1], c[lane : lane + 1]).tobytes()
        _put_lane(w, x.d0, lane, int.from_bytes(old.tobytes(), "little"), size)


@action("LDMATRIX")
def load_matrix(w: Warp, x: Ins, mask: int) -> None:
    """Lanes 8i..8i+7 name the rows of matrix i; lane t receives elements 2(t mod 4) and the next of row t / 4 (of
    column t / 4: sub 1).
    """
    addresses = w.addresses(x.a, x.imm, Space.SHARED)
    for i, destination in enumerate(w.list_rows(x, x.vec)):
        rows = [w.read(8 * i + r, Space.SHARED, addresses[8 * i + r], MATRIX_ROW, MATRIX_ROW) for r in range(8)]
        matrix = np.frombuffer(b"".join(rows), np.uint16).reshape(8, 8).astype(np.uint32)
        flat = (matrix.T if x.sub & 1 else matrix).reshape(-1)
        w.registers.put(destination, flat[0::2] | flat[1::2] << np.uint32(16), mask)


@action("CPASYNC")
def copy_later(w: Warp, x: Ins, mask: int) -> None:
    targets = w.addresses(x.a, x.target, Space.SHARED)
    sources = w.addresses(x.b, x.imm, Space.GLOBAL)
    for lane in lanes_of(mask):
        count = x.width if x.c == NONE else min(int(w.registers.row(x.c)[lane]), x.width)
        data = w.read(lane, Space.GENERIC, sources[lane], count, x.width) if count else b""
        w.locate(lane, Space.SHARED, targets[lane], x.width, align=x.width, write=True)
        w.open_copies[lane].append((targets[lane], data.ljust(x.width, b"\0")))


@action("CPCOMMIT")
def copy_commit(w: Warp, x: Ins, mask: int) -> None:
    for lane in lanes_of(mask):
        w.copy_groups[lane].append(w.open_copies[lane])
        w.open_copies[lane] = []


@action("CPWAIT")
def copy_wait(w: Warp, x: Ins, mask: int) -> None:
    for lane in lanes_of(mask):
        if x.imm < 0:
            copy_commit(w, x, 1 << lane)
        keep = max(x.imm, 0)
        groups = w.copy_groups[lane]
        finished = groups[: len(groups) - keep] if keep < len(groups) else []
        for address, data in (copy for group in finished for copy in group):
            w.write(lane, Space.SHARED, address, data)
        w.copy_groups[lane] = groups[len(finished) :]


@action("PREFETCH")
def prefetch(w: Warp, x: Ins, mask: int) -> None:
    """No value depends on it, and hardware ignores bad addresses here."""


@operation("CVTA")
def convert_address(x: Ins, a: Lanes) -> Lanes:
    base = WINDOWS.get(Space(x.sub), 0)
    return a - np.uint64(base) if x.imm else a + np.uint64(base)


def _lies_in(space: Space) -> Callable[[int], bool]:
    """PTX: kernel parameters count as global too."""
    accepted = {space, Space.PARAM} if space == Space.GLOBAL else {space}

    def test(address: int) -> bool:
        found = space_of(address)
        return found is not None and found[0] in accepted

    return test


@operation("ISSPACE")
def is_in_space(x: Ins, a: Lanes) -> Lanes:
    return lanewise(_lies_in(Space(x.sub)), np.bool_, a)
