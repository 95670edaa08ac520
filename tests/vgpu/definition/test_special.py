"""Approximate functions: within the error bounds PTX documents, on dense samples, and right at the edges."""

from __future__ import annotations

import math
from decimal import Decimal, getcontext

import numpy as np
import pytest

from warpsight.vgpu.bytecode import Mod, T
from warpsight.vgpu.definition.fragments import apply, f16, f32, f64
from warpsight.vgpu.definition.special import COS_TERMS, EX2_TERMS, SIN_TERMS

INF, NAN = float("inf"), float("nan")
N32 = 0x7FFFFFFF


def f32_result(op: str, values: np.ndarray, **fields: int) -> np.ndarray:
    bits = apply(op, T.F32, values.astype(np.float32).view(np.uint32), **fields)
    return np.array(bits, np.uint32).view(np.float32).astype(np.float64)


def dense(low: float, high: float, count: int = 20000) -> np.ndarray:
    return np.linspace(low, high, count).astype(np.float32).astype(np.float64)


def test_ex2_within_two_ulp_over_the_whole_range() -> None:
    x = dense(-126, 127.9)
    assert np.max(np.abs(f32_result("EX2", x) / np.exp2(x) - 1)) < 2.0**-22.5


def test_lg2_absolute_error_near_one_and_relative_error_elsewhere() -> None:
    near = dense(0.5001, 1.9999)
    assert np.max(np.abs(f32_result("LG2", near) - np.log2(near))) < 2.0**-22
    far = np.concatenate([np.geomspace(1e-38, 0.5, 9000), np.geomspace(2.0, 3e38, 9000)])
    far = far.astype(np.float32).astype(np.float64)
    assert np.max(np.abs(f32_result("LG2", far) / np.log2(far) - 1)) < 2.0**-22


@pytest.mark.parametrize("op, reference", [("SIN", np.sin), ("COS", np.cos)])
def test_sine_and_cosine_absolute_error(op: str, reference: np.ufunc) -> None:
    x = dense(-2 * math.pi, 2 * math.pi)
    assert np.max(np.abs(f32_result(op, x) - reference(x))) < 2.0**-20.5
    further = dense(-100 * math.pi, 100 * math.pi)
    assert np.max(np.abs(f32_result(op, further) - reference(further))) < 2.0**-14.7


def test_tanh_relative_error() -> None:
    x = np.concatenate([dense(-25, 25), dense(-0.001, 0.001), np.geomspace(1e-30, 1, 5000)])
    x = x[x != 0].astype(np.float32).astype(np.float64)
    assert np.max(np.abs(f32_result("TANH", x) / np.tanh(x) - 1)) < 2.0**-10.987


@pytest.mark.parametrize(
    "op, exact, bound",
    [("RCP", lambda x: 1 / x, 2.0**-23), ("RSQRT", lambda x: x**-0.5, 2.0**-22.9), ("SQRT", np.sqrt, 2.0**-23)],
)
def test_reciprocals_and_roots(op: str, exact, bound: float) -> None:
    x = np.geomspace(1e-37, 1e37, 20000).astype(np.float32).astype(np.float64)
    assert np.max(np.abs(f32_result(op, x, sub=1) / exact(x) - 1)) < bound


EDGES: list[tuple[str, float, int, int]] = [
    ("EX2", -INF, 0, 0),
    ("EX2", INF, f32(INF)[0], 0),
    ("EX2", -0.0, f32(1.0)[0], 0),
    ("EX2", 128.0, f32(INF)[0], 0),
    ("EX2", -149.0, 1, 0),
    ("EX2", -149.0, 0, Mod.FTZ),
    ("EX2", -1000.0, 0, 0),
    ("LG2", 0.0, f32(-INF)[0], 0),
    ("LG2", -0.0, f32(-INF)[0], 0),
    ("LG2", -1.0, N32, 0),
    ("LG2", 1.0, 0, 0),
    ("LG2", INF, f32(INF)[0], 0),
    ("LG2", 2.0**-149, f32(-149.0)[0], 0),
    ("LG2", 2.0**-149, f32(-INF)[0], Mod.FTZ),
    ("SIN", -0.0, 0x80000000, 0),
    ("SIN", -(2.0**-149), 0x80000000, 0),
    ("SIN", -(2.0**-149), 0x80000000, Mod.FTZ),
    ("SIN", INF, N32, 0),
    ("COS", -INF, N32, 0),
    ("COS", -0.0, f32(1.0)[0], 0),
    ("TANH", -INF, f32(-1.0)[0], 0),
    ("TANH", 30.0, f32(1.0)[0], 0),
    ("TANH", -0.0, 0x80000000, 0),
    ("TANH", 2.0**-149, 1, 0),
    ("RSQRT", -0.0, f32(-INF)[0], 0),
    ("RSQRT", 0.0, f32(INF)[0], 0),
    ("RSQRT", INF, 0, 0),
    ("RSQRT", -1.0, N32, 0),
    ("RCP", INF, 0, 0),
    ("RCP", 2.0**127, 0, Mod.FTZ),
    ("RCP", -(2.0**127), f32(-(2.0**-127))[0], 0),
]


@pytest.mark.parametrize("op, argument, wanted, mod", EDGES)
def test_edges(op: str, argument: float, wanted: int, mod: int) -> None:
    assert [hex(g) for g in apply(op, T.F32, f32(argument), sub=1, mod=mod)] == [hex(wanted)]


@pytest.mark.parametrize("op", ["EX2", "LG2", "SIN", "COS", "TANH", "RCP", "RSQRT", "SQRT"])
def test_nan_gives_the_canonical_nan(op: str) -> None:
    assert apply(op, T.F32, [0xFFC12345], sub=1) == [N32]


def test_f64_approximations_give_only_the_upper_word() -> None:
    for op in ("RCP", "RSQRT"):
        (bits,) = apply(op, T.F64, f64(3.0), sub=1, mod=Mod.FTZ)
        assert bits & 0xFFFFFFFF == 0
        wanted = 1 / 3 if op == "RCP" else 3**-0.5
        assert abs(np.uint64(bits).view(np.float64) / wanted - 1) < 2.0**-20
    assert apply("RCP", T.F64, f64(5e-324), sub=1, mod=Mod.FTZ) == f64(INF)
    assert apply("RCP", T.F64, f64(1.7e308), sub=1, mod=Mod.FTZ) == f64(0.0)


def test_half_precision_functions_round_once() -> None:
    x = np.arange(0, 0x7C00, 7, dtype=np.uint16)
    x = x[np.abs(x.view(np.float16)) < 15]
    got = np.array(apply("EX2", T.F16, x), np.uint16)
    assert np.array_equal(got, np.exp2(x.view(np.float16).astype(np.float64)).astype(np.float16).view(np.uint16))
    low, high = f16(1.0)[0], f16(-1.0)[0]
    pair = apply("TANH", T.F16X2, [high << 16 | low])[0]
    assert [pair & 0xFFFF, pair >> 16] == f16(math.tanh(1.0), math.tanh(-1.0))
    assert apply("EX2", T.BF16, [0x4040]) == [0x4100]


def test_the_series_terms_are_the_rounded_ones() -> None:
    getcontext().prec = 60
    ln2 = Decimal(2).ln()
    assert [float(ln2**k / math.factorial(k)) for k in range(13)] == list(EX2_TERMS)
    assert [float(Decimal((-1) ** k) / math.factorial(2 * k + 1)) for k in range(8)] == list(SIN_TERMS)
    assert [float(Decimal((-1) ** k) / math.factorial(2 * k)) for k in range(9)] == list(COS_TERMS)
