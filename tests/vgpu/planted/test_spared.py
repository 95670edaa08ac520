"""Near the planted faults and yet honest: hardware runs these as they are meant, so nobody may accuse them."""

from __future__ import annotations

import numpy as np
from tests.vgpu.run import constant, honest, output, run

I32, F32 = np.int32, np.float32


def test_lanes_outside_the_mask_are_read_but_not_used() -> None:
    source = """
    extern "C" __global__ void k(const int *x, int *y) {
        int lane = threadIdx.x, v = x[lane];
        if (lane < 8) {
            for (int o = 4; o; o >>= 1) v += __shfl_down_sync(0xffu, v, o);
            if (lane == 0) y[0] = v;
        }
    }"""
    x = np.arange(32, dtype=I32)
    assert honest(source, {"x": constant(x), "y": output(1, I32)})["y"] == x[:8].sum()


def test_a_lane_chooses_not_to_use_what_it_read_outside_the_mask() -> None:
    source = """
    extern "C" __global__ void k(const float *x, float *y, int n) {
        int i = threadIdx.x;
        if (i >= n) return;
        float v = x[i];
        for (int o = 16; o; o >>= 1) {
            float other = __shfl_down_sync(0xffffffffu, v, o);
            if (i + o < n) v += other;
        }
        if (i == 0) y[0] = v;
    }"""
    x = np.arange(20, dtype=F32)
    assert honest(source, {"x": constant(x), "y": output(1, F32), "n": I32(20)})["y"] == x.sum()


def test_undefined_values_pass_through_shared_memory_unused() -> None:
    source = """
    extern "C" __global__ void k(const int *x, int *y) {
        __shared__ int part[32];
        int lane = threadIdx.x, v = x[lane];
        if (lane < 16) v += __shfl_down_sync(0xffffu, v, 8);
        part[lane] = v;
        __syncwarp();
        if (lane < 8) y[lane] = part[lane];
    }"""
    x = np.arange(32, dtype=I32)
    y = honest(source, {"x": constant(x), "y": output(8, I32)})["y"]
    np.testing.assert_array_equal(y, x[:8] + x[8:16])


def test_all_threads_come_to_a_barrier_by_different_ways() -> None:
    source = """
    extern "C" __global__ void k(const int *x, int *y, int all) {
        __shared__ int s[64];
        int t = threadIdx.x;
        if (x[t] > 20 || *(volatile int *)&y[64] == all) {
            s[t] = x[t];
            __syncthreads();
            y[t] = s[63 - t];
        } else y[t] = 0;
    }"""
    x = np.arange(64, dtype=I32)
    y = honest(source, {"x": constant(x), "y": np.full(65, 5, I32), "all": I32(5)}, block=64)["y"]
    np.testing.assert_array_equal(y[:64], x[::-1])


def test_a_barrier_in_every_other_round_of_a_loop() -> None:
    source = """
    extern "C" __global__ void k(const int *x, int *y, int rounds) {
        __shared__ int s[64];
        int t = threadIdx.x, v = x[t];
        for (int r = 0; r < rounds; r++) {
            if (r % 2) { s[t] = v; __syncthreads(); v = s[t ^ 1]; __syncthreads(); }
            else v += r;
        }
        y[t] = v;
    }"""
    x = np.arange(64, dtype=I32)
    y = honest(source, {"x": constant(x), "y": output(64, I32), "rounds": I32(6)}, block=64)["y"]
    np.testing.assert_array_equal(y, x[np.arange(64) ^ 1] + 6)


def test_a_pointer_to_either_of_two_shared_arrays() -> None:
    source = """
    extern "C" __global__ void k(const int *x, int *y) {
        __shared__ int even[32], odd[32];
        int t = threadIdx.x;
        even[t] = x[t];
        odd[t] = -x[t];
        __syncthreads();
        int *p = x[t] % 2 ? odd : even;
        y[t] = p[31 - t];
    }"""
    x = np.arange(32, dtype=I32)
    y = honest(source, {"x": constant(x), "y": output(32, I32)})["y"]
    np.testing.assert_array_equal(y, np.where(x % 2, -x[::-1], x[::-1]))


def test_a_long_loop_that_ends_is_no_endless_loop() -> None:
    source = """
    extern "C" __global__ void k(int *y, int n) {
        int v = threadIdx.x;
        for (int i = 0; i < n; i++) v = v * 5 + i;
        y[threadIdx.x] = v;
    }"""
    arguments = {"y": output(32, I32), "n": I32(200_000)}
    assert run(source, arguments, max_instructions=3_000_000).kinds == []
    assert run(source, arguments, max_instructions=300_000).kinds == ["launch_too_large"]
