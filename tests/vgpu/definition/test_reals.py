"""The exact core against fractions.Fraction: every mode, every format, and the shortcuts that stand in for it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from warpsight.vgpu.bytecode import Round, T
from warpsight.vgpu.definition import reals
from warpsight.vgpu.definition.floats import exact_rounded, fused_f32
from warpsight.vgpu.definition.reals import FORMATS, FloatFormat, Number

EDGES = {
    T.F16: (0, 0x8000, 1, 0x8001, 0x3FF, 0x400, 0x3C00, 0xBC00, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0x3555),
    T.BF16: (0, 0x8000, 1, 0x8001, 0x7F, 0x80, 0x3F80, 0xBF80, 0x7F7F, 0xFF7F, 0x7F80, 0xFF80, 0x7FC0, 0x3EAB),
    T.F32: (0, 1 << 31, 1, 0x80000001, 0x7FFFFF, 0x800000, 0x3F800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0x7FC00000),
    T.F64: (0, 1 << 63, 1, (1 << 52) - 1, 1 << 52, 0x3FF << 52, (0x7FF << 52) - 1, 0x7FF << 52, 0x7FF8 << 48),
}


def exact_value(n: Number) -> Fraction:
    return (-1) ** n.sign * Fraction(n.mantissa) * Fraction(2) ** n.exponent


def samples(kind: T, count: int, seed: int) -> list[int]:
    rng = np.random.default_rng(seed)
    anything = rng.integers(0, 1 << FORMATS[kind].bits, count, dtype=np.uint64).tolist()
    return [*EDGES[kind], *anything]


def neighbours(fmt: FloatFormat, value: Fraction) -> tuple[Fraction, Fraction]:
    """The nearest representable magnitudes below and above, by bisection over the encodings (which are in order)."""
    low, high = 0, fmt.infinity
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if exact_value(reals.decode(fmt, middle)) <= value else (low, middle)
    limit = Fraction(2) ** (fmt.bias + 1)
    return exact_value(reals.decode(fmt, low)), limit if high == fmt.infinity else exact_value(reals.decode(fmt, high))


def rounded_by_definition(fmt: FloatFormat, mode: Round, value: Fraction) -> Fraction:
    """IEEE rounding from first principles, with 2^(emax+1) standing for infinity."""
    sign, magnitude = (-1 if value < 0 else 1), abs(value)
    low, high = neighbours(fmt, magnitude)
    if magnitude >= Fraction(2) ** (fmt.bias + 1):
        low = exact_value(reals.decode(fmt, fmt.infinity - 1))
        high = Fraction(2) ** (fmt.bias + 1)
    if low == magnitude:
        return sign * low
    if mode in (Round.RN, Round.RNA):
        middle = (low + high) / 2
        if magnitude == middle:
            even = (
                reals.encode(fmt, Round.RZ, reals.finite(0, low.numerator, -low.denominator.bit_length() + 1)) % 2 == 0
            )
            return sign * (low if mode == Round.RN and even else high)
        return sign * (low if magnitude < middle else high)
    outward = {Round.RZ: False, Round.RM: sign < 0, Round.RP: sign > 0}[mode]
    return sign * (high if outward else low)


def value_of_bits(fmt: FloatFormat, bits: int) -> Fraction:
    n = reals.decode(fmt, bits)
    return (-1) ** n.sign * Fraction(2) ** (fmt.bias + 1) if n.kind else exact_value(n)


@pytest.mark.parametrize("mode", list(Round))
@pytest.mark.parametrize("kind", list(FORMATS))
def test_sums_products_and_quotients_round_as_ieee_says(kind: T, mode: Round) -> None:
    fmt = FORMATS[kind]
    left, right = samples(kind, 40, 1), samples(kind, 40, 2)[::-1]
    checked = 0
    for a, b in zip(left, right, strict=True):
        p, q = reals.decode(fmt, a), reals.decode(fmt, b)
        if p.kind or q.kind:
            continue
        x, y = exact_value(p), exact_value(q)
        cases = [(x + y, reals.total(p, q, mode)), (x * y, reals.product(p, q))]
        cases += [(x / y, reals.quotient(p, q))] if y else []
        for wanted, number in cases:
            got = value_of_bits(fmt, reals.encode(fmt, mode, number))
            assert got == rounded_by_definition(fmt, mode, wanted), (kind, mode, hex(a), hex(b))
            checked += 1
    assert checked > 60


@pytest.mark.parametrize("mode", list(Round))
def test_square_roots_bracket_the_argument(mode: Round) -> None:
    fmt = FORMATS[T.F32]
    for bits in samples(T.F32, 60, 3):
        n = reals.decode(fmt, bits & 0x7FFFFFFF)
        if n.kind or n.mantissa == 0:
            continue
        got = value_of_bits(fmt, reals.encode(fmt, mode, reals.square_root(n)))
        below, above = got - Fraction(1, 2**24) * got, got + Fraction(1, 2**23) * got
        assert below**2 <= exact_value(n) * (1 + Fraction(1, 2**22))
        if mode in (Round.RZ, Round.RM):
            assert got**2 <= exact_value(n) < above**2
        if mode == Round.RP:
            assert (got - Fraction(1, 2**23) * got) ** 2 < exact_value(n) <= got**2


@pytest.mark.parametrize("kind", list(FORMATS))
def test_every_number_decodes_and_encodes_to_itself(kind: T) -> None:
    fmt = FORMATS[kind]
    for bits in samples(kind, 200, 4):
        n = reals.decode(fmt, bits)
        for mode in Round:
            assert reals.encode(fmt, mode, n) == (fmt.nan if n.kind == reals.NumberKind.NAN else bits)


def test_a_zero_sum_is_negative_only_when_rounding_down_or_both_are() -> None:
    plus, minus = reals.finite(0, 3, 0), reals.finite(1, 3, 0)
    assert [reals.total(plus, minus, m).sign for m in Round] == [0, 0, 1, 0, 0]
    zero, negative_zero = reals.finite(0, 0, 0), reals.finite(1, 0, 0)
    assert [reals.total(negative_zero, negative_zero, m).sign for m in Round] == [1] * 5
    assert [reals.total(zero, zero, m).sign for m in Round] == [0] * 5


def test_overflow_gives_infinity_or_the_largest_number_by_mode() -> None:
    fmt = FORMATS[T.F16]
    huge = {s: reals.finite(s, 1, 16) for s in (0, 1)}
    assert [reals.encode(fmt, m, huge[0]) for m in Round] == [0x7C00, 0x7BFF, 0x7BFF, 0x7C00, 0x7C00]
    assert [reals.encode(fmt, m, huge[1]) for m in Round] == [0xFC00, 0xFBFF, 0xFC00, 0xFBFF, 0xFC00]
    assert reals.encode(fmt, Round.RN, reals.from_integer(65519)) == 0x7BFF
    assert reals.encode(fmt, Round.RN, reals.from_integer(65520)) == 0x7C00


def hard_fused_operands(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random and edge values, with many sums that nearly cancel or lie beside a tie."""
    rng = np.random.default_rng(5)
    a, b, c = (rng.integers(0, 1 << 32, count, dtype=np.uint32) for _ in range(3))
    for operand in (a, b, c):
        operand[::7] = rng.choice(np.array(EDGES[T.F32], np.uint32), len(operand[::7]))
    middle = rng.random(count) < 0.6
    exponent = rng.integers(90, 160, count).astype(np.uint32) << np.uint32(23)
    a = np.where(middle, a & 0x807FFFFF | exponent, a).astype(np.uint32)
    b = np.where(middle, b & 0x807FF000 | exponent[::-1], b).astype(np.uint32)
    with np.errstate(all="ignore"):
        product = (a.view(np.float32) * b.view(np.float32)).view(np.uint32)
    near = (product ^ 0x80000000) + rng.integers(-3, 4, count).astype(np.uint32)
    far = product ^ (rng.integers(20, 30, count).astype(np.uint32) << np.uint32(23))
    pick = rng.random(count)
    c = np.where(pick < 0.3, near, np.where(pick < 0.6, far, c)).astype(np.uint32)
    return a, b, c


