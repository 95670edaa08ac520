"""Honest kernels in shared memory: atomics, flags, several arrays in one piece, narrow types, locks."""

from __future__ import annotations

import numpy as np
from tests.vgpu.run import constant, honest, output

I32, U32, F32 = np.int32, np.uint32, np.float32


def ints(n: int, high: int = 1000) -> np.ndarray:
    return np.random.default_rng(n).integers(0, high, n).astype(I32)


def test_histogram_with_shared_and_global_atomics() -> None:
    source = """
    extern "C" __global__ void k(const int *x, int *y, int n) {
        __shared__ int bins[64];
        if (threadIdx.x < 64) bins[threadIdx.x] = 0;
        __syncthreads();
        for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) atomicAdd(&bins[x[i]], 1);
        __syncthreads();
        if (threadIdx.x < 64) atomicAdd(&y[threadIdx.x], bins[threadIdx.x]);
    }"""
    x = ints(5000, 64)
    y = honest(source, {"x": constant(x), "y": np.zeros(64, I32), "n": I32(5000)}, grid=3, block=128)["y"]
    np.testing.assert_array_equal(y, np.bincount(x, minlength=64))


def test_many_threads_set_a_flag_to_the_same_value() -> None:
    source = """
    extern "C" __global__ void k(const int *x, int *y) {
        __shared__ int found;
        if (threadIdx.x == 0) found = 0;
        __syncthreads();
        if (x[threadIdx.x] > 10) found = 1;
        __syncthreads();
        y[threadIdx.x] = found;
    }"""
    x = ints(128)
    y = honest(source, {"x": constant(x), "y": output(128, I32)}, block=128)["y"]
    assert (y == 1).all()


def test_a_volatile_flag_hands_volatile_data_from_warp_to_warp() -> None:
    source = """
    extern "C" __global__ void k(const int *x, int *y) {
        __shared__ volatile int flag, data;
        if (threadIdx.x == 0) flag = 0;
        __syncthreads();
        if (threadIdx.x == 0) { while (flag == 0) {} y[0] = data; }
        if (threadIdx.x == 32) { data = x[0]; __threadfence_block(); flag = 1; }
    }"""
    y = honest(source, {"x": constant(ints(1)), "y": output(1, I32)}, block=64)["y"]
    assert y[0] == ints(1)[0]


def test_a_volatile_flag_and_fences_hand_over_plain_data() -> None:
    source = """
    extern "C" __global__ void k(const int *x, int *y) {
        __shared__ volatile int flag;
        __shared__ int data[32];
        if (threadIdx.x == 0) flag = 0;
        __syncthreads();
        if (threadIdx.x < 32) {
            if (threadIdx.x == 0) { while (flag == 0) {} __threadfence_block(); }
            __syncwarp();
            y[threadIdx.x] = data[31 - threadIdx.x];
        } else {
            data[threadIdx.x - 32] = x[threadIdx.x - 32];
            __syncwarp();
            if (threadIdx.x == 32) { __threadfence_block(); flag = 1; }
        }
    }"""
    x = ints(32)
    y = honest(source, {"x": constant(x), "y": output(32, I32)}, block=64)["y"]
    np.testing.assert_array_equal(y, x[::-1])


def test_a_lock_in_shared_memory_guards_plain_data() -> None:
    source = """
    extern "C" __global__ void k(const int *x, int *y) {
        __shared__ int lock, sum;
        if (threadIdx.x == 0) { lock = 0; sum = 0; }
        __syncthreads();
        for (bool done = false; !done;)
            if (atomicCAS(&lock, 0, 1) == 0) {
                __threadfence_block();
                sum += x[threadIdx.x];
                __threadfence_block();
                atomicExch(&lock, 0);
                done = true;
            }
        __syncthreads();
        if (threadIdx.x == 0) *y = sum;
    }"""
    x = ints(64)
    y = honest(source, {"x": constant(x), "y": output(1, I32)}, block=64)["y"]
    assert y[0] == x.sum()


def test_dynamic_shared_memory_carved_into_arrays_of_several_types() -> None:
    source = """
    extern "C" __global__ void k(const double *x, double *y, int n) {
        extern __shared__ __align__(16) unsigned char raw[];
        double *d = (double *)raw;
        float *f = (float *)(d + n);
        short *s = (short *)(f + n);
        char *c = (char *)(s + n);
        int t = threadIdx.x;
        d[t] = x[t]; f[t] = (float)x[t] * 2; s[t] = (short)t; c[t] = (char)(t & 63);
        __syncthreads();
        int o = n - 1 - t;
        y[t] = d[o] + f[o] + s[o] + c[o];
    }"""
    x = np.arange(96) * 0.5
    y = honest(source, {"x": constant(x), "y": output(96, float), "n": I32(96)}, block=96, shared=96 * 15)["y"]
    t = np.arange(96)
    np.testing.assert_array_equal(y, (x * 3 + t + (t & 63))[::-1])


