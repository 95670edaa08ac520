"""Reciprocals, roots and the approximate functions, by fixed steps in float64 so that every executor can give the
same bits.

Hardware's own tables are not reproduced; results lie within the error bounds that PTX documents. No step may be fused
or reordered.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from warpsight.vgpu.bytecode import Mod, Round, T
from warpsight.vgpu.definition import reals
from warpsight.vgpu.definition.floats import (
    NUMPY_FLOAT,
    as_bits,
    as_numpy,
    exact_rounded,
    finish,
    flush,
    flush_inputs,
)
from warpsight.vgpu.definition.lanes import Ins, Lanes, dtype_of
from warpsight.vgpu.definition.operations import lanewise, operation
from warpsight.vgpu.definition.reals import FORMATS

LOW_WORD = np.uint64(0xFFFFFFFF)

# (ln 2)^k / k!, each rounded to float64.
EX2_TERMS = tuple(
    float.fromhex(text)
    for text in [
        "0x1.0000000000000p+0",
        "0x1.62e42fefa39efp-1",
        "0x1.ebfbdff82c58fp-3",
        "0x1.c6b08d704a0c0p-5",
        "0x1.3b2ab6fba4e77p-7",
        "0x1.5d87fe78a6731p-10",
        "0x1.430912f86c787p-13",
        "0x1.ffcbfc588b0c7p-17",
        "0x1.62c0223a5c824p-20",
        "0x1.b5253d395e7c4p-24",
        "0x1.e4cf5158b8ecap-28",
        "0x1.e8cac7351bb25p-32",
        "0x1.c3bd650fc2986p-36",
    ]
)
# 1/n! with the signs of the series; factorials up to 16! are exact in float64, so each quotient is rounded once.
SIN_TERMS = (
    1.0, -1 / 6.0, 1 / 120.0, -1 / 5040.0, 1 / 362880.0, -1 / 39916800.0, 1 / 6227020800.0, -1 / 1307674368000.0,
)  # fmt: skip
COS_TERMS = (
    1.0, -1 / 2.0, 1 / 24.0, -1 / 720.0, 1 / 40320.0, -1 / 3628800.0, 1 / 479001600.0,
    -1 / 87178291200.0, 1 / 20922789888000.0,
)  # fmt: skip
SQRT_HALF = 0.70710678118654752440
TWO_OVER_LN2 = 2.8853900817779268
LOG2_E = 1.4426950408889634
TWO_PI = 6.283185307179586
INVERSE_TWO_PI = 0x3E22F983  # 1 / (2 pi) in F32


def to_f64(kind: T, bits: Lanes) -> Lanes:
    """Every format here widens to float64 exactly."""
    if kind in NUMPY_FLOAT:
        return as_numpy(kind, bits).astype(np.float64)
    return exact_widened(kind, bits)


def exact_widened(kind: T, bits: Lanes) -> Lanes:
    def widen(b: int) -> int:
        return reals.encode(FORMATS[T.F64], Round.RN, reals.decode(FORMATS[kind], b))

    return lanewise(widen, np.uint64, bits).view(np.float64)


def from_f64(kind: T, values: Lanes, mode: Round = Round.RN) -> Lanes:
    """Round float64 values once to the type; bits."""
    if kind in NUMPY_FLOAT and mode == Round.RN:
        return as_bits(kind, values.astype(NUMPY_FLOAT[kind]))

    def narrow(b: int) -> int:
        return reals.encode(FORMATS[kind], mode, reals.decode(FORMATS[T.F64], b))

    return lanewise(narrow, dtype_of(kind), np.ascontiguousarray(values).view(np.uint64))


def _through_f64(x: Ins, a: Lanes, steps: Callable[[Lanes], Lanes]) -> Lanes:
    (flushed,) = flush_inputs(x, a)
    return finish(x, x.ta, from_f64(x.ta, steps(to_f64(x.ta, flushed))))


def _coarse_f64(x: Ins, a: Lanes, steps: Callable[[Lanes], Lanes]) -> Lanes:
    """The F64 approximations: only the upper word of the result is given; FTZ acts on F64 here."""
    flushes = bool(x.mod & Mod.FTZ)
    value = flush(FORMATS[T.F64], a) if flushes else a
    result = finish(x, T.F64, as_bits(T.F64, steps(value.view(np.float64))))
    return (flush(FORMATS[T.F64], result) if flushes else result) & ~LOW_WORD


@operation("RCP")
def reciprocal(x: Ins, a: Lanes) -> Lanes:
    if x.sub == 1 and x.ta == T.F64:
        return _coarse_f64(x, a, lambda v: 1.0 / v)
    (flushed,) = flush_inputs(x, a)
    mode = Round.RN if x.sub == 1 else x.rounding
    if mode == Round.RN and x.ta in NUMPY_FLOAT:
        bits = as_bits(x.ta, NUMPY_FLOAT[x.ta](1) / as_numpy(x.ta, flushed))
    else:
        one = np.full_like(flushed, FORMATS[x.ta].one)
        bits = exact_rounded(x.ta, mode, reals.quotient, one, flushed)
    return finish(x, x.ta, bits)


@operation("SQRT")
def square_root(x: Ins, a: Lanes) -> Lanes:
    (flushed,) = flush_inputs(x, a)
    mode = Round.RN if x.sub == 1 else x.rounding
    if mode == Round.RN and x.ta in NUMPY_FLOAT:
        bits = as_bits(x.ta, np.sqrt(as_numpy(x.ta, flushed)))
    else:
        bits = exact_rounded(x.ta, mode, reals.square_root, flushed)
    return finish(x, x.ta, bits)


@operation("RSQRT")
def reciprocal_root(x: Ins, a: Lanes) -> Lanes:
    if x.ta == T.F64:
        return _coarse_f64(x, a, lambda v: 1.0 / np.sqrt(v))
    return _through_f64(x, a, lambda v: 1.0 / np.sqrt(v))


def _horner(terms: tuple[float, ...], r: Lanes) -> Lanes:
    p = np.full_like(r, terms[-1])
    for term in terms[-2::-1]:
        p = p * r + term
    return p


def ex2_steps(a: Lanes) -> Lanes:
    x = np.clip(a, -1100.0, 1100.0)
    n = np.rint(x)
    p = _horner(EX2_TERMS, x - n)
    return np.where(np.isnan(a), a, np.ldexp(p, np.where(np.isnan(n), 0, n).astype(np.int64)))


def lg2_steps(a: Lanes) -> Lanes:
    m, e = np.frexp(a)
    low = m < SQRT_HALF
    m, e = np.where(low, 2 * m, m), np.where(low, e - 1, e)
    f = (m - 1) / (m + 1)
    p = _horner(tuple(1.0 / k for k in range(1, 20, 2)), f * f)
    result = e + (f * p) * TWO_OVER_LN2
    result = np.where(a == 0, -np.inf, np.where(a < 0, np.nan, result))
    return np.where(np.isnan(a) | (a == np.inf), a, result)


def _circular(turns: Lanes, quarter: int) -> Lanes:
    """Sine of an angle in turns, moved on by `quarter` quarter turns (1 gives the cosine)."""
    r = np.fmod(turns, 1.0)
    k = np.rint(r * 4)
    t = (r - k * 0.25) * TWO_PI
    s = t * t
    sine, cosine = t * _horner(SIN_TERMS, s), _horner(COS_TERMS, s)
    quarters = (np.where(np.isnan(k), 0, k).astype(np.int64) + quarter) % 4
    return np.where(np.isfinite(turns), np.choose(quarters, (sine, cosine, -sine, -cosine)), np.nan)


def _turns(x: Ins, a: Lanes) -> Lanes:
    """The operand in turns: as it is (sub 1), or radians times 1 / (2 pi) rounded to zero. Denormals are flushed."""
    (angle,) = flush_inputs(x, a)
    if x.sub == 0:
        factor = np.full_like(angle, INVERSE_TWO_PI)
        angle = exact_rounded(x.ta, Round.RZ, reals.product, angle, factor)
    return to_f64(x.ta, flush(FORMATS[x.ta], angle))


def _circle(x: Ins, a: Lanes, quarter: int) -> Lanes:
    turns = _turns(x, a)
    result = _circular(turns, quarter)
    if quarter == 0:
        result = np.where(turns == 0, turns, result)
    return flush(FORMATS[x.ta], finish(x, x.ta, from_f64(x.ta, result)))


def tanh_steps(a: Lanes) -> Lanes:
    e = ex2_steps(2 * a * LOG2_E)
    middle = (e - 1) / (e + 1)
    small = a - (a * a) * a / 3.0
    result = np.where(np.abs(a) < 2.0**-12, small, np.where(np.abs(a) > 20, np.copysign(1.0, a), middle))
    return np.where((a == 0) | np.isnan(a), a, result)


@operation("EX2")
def exponential(x: Ins, a: Lanes) -> Lanes:
    if x.ta != T.F32 or x.mod & Mod.FTZ:
        return _through_f64(x, a, ex2_steps)
    value = as_numpy(T.F32, a)
    tail = value < -126  # the square of 2^(x/2), itself flushed
    low = flush(FORMATS[T.F32], from_f64(T.F32, ex2_steps(value.astype(np.float64) * np.where(tail, 0.5, 1.0))))
    square = as_numpy(T.F32, low) * as_numpy(T.F32, low)
    return finish(x, x.ta, np.where(tail, as_bits(T.F32, square), from_f64(T.F32, ex2_steps(value.astype(np.float64)))))


@operation("LG2")
def logarithm(x: Ins, a: Lanes) -> Lanes:
    if x.ta != T.F32 or x.mod & Mod.FTZ:
        return _through_f64(x, a, lg2_steps)
    value = as_numpy(T.F32, a)
    tail = np.abs(value) < np.float32(2.0**-126)  # of 2^24 times it, less 24
    scaled = from_f64(T.F32, lg2_steps(value.astype(np.float64) * np.where(tail, 2.0**24, 1.0)))
    return finish(x, x.ta, np.where(tail, as_bits(T.F32, as_numpy(T.F32, scaled) + np.float32(-24)), scaled))


@operation("SIN")
def sine(x: Ins, a: Lanes) -> Lanes:
    return _circle(x, a, 0)


@operation("COS")
def cosine(x: Ins, a: Lanes) -> Lanes:
    return _circle(x, a, 1)


@operation("TANH")
def hyperbolic_tangent(x: Ins, a: Lanes) -> Lanes:
    return _through_f64(x, a, tanh_steps)