def test_fused_f32_through_float64_equals_the_exact_path() -> None:
    a, b, c = hard_fused_operands(6000)

    def formula(p: Number, q: Number, r: Number) -> Number:
        return reals.total(reals.product(p, q), r, Round.RN)

    wanted = exact_rounded(T.F32, Round.RN, formula, a, b, c)
    with np.errstate(all="ignore"):
        got = fused_f32(a.view(np.float32), b.view(np.float32), c.view(np.float32))
    bits = np.where(np.isnan(got), np.uint32(0x7FFFFFFF), got.view(np.uint32))
    assert np.array_equal(bits, wanted)


@pytest.mark.parametrize("kind", [T.F32, T.F64])
def test_numpy_arithmetic_equals_the_exact_path(kind: T) -> None:
    dtype, word = {T.F32: (np.float32, np.uint32), T.F64: (np.float64, np.uint64)}[kind]
    a, b = (np.array(samples(kind, 1500, seed), word) for seed in (6, 7))
    b = b[::-1].copy()
    formulas = (
        (np.add, lambda p, q: reals.total(p, q, Round.RN)),
        (np.multiply, reals.product),
        (np.divide, reals.quotient),
        (lambda p, q: np.sqrt(p), lambda p, q: reals.square_root(p)),
    )
    for shortcut, formula in formulas:
        with np.errstate(all="ignore"):
            got = shortcut(a.view(dtype), b.view(dtype))
        bits = np.where(np.isnan(got), word(FORMATS[kind].nan), got.view(word))
        assert np.array_equal(bits, exact_rounded(kind, Round.RN, formula, a, b))
