"""Float arithmetic, comparison and conversion: hand-derived edge cases."""

from __future__ import annotations

import numpy as np
import pytest

from warpsight.errors import UnsupportedInstruction
from warpsight.vgpu.bytecode import Cmp, Mod, Round, T
from warpsight.vgpu.definition.fragments import apply, both, f16, f32, f64

INF, NAN = float("inf"), float("nan")
CANONICAL = {T.F32: 0x7FFFFFFF, T.F16: 0x7FFF, T.BF16: 0x7FFF, T.F64: 0xFFF8 << 48}
TINY, MAX = 2.0**-149, 3.4028234663852886e38

F32_CASES: list[tuple[str, tuple[float, ...], float | int, int]] = [
    ("ADD", (1.0, 2.0**-24), 1.0, Round.RN),
    ("ADD", (1.0, 2.0**-24), 1.0 + 2.0**-23, Round.RP),
    ("ADD", (-1.0, -(2.0**-24)), -1.0 - 2.0**-23, Round.RM),
    ("ADD", (1.0, 2.0**-24 + 2.0**-40), 1.0 + 2.0**-23, Round.RN),
    ("ADD", (1.0, -1.0), 0.0, Round.RN),
    ("ADD", (1.0, -1.0), -0.0, Round.RM),
    ("ADD", (MAX, MAX), INF, Round.RN),
    ("ADD", (MAX, MAX), MAX, Round.RZ),
    ("ADD", (-MAX, -MAX), -MAX, Round.RP),
    ("ADD", (INF, -INF), 0x7FFFFFFF, Round.RN),
    ("ADD", (TINY, TINY), 2 * TINY, Round.RN),
    ("ADD", (TINY, TINY), 0.0, Mod.FTZ),
    ("SUB", (0.0, 0.0), 0.0, Round.RZ),
    ("SUB", (2.0, 3.0), 0.0, Mod.SAT),
    ("ADD", (2.0, 3.0), 1.0, Mod.SAT),
    ("ADD", (NAN, 3.0), 0.0, Mod.SAT),
    ("ADD", (-0.0, -0.0), 0.0, Mod.SAT),
    ("MUL", (INF, 0.0), 0x7FFFFFFF, Round.RN),
    ("MUL", (-TINY, 0.25), -0.0, Round.RN),
    ("MUL", (-TINY, 0.25), -TINY, Round.RM),
    ("MUL", (2.0**-63, -(2.0**-64)), -0.0, Mod.FTZ),
    ("MUL", (2.0**-63, 2.0**-63), 2.0**-126, Mod.FTZ),
    ("FMA", (1 + 2.0**-23, 1 + 2.0**-23, -(1 + 2.0**-22)), 2.0**-46, Round.RN),
    ("FMA", (INF, 0.0, 1.0), 0x7FFFFFFF, Round.RN),
    ("FMA", (-0.0, 1.0, 0.0), 0.0, Round.RN),
    ("FMA", (-0.0, 1.0, 0.0), -0.0, Round.RM),
    ("FMA", (TINY, 0.5, 1.0), 1.0 + 2.0**-23, Round.RP),
    ("FMA", (TINY, 1.0, 0.0), 0.0, Mod.FTZ),
    ("DIV", (1.0, 3.0), 0x3EAAAAAA, Round.RZ),
    ("DIV", (1.0, 3.0), 0x3EAAAAAB, Round.RN),
    ("DIV", (1.0, 0.0), INF, Round.RZ),
    ("DIV", (0.0, 0.0), 0x7FFFFFFF, Round.RN),
    ("DIV", (-1.0, INF), -0.0, Round.RN),
    ("RCP", (-0.0,), -INF, Round.RP),
    ("RCP", (3.0,), 0x3EAAAAAA, Round.RM),
    ("SQRT", (-0.0,), -0.0, Round.RP),
    ("SQRT", (-1.0,), 0x7FFFFFFF, Round.RN),
    ("SQRT", (2.0,), 0x3FB504F4, Round.RP),
    ("SQRT", (2.0,), 0x3FB504F3, Round.RN),
    ("SQRT", (-TINY,), -0.0, Mod.FTZ),
]


