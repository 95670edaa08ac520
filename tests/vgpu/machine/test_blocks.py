"""Honest kernels whose blocks work together through global memory: atomics, fences, flags, waiting for one another."""

from __future__ import annotations

import numpy as np
import pytest
from tests.vgpu.run import constant, honest, output

I32, U32, F32 = np.int32, np.uint32, np.float32


def ints(n: int, high: int = 1000) -> np.ndarray:
    return np.random.default_rng(n).integers(0, high, n).astype(I32)


def test_the_last_block_adds_up() -> None:
    source = """
    __device__ unsigned tickets;
    extern "C" __global__ void k(const int *x, int *part, int *sum) {
        __shared__ bool last;
        int v = x[blockIdx.x * 32 + threadIdx.x];
        for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(~0u, v, o);
        if (threadIdx.x == 0) {
            part[blockIdx.x] = v;
            __threadfence();
            last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
        }
        __syncthreads();
        if (!last) return;
        int all = 0;
        for (int b = threadIdx.x; b < gridDim.x; b += 32) all += part[b];
        for (int o = 16; o; o >>= 1) all += __shfl_xor_sync(~0u, all, o);
        if (threadIdx.x == 0) *sum = all;
    }"""
    x = ints(32 * 50)
    got = honest(source, {"x": constant(x), "part": output(50, I32), "sum": output(1, I32)}, grid=50)["sum"]
    assert got[0] == x.sum()


def test_every_thread_fences_then_one_takes_the_ticket() -> None:
    source = """
    __device__ unsigned tickets;
    extern "C" __global__ void k(const int *x, int *copy, int *y) {
        __shared__ unsigned ticket;
        int i = blockIdx.x * 64 + threadIdx.x;
        copy[i] = x[i] * 2;
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) ticket = atomicAdd(&tickets, 1u);
        __syncthreads();
        if (ticket == gridDim.x - 1)
            for (int j = threadIdx.x; j < gridDim.x * 64; j += 64) y[j] = copy[gridDim.x * 64 - 1 - j];
    }"""
    x = ints(640)
    got = honest(source, {"x": constant(x), "copy": output(640, I32), "y": output(640, I32)}, grid=10, block=64)["y"]
    np.testing.assert_array_equal(got, x[::-1] * 2)


LOOK_BACK = """
typedef volatile int *Words;
extern "C" __global__ void k(const int *x, int *y, Words status, Words aggregate, Words prefix) {
    __shared__ int s[64], before;
    int t = threadIdx.x, b = blockIdx.x, i = b * 64 + t;
    s[t] = x[i];
    __syncthreads();
    for (int o = 1; o < 64; o *= 2) {
        int v = t >= o ? s[t - o] : 0;
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    if (t == 0) {
        int total = s[63], sum = 0;
        aggregate[b] = total;
        __threadfence();
        status[b] = 1;
        for (int p = b - 1; p >= 0; p--) {
            int seen;
            while ((seen = status[p]) == 0) {}
            __threadfence();
            if (seen == 2) { sum += prefix[p]; break; }
            sum += aggregate[p];
        }
        prefix[b] = sum + total;
        __threadfence();
        status[b] = 2;
        before = sum;
    }
    __syncthreads();
    y[i] = before + s[t];
}"""


def test_decoupled_look_back_scan() -> None:
    x, n = ints(64 * 40), 40
    arguments = {
        "x": constant(x),
        "y": output(64 * n, I32),
        "status": np.zeros(n, I32),
        "aggregate": output(n, I32),
        "prefix": output(n, I32),
    }
    got = honest(LOOK_BACK, arguments, grid=n, block=64)["y"]
    np.testing.assert_array_equal(got, np.cumsum(x))


def test_blocks_wait_for_later_blocks() -> None:
    source = """
    extern "C" __global__ void k(volatile int *flag, volatile int *y) {
        if (threadIdx.x) return;
        int b = blockIdx.x, last = gridDim.x - 1;
        if (b < last) while (flag[b + 1] == 0) {}
        y[b] = b < last ? y[b + 1] + 1 : 1;
        __threadfence();
        flag[b] = 1;
    }"""
    got = honest(source, {"flag": np.zeros(12, I32), "y": output(12, I32)}, grid=12)["y"]
    np.testing.assert_array_equal(got, np.arange(12, 0, -1))


