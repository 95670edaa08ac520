"""Conversions: CVT between any two number types and of pairs to and from 8-bit floats, CVT2 of two floats into a pair.
Each rounds once, from the exact value.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from warpsight.errors import UnsupportedInstruction
from warpsight.vgpu.bytecode import TYPE_BYTES, Mod, T
from warpsight.vgpu.definition import reals
from warpsight.vgpu.definition.floats import finish, flush
from warpsight.vgpu.definition.lanes import (
    FLOAT_TYPES,
    HALF_OF,
    SIGNED,
    SIGNED_TYPES,
    UNSIGNED,
    Ins,
    Lanes,
    bits_of,
    dtype_of,
    exact,
    wrap,
)
from warpsight.vgpu.definition.operations import lanewise, operation
from warpsight.vgpu.definition.reals import EIGHTS, FORMATS, NumberKind

INTEGER_TYPES = frozenset(T(n) for n in range(T.F16))
NAN_AS_INTEGER = 1 << 63


def _range(kind: T) -> tuple[int, int]:
    bits = bits_of(kind)
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if kind in SIGNED_TYPES else (0, (1 << bits) - 1)


def _integer_to_integer(x: Ins, a: Lanes) -> Lanes:
    values = exact(a)
    return wrap(np.clip(values, *_range(x.ta)) if x.mod & Mod.SAT else values, x.ta)


def _integer_to_float(x: Ins, a: Lanes) -> Lanes:
    def one(value: int) -> int:
        return reals.encode(FORMATS[x.ta], x.rounding, reals.from_integer(value))

    return finish(x, x.ta, lanewise(one, dtype_of(x.ta), a))


def _flushed_source(x: Ins, a: Lanes) -> Lanes:
    return flush(FORMATS[T.F32], a) if x.mod & Mod.FTZ and x.tb == T.F32 else a


def _float_to_integer(x: Ins, a: Lanes) -> Lanes:
    low, high = _range(x.ta)

    def one(bits: int) -> int:
        number = reals.decode(FORMATS[x.tb], bits)
        if number.kind == NumberKind.NAN:
            return NAN_AS_INTEGER if TYPE_BYTES[x.ta] == 8 else 0
        if number.kind == NumberKind.INFINITE:
            return low if number.sign else high
        return min(max(reals.to_integer(x.rounding, number), low), high)

    return wrap(lanewise(one, object, _flushed_source(x, a)), x.ta)


def _float_to_float(x: Ins, a: Lanes) -> Lanes:
    source, target = FORMATS[x.tb], FORMATS[x.ta]

    def one(bits: int) -> int:
        number = reals.decode(source, bits)
        if x.sub == 1 and number.kind == NumberKind.FINITE:
            number = reals.finite(number.sign, reals.to_units(x.rounding, number, 0), 0)
        return reals.encode(target, x.rounding, number)

    # CVT flushes F32 and nothing else, on both sides.
    after = x if x.ta == T.F32 else x._replace(mod=x.mod & ~Mod.FTZ)
    return finish(after, x.ta, lanewise(one, dtype_of(x.ta), _flushed_source(x, a)))


def _to_tf32(x: Ins, a: Lanes) -> Lanes:
    """F32 with 10 fraction bits, ties away: adding half a unit carries as it should, up to infinity."""
    value = _flushed_source(x, a)
    rounded = (value + np.uint32(0x1000)) & np.uint32(0xFFFFE000)
    finite = (value & 0x7FFFFFFF) < 0x7F800000
    return finish(x, T.F32, np.where(finite, rounded, value))


def _to_eights(x: Ins, source: T, high: Lanes, low: Lanes) -> Lanes:
    """Two floats to a pair of 8-bit floats, which are always kept finite."""

    def one(bits: int) -> int:
        number = reals.decode(FORMATS[source], bits)
        if x.mod & Mod.RELU and number.kind != NumberKind.NAN and number.sign:
            return 0
        return reals.encode_finite(EIGHTS[x.ta], x.rounding, number)

    codes = [lanewise(one, np.uint16, values) for values in (high, low)]
    return codes[0] << np.uint16(8) | codes[1]


def _halves_to_eights(x: Ins, a: Lanes) -> Lanes:
    return _to_eights(x, T.F16, a >> np.uint32(16), a & np.uint32(0xFFFF))


def _eights_to_halves(x: Ins, a: Lanes) -> Lanes:
    """Every 8-bit float is a half, so nothing is rounded."""

    def one(code: int) -> int:
        return reals.encode(FORMATS[T.F16], x.rounding, reals.decode(EIGHTS[x.tb], code))

    parts = (a >> np.uint16(8), a & np.uint16(0xFF))
    high, low = (finish(x, T.F16, lanewise(one, np.uint32, part)) for part in parts)
    return high << np.uint32(16) | low


def _converter(x: Ins) -> Callable[[Ins, Lanes], Lanes]:
    if x.ta == T.TF32 and x.tb == T.F32:
        return _to_tf32
    if x.ta == T.F16X2 and x.tb in EIGHTS:
        return _eights_to_halves
    if x.ta in EIGHTS and x.tb == T.F16X2:
        return _halves_to_eights
    known = (x.ta in INTEGER_TYPES or x.ta in FLOAT_TYPES) and (x.tb in INTEGER_TYPES or x.tb in FLOAT_TYPES)
    if not known:
        raise UnsupportedInstruction(f"CVT {x.ta.name} from {x.tb.name}")
    return {
        (True, True): _float_to_float,
        (True, False): _integer_to_float,
        (False, True): _float_to_integer,
        (False, False): _integer_to_integer,
    }[x.ta in FLOAT_TYPES, x.tb in FLOAT_TYPES]


@operation("CVT")
def convert(x: Ins, a: Lanes) -> Lanes:
    """`vec` is the width in bytes of a destination register wider than the type: the result is then extended by its
    sign.
    """
    result = _converter(x)(x, a)
    if x.vec <= TYPE_BYTES[x.ta]:
        return result
    return result.astype(SIGNED[x.vec] if x.ta in SIGNED_TYPES else UNSIGNED[x.vec])


@operation("CVT2")
def convert_two(x: Ins, a: Lanes, b: Lanes) -> Lanes:
    """a to the high part, b to the low part."""
    relu = Mod.RELU if x.sub == 1 else Mod(0)
    if x.ta in EIGHTS and x.tb == T.F32:
        return _to_eights(x._replace(mod=x.mod | relu), T.F32, a, b)
    one = x._replace(ta=HALF_OF[x.ta], sub=0, vec=0, mod=x.mod | relu)
    high, low = (_converter(one)(one, v).astype(np.uint32) for v in (a, b))
    return high << np.uint32(16) | low
