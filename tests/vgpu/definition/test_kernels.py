"""Whole kernels: compiled from CUDA C++, lowered, run by the definition, and compared with NumPy."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest

from warpsight.toolchain.compile import compile_cuda
from warpsight.vgpu.bytecode import Program
from warpsight.vgpu.definition import Memory, run
from warpsight.vgpu.ptx import load_ptx

SOURCE = r"""
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
__constant__ float table[4] = {1, 2, 3, 4};
__device__ int counter;
__device__ __noinline__ float grow(float a, int n) { return n <= 0 ? a : grow(a * 1.5f, n - 1) + 1.0f; }

extern "C" __global__ void mixed(float *x, const float *__restrict__ y, int n, half2 *h) {
    __shared__ float s[64];
    extern __shared__ float turned[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = y[i] * 2.f + table[i & 3] + grow(x[i], i & 3);
    s[threadIdx.x] = x[i];
    __syncthreads();
    turned[threadIdx.x] = s[63 - threadIdx.x];
    __syncthreads();
    h[i] = __hadd2(h[i], h[i]);
    atomicAdd(&counter, 1);
    x[i] /= turned[threadIdx.x];
    if (i == 3) printf("%d of %d: %s\n", i, n, "here");
    float v = x[i];
    for (int o = 16; o; o >>= 1) v += __shfl_down_sync(~0u, v, o);
    if (threadIdx.x % 32 == 0) x[i] = v;
}

extern "C" __global__ void tile(const half *a, const half *b, float *c) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 1.0f);
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

extern "C" __global__ void functions(const float *x, float *out) {
    float v = x[threadIdx.x], *o = out + 6 * threadIdx.x;
    o[0] = expf(v); o[1] = logf(v); o[2] = sinf(v * 1000);
    o[3] = erff(v); o[4] = tanhf(v); o[5] = (float)lgamma((double)v);
}
"""


@pytest.fixture(scope="module")
def ptx() -> str:
    build = compile_cuda(SOURCE, gpu_arch="sm_80")
    assert build.ptx, build
    return build.ptx


def launch(program: Program, memory: Memory, params: bytes, blocks: int = 1, threads: int = 32, shared: int = 0) -> str:
    return run(
        program, grid=(blocks, 1, 1), block=(threads, 1, 1), shared_bytes=shared, params=params, memory=memory
    ).output


def mixed_expected(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The same steps in float32; y * 2 is exact, so fused or not makes no difference. Only lane 0's sum is used."""

    def grow(a: np.float32, n: int) -> np.float32:
        return a if n <= 0 else np.float32(grow(np.float32(a * np.float32(1.5)), n - 1) + np.float32(1))

    table = np.array([1, 2, 3, 4], np.float32)
    values = np.array([y[i] * np.float32(2) + table[i & 3] + grow(x[i], i & 3) for i in range(len(x))], np.float32)
    values = (values.reshape(-1, 64) / values.reshape(-1, 64)[:, ::-1]).reshape(-1)
    for start in range(0, len(values), 32):
        warp = values[start : start + 32].copy()
        for distance in (16, 8, 4, 2, 1):
            warp[: 32 - distance] += warp[distance:].copy()
        values[start] = warp[0]
    return values


def test_recursion_shared_memory_atomics_shuffles_halves_and_printf(ptx: str) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.random(128, dtype=np.float32), rng.random(128, dtype=np.float32)
    h = rng.random(256).astype(np.float16)
    memory = Memory()
    at_x, at_y, at_h = (memory.alloc(name, data) for name, data in (("x", x), ("y", y), ("h", h)))
    params = struct.pack("<QQi4xQ", at_x, at_y, 128, at_h)
    output = launch(load_ptx(ptx, "mixed"), memory, params, blocks=2, threads=64, shared=256)
    assert output == "3 of 128: here\n"
    assert np.array_equal(np.frombuffer(memory.read(at_x, 512), np.float32), mixed_expected(x, y))
    assert np.array_equal(np.frombuffer(memory.read(at_h, 512), np.float16), h + h)
    at_counter = memory.address_of("counter")
    assert at_counter is not None
    assert int.from_bytes(memory.read(at_counter, 4), "little") == 128


def test_a_tensor_core_tile(ptx: str) -> None:
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-4, 5, (16, 16)).astype(np.float16) for _ in range(2))
    memory = Memory()
    at_a, at_b, at_c = memory.alloc("a", a), memory.alloc("b", b), memory.alloc("c", bytes(1024))
    launch(load_ptx(ptx, "tile"), memory, struct.pack("<QQQ", at_a, at_b, at_c))
    got = np.frombuffer(memory.read(at_c, 1024), np.float32).reshape(16, 16)
    assert np.array_equal(got, a.astype(np.float32) @ b.T.astype(np.float32) + 1)


def test_library_functions_are_as_accurate_as_cuda_says(ptx: str) -> None:
    x = np.linspace(0.1, 9, 32).astype(np.float32)
    memory = Memory()
    at_x, at_out = memory.alloc("x", x), memory.alloc("out", bytes(4 * 6 * 32))
    launch(load_ptx(ptx, "functions"), memory, struct.pack("<QQ", at_x, at_out))
    got = np.frombuffer(memory.read(at_out, 4 * 6 * 32), np.float32).reshape(32, 6)
    v = x.astype(np.float64)
    thousand = (x * np.float32(1000)).astype(np.float64)
    wanted = [np.exp(v), np.log(v), np.sin(thousand), *(np.vectorize(f)(v) for f in (math.erf, math.tanh, math.lgamma))]
    for column, reference in zip(got.T, wanted, strict=True):
        assert np.max(np.abs(column - reference) / np.spacing(np.abs(reference).astype(np.float32))) <= 3