def test_a_barrier_of_the_whole_grid_by_atomics_and_spinning() -> None:
    source = """
    __device__ unsigned arrived;
    __device__ void meet(unsigned round) {
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            atomicAdd(&arrived, 1u);
            while (*(volatile unsigned *)&arrived < gridDim.x * (round + 1)) {}
            __threadfence();
        }
        __syncthreads();
    }
    extern "C" __global__ void k(float *a, float *b, int rounds) {
        int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
        for (int r = 0; r < rounds; r++) {
            b[i] = a[(i + 1) % n] + a[(i + n - 1) % n];
            meet(2 * r);
            a[i] = b[(i + n / 2) % n] * 0.5f;
            meet(2 * r + 1);
        }
    }"""
    a = np.arange(256, dtype=F32)
    want = a.copy()
    for _ in range(3):
        want = np.roll(np.roll(want, -1) + np.roll(want, 1), -128) * F32(0.5)
    got = honest(source, {"a": a, "b": output(256, F32), "rounds": I32(3)}, grid=4, block=64)["a"]
    np.testing.assert_array_equal(got, want)


def test_a_release_store_and_an_acquire_load_hand_over() -> None:
    source = """
    #include <cuda/atomic>
    extern "C" __global__ void k(const int *x, int *data, int *flag, int *y) {
        cuda::atomic_ref<int, cuda::thread_scope_device> f(*flag);
        if (blockIdx.x == 1) {
            data[threadIdx.x] = x[threadIdx.x] + 1;
            __syncthreads();
            if (threadIdx.x == 0) f.store(1, cuda::memory_order_release);
        } else {
            if (threadIdx.x == 0) while (f.load(cuda::memory_order_acquire) == 0) {}
            __syncthreads();
            y[threadIdx.x] = data[63 - threadIdx.x];
        }
    }"""
    x = ints(64)
    arguments = {"x": constant(x), "data": output(64, I32), "flag": np.zeros(1, I32), "y": output(64, I32)}
    got = honest(source, arguments, grid=2, block=64)["y"]
    np.testing.assert_array_equal(got, x[::-1] + 1)


def test_fetch_add_release_hands_over() -> None:
    source = """
    #include <cuda/atomic>
    extern "C" __global__ void k(const int *x, int *part, int *count, int *y) {
        cuda::atomic_ref<int, cuda::thread_scope_device> c(*count);
        if (threadIdx.x) return;
        part[blockIdx.x] = x[blockIdx.x] * 3;
        if (c.fetch_add(1, cuda::memory_order_acq_rel) == gridDim.x - 1) {
            int sum = 0;
            for (int b = 0; b < gridDim.x; b++) sum += part[b];
            *y = sum;
        }
    }"""
    x = ints(20)
    arguments = {"x": constant(x), "part": output(20, I32), "count": np.zeros(1, I32), "y": output(1, I32)}
    got = honest(source, arguments, grid=20)["y"]
    assert got[0] == x.sum() * 3


def test_blocks_set_a_flag_to_the_same_value() -> None:
    source = """
    extern "C" __global__ void k(const int *x, int *found) {
        if (x[blockIdx.x * 32 + threadIdx.x] > 100) *found = 1;
    }"""
    got = honest(source, {"x": constant(ints(128)), "found": np.zeros(1, I32)}, grid=4)["found"]
    assert got[0] == 1


def test_blocks_own_neighbouring_bytes_of_one_word() -> None:
    source = """
    extern "C" __global__ void k(const int *x, unsigned char *y) {
        if (threadIdx.x == 0) y[blockIdx.x] = (unsigned char)(x[blockIdx.x] & 255);
    }"""
    x = ints(64)
    got = honest(source, {"x": constant(x), "y": output(64, np.uint8)}, grid=64)["y"]
    np.testing.assert_array_equal(got, x & 255)


def test_a_grid_stride_loop_with_a_tail() -> None:
    source = """
    extern "C" __global__ void k(const float *__restrict__ x, float *__restrict__ y, float a, int n) {
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = a * x[i] + y[i];
    }"""
    x, y = np.arange(1237, dtype=F32), np.ones(1237, F32)
    got = honest(source, {"x": constant(x), "y": y, "a": F32(2), "n": I32(1237)}, grid=5, block=96)["y"]
    np.testing.assert_array_equal(got, 2 * x + 1)


