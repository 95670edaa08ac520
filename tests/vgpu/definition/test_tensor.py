"""Matrix operations: each shape multiplies random matrices dealt out by PTX's layouts, which are written out here a
second time.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import DTypeLike

from warpsight.vgpu.bytecode import NONE, Space, T
from warpsight.vgpu.definition import Memory, run, run_lanes
from warpsight.vgpu.definition.fragments import program

Place = Callable[[int, int, int], tuple[int, int]]


def a16x16_halves(g: int, t: int, i: int) -> tuple[int, int]:
    return g + (8 if i in (2, 3, 6, 7) else 0), 2 * t + (i & 1) + (8 if i >= 4 else 0)


def a16x8_halves(g: int, t: int, i: int) -> tuple[int, int]:
    return g + (8 if i >= 2 else 0), 2 * t + (i & 1)


def a16x8_tf32(g: int, t: int, i: int) -> tuple[int, int]:
    return g + (8 if i in (1, 3) else 0), t + (4 if i >= 2 else 0)


def a16x32_bytes(g: int, t: int, i: int) -> tuple[int, int]:
    return g + (8 if 4 <= i < 8 or i >= 12 else 0), 4 * t + (i & 3) + (16 if i >= 8 else 0)


def b16x8_halves(g: int, t: int, i: int) -> tuple[int, int]:
    return 2 * t + (i & 1) + (8 if i >= 2 else 0), g


def b8x8_tf32(g: int, t: int, i: int) -> tuple[int, int]:
    return t + (4 if i else 0), g


def b32x8_bytes(g: int, t: int, i: int) -> tuple[int, int]:
    return 4 * t + (i & 3) + (16 if i >= 4 else 0), g


def c16x8(g: int, t: int, i: int) -> tuple[int, int]:
    return g + (8 if i >= 2 else 0), 2 * t + (i & 1)


def deal(matrix: np.ndarray, place: Place, count: int) -> np.ndarray:
    """Rows [register, lane] of a fragment, elements packed from the low bits."""
    elements = np.array(
        [[matrix[place(lane // 4, lane % 4, i)] for i in range(count)] for lane in range(32)], matrix.dtype
    )
    return np.ascontiguousarray(elements).view(np.uint32).reshape(32, -1).T


def collect(rows: np.ndarray, place: Place, count: int, shape: tuple[int, int], dtype: DTypeLike) -> np.ndarray:
    elements = np.ascontiguousarray(rows.T).view(dtype).reshape(32, count)
    matrix = np.zeros(shape, dtype)
    for lane in range(32):
        for i in range(count):
            matrix[place(lane // 4, lane % 4, i)] = elements[lane, i]
    return matrix


def multiply(a: np.ndarray, b: np.ndarray, c: np.ndarray, d_rows: int, step: int = 1, **fields: int) -> np.ndarray:
    """Run one MMA whose fragments are these rows; D's rows come back."""
    inputs = np.concatenate([np.zeros((d_rows, 32), np.uint32), a, b, c])
    lists = list(range(0, len(inputs), step))
    p = program({"op": "MMA", "e": NONE, **fields}, rows=len(inputs), lists=lists)
    rows, _ = run_lanes(p, inputs.astype(np.uint32), np.zeros(8, np.uint32))
    return rows[:d_rows]