@pytest.mark.parametrize("op, operands, wanted, mod", F32_CASES)
def test_f32_edges(op: str, operands: tuple[float, ...], wanted: float | int, mod: int) -> None:
    bits = wanted if isinstance(wanted, int) else f32(wanted)[0]
    assert [hex(g) for g in apply(op, T.F32, *(f32(o) for o in operands), mod=mod)] == [hex(bits)]


@pytest.mark.parametrize("kind", list(CANONICAL))
def test_nan_results_are_canonical_and_moves_keep_bits(kind: T) -> None:
    odd_nan = {T.F32: 0xFFC12345, T.F16: 0xFE12, T.BF16: 0xFFC3, T.F64: 0x7FF0_0000_0000_0001}[kind]
    for op, count in (("ADD", 2), ("SUB", 2), ("MUL", 2), ("FMA", 3), ("MIN", 2), ("MAX", 2)):
        assert apply(op, kind, *[[odd_nan]] * count) == [CANONICAL[kind]]
    sign = 1 << (
        8 * np.dtype(np.uint16 if kind in (T.F16, T.BF16) else np.uint32 if kind == T.F32 else np.uint64).itemsize - 1
    )
    assert apply("NEG", kind, [odd_nan]) == [odd_nan ^ sign]
    assert apply("ABS", kind, [odd_nan]) == [odd_nan & ~sign]
    assert apply("MOV", kind, [odd_nan]) == [odd_nan]


def test_halves_are_rounded_once_and_separately() -> None:
    assert apply("FMA", T.F16, f16(1 + 2.0**-10), f16(1 + 2.0**-10), f16(-1)) == f16(2.0**-9 + 2.0**-20)
    assert apply("ADD", T.F16, f16(65504), f16(16)) == f16(INF)
    assert apply("ADD", T.F16, f16(2.0**-24), f16(2.0**-24), mod=Mod.FTZ) == f16(0)
    assert apply("ADD", T.F16X2, [0x7BFF_3C00], [0x4C00_0400]) == [0x7C00_3C00 & 0xFFFF_0000 | f16(1 + 2.0**-14)[0]]
    # bf16: 1 + 2^-8 is a tie; a third part decides it only if nothing was rounded before.
    assert apply("FMA", T.BF16, [0x3B80], [0x3F80], [0x3F80]) == [0x3F80]
    assert apply("FMA", T.BF16, [0x3B81], [0x3F80], [0x3F80]) == [0x3F81]
    assert apply("FMA", T.BF16, [0x0001], [0x0001], [0x3F80], mod=Round.RP) == [0x3F81]
    assert apply("FMA", T.F16, f16(-3), f16(1), f16(1), mod=Mod.RELU) == [0]
    assert apply("FMA", T.F16, f16(NAN), f16(1), f16(1), mod=Mod.RELU) == [0x7FFF]


def test_f64_uses_its_own_precision() -> None:
    assert apply("ADD", T.F64, f64(1.0), f64(2.0**-53), mod=Round.RP) == f64(1 + 2.0**-52)
    assert apply("FMA", T.F64, f64(1 + 2.0**-52), f64(1 - 2.0**-52), f64(-1.0)) == f64(-(2.0**-104))
    assert apply("ADD", T.F64, f64(5e-324), f64(0.0), mod=Mod.FTZ) == f64(5e-324)


def test_minimum_and_maximum_of_zeros_nans_and_signs() -> None:
    pairs = (f32(0.0, -0.0, NAN, 1.0, NAN), f32(-0.0, 0.0, 2.0, NAN, NAN))
    assert apply("MIN", T.F32, *pairs) == [*f32(-0.0, -0.0, 2.0, 1.0), 0x7FFFFFFF]
    assert apply("MAX", T.F32, *pairs) == [*f32(0.0, 0.0, 2.0, 1.0), 0x7FFFFFFF]
    assert apply("MAX", T.F32, *pairs, sub=1) == [*f32(0.0, 0.0), *[0x7FFFFFFF] * 3]
    assert apply("MIN", T.F32, f32(-3.0, -3.0), f32(2.0, -4.0), sub=2) == f32(-2.0, 3.0)
    assert apply("MAX", T.F32, f32(TINY), f32(-1.0), mod=Mod.FTZ) == f32(0.0)
    assert apply("MIN", T.F16X2, [0x3C00_C000], [0x4000_3C00]) == [0x3C00_C000]


