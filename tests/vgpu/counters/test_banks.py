"""Shared-memory passes: 32 banks of 4 bytes; against published facts and the greatest-common-divisor rule."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from tests.vgpu.run import constant, output, run

I32, F32 = np.int32, np.float32


def shared_counters(source: str, arguments: dict[str, Any], **how: Any) -> dict[str, int | float]:
    ran = run(source, arguments, check=False, **how)
    assert ran.launched.faults == ()
    return ran.counters


TRANSPOSE = """
extern "C" __global__ void k(const float *x, float *y, int n) {
    __shared__ float tile[32][%d];
    int bx = blockIdx.x * 32, by = blockIdx.y * 32;
    for (int j = threadIdx.y; j < 32; j += blockDim.y) tile[j][threadIdx.x] = x[(by + j) * n + bx + threadIdx.x];
    __syncthreads();
    for (int j = threadIdx.y; j < 32; j += blockDim.y) y[(bx + j) * n + by + threadIdx.x] = tile[threadIdx.x][j];
}"""


@pytest.mark.parametrize("rows", [8, 32])
@pytest.mark.parametrize(("width", "conflicts"), [(32, 253952), (33, 0)])
def test_transpose_of_512_has_the_published_conflicts(width: int, conflicts: int, rows: int) -> None:
    """8192 loads of a warp, each 32 ways: 31 passes too many; a padded tile has none."""
    x = np.random.default_rng(0).random((512, 512)).astype(F32)
    arguments = {"x": constant(x), "y": output((512, 512), F32), "n": I32(512)}
    ran = run(TRANSPOSE % width, arguments, grid=(16, 16), block=(32, rows), check=False, cores=2)
    np.testing.assert_array_equal(ran.arrays["y"], x.T)
    got = ran.counters
    assert got["shared_bank_conflicts"] == conflicts
    assert got["shared_load_requests"] == got["shared_store_requests"] == 8192
    assert got["shared_wavefronts"] == 2 * 8192 + conflicts
    assert got["global_load_sectors"] == got["global_store_sectors"] == 8192 * 4


STRIDE = """
extern "C" __global__ void k(%(type)s *y, int stride) {
    extern __shared__ %(type)s s[];
    %(type)s v = s[threadIdx.x * stride];
    y[threadIdx.x] = v;
}"""


@pytest.mark.parametrize("stride", range(1, 34))
def test_a_stride_conflicts_as_often_as_it_divides_the_banks(stride: int) -> None:
    got = shared_counters(STRIDE % {"type": "float"}, {"y": output(32, F32), "stride": I32(stride)}, shared=4 * 32 * 34)
    assert got["shared_wavefronts"] == math.gcd(stride, 32)
    assert got["shared_bank_conflicts"] == math.gcd(stride, 32) - 1


def test_a_broadcast_is_one_pass() -> None:
    got = shared_counters(STRIDE % {"type": "float"}, {"y": output(32, F32), "stride": I32(0)}, shared=4)
    assert (got["shared_wavefronts"], got["shared_bank_conflicts"]) == (1, 0)


@pytest.mark.parametrize(
    ("type_", "dtype", "stride", "wavefronts", "conflicts"),
    [
        # 8 bytes a lane go in two passes of half a warp, 16 bytes in four of a quarter
        ("double", np.float64, 1, 2, 0), ("double", np.float64, 2, 4, 2), ("double", np.float64, 4, 8, 6),
        ("double", np.float64, 16, 32, 30), ("double", np.float64, 17, 2, 0), ("double", np.float64, 3, 2, 0),
        ("float4", np.float32, 1, 4, 0), ("float4", np.float32, 2, 8, 4), ("float4", np.float32, 8, 32, 28),
        ("float4", np.float32, 9, 4, 0), ("float4", np.float32, 0, 1, 0), ("double", np.float64, 0, 1, 0),
    ],
)  # fmt: skip
def test_wide_elements(type_: str, dtype: type, stride: int, wavefronts: int, conflicts: int) -> None:
    got = shared_counters(
        STRIDE % {"type": type_}, {"y": output(128, dtype), "stride": I32(stride)}, shared=32 * 18 * 16
    )
    assert (got["shared_wavefronts"], got["shared_bank_conflicts"]) == (wavefronts, conflicts)


GATHER = """
extern "C" __global__ void k(const int *at, int *y) {
    __shared__ %(type)s s[2048];
    int i = at[threadIdx.x];
    if (i >= 0) y[threadIdx.x] = s[i];
}"""


@pytest.mark.parametrize(
    ("index", "passes"),
    [
        (np.repeat([0, 1], 16), 1),  # each half reads its own word
        (np.repeat([0, 32], 16), 2),  # two words of one bank
        (np.arange(32)[::-1], 1),
        (np.arange(32) * 32, 32),
        (np.arange(32) % 8 * 32, 8),
        (np.concatenate([np.arange(31), [32]]), 2),
        (np.where(np.arange(32) < 8, np.arange(32) * 32, -1), 8),  # lanes that are off do not count
        (np.where(np.arange(32) % 2, np.arange(32) + 32, np.arange(32)), 1),
        (np.arange(32) * 33, 1),
    ],
)
def test_known_indices(index: np.ndarray, passes: int) -> None:
    got = shared_counters(GATHER % {"type": "int"}, {"at": constant(index.astype(I32)), "y": np.zeros(32, I32)})
    assert (got["shared_load_requests"], got["shared_wavefronts"]) == (1, passes)


@pytest.mark.parametrize(
    ("index", "passes"),
    [(np.arange(32), 1), (np.arange(32) * 4, 1), (np.arange(32) * 128 % 2048, 16), (np.zeros(32), 1)],
)
def test_bytes_of_one_word_do_not_conflict(index: np.ndarray, passes: int) -> None:
    got = shared_counters(
        GATHER % {"type": "unsigned char"}, {"at": constant(index.astype(I32)), "y": np.zeros(32, I32)}
    )
    assert got["shared_wavefronts"] == passes


def test_stores_conflict_like_loads() -> None:
    source = """
    extern "C" __global__ void k(int *y, int stride) {
        extern __shared__ int s[];
        s[threadIdx.x * stride] = threadIdx.x;
        __syncthreads();
        y[threadIdx.x] = s[threadIdx.x * stride];
    }"""
    got = shared_counters(source, {"y": output(32, I32), "stride": I32(8)}, shared=32 * 8 * 4)
    assert (got["shared_store_requests"], got["shared_load_requests"]) == (1, 1)
    assert (got["shared_wavefronts"], got["shared_bank_conflicts"]) == (16, 14)


@pytest.mark.parametrize(("pitch", "ways"), [(64, 8), (32, 4), (16, 2), (8, 1), (40, 1), (72, 1)])
def test_ldmatrix_takes_a_pass_for_each_matrix_without_conflicts(pitch: int, ways: int) -> None:
    """A matrix is eight rows of 16 bytes, `pitch` halves apart: pitch / 8 decides how many meet in the same banks."""
    source = """
    #include <cuda_fp16.h>
    extern "C" __global__ void k(unsigned *y, int pitch) {
        extern __shared__ __align__(16) half s[];
        unsigned r[4], p = (unsigned)__cvta_generic_to_shared(&s[threadIdx.x * pitch]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(p));
        y[threadIdx.x] = r[0] + r[1] + r[2] + r[3];
    }"""
    got = shared_counters(source, {"y": output(32, np.uint32), "pitch": I32(pitch)}, shared=72 * 32 * 2)
    assert got["shared_load_requests"] == 1
    assert (got["shared_wavefronts"], got["shared_bank_conflicts"]) == (4 * ways, 4 * ways - 4)
