"""Floating-point numbers as exact integers: decode, add, multiply, divide, take roots, and round once at the end.

A finite number is (-1)^sign * mantissa * 2^exponent with a Python integer for mantissa, so nothing is lost before
`encode` rounds. Quotients and roots keep enough bits plus a sticky one, which rounds like the true value in every
format here and every mode. Flushing of denormals, saturation and NaN payloads are not decided here: `encode` keeps
denormals and every NaN is the canonical one.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from math import isqrt
from typing import NamedTuple

from warpsight.vgpu.bytecode import Round, T


@dataclass(frozen=True)
class FloatFormat:
    """A binary format of IEEE's layout; `precision` counts the hidden bit. Without an infinity only the last code is
    NaN and every code before it is finite.
    """

    bits: int
    precision: int
    nan: int
    has_infinity: bool = True

    @property
    def exponent_bits(self) -> int:
        return self.bits - self.precision

    @property
    def bias(self) -> int:
        return (1 << (self.exponent_bits - 1)) - 1

    @property
    def infinity(self) -> int:
        """The code after the largest finite number: infinity, or NaN where there is none."""
        return ((1 << self.exponent_bits) - 1) << (self.precision - 1) if self.has_infinity else self.sign_bit - 1

    @property
    def one(self) -> int:
        return self.bias << (self.precision - 1)

    @property
    def sign_bit(self) -> int:
        return 1 << (self.bits - 1)

    @property
    def smallest_normal(self) -> int:
        return 1 << (self.precision - 1)

    @property
    def lowest_exponent(self) -> int:
        """Exponent of the last bit of a denormal."""
        return 1 - self.bias - (self.precision - 1)


FORMATS: dict[T, FloatFormat] = {
    T.F16: FloatFormat(16, 11, 0x7FFF),
    T.BF16: FloatFormat(16, 8, 0x7FFF),
    T.F32: FloatFormat(32, 24, 0x7FFFFFFF),
    T.F64: FloatFormat(64, 53, 0xFFF8_0000_0000_0000),
}
EIGHTS: dict[T, FloatFormat] = {
    T.E4M3X2: FloatFormat(8, 4, 0x7F, has_infinity=False),
    T.E5M2X2: FloatFormat(8, 3, 0x7F),
}
"""The format of one of the two 8-bit floats of a pair."""


class NumberKind(IntEnum):
    FINITE, INFINITE, NAN = range(3)


class Number(NamedTuple):
    kind: NumberKind
    sign: int
    mantissa: int
    exponent: int


NAN = Number(NumberKind.NAN, 0, 0, 0)
MORE_BITS = 128
"""Bits of a quotient or root before its sticky bit; more than twice any precision here."""


def infinity(sign: int) -> Number:
    return Number(NumberKind.INFINITE, sign, 0, 0)


def finite(sign: int, mantissa: int, exponent: int) -> Number:
    return Number(NumberKind.FINITE, sign, mantissa, exponent)


def from_integer(value: int) -> Number:
    return finite(int(value < 0), abs(value), 0)


def decode(fmt: FloatFormat, bits: int) -> Number:
    sign = int(bits >= fmt.sign_bit)
    magnitude = bits & (fmt.sign_bit - 1)
    if magnitude >= fmt.infinity:
        return infinity(sign) if magnitude == fmt.infinity and fmt.has_infinity else NAN
    field, fraction = divmod(magnitude, fmt.smallest_normal)
    if field == 0:
        return finite(sign, fraction, fmt.lowest_exponent)
    return finite(sign, fraction + fmt.smallest_normal, fmt.lowest_exponent + field - 1)


def total(a: Number, b: Number, mode: Round) -> Number:
    """a + b, exactly; the mode only decides the sign of a zero made of opposite signs."""
    if a.kind or b.kind:
        if NumberKind.NAN in (a.kind, b.kind) or (a.kind == b.kind and a.sign != b.sign):
            return NAN
        return a if a.kind else b
    exponent = min(a.exponent, b.exponent)
    value = (-1) ** a.sign * (a.mantissa << (a.exponent - exponent)) + (-1) ** b.sign * (
        b.mantissa << (b.exponent - exponent)
    )
    if value == 0:
        sign = a.sign if a.sign == b.sign else int(mode == Round.RM)
        return finite(sign, 0, exponent)
    return finite(int(value < 0), abs(value), exponent)


def negated(a: Number) -> Number:
    return a._replace(sign=a.sign ^ 1)


def product(a: Number, b: Number) -> Number:
    sign = a.sign ^ b.sign
    if NumberKind.NAN in (a.kind, b.kind):
        return NAN
    if a.kind or b.kind:
        zero_factor = (not a.kind and a.mantissa == 0) or (not b.kind and b.mantissa == 0)
        return NAN if zero_factor else infinity(sign)
    return finite(sign, a.mantissa * b.mantissa, a.exponent + b.exponent)


def quotient(a: Number, b: Number) -> Number:
    sign = a.sign ^ b.sign
    if NumberKind.NAN in (a.kind, b.kind) or (a.kind and b.kind):
        return NAN
    if a.kind:
        return infinity(sign)
    if b.kind:
        return finite(sign, 0, 0)
    if b.mantissa == 0:
        return NAN if a.mantissa == 0 else infinity(sign)
    up = MORE_BITS + b.mantissa.bit_length()
    whole, rest = divmod(a.mantissa << up, b.mantissa)
    return finite(sign, (whole << 1) | int(rest != 0), a.exponent - b.exponent - up - 1)


def square_root(a: Number) -> Number:
    if a.kind == NumberKind.NAN or (a.sign and (a.kind or a.mantissa)):
        return NAN
    if a.kind or a.mantissa == 0:
        return a
    up = 2 * MORE_BITS + (a.exponent & 1)
    square = a.mantissa << up
    root = isqrt(square)
    return finite(0, (root << 1) | int(root * root != square), (a.exponent - up) // 2 - 1)


def _rounds_up(mode: Round, sign: int, kept: int, rest: int, half: int) -> bool:
    if rest == 0 or mode == Round.RZ:
        return False
    if mode == Round.RN:
        return rest > half or (rest == half and kept & 1 == 1)
    if mode == Round.RNA:
        return rest >= half
    return sign == int(mode == Round.RM)


def to_units(mode: Round, a: Number, exponent: int) -> int:
    """The magnitude of finite `a` as a whole number of 2^exponent, rounded by mode."""
    shift = exponent - a.exponent
    if shift <= 0:
        return a.mantissa << -shift
    kept, rest = a.mantissa >> shift, a.mantissa & ((1 << shift) - 1)
    return kept + int(_rounds_up(mode, a.sign, kept, rest, 1 << (shift - 1)))


def encode(fmt: FloatFormat, mode: Round, a: Number) -> int:
    """The bits of `a` rounded once to the format: denormals kept, overflow by mode, NaN canonical."""
    if a.kind == NumberKind.NAN:
        return fmt.nan
    signed = fmt.sign_bit if a.sign else 0
    if a.kind == NumberKind.INFINITE:
        return signed | fmt.infinity
    if a.mantissa == 0:
        return signed
    unit = max(a.mantissa.bit_length() + a.exponent - fmt.precision, fmt.lowest_exponent)
    kept = to_units(mode, a, unit)
    # Kept as an integer, a denormal has field 0 and the hidden bit of a normal adds the missing 1 to the field; a
    # carry moves up by itself.
    magnitude = ((unit - fmt.lowest_exponent) << (fmt.precision - 1)) + kept
    if magnitude >= fmt.infinity:
        away = mode in (Round.RN, Round.RNA) or (mode == Round.RM and a.sign) or (mode == Round.RP and not a.sign)
        magnitude = fmt.infinity if away else fmt.infinity - 1
    return signed | magnitude


def encode_finite(fmt: FloatFormat, mode: Round, a: Number) -> int:
    """As `encode`, but what is too large, and infinity, becomes the largest finite number; NaN stays NaN."""
    if a.kind == NumberKind.NAN:
        return fmt.nan
    sign, magnitude = divmod(encode(fmt, mode, a), fmt.sign_bit)
    return sign * fmt.sign_bit + min(magnitude, fmt.infinity - 1)


def to_integer(mode: Round, a: Number) -> int:
    """Finite `a` rounded to an integer."""
    value = to_units(mode, a, 0)
    return -value if a.sign else value
