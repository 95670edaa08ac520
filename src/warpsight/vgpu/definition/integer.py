"""Moves and integer arithmetic. NumPy's fixed-width integers wrap as the machine does; wider products go through
Python integers.
"""

from __future__ import annotations

import numpy as np

from warpsight.vgpu.bytecode import Mod, T
from warpsight.vgpu.definition.lanes import SIGNED_TYPES, Ins, Lanes, bits_of, exact, wrap
from warpsight.vgpu.definition.operations import lanewise, operation


def _saturated(x: Ins, values: Lanes) -> Lanes:
    """Exact integers to the type: clamped for S32 with SAT, else wrapped."""
    if x.mod & Mod.SAT and x.ta == T.S32:
        values = np.clip(values, -(2**31), 2**31 - 1)
    return wrap(values, x.ta)


@operation("MOV")
def move(x: Ins, a: Lanes) -> Lanes:
    return a


@operation("SEL")
def select(x: Ins, a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    return np.where(c, a, b)


@operation("P2R")
def predicate_to_row(x: Ins, a: Lanes) -> Lanes:
    return np.where(a, np.uint32(x.imm & 0xFFFFFFFF), np.uint32(0))


@operation("ADD", of="integer")
def add(x: Ins, a: Lanes, b: Lanes) -> Lanes:
    return _saturated(x, exact(a) + exact(b))


@operation("SUB", of="integer")
def subtract(x: Ins, a: Lanes, b: Lanes) -> Lanes:
    return _saturated(x, exact(a) - exact(b))


@operation("MUL", of="integer")
def multiply(x: Ins, a: Lanes, b: Lanes) -> Lanes:
    return a * b


@operation("MULHI")
def multiply_high(x: Ins, a: Lanes, b: Lanes) -> Lanes:
    return wrap((exact(a) * exact(b)) >> bits_of(x.ta), x.ta)


@operation("MULWIDE")
def multiply_wide(x: Ins, a: Lanes, b: Lanes) -> Lanes:
    return wrap(exact(a) * exact(b), x.tb)


@operation("MAD")
def multiply_add(x: Ins, a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    return a * b + c


@operation("MADHI")
def multiply_add_high(x: Ins, a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    return _saturated(x, ((exact(a) * exact(b)) >> bits_of(x.ta)) + exact(c))


@operation("MADWIDE")
def multiply_add_wide(x: Ins, a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    return wrap(exact(a) * exact(b) + exact(c), x.tb)


def _unsigned(values: Lanes, kind: T) -> Lanes:
    return exact(values) & ((1 << bits_of(kind)) - 1)


def _sum_and_carry(kind: T, a: Lanes, b: Lanes, carry: Lanes) -> tuple[Lanes, Lanes]:
    total = _unsigned(a, kind) + _unsigned(b, kind) + exact(carry.astype(np.uint8))
    return wrap(total, kind), (total >> bits_of(kind)).astype(np.bool_)


@operation("ADDC")
def add_carry(x: Ins, a: Lanes, b: Lanes, carry: Lanes) -> tuple[Lanes, Lanes]:
    return _sum_and_carry(x.ta, a, b, carry)


@operation("SUBC")
def subtract_borrow(x: Ins, a: Lanes, b: Lanes, borrow: Lanes) -> tuple[Lanes, Lanes]:
    difference = _unsigned(a, x.ta) - _unsigned(b, x.ta) - exact(borrow.astype(np.uint8))
    return wrap(difference, x.ta), (difference < 0).astype(np.bool_)


@operation("MADC")
def multiply_add_carry(x: Ins, a: Lanes, b: Lanes, c: Lanes, carry: Lanes) -> tuple[Lanes, Lanes]:
    product = exact(a) * exact(b)
    part = wrap(product >> bits_of(x.ta) if x.sub else product, x.ta)
    return _sum_and_carry(x.ta, part, c, carry)


@operation("NEG", of="integer")
def negate(x: Ins, a: Lanes) -> Lanes:
    return wrap(-exact(a), x.ta)


@operation("ABS", of="integer")
def absolute(x: Ins, a: Lanes) -> Lanes:
    return wrap(np.abs(exact(a)), x.ta)


def _above_zero(x: Ins, values: Lanes) -> Lanes:
    return np.maximum(values, values.dtype.type(0)) if x.mod & Mod.RELU else values


@operation("MIN", of="integer")
def minimum(x: Ins, a: Lanes, b: Lanes) -> Lanes:
    return _above_zero(x, np.minimum(a, b))


@operation("MAX", of="integer")
def maximum(x: Ins, a: Lanes, b: Lanes) -> Lanes:
    return _above_zero(x, np.maximum(a, b))


def _truncated_quotient(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


@operation("DIV", of="integer")
def divide(x: Ins, a: Lanes, b: Lanes) -> Lanes:
    def quotient(p: int, q: int) -> int:
        return _truncated_quotient(p, q) if q else -1

    return wrap(lanewise(quotient, object, a, b), x.ta)


@operation("REM")
def remainder(x: Ins, a: Lanes, b: Lanes) -> Lanes:
    def rest(p: int, q: int) -> int:
        return p - q * _truncated_quotient(p, q) if q else p

    return wrap(lanewise(rest, object, a, b), x.ta)


@operation("SAD")
def absolute_difference(x: Ins, a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    return wrap(np.abs(exact(a) - exact(b)) + exact(c), x.ta)


def _parts(row: Lanes, count: int, signed: bool) -> Lanes:
    """The 32-bit row as `count` exact integers per lane."""
    size = 4 // count
    kinds = {(1, False): "<u1", (1, True): "<i1", (2, False): "<u2", (2, True): "<i2"}
    return exact(np.ascontiguousarray(row).view(kinds[size, signed]).reshape(-1, count))


@operation("DP4A")
def dot_bytes(x: Ins, a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    products = _parts(a, 4, x.ta in SIGNED_TYPES) * _parts(b, 4, x.tb in SIGNED_TYPES)
    return wrap(products.sum(axis=1) + exact(c), T.U32)


@operation("DP2A")
def dot_halves(x: Ins, a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    chosen = _parts(b, 4, x.tb in SIGNED_TYPES)[:, 2:] if x.sub & 1 else _parts(b, 4, x.tb in SIGNED_TYPES)[:, :2]
    return wrap((_parts(a, 2, x.ta in SIGNED_TYPES) * chosen).sum(axis=1) + exact(c), T.U32)


@operation("VABSDIFF")
def part_differences(x: Ins, a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    signed = x.ta in (*SIGNED_TYPES, T.S16X2)
    differences = np.abs(_parts(a, x.vec, signed) - _parts(b, x.vec, signed))
    if x.sub & 1:
        return wrap(differences.sum(axis=1) + exact(c), T.U32)
    width = 32 // x.vec
    cut = differences & ((1 << width) - 1)
    return wrap(sum((cut[:, i] << (i * width) for i in range(1, x.vec)), start=cut[:, 0]), T.U32)