def test_comparisons_with_nan_are_false_or_true_as_asked() -> None:
    a, b, always = f32(1.0, NAN, -0.0), f32(2.0, 2.0, 0.0), [True] * 3
    wanted = {
        Cmp.EQ: [False, False, True],
        Cmp.NE: [True, False, False],
        Cmp.LT: [True, False, False],
        Cmp.LE: [True, False, True],
        Cmp.GT: [False, False, False],
        Cmp.GE: [False, False, True],
        Cmp.EQU: [False, True, True],
        Cmp.NEU: [True, True, False],
        Cmp.LTU: [True, True, False],
        Cmp.LEU: [True, True, True],
        Cmp.GTU: [False, True, False],
        Cmp.GEU: [False, True, True],
        Cmp.NUM: [True, False, True],
        Cmp.NAN: [False, True, False],
    }
    for test, result in wanted.items():
        assert both("SETP", T.F32, a, b, always, sub=test) == [result, [not r for r in result]]
    assert apply("SETP", T.F32, f32(TINY), f32(0.0), [True], sub=Cmp.EQ, mod=Mod.FTZ) == [True]
    assert both("SETP", T.F16X2, [0x3C00_4000], [0x4000_3C00], [True], sub=Cmp.LT) == [[False], [True]]


def test_classes_of_numbers() -> None:
    values = f32(1.0, INF, NAN, TINY, 0.0)
    wanted = ([1, 0, 0, 1, 1], [0, 1, 0, 0, 0], [1, 1, 0, 1, 1], [0, 0, 1, 0, 0], [1, 0, 0, 0, 0], [0, 0, 0, 1, 0])
    for sub, result in enumerate(wanted):
        assert apply("TESTP", T.F32, values, sub=sub) == [bool(r) for r in result]


def test_copysign_takes_the_sign_of_a() -> None:
    assert apply("COPYSIGN", T.F32, f32(-1.0), f32(5.0)) == f32(-5.0)
    assert apply("COPYSIGN", T.F64, f64(0.0), f64(-5.0)) == f64(5.0)


def test_approximate_division_gives_zero_for_huge_divisors() -> None:
    a, b = f32(1.0, -MAX, INF, NAN, 1.0), f32(2.0**127, 2.0**127, 2.0**127, 2.0**127, 2.0**126)
    assert apply("DIV", T.F32, a, b, sub=1) == [*f32(0.0, -0.0), 0x7FFFFFFF, 0x7FFFFFFF, *f32(2.0**-126)]
    assert apply("DIV", T.F32, a, b, sub=2) == [*f32(2.0**-127, -MAX / 2.0**127, INF), 0x7FFFFFFF, *f32(2.0**-126)]


