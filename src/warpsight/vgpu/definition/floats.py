"""Float arithmetic: each result is the exact value rounded once, then flushed, saturated or cut at zero as `mod`
says.

The exact path (reals.py) is the meaning. Where NumPy's IEEE arithmetic is the same thing by definition (to nearest,
F32 and F64) it is used because it is quicker; a test holds the two together. Operands and results are bits.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from warpsight.vgpu.bytecode import Mod, Round, T
from warpsight.vgpu.definition import reals
from warpsight.vgpu.definition.lanes import Ins, Lanes, dtype_of
from warpsight.vgpu.definition.operations import lanewise, operation
from warpsight.vgpu.definition.reals import FORMATS, FloatFormat, Number

FLUSHED = frozenset((T.F32, T.F16))
NUMPY_FLOAT = {T.F32: np.float32, T.F64: np.float64}


def is_nan(fmt: FloatFormat, bits: Lanes) -> Lanes:
    return (bits & (fmt.sign_bit - 1)) > fmt.infinity


def flush(fmt: FloatFormat, bits: Lanes) -> Lanes:
    """Denormals become zeros of their sign."""
    signless = bits & (fmt.sign_bit - 1)
    return np.where(signless < fmt.smallest_normal, bits & fmt.sign_bit, bits).astype(bits.dtype)


def flush_inputs(x: Ins, *operands: Lanes) -> list[Lanes]:
    on = x.mod & Mod.FTZ and x.ta in FLUSHED
    return [flush(FORMATS[x.ta], o) if on else o for o in operands]


def finish(x: Ins, kind: T, bits: Lanes) -> Lanes:
    """What happens to a rounded result: canonical NaN, then FTZ, then SAT or RELU."""
    fmt = FORMATS[kind]
    result = np.where(is_nan(fmt, bits), fmt.nan, bits).astype(bits.dtype)
    if x.mod & Mod.FTZ and kind in FLUSHED:
        result = flush(fmt, result)
    negative = (result & fmt.sign_bit) != 0
    if x.mod & Mod.SAT:
        result = np.where(is_nan(fmt, result) | negative, 0, np.minimum(result, fmt.one)).astype(bits.dtype)
    if x.mod & Mod.RELU:
        result = np.where(~is_nan(fmt, result) & negative, 0, result).astype(bits.dtype)
    return result


def as_numpy(kind: T, bits: Lanes) -> Lanes:
    return bits.view(NUMPY_FLOAT[kind])


def as_bits(kind: T, values: Lanes) -> Lanes:
    return np.ascontiguousarray(values).view(dtype_of(kind))


def exact_rounded(kind: T, mode: Round, formula: Callable[..., Number], *operands: Lanes) -> Lanes:
    """The meaning: decode, compute the exact number, round once."""
    fmt = FORMATS[kind]

    def one(*bits: int) -> int:
        return reals.encode(fmt, mode, formula(*(reals.decode(fmt, b) for b in bits)))

    return lanewise(one, dtype_of(kind), *operands)


def _arithmetic(x: Ins, formula: Callable[..., Number], shortcut: Callable[..., Lanes], *operands: Lanes) -> Lanes:
    inputs = flush_inputs(x, *operands)
    if x.rounding == Round.RN and x.ta in NUMPY_FLOAT:
        bits = as_bits(x.ta, shortcut(*(as_numpy(x.ta, i) for i in inputs)))
    else:
        bits = exact_rounded(x.ta, x.rounding, formula, *inputs)
    return finish(x, x.ta, bits)


@operation("ADD", of="float")
def add(x: Ins, a: Lanes, b: Lanes) -> Lanes:
    def formula(p: Number, q: Number) -> Number:
        return reals.total(p, q, x.rounding)

    return _arithmetic(x, formula, np.add, a, b)


@operation("SUB", of="float")
def subtract(x: Ins, a: Lanes, b: Lanes) -> Lanes:
    def formula(p: Number, q: Number) -> Number:
        return reals.total(p, reals.negated(q), x.rounding)

    return _arithmetic(x, formula, np.subtract, a, b)


@operation("MUL", of="float")
def multiply(x: Ins, a: Lanes, b: Lanes) -> Lanes:
    return _arithmetic(x, reals.product, np.multiply, a, b)


def fused_f32(a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    """F32 fused multiply-add to nearest through float64.

    The product is exact in 53 bits; the sum is rounded to odd (the last bit keeps that something was lost), so that
    the second rounding, 29 bits further up, sees on which side of a tie the exact value lies.
    """
    product, addend = a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64)
    total = product + addend
    back = total - product
    error = (product - (total - back)) + (addend - back)
    inexact = np.isfinite(total) & (error != 0)
    bits = total.view(np.int64)
    toward_zero = inexact & ((error > 0) != (total > 0))
    odd = np.where(toward_zero, bits - 1, bits) | inexact.astype(np.int64)
    return odd.view(np.float64).astype(np.float32)


@operation("FMA")
def fused(x: Ins, a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    def formula(p: Number, q: Number, r: Number) -> Number:
        return reals.total(reals.product(p, q), r, x.rounding)

    if x.ta == T.F32:
        return _arithmetic(x, formula, fused_f32, a, b, c)
    return finish(x, x.ta, exact_rounded(x.ta, x.rounding, formula, *flush_inputs(x, a, b, c)))


@operation("DIV", of="float")
def divide(x: Ins, a: Lanes, b: Lanes) -> Lanes:
    """Sub 1 (approx) and 2 (full): a product with the reciprocal, which is flushed where it is denormal. Denormal
    divisors are scaled first, with full very large ones too.
    """
    if x.sub == 0 or x.ta != T.F32:
        return _arithmetic(x._replace(sub=0), reals.quotient, np.divide, a, b)
    (top, bottom), size = flush_inputs(x, a, b), b & 0x7FFFFFFF
    scale = np.where(size < 0x00800000, np.float32(2.0**24), np.float32(1))
    if x.sub == 2:
        scale = np.where(size > 0x7E800000, np.float32(0.25), scale)
    inverse = np.float32(1) / (as_numpy(T.F32, bottom) * scale)
    inverse = as_numpy(T.F32, flush(FORMATS[T.F32], as_bits(T.F32, inverse)))
    return finish(x, T.F32, as_bits(T.F32, as_numpy(T.F32, top) * scale * inverse))


@operation("NEG", of="float")
def negate(x: Ins, a: Lanes) -> Lanes:
    return flush_inputs(x, a)[0] ^ a.dtype.type(FORMATS[x.ta].sign_bit)


@operation("ABS", of="float")
def absolute(x: Ins, a: Lanes) -> Lanes:
    return flush_inputs(x, a)[0] & a.dtype.type(FORMATS[x.ta].sign_bit - 1)


@operation("COPYSIGN")
def copy_sign(x: Ins, a: Lanes, b: Lanes) -> Lanes:
    sign = a.dtype.type(FORMATS[x.ta].sign_bit)
    return a & sign | b & ~sign
