"""Honest kernels around block barriers: none may be accused, each result is NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
from tests.vgpu.run import constant, honest, output

I32, F32 = np.int32, np.float32


def ints(n: int, high: int = 1000) -> np.ndarray:
    return np.random.default_rng(n).integers(0, high, n).astype(I32)


def test_whole_warps_return_before_a_barrier() -> None:
    source = """
    extern "C" __global__ void k(const int *x, int *y) {
        __shared__ int tile[64];
        if (threadIdx.x >= 64) return;
        tile[threadIdx.x] = x[threadIdx.x];
        __syncthreads();
        y[threadIdx.x] = tile[63 - threadIdx.x];
    }"""
    x = ints(64)
    y = honest(source, {"x": constant(x), "y": output(64, I32)}, block=128)["y"]
    np.testing.assert_array_equal(y, x[::-1])


def test_part_of_a_warp_returns_before_a_barrier() -> None:
    source = """
    extern "C" __global__ void k(const int *x, int *y, int n) {
        __shared__ int tile[64];
        int i = threadIdx.x;
        if (i >= n) return;
        tile[i] = x[i];
        __syncthreads();
        y[i] = tile[n - 1 - i];
    }"""
    x = ints(45)
    y = honest(source, {"x": constant(x), "y": output(45, I32), "n": I32(45)}, block=64)["y"]
    np.testing.assert_array_equal(y, x[::-1])


def test_lanes_write_something_and_return_before_a_barrier() -> None:
    source = """
    extern "C" __global__ void k(const int *x, int *y, int n) {
        __shared__ int tile[64];
        int i = threadIdx.x;
        if (i >= n) { y[i] = -1; return; }
        tile[i] = x[i];
        __syncthreads();
        y[i] = tile[n - 1 - i];
    }"""
    x = ints(45)
    y = honest(source, {"x": constant(x), "y": output(64, I32), "n": I32(45)}, block=64)["y"]
    np.testing.assert_array_equal(y, np.concatenate([x[::-1], np.full(19, -1, I32)]))


def test_a_barrier_in_a_branch_that_the_whole_block_takes() -> None:
    source = """
    extern "C" __global__ void k(const int *x, int *y) {
        __shared__ int tile[64];
        int i = blockIdx.x * 64 + threadIdx.x;
        if (blockIdx.x % 2) {
            tile[threadIdx.x] = x[i];
            __syncthreads();
            y[i] = tile[63 - threadIdx.x];
        } else y[i] = x[i];
    }"""
    x = ints(256)
    y = honest(source, {"x": constant(x), "y": output(256, I32)}, grid=4, block=64)["y"]
    want = x.reshape(4, 64).copy()
    want[1::2] = want[1::2, ::-1]
    np.testing.assert_array_equal(y, want.ravel())


def test_two_tiles_in_turn_need_one_barrier_each_round() -> None:
    source = """
    extern "C" __global__ void k(const float *x, float *y, int tiles) {
        __shared__ float tile[2][64];
        float sum = 0.0f;
        for (int t = 0; t < tiles; t++) {
            tile[t % 2][threadIdx.x] = x[t * 64 + threadIdx.x];
            __syncthreads();
            sum += tile[t % 2][63 - threadIdx.x];
        }
        y[threadIdx.x] = sum;
    }"""
    x = np.arange(64 * 9, dtype=F32)
    y = honest(source, {"x": constant(x), "y": output(64, F32), "tiles": I32(9)}, block=64)["y"]
    np.testing.assert_array_equal(y, x.reshape(9, 64)[:, ::-1].sum(0))


def test_a_tree_sum_with_a_barrier_each_step() -> None:
    source = """
    extern "C" __global__ void k(const int *x, int *y) {
        __shared__ int s[256];
        int t = threadIdx.x;
        s[t] = x[blockIdx.x * 256 + t];
        for (int o = 128; o; o >>= 1) {
            __syncthreads();
            if (t < o) s[t] += s[t + o];
        }
        if (t == 0) y[blockIdx.x] = s[0];
    }"""
    x = ints(1024)
    y = honest(source, {"x": constant(x), "y": output(4, I32)}, grid=4, block=256)["y"]
    np.testing.assert_array_equal(y, x.reshape(4, 256).sum(1))


def test_barriers_that_count_and_vote() -> None:
    source = """
    extern "C" __global__ void k(const int *x, int *y) {
        int v = x[threadIdx.x];
        int many = __syncthreads_count(v > 500);
        int all = __syncthreads_and(v >= 0), any = __syncthreads_or(v > 5000);
        y[threadIdx.x] = many * 4 + all * 2 + any;
    }"""
    x = ints(96)
    y = honest(source, {"x": constant(x), "y": output(96, I32)}, block=96)["y"]
    np.testing.assert_array_equal(y, np.full(96, (x > 500).sum() * 4 + 2))


def test_producers_and_consumers_meet_at_named_barriers() -> None:
    source = """
    __device__ void sync(int b) { asm volatile("bar.sync %0, 64;" ::"r"(b) : "memory"); }
    __device__ void arrive(int b) { asm volatile("bar.arrive %0, 64;" ::"r"(b) : "memory"); }
    extern "C" __global__ void k(const int *x, int *y, int rounds) {
        __shared__ int ring[2][32];   // barriers 1, 2: full; 3, 4: empty
        int lane = threadIdx.x % 32;
        if (threadIdx.x < 32) {
            for (int r = 0; r < rounds; r++) {
                if (r >= 2) sync(3 + r % 2);
                ring[r % 2][lane] = x[r * 32 + lane];
                arrive(1 + r % 2);
            }
        } else {
            for (int r = 0; r < rounds; r++) {
                sync(1 + r % 2);
                y[r * 32 + lane] = ring[r % 2][31 - lane];
                if (r + 2 < rounds) arrive(3 + r % 2);
            }
        }
    }"""
    x = ints(32 * 7)
    y = honest(source, {"x": constant(x), "y": output(32 * 7, I32), "rounds": I32(7)}, block=64)["y"]
    np.testing.assert_array_equal(y, x.reshape(7, 32)[:, ::-1].ravel())


def test_pairs_of_warps_meet_at_their_own_barrier() -> None:
    source = """
    extern "C" __global__ void k(const int *x, int *y) {
        __shared__ int tile[128];
        int pair = threadIdx.x / 64;
        tile[threadIdx.x] = x[threadIdx.x];
        asm volatile("bar.sync %0, 64;" ::"r"(1 + pair) : "memory");
        y[threadIdx.x] = tile[threadIdx.x ^ 63];
    }"""
    x = ints(128)
    y = honest(source, {"x": constant(x), "y": output(128, I32)}, block=128)["y"]
    np.testing.assert_array_equal(y, x[np.arange(128) ^ 63])


def test_one_warp_returns_and_the_others_go_on_with_barriers() -> None:
    source = """
    extern "C" __global__ void k(const int *x, int *y) {
        __shared__ int s[128];
        int t = threadIdx.x;
        s[t] = x[t];
        __syncthreads();
        if (t >= 96) { y[t] = x[t - 96]; return; }
        for (int r = 0; r < 3; r++) {
            int v = s[(t + 1) % 96];
            __syncthreads();
            if (t >= 32) s[t] = v;
            __syncthreads();
        }
        y[t] = s[t];
    }"""
    x = ints(128)
    s = x[:96].copy()
    for _ in range(3):
        s[32:] = np.roll(s, -1)[32:]
    got = honest(source, {"x": constant(x), "y": output(128, I32)}, block=128)["y"]
    np.testing.assert_array_equal(got, np.concatenate([s, x[:32]]))


def test_asynchronous_copies_in_a_pipeline_of_three_stages() -> None:
    source = """
    #include <cuda_pipeline.h>
    extern "C" __global__ void k(const int4 *x, int *y, int tiles) {
        __shared__ int4 tile[3][32];
        int t = threadIdx.x, sum = 0;
        auto fetch = [&](int n) {
            if (n < tiles) __pipeline_memcpy_async(&tile[n % 3][t], &x[n * 32 + t], 16);
            __pipeline_commit();
        };
        fetch(0); fetch(1);
        for (int n = 0; n < tiles; n++) {
            __pipeline_wait_prior(1);
            __syncthreads();
            fetch(n + 2);
            int4 v = tile[n % 3][31 - t];
            sum += v.x + 2 * v.y + 3 * v.z + 5 * v.w;
        }
        y[t] = sum;
    }"""
    x = ints(32 * 4 * 8)
    y = honest(source, {"x": constant(x), "y": output(32, I32), "tiles": I32(8)})["y"]
    want = (x.reshape(8, 32, 4) * np.array([1, 2, 3, 5], I32)).sum((0, 2))[::-1]
    np.testing.assert_array_equal(y, want)


def test_asynchronous_copies_of_four_bytes_with_zero_fill() -> None:
    source = """
    #include <cuda_pipeline.h>
    extern "C" __global__ void k(const int *x, int *y, int n) {
        __shared__ int tile[64];
        int t = threadIdx.x;
        __pipeline_memcpy_async(&tile[t], &x[t < n ? t : 0], 4, t < n ? 0 : 4);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        y[t] = tile[63 - t];
    }"""
    x = ints(50)
    y = honest(source, {"x": constant(x), "y": output(64, I32), "n": I32(50)}, block=64)["y"]
    np.testing.assert_array_equal(y, np.concatenate([x, np.zeros(14, I32)])[::-1])


@pytest.mark.parametrize("threads", [33, 64, 1000, 1024])
def test_a_block_of_any_size_meets(threads: int) -> None:
    source = """
    extern "C" __global__ void k(int *y) {
        __shared__ int s[1024];
        s[threadIdx.x] = threadIdx.x * 3;
        __syncthreads();
        y[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
    }"""
    y = honest(source, {"y": output(threads, I32)}, block=threads)["y"]
    np.testing.assert_array_equal(y, np.arange(threads)[::-1] * 3)