CONVERSIONS: list[tuple[T, T, int, int, dict[str, int]]] = [
    (T.S32, T.F32, f32(-2.5)[0], 0xFFFFFFFE, {}),
    (T.S32, T.F32, f32(2.5)[0], 3, {"mod": Round.RP}),
    (T.S32, T.F32, f32(3e9)[0], 0x7FFFFFFF, {"mod": Round.RZ}),
    (T.U32, T.F32, f32(-1.0)[0], 0, {"mod": Round.RZ}),
    (T.U32, T.F32, f32(NAN)[0], 0, {}),
    (T.S64, T.F64, f64(NAN)[0], 1 << 63, {}),
    (T.U64, T.F32, f32(NAN)[0], 1 << 63, {}),
    (T.U64, T.F64, f64(INF)[0], (1 << 64) - 1, {}),
    (T.U8, T.F32, f32(300.0)[0], 255, {"mod": Round.RZ}),
    (T.S8, T.F32, f32(-300.0)[0], 0x80, {"mod": Round.RZ}),
    (T.F32, T.S32, 16777217, f32(16777216.0)[0], {}),
    (T.F32, T.U32, 16777217, f32(16777218.0)[0], {"mod": Round.RP}),
    (T.F32, T.S64, (1 << 64) - 1, f32(-1.0)[0], {}),
    (T.F64, T.U64, (1 << 64) - 1, f64(2.0**64)[0], {}),
    (T.F16, T.U32, 70000, 0x7C00, {}),
    (T.F16, T.U32, 70000, 0x7BFF, {"mod": Round.RZ}),
    (T.F16, T.F32, f32(1 + 2.0**-11)[0], 0x3C00, {}),
    (T.F16, T.F32, f32(1 + 2.0**-11 + 2.0**-20)[0], 0x3C01, {}),
    (T.BF16, T.F32, 0x3F808000, 0x3F80, {}),
    (T.BF16, T.F32, 0x3F818000, 0x3F82, {}),
    (T.F32, T.F16, 0x0001, f32(2.0**-24)[0], {}),
    (T.F32, T.F16, 0xFE00, 0x7FFFFFFF, {}),
    (T.F64, T.F32, 0x7FC00001, 0xFFF8 << 48, {}),
    (T.F32, T.F64, f64(1e-40)[0], f32(0.0)[0], {"mod": Mod.FTZ}),
    (T.F32, T.F32, f32(-0.4)[0], f32(-0.0)[0], {"sub": 1}),
    (T.F32, T.F32, f32(2.5)[0], f32(2.0)[0], {"sub": 1}),
    (T.F32, T.F32, f32(-2.1)[0], f32(-3.0)[0], {"sub": 1, "mod": Round.RM}),
    (T.F32, T.F32, f32(1.5)[0], f32(1.0)[0], {"mod": Mod.SAT}),
    (T.F16, T.F32, f32(-1.5)[0], 0, {"mod": Mod.RELU}),
    (T.TF32, T.F32, 0x3F801000, 0x3F802000, {"mod": Round.RNA}),
    (T.TF32, T.F32, 0x3F800FFF, 0x3F800000, {"mod": Round.RNA}),
    (T.TF32, T.F32, 0x7F7FFFFF, 0x7F800000, {"mod": Round.RNA}),
    (T.TF32, T.F32, 0xFF800000, 0xFF800000, {"mod": Round.RNA}),
    (T.TF32, T.F32, 0x7F800001, 0x7FFFFFFF, {"mod": Round.RNA}),
    (T.S8, T.S32, 0x17F, 0x7F, {}),
    (T.S8, T.S32, 0x180, 0xFFFFFF80, {"vec": 4}),
    (T.S8, T.S32, 0x180, 0xFF80, {"vec": 2}),
    (T.U8, T.S32, 0x180, 0x80, {"vec": 4}),
    (T.S16, T.S32, 0x12345, 0x7FFF, {"mod": Mod.SAT}),
    (T.U16, T.S32, 0xFFFFFFFF, 0, {"mod": Mod.SAT}),
    (T.S64, T.S8, 0x80, (1 << 64) - 128, {}),
    (T.U64, T.U32, 0xFFFFFFFF, 0xFFFFFFFF, {}),
    (T.U64, T.S16, 0xFFFF, (1 << 64) - 1, {}),
]


@pytest.mark.parametrize("target, source, bits, wanted, fields", CONVERSIONS)
def test_conversions(target: T, source: T, bits: int, wanted: int, fields: dict[str, int]) -> None:
    assert [hex(g) for g in apply("CVT", target, [bits], tb=source, **fields)] == [hex(wanted)]


def test_two_floats_go_to_the_halves_of_a_row() -> None:
    assert apply("CVT2", T.F16X2, f32(1.0), f32(-2.0), tb=T.F32) == [0x3C00_C000]
    assert apply("CVT2", T.BF16X2, f32(1.0), f32(-2.0), tb=T.F32, sub=1) == [0x3F80_0000]


def test_a_type_without_meaning_is_refused_by_name() -> None:
    with pytest.raises(UnsupportedInstruction, match="E4M3X2"):
        apply("CVT", T.E4M3X2, [0], tb=T.F32)