def test_a_static_and_a_dynamic_array_do_not_overlap() -> None:
    source = """
    extern "C" __global__ void k(int *y) {
        __shared__ char odd[13];
        extern __shared__ int tile[];
        if (threadIdx.x < 13) odd[threadIdx.x] = threadIdx.x;
        tile[threadIdx.x] = 100 + threadIdx.x;
        __syncthreads();
        y[threadIdx.x] = tile[31 - threadIdx.x] + odd[threadIdx.x % 13];
    }"""
    y = honest(source, {"y": output(32, I32)}, shared=128)["y"]
    np.testing.assert_array_equal(y, 131 - np.arange(32) + np.arange(32) % 13)


def test_bytes_of_one_word_written_by_different_threads() -> None:
    source = """
    extern "C" __global__ void k(const unsigned char *x, unsigned *y) {
        __shared__ __align__(4) unsigned char bytes[256];
        bytes[255 - threadIdx.x] = x[threadIdx.x];
        __syncthreads();
        if (threadIdx.x < 64) y[threadIdx.x] = ((unsigned *)bytes)[threadIdx.x];
    }"""
    x = np.random.default_rng(3).integers(0, 256, 256).astype(np.uint8)
    y = honest(source, {"x": constant(x), "y": output(64, U32)}, block=256)["y"]
    np.testing.assert_array_equal(y, x[::-1].copy().view(U32))


def test_a_union_is_read_as_the_other_type() -> None:
    source = """
    union Both { float f[2]; unsigned long long u; };
    extern "C" __global__ void k(const float *x, unsigned long long *y) {
        __shared__ Both both[32];
        both[threadIdx.x / 2].f[threadIdx.x % 2] = x[threadIdx.x];
        __syncthreads();
        if (threadIdx.x < 32) y[threadIdx.x] = both[31 - threadIdx.x].u;
    }"""
    x = np.random.default_rng(4).random(64).astype(F32)
    y = honest(source, {"x": constant(x), "y": output(32, np.uint64)}, block=64)["y"]
    np.testing.assert_array_equal(y, x.view(np.uint64)[::-1])


def test_shared_memory_used_again_for_another_purpose() -> None:
    source = """
    extern "C" __global__ void k(const int *x, float *y) {
        __shared__ int raw[64];
        float *f = (float *)raw;
        raw[threadIdx.x] = x[threadIdx.x];
        __syncthreads();
        float v = raw[63 - threadIdx.x] * 0.5f;
        __syncthreads();
        f[threadIdx.x] = v;
        __syncthreads();
        y[threadIdx.x] = f[threadIdx.x ^ 32];
    }"""
    x = ints(64)
    y = honest(source, {"x": constant(x), "y": output(64, F32)}, block=64)["y"]
    np.testing.assert_array_equal(y, (x[::-1] * 0.5)[np.arange(64) ^ 32])


def test_each_thread_keeps_to_its_own_slot_without_barriers() -> None:
    source = """
    extern "C" __global__ void k(const int *x, int *y) {
        __shared__ int mine[64 * 4];
        int *m = mine + threadIdx.x * 4;
        for (int i = 0; i < 4; i++) m[i] = 0;
        for (int i = 0; i < 32; i++) m[x[threadIdx.x * 32 + i]]++;
        for (int i = 0; i < 4; i++) y[threadIdx.x * 4 + i] = m[i];
    }"""
    x = ints(64 * 32, 4)
    y = honest(source, {"x": constant(x), "y": output(256, I32)}, block=64)["y"].reshape(64, 4)
    np.testing.assert_array_equal(y, [np.bincount(r, minlength=4) for r in x.reshape(64, 32)])


def test_transpose_through_a_padded_tile() -> None:
    source = """
    extern "C" __global__ void k(const float *x, float *y, int n) {
        __shared__ float tile[32][33];
        int bx = blockIdx.x * 32, by = blockIdx.y * 32;
        for (int j = threadIdx.y; j < 32; j += 8)
            if (bx + threadIdx.x < n && by + j < n) tile[j][threadIdx.x] = x[(by + j) * n + bx + threadIdx.x];
        __syncthreads();
        for (int j = threadIdx.y; j < 32; j += 8)
            if (by + threadIdx.x < n && bx + j < n) y[(bx + j) * n + by + threadIdx.x] = tile[threadIdx.x][j];
    }"""
    x = np.random.default_rng(5).random((75, 75)).astype(F32)
    y = honest(source, {"x": constant(x), "y": output((75, 75), F32), "n": I32(75)}, grid=(3, 3), block=(32, 8))["y"]
    np.testing.assert_array_equal(y, x.T)


def test_ping_pong_inclusive_scan() -> None:
    source = """
    extern "C" __global__ void k(const int *x, int *y) {
        __shared__ int s[2][128];
        int t = threadIdx.x, in = 0;
        s[0][t] = x[t];
        __syncthreads();
        for (int o = 1; o < 128; o *= 2) {
            s[1 - in][t] = s[in][t] + (t >= o ? s[in][t - o] : 0);
            in = 1 - in;
            __syncthreads();
        }
        y[t] = s[in][t];
    }"""
    x = ints(128)
    y = honest(source, {"x": constant(x), "y": output(128, I32)}, block=128)["y"]
    np.testing.assert_array_equal(y, np.cumsum(x))
