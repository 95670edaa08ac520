"""Sectors and requests of global accesses against published facts and against arithmetic done by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.vgpu.run import Ran, constant, output, run

I32, F32 = np.int32, np.float32


def counted(source: str, arguments: dict[str, Any], **how: Any) -> Ran:
    ran = run(source, arguments, check=False, cores=2, **how)
    assert ran.launched.faults == ()
    return ran


def test_daxpy_moves_the_published_number_of_sectors() -> None:
    """4194304 doubles: 131072 warps, each with two loads and a store of 8 sectors."""
    source = """
    extern "C" __global__ void k(const double *x, double *y, double a) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        y[i] = a * x[i] + y[i];
    }"""
    n = 4194304
    x, y = np.zeros(n), np.ones(n)
    ran = counted(source, {"x": constant(x), "y": y, "a": np.float64(2)}, grid=n // 256, block=256)
    got = ran.counters
    assert got["global_load_requests"] == 2 * 131072
    assert got["global_store_requests"] == 131072
    assert got["global_load_sectors"] == 2 * 8 * 131072
    assert got["global_load_sectors"] + got["global_store_sectors"] == 3145728
    assert got["global_load_bytes"] == 16 * n
    assert got["global_load_efficiency"] == got["global_store_efficiency"] == 100.0


LOAD = """
extern "C" __global__ void k(const %(type)s *x, %(type)s *y, int stride, int first) {
    y[threadIdx.x] = x[threadIdx.x * stride + first];
}"""


@pytest.mark.parametrize(
    ("type_", "stride", "first", "sectors"),
    [
        # 4-byte elements: lane i at byte 4 * stride * i; a sector holds 8 of them
        ("float", 1, 0, 4), ("float", 2, 0, 8), ("float", 4, 0, 16), ("float", 8, 0, 32), ("float", 16, 0, 32),
        ("float", 32, 0, 32), ("float", 33, 0, 32), ("float", 3, 0, 12), ("float", 0, 0, 1),
        # off by one element: the last lane falls in a fifth sector; by eight: whole sectors again
        ("float", 1, 1, 5), ("float", 1, 7, 5), ("float", 1, 8, 4), ("float", 2, 1, 8),
        ("float2", 1, 0, 8), ("float4", 1, 0, 16), ("double", 1, 0, 8), ("double", 1, 1, 9), ("double2", 1, 0, 16),
        ("double", 2, 0, 16), ("double", 4, 0, 32), ("float4", 2, 0, 32),
        ("char", 1, 0, 1), ("char", 1, 1, 2), ("char", 32, 0, 32), ("char", 0, 5, 1),
        ("short", 1, 0, 2), ("short", 3, 0, 6),
    ],
)  # fmt: skip
def test_sectors_of_one_load(type_: str, stride: int, first: int, sectors: int) -> None:
    size = {"float": 4, "float2": 8, "float4": 16, "double": 8, "double2": 16, "char": 1, "short": 2}[type_]
    x = np.zeros((31 * stride + first + 1) * size, np.uint8)
    ran = counted(
        LOAD % {"type": type_},
        {"x": constant(x), "y": output(32 * size, np.uint8), "stride": I32(stride), "first": I32(first)},
    )
    assert ran.counters["global_load_requests"] == 1
    assert ran.counters["global_load_sectors"] == sectors
    assert ran.counters["global_load_bytes"] == 32 * size
    assert ran.counters["global_store_sectors"] == size


@pytest.mark.parametrize(
    ("index", "sectors", "lines"),
    [
        (np.arange(32)[::-1], 4, 1),  # order does not matter
        (np.arange(32) ^ 5, 4, 1),
        (np.zeros(32), 1, 1),
        (np.repeat([0, 100], 16), 2, 2),
        (np.arange(32) % 4, 1, 1),
        (np.arange(32) * 8, 32, 8),
        (np.array([0, 8] * 16), 2, 1),
        (np.arange(32) * 1000, 32, 32),
        (np.array([*range(31), 4000]), 5, 2),
        (np.array([7, 8] * 16), 2, 1),
        (np.arange(32) * 8 % 128, 16, 4),
    ],
)
def test_sectors_and_lines_of_a_gather(index: np.ndarray, sectors: int, lines: int) -> None:
    from warpsight.vgpu import counters

    source = """
    extern "C" __global__ void k(const int *at, const float *x, float *y) { y[threadIdx.x] = x[at[threadIdx.x]]; }"""
    x = np.arange(32000, dtype=F32)
    ran = counted(source, {"at": constant(index.astype(I32)), "x": constant(x), "y": output(32, F32)})
    np.testing.assert_array_equal(ran.arrays["y"], index)
    got = ran.counters
    assert (got["global_load_sectors"], got["global_store_sectors"]) == (4 + sectors, 4)
    gather = [n for n, t in enumerate(ran.program.texts) if t.startswith("ld.global")][1]
    assert ran.launched.counts[gather, counters.INDEX["lines"]] == lines


@pytest.mark.parametrize("n", [1, 7, 8, 9, 31, 33, 100])
def test_a_tail_counts_only_the_lanes_that_are_on(n: int) -> None:
    source = """
    extern "C" __global__ void k(const float *x, float *y, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) y[i] = x[i];
    }"""
    ran = counted(source, {"x": constant(np.zeros(n, F32)), "y": output(n, F32), "n": I32(n)}, grid=4, block=32)
    got = ran.counters
    warps = -(-n // 32)
    assert got["global_load_requests"] == got["global_store_requests"] == warps
    assert got["global_load_sectors"] == got["global_store_sectors"] == n // 32 * 4 + -(-(n % 32) // 8)
    assert got["global_load_bytes"] == 4 * n


def test_efficiency_falls_with_the_stride_and_exceeds_100_for_a_broadcast() -> None:
    x, y = constant(np.zeros(32 * 33, F32)), output(32, F32)
    got = {
        s: counted(LOAD % {"type": "float"}, {"x": x, "y": y, "stride": I32(s), "first": I32(0)}).counters[
            "global_load_efficiency"
        ]
        for s in (0, 1, 2, 8, 32)
    }
    assert got == {0: 400.0, 1: 100.0, 2: 50.0, 8: 12.5, 32: 12.5}


def test_strided_stores_and_local_arrays() -> None:
    source = """
    extern "C" __global__ void k(const int *at, int *y, int stride) {
        int mine[8];
        for (int i = 0; i < 8; i++) mine[i] = i * 3;
        y[threadIdx.x * stride] = mine[at[threadIdx.x]];
    }"""
    ran = counted(source, {"at": constant(np.full(32, 5, I32)), "y": np.zeros(32 * 4, I32), "stride": I32(4)})
    got = ran.counters
    assert got["global_store_sectors"] == 16
    # 8 words stored and one loaded by each lane; lanes at the same word of their private arrays are side by side
    assert got["local_sectors"] == (8 + 1) * 4


def test_lanes_in_two_arrays_are_one_request() -> None:
    source = """
    extern "C" __global__ void k(const float *a, const float *b, float *y) {
        const float *p = threadIdx.x < 16 ? a : b;
        y[threadIdx.x] = p[threadIdx.x];
    }"""
    ran = counted(source, {"a": constant(np.zeros(32, F32)), "b": constant(np.ones(32, F32)), "y": output(32, F32)})
    got = ran.counters
    assert (got["global_load_requests"], got["global_load_sectors"], got["global_load_bytes"]) == (1, 4, 128)