def small(shape: tuple[int, int], seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(-8, 9, shape)


@pytest.mark.parametrize("kind, half_c", [(T.F16, False), (T.F16, True), (T.BF16, False)])
def test_m16n8k16_halves(kind: T, half_c: bool) -> None:
    a, b, c = small((16, 16), 1), small((16, 8), 2), small((16, 8), 3)

    def bits(m: np.ndarray) -> np.ndarray:
        return (
            m.astype(np.float16).view(np.uint16)
            if kind == T.F16
            else (m.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
        )

    c_type = np.float16 if half_c else np.float32
    d = multiply(
        deal(bits(a), a16x16_halves, 8),
        deal(bits(b), b16x8_halves, 4),
        deal(c.astype(c_type), c16x8, 4),
        2 if half_c else 4,
        sub=0,
        ta=kind,
        tb=T.F16 if half_c else T.F32,
    )
    assert np.array_equal(collect(d, c16x8, 4, (16, 8), c_type), (a @ b + c).astype(c_type))


def test_m16n8k8_halves_with_f32_result_from_f16_accumulator() -> None:
    a, b, c = small((16, 8), 1), small((8, 8), 2), small((16, 8), 3)
    halves = [m.astype(np.float16) for m in (a, b, c)]
    d = multiply(
        deal(halves[0], a16x8_halves, 4),
        deal(halves[1], b16x8_halves, 2),
        deal(halves[2], c16x8, 4),
        4,
        sub=1,
        ta=T.F16,
        tb=T.F16,
        width=T.F32,
    )
    assert np.array_equal(collect(d, c16x8, 4, (16, 8), np.float32), (a @ b + c).astype(np.float32))


@pytest.mark.parametrize("k, sub", [(8, 1), (4, 4)])
def test_tf32_ignores_the_low_bits(k: int, sub: int) -> None:
    a, b, c = small((16, k), 1), small((k, 8), 2), small((16, 8), 3)
    dirty = a.astype(np.float32).view(np.uint32) | np.uint32(0x1FFF)
    d = multiply(
        deal(dirty, a16x8_tf32, k // 2),
        deal(b.astype(np.float32), b8x8_tf32, k // 4),
        deal(c.astype(np.float32), c16x8, 4),
        4,
        sub=sub,
        ta=T.TF32,
        tb=T.F32,
    )
    assert np.array_equal(collect(d, c16x8, 4, (16, 8), np.float32), (a @ b + c).astype(np.float32))


def test_bytes_of_mixed_signs_wrap_or_saturate() -> None:
    rng = np.random.default_rng(4)
    a, b = rng.integers(0, 256, (16, 32)), rng.integers(-128, 128, (32, 8))
    c = np.full((16, 8), 2**31 - 1 - 1000)
    exact = a @ b + c
    fragments = (
        deal(a.astype(np.uint8), a16x32_bytes, 16),
        deal(b.astype(np.int8), b32x8_bytes, 8),
        deal(c.astype(np.int32), c16x8, 4),
    )
    wrapped = multiply(*fragments, 4, sub=3, ta=T.U8, tb=T.S32, e=T.S8)
    assert np.array_equal(collect(wrapped, c16x8, 4, (16, 8), np.int32), exact.astype(np.int32))
    clipped = multiply(*fragments, 4, sub=3, ta=T.U8, tb=T.S32, e=T.S8, imm=1)
    assert np.array_equal(
        collect(clipped, c16x8, 4, (16, 8), np.int32), np.clip(exact, -(2**31), 2**31 - 1).astype(np.int32)
    )
    assert (exact > 2**31 - 1).any()


@pytest.mark.parametrize("m, sub", [(16, 0), (8, 5)])
def test_bytes_with_k16(m: int, sub: int) -> None:
    a, b, c = small((m, 16), 5), small((16, 8), 6), small((m, 8), 7)

    def a_place(g: int, t: int, i: int) -> tuple[int, int]:
        return g + (8 if i >= 4 else 0), 4 * t + (i & 3)

    d = multiply(
        deal(a.astype(np.int8), a_place, m // 2),
        deal(b.astype(np.int8), b32x8_bytes, 4),
        deal(c.astype(np.int32), c16x8, m // 4),
        m // 4,
        sub=sub,
        ta=T.S8,
        tb=T.S32,
    )
    assert np.array_equal(collect(d, c16x8, m // 4, (m, 8), np.int32), a @ b + c)


def test_f64_is_a_chain_of_fused_steps() -> None:
    a, b, c = np.zeros((8, 4)), np.zeros((4, 8)), np.zeros((8, 8))
    a[0] = [1 + 2.0**-52, 1.0, 0.0, 0.0]
    b[:, 0] = [1 - 2.0**-52, -1.0, 0.0, 0.0]
    c[3, 5] = 7.0
    d = multiply(
        deal(a, lambda g, t, i: (g, t), 1),
        deal(b, lambda g, t, i: (t, g), 1),
        deal(c, lambda g, t, i: (g, 2 * t + i), 2),
        4,
        step=2,
        sub=2,
        ta=T.F64,
        tb=T.F64,
    )
    result = collect(d, lambda g, t, i: (g, 2 * t + i), 2, (8, 8), np.float64)
    # The first step rounds 1 - 2^-104 to 1, so nothing is left after the second.
    assert result[0, 0] == 0.0
    assert result[3, 5] == 7.0


def test_one_rounding_at_the_end_and_canonical_nan() -> None:
    a, b, c = np.zeros((16, 8), np.float16), np.zeros((8, 8), np.float16), np.zeros((16, 8), np.float32)
    a[0, :3], b[:3, 0] = [1.0, 2.0**-12, 2.0**-12], [1.0, 2.0**-12, 2.0**-12]
    a[1, 0], b[0, 1] = np.inf, 0.0
    c.view(np.uint32)[2, 2] = 0xFF800001
    d = multiply(deal(a, a16x8_halves, 4), deal(b, b16x8_halves, 2), deal(c, c16x8, 4), 4, sub=1, ta=T.F16, tb=T.F32)
    result = collect(d, c16x8, 4, (16, 8), np.uint32)
    assert result[0, 0] == np.float32(1 + 2.0**-23).view(np.uint32)
    assert result[1, 1] == 0x7FFFFFFF
    assert result[2, 2] == 0x7FFFFFFF


@pytest.mark.parametrize("shape, m, n, k", [(6, 16, 16, 16), (7, 32, 8, 16), (8, 8, 32, 16)])
@pytest.mark.parametrize("kind, dtype", [(T.F16, np.float16), (T.S8, np.int8)])
def test_wmma_loads_multiplies_and_stores_whole_matrices(
    shape: int, m: int, n: int, k: int, kind: T, dtype: type
) -> None:
    """A is row-major with padding, B column-major, and D comes back row-major."""
    a, b, c = small((m, k), 1), small((k, n), 2), small((m, n), 3)
    result_kind, result_type = (T.S32, np.int32) if kind == T.S8 else (T.F32, np.float32)
    counts = (8, 8) if kind == T.F16 else (m * k // 128, n * k // 128)
    padded = np.zeros((m, k + 8), dtype)
    padded[:, :k] = a
    memory = Memory()
    matrices = (padded, b.T.astype(dtype).copy(), c.astype(result_type), np.zeros((m, n), result_type))
    addresses = [memory.alloc(name, data) for name, data in zip("abcd", matrices, strict=True)]
    starts = np.cumsum([0, 8, *counts, 8]).tolist()
    load = {"op": "WMMALD", "target": shape, "width": Space.GLOBAL}
    p = program(
        {**load, "sub": 0, "ta": kind, "a": ~2, "b": ~10, "list": starts[1]},
        {**load, "sub": 1, "ta": kind, "a": ~4, "b": ~11, "list": starts[2], "imm": 1},
        {**load, "sub": 2, "ta": result_kind, "a": ~6, "b": ~12, "list": starts[3]},
        {"op": "MMA", "sub": shape, "ta": kind, "tb": result_kind, "e": NONE, "list": 0},
        {**load, "op": "WMMAST", "sub": 2, "ta": result_kind, "a": ~8, "b": ~12, "list": 0},
        rows=starts[4],
        lists=range(starts[4]),
        consts=(0, 0, *[w for address in addresses for w in (address & 0xFFFFFFFF, address >> 32)], k + 8, k, n),
    )
    run(p, grid=(1, 1, 1), block=(32, 1, 1), memory=memory)
    got = np.frombuffer(memory.read(addresses[3], m * n * 4), result_type).reshape(m, n)
    assert np.array_equal(got, a @ b + c)