@pytest.mark.parametrize(
    ("call", "dtype", "want"),
    [
        ("atomicAdd(p, v)", np.int32, lambda v: v.sum()),
        ("atomicAdd(p, v)", np.uint64, lambda v: v.sum()),
        ("atomicSub(p, v)", np.int32, lambda v: -v.sum()),
        ("atomicMin(p, v - 50)", np.int32, lambda v: (v - 50).min()),
        ("atomicMax(p, v)", np.uint32, lambda v: v.max()),
        ("atomicMax(p, v)", np.int64, lambda v: v.max()),
        ("atomicOr(p, v)", np.uint32, np.bitwise_or.reduce),
        ("atomicXor(p, v)", np.uint64, np.bitwise_xor.reduce),
        ("atomicAnd(p, v)", np.int32, lambda v: 0),
        ("atomicAdd(p, v)", np.float32, lambda v: v.sum()),
        ("atomicAdd(p, v)", np.float64, lambda v: v.sum()),
        ("atomicAdd(p, v)", np.float16, lambda v: v.sum(dtype=np.float64)),
    ],
)
def test_atomics_of_every_type(call: str, dtype: type, want: object) -> None:
    names = {
        "int32": "int", "uint32": "unsigned", "int64": "long long", "uint64": "unsigned long long", "float32": "float",
        "float64": "double", "float16": "__half",
    }  # fmt: skip
    c = names[np.dtype(dtype).name]
    source = f"""
    #include <cuda_fp16.h>
    extern "C" __global__ void k(const {c} *x, {c} *p) {{
        {c} v = x[blockIdx.x * 64 + threadIdx.x];
        {call};
    }}"""
    x = (np.arange(128) % (8 if dtype is np.float16 else 101)).astype(dtype)
    got = honest(source, {"x": constant(x), "p": np.zeros(4, dtype)}, grid=2, block=64)["p"]
    assert got[0] == want(x)  # type: ignore[operator]


def test_compare_and_swap_loop_multiplies_floats() -> None:
    source = """
    extern "C" __global__ void k(int *p) {
        int old = atomicAdd(p, 0), seen;
        do {
            seen = old;
            old = atomicCAS(p, seen, __float_as_int(__int_as_float(seen) * 2.0f));
        } while (seen != old);
    }"""
    got = honest(source, {"p": np.array([1.0], F32).view(I32)}, grid=2, block=20)["p"]
    assert got.view(F32)[0] == 2.0**40


def test_exchange_and_wrapping_counters() -> None:
    source = """
    extern "C" __global__ void k(unsigned *p, unsigned *seen) {
        int i = blockIdx.x * 32 + threadIdx.x;
        seen[i] = atomicInc(p, 9u);
        atomicDec(p + 1, 5u);
        seen[64 + i] = atomicExch(p + 2, (unsigned)i + 1);
    }"""
    got = honest(source, {"p": np.zeros(3, U32), "seen": output(128, U32)}, grid=2)
    np.testing.assert_array_equal(np.bincount(got["seen"][:64], minlength=10), [7, 7, 7, 7, 6, 6, 6, 6, 6, 6])
    assert got["p"][0] == 64 % 10
    assert sorted([*got["seen"][64:].tolist(), int(got["p"][2])]) == list(range(65))


def test_a_whole_block_with_barriers_polls_for_a_later_block() -> None:
    source = """
    extern "C" __global__ void k(volatile int *flag, int *y) {
        __shared__ int ready;
        if (blockIdx.x == 0) {
            do {
                __syncthreads();
                if (threadIdx.x == 0) ready = *flag;
                __syncthreads();
            } while (!ready);
            y[threadIdx.x] = ready + threadIdx.x;
        } else if (threadIdx.x == 0) *flag = 7;
    }"""
    arguments = {"flag": np.zeros(1, I32), "y": output(64, I32)}
    got = honest(source, arguments, grid=2, block=64, max_instructions=3_000_000)["y"]
    np.testing.assert_array_equal(got, 7 + np.arange(64))
