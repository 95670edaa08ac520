"""Comparisons and choices between floats: SETP, TESTP, MIN, MAX. Order is that of an integer key in which -0 < +0."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from warpsight.vgpu.bytecode import Cmp
from warpsight.vgpu.definition.floats import flush_inputs, is_nan
from warpsight.vgpu.definition.lanes import SIGNED, Ins, Lanes
from warpsight.vgpu.definition.operations import operation
from warpsight.vgpu.definition.reals import FORMATS, FloatFormat

_RELATIONS: tuple[Callable[[Lanes, Lanes], Lanes], ...] = (
    lambda a, b: a == b,
    lambda a, b: a != b,
    lambda a, b: a < b,
    lambda a, b: a <= b,
    lambda a, b: a > b,
    lambda a, b: a >= b,
)


def order_key(fmt: FloatFormat, bits: Lanes) -> Lanes:
    """Signed integers in the order of the floats, -0 just below +0; NaNs have no meaningful key."""
    signed = bits.view(SIGNED[bits.dtype.itemsize])
    return np.where(signed < 0, signed ^ (fmt.sign_bit - 1), signed)


def _combined(x: Ins, test: Lanes, c: Lanes) -> Lanes:
    return (test & c, test | c, test ^ c)[x.imm]


@operation("SETP", of="integer")
def compare_integers(x: Ins, a: Lanes, b: Lanes, c: Lanes) -> tuple[Lanes, Lanes]:
    test = _RELATIONS[x.sub](a, b)
    return _combined(x, test, c), _combined(x, ~test, c)


@operation("SETP", of="float")
def compare_floats(x: Ins, a: Lanes, b: Lanes, c: Lanes) -> tuple[Lanes, Lanes]:
    fmt = FORMATS[x.ta]
    a, b = flush_inputs(x, a, b)
    unordered = is_nan(fmt, a) | is_nan(fmt, b)
    if x.sub == Cmp.NUM:
        test = ~unordered
    elif x.sub == Cmp.NAN:
        test = unordered
    else:
        # Both zeros compare equal, so give them one key.
        keys = [_zero_joined(order_key(fmt, v)) for v in (a, b)]
        relation = _RELATIONS[x.sub % 6](keys[0], keys[1])
        test = relation | unordered if x.sub >= Cmp.EQU else relation & ~unordered
    return _combined(x, test, c), _combined(x, ~test, c)


def _zero_joined(key: Lanes) -> Lanes:
    return np.where(key == -1, 0, key)


@operation("TESTP")
def classify(x: Ins, a: Lanes) -> Lanes:
    fmt = FORMATS[x.ta]
    magnitude = a & (fmt.sign_bit - 1)
    finite = magnitude < fmt.infinity
    tests = (
        finite,
        magnitude == fmt.infinity,
        ~is_nan(fmt, a),
        is_nan(fmt, a),
        finite & (magnitude >= fmt.smallest_normal),
        (magnitude != 0) & (magnitude < fmt.smallest_normal),
    )
    return tests[x.sub]


def _choose(x: Ins, a: Lanes, b: Lanes, take_lower: bool) -> Lanes:
    """The lower or higher of two floats; a NaN loses unless sub bit 0 asks for it; sub bit 1 compares magnitudes and
    multiplies signs.
    """
    fmt = FORMATS[x.ta]
    a, b = flush_inputs(x, a, b)
    sign = (a ^ b) & fmt.sign_bit
    if x.sub & 2:
        a, b = a & (fmt.sign_bit - 1), b & (fmt.sign_bit - 1)
    a_first = (order_key(fmt, a) < order_key(fmt, b)) == take_lower
    a_nan, b_nan = is_nan(fmt, a), is_nan(fmt, b)
    chosen = np.where((a_first | b_nan) & ~a_nan, a, b)
    if x.sub & 2:
        chosen = chosen | sign
    no_number = a_nan | b_nan if x.sub & 1 else a_nan & b_nan
    return np.where(no_number, fmt.nan, chosen).astype(a.dtype)


@operation("MIN", of="float")
def minimum(x: Ins, a: Lanes, b: Lanes) -> Lanes:
    return _choose(x, a, b, take_lower=True)


@operation("MAX", of="float")
def maximum(x: Ins, a: Lanes, b: Lanes) -> Lanes:
    return _choose(x, a, b, take_lower=False)
