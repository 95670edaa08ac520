"""Registers of one warp, and the one place that turns rows into typed 32-lane arrays and back.

Integers become NumPy integers of their own width and sign; floats stay bits (unsigned), because moves must not touch
NaNs. Must stay true: a write changes only lanes of its mask, small results are stored zero-extended.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpsight.vgpu.bytecode import NONE, OP_NAMES, TYPE_BYTES, Program, Round, T

Lanes = NDArray[Any]
LANES = 32
LANE_INDEX = np.arange(LANES)

UNSIGNED: dict[int, type[np.unsignedinteger[Any]]] = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
SIGNED: dict[int, type[np.signedinteger[Any]]] = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}
SIGNED_TYPES = frozenset((T.S8, T.S16, T.S32, T.S64))
FLOAT_TYPES = frozenset((T.F16, T.BF16, T.F32, T.F64))
HALF_OF = {T.F16X2: T.F16, T.BF16X2: T.BF16, T.U16X2: T.U16, T.S16X2: T.S16}


class Ins(NamedTuple):
    """One instruction with Python values; fields as in docs/bytecode.md."""

    op: str
    sub: int
    ta: T
    tb: T
    mod: int
    width: int
    vec: int
    flags: int
    guard: int
    d0: int
    d1: int
    a: int
    b: int
    c: int
    e: int
    list: int
    target: int
    imm: int

    @property
    def rounding(self) -> Round:
        return Round(self.mod & 7)


def decode_code(program: Program) -> list[Ins]:
    code: list[Ins] = []
    for record in program.code:
        fields: dict[str, Any] = {name: int(record[name]) for name in Ins._fields}
        fields |= {"op": OP_NAMES[fields["op"]], "ta": T(fields["ta"]), "tb": T(fields["tb"])}
        code.append(Ins(**fields))
    return code


def dtype_of(kind: T) -> type[np.integer[Any]]:
    return SIGNED[TYPE_BYTES[kind]] if kind in SIGNED_TYPES else UNSIGNED[TYPE_BYTES[kind]]


def bits_of(kind: T) -> int:
    return 8 * TYPE_BYTES[kind]


def exact(values: Lanes) -> Lanes:
    """The same integers as Python's, without a width."""
    return values.astype(object)


def wrap(values: Lanes, kind: T) -> Lanes:
    """Exact integers cut to the type's width."""
    unsigned = (values & ((1 << bits_of(kind)) - 1)).astype(UNSIGNED[TYPE_BYTES[kind]])
    return unsigned.view(dtype_of(kind))


def mask_of(bools: Lanes) -> int:
    return int(np.packbits(bools, bitorder="little").view(np.uint32)[0])


def bools_of(mask: int) -> NDArray[np.bool_]:
    return (np.uint32(mask) >> LANE_INDEX.astype(np.uint32) & 1).astype(np.bool_)


def lanes_of(mask: int) -> list[int]:
    return [lane for lane in range(LANES) if mask >> lane & 1]


class Registers:
    """Rows and predicates of one warp, and the constant rows it shares."""

    def __init__(self, rows: Lanes, preds: Lanes, consts: Lanes) -> None:
        self.rows = rows
        self.preds = preds
        self.consts = consts

    def row(self, operand: int) -> Lanes:
        if operand >= 0:
            return self.rows[operand]
        return np.broadcast_to(self.consts[~operand], LANES)

    def high_row(self, operand: int) -> Lanes:
        return self.row(operand + 1 if operand >= 0 else operand - 1)

    def pair(self, operand: int) -> Lanes:
        return self.row(operand).astype(np.uint64) | self.high_row(operand).astype(np.uint64) << np.uint64(32)

    def value(self, operand: int, kind: T) -> Lanes:
        size = TYPE_BYTES[kind]
        if size == 8:
            return self.pair(operand).view(dtype_of(kind))
        return self.row(operand).astype(UNSIGNED[size]).view(dtype_of(kind))

    def predicate(self, operand: int) -> Lanes:
        return self.preds[operand >> 1] ^ bool(operand & 1)

    def put(self, destination: int, values: Lanes, mask: int) -> None:
        """Store integers of any width up to 64 bits: one row, or two for 64-bit arrays."""
        if destination == NONE:
            return
        chosen = bools_of(mask)
        bits = values.view(UNSIGNED[values.dtype.itemsize])
        self.rows[destination][chosen] = bits.astype(np.uint32)[chosen]
        if values.dtype.itemsize == 8:
            self.rows[destination + 1][chosen] = (bits >> np.uint64(32)).astype(np.uint32)[chosen]

    def put_predicate(self, index: int, bools: Lanes, mask: int) -> None:
        if index != 0 and index != NONE:
            chosen = bools_of(mask)
            self.preds[index][chosen] = bools[chosen]
