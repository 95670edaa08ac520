"""Honest kernels within a warp: shuffles, votes, warp barriers, divergence, locks between lanes."""

from __future__ import annotations

import numpy as np
from tests.vgpu.run import constant, honest, output, run

I32, U32, F32 = np.int32, np.uint32, np.float32


def ints(n: int, high: int = 1000) -> np.ndarray:
    return np.random.default_rng(n).integers(0, high, n).astype(I32)


def test_warp_synchronous_tree_with_syncwarp() -> None:
    source = """
    extern "C" __global__ void k(const int *x, int *y) {
        __shared__ int s[128];
        int t = threadIdx.x, lane = t % 32;
        s[t] = x[t];
        __syncwarp();
        for (int o = 16; o; o >>= 1) {
            int v = lane < o ? s[t + o] : 0;
            __syncwarp();
            s[t] += v;
            __syncwarp();
        }
        if (lane == 0) y[t / 32] = s[t];
    }"""
    x = ints(128)
    y = honest(source, {"x": constant(x), "y": output(4, I32)}, block=128)["y"]
    np.testing.assert_array_equal(y, x.reshape(4, 32).sum(1))


def test_lanes_that_returned_are_not_waited_for_by_a_full_mask() -> None:
    source = """
    extern "C" __global__ void k(const int *x, int *y, int n) {
        int i = threadIdx.x;
        if (i >= n) return;
        int v = x[i];
        v += __shfl_xor_sync(0xffffffffu, v, 1);
        y[i] = v;
    }"""
    x = ints(20)
    y = honest(source, {"x": constant(x), "y": output(20, I32), "n": I32(20)})["y"]
    np.testing.assert_array_equal(y, x + x[np.arange(20) ^ 1])


def test_lanes_return_while_the_others_wait_at_a_warp_barrier() -> None:
    source = """
    extern "C" __global__ void k(const int *x, int *y, int n) {
        __shared__ int s[32];
        int i = threadIdx.x;
        if (i < n) {
            s[i] = x[i];
            __syncwarp();
            y[i] = s[n - 1 - i];
        }
    }"""
    x = ints(20)
    y = honest(source, {"x": constant(x), "y": output(20, I32), "n": I32(20)})["y"]
    np.testing.assert_array_equal(y, x[::-1])


def test_each_half_shuffles_with_its_own_mask() -> None:
    source = """
    extern "C" __global__ void k(const int *x, int *y) {
        int i = threadIdx.x, v = x[i];
        if (i < 16) v = __shfl_down_sync(0x0000ffffu, v, 1, 16) * 2;
        else v = __shfl_up_sync(0xffff0000u, v, 1, 16) * 3;
        __syncwarp();
        y[i] = v + __shfl_sync(~0u, v, 0);
    }"""
    x = ints(32)
    low = np.append(x[1:16], x[15]) * 2
    y = honest(source, {"x": constant(x), "y": output(32, I32)})["y"]
    np.testing.assert_array_equal(y[:16], low + low[0])
    np.testing.assert_array_equal(y[16:], np.append(x[16], x[16:31]) * 3 + low[0])


def test_votes_matches_and_reductions() -> None:
    source = """
    extern "C" __global__ void k(const int *x, unsigned *y) {
        int i = threadIdx.x, v = x[i];
        unsigned m = 0xffffffffu;
        y[i] = __ballot_sync(m, v > 3);
        y[32 + i] = __match_any_sync(m, v);
        int same;
        unsigned all = __match_all_sync(m, v / 100, &same);
        y[64 + i] = all + same;
        y[96 + i] = __reduce_add_sync(m, v) + __reduce_max_sync(m, v) * 1000;
        y[96 + i] += __reduce_xor_sync(m, (unsigned)v) * 100000;
        y[128 + i] = __any_sync(m, v == 7) * 4 + __all_sync(m, v < 8) * 2;
    }"""
    x = ints(32, 8)
    y = honest(source, {"x": constant(x), "y": output(160, U32)})["y"].reshape(5, 32)
    bits = 1 << np.arange(32, dtype=np.uint64)
    assert (y[0] == bits[x > 3].sum()).all()
    np.testing.assert_array_equal(y[1], [bits[x == v].sum() for v in x])
    assert (y[2] == 0).all()  # 0xffffffff + 1
    assert (y[3] == x.sum() + x.max() * 1000 + np.bitwise_xor.reduce(x) * 100000).all()
    assert (y[4] == (x == 7).any() * 4 + 2).all()


def test_active_mask_of_a_divergent_branch_counts_its_lanes() -> None:
    source = """
    extern "C" __global__ void k(const int *x, int *y) {
        int i = threadIdx.x;
        y[i] = 0;
        if (x[i] % 3 == 0) {
            unsigned here = __activemask();
            y[i] = __popc(here & ((1u << i) - 1)) + 1 + 0 * __ballot_sync(here, 1);
        }
    }"""
    x = ints(32)
    y = honest(source, {"x": constant(x), "y": output(32, I32)})["y"]
    on = x % 3 == 0
    np.testing.assert_array_equal(y, np.where(on, np.cumsum(on), 0))


def test_loops_of_different_length_and_breaks() -> None:
    source = """
    extern "C" __global__ void k(const int *x, int *y) {
        int n = x[threadIdx.x], steps = 0;
        while (n != 1) {
            if (n > 100000) break;
            n = n % 2 ? 3 * n + 1 : n / 2;
            if (n % 7 == 3) { steps += 2; continue; }
            steps++;
        }
        y[threadIdx.x] = steps * 2 + (n == 1);
    }"""
    x = ints(64) + 1

    def collatz(n: int) -> int:
        steps = 0
        while n != 1 and n <= 100000:
            n = 3 * n + 1 if n % 2 else n // 2
            steps += 2 if n % 7 == 3 else 1
        return steps * 2 + (n == 1)

    y = honest(source, {"x": constant(x), "y": output(64, I32)}, block=64)["y"]
    np.testing.assert_array_equal(y, [collatz(int(n)) for n in x])


def test_a_switch_with_a_different_case_for_each_lane() -> None:
    source = """
    extern "C" __global__ void k(const int *x, int *y) {
        int v = x[threadIdx.x], r;
        switch (v % 9) {
        case 0: r = v * 3; break;
        case 1: r = v ^ 0x55; break;
        case 2: r = v - 17;  // falls through
        case 3: r = v / 3; break;
        case 4: r = -v; break;
        case 5: r = v << 2; break;
        case 6: r = v >> 1; break;
        case 7: r = v * v; break;
        default: r = 1;
        }
        y[threadIdx.x] = r;
    }"""
    x = ints(96)
    rules = [
        lambda v: v * 3, lambda v: v ^ 0x55, lambda v: v // 3, lambda v: v // 3, lambda v: -v, lambda v: v << 2,
        lambda v: v >> 1, lambda v: v * v, lambda v: 1,
    ]  # fmt: skip
    y = honest(source, {"x": constant(x), "y": output(96, I32)}, block=96)["y"]
    np.testing.assert_array_equal(y, [rules[v % 9](v) for v in x.tolist()])


def test_64_bit_shuffles_of_doubles_and_longs() -> None:
    source = """
    extern "C" __global__ void k(const double *x, const long long *n, double *y, long long *m) {
        int i = threadIdx.x;
        double v = x[i];
        for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(~0u, v, o);
        y[i] = v;
        m[i] = __shfl_sync(~0u, n[i], 31 - i);
    }"""
    x, n = np.arange(32) * 0.25, np.arange(32, dtype=np.int64) << 40
    got = honest(source, {"x": constant(x), "n": constant(n), "y": output(32, float), "m": output(32, np.int64)})
    assert (got["y"] == x.sum()).all()
    np.testing.assert_array_equal(got["m"], n[::-1])


def test_a_lock_taken_by_every_lane_in_turn() -> None:
    source = """
    __device__ int lock;
    extern "C" __global__ void k(const int *x, int *sum) {
        bool done = false;
        while (!done)
            if (atomicCAS(&lock, 0, 1) == 0) {
                __threadfence();
                *(volatile int *)sum = *(volatile int *)sum + x[blockIdx.x * 64 + threadIdx.x];
                __threadfence();
                atomicExch(&lock, 0);
                done = true;
            }
    }"""
    x = ints(256)
    got = honest(source, {"x": constant(x), "sum": np.zeros(1, I32)}, grid=4, block=64)["sum"]
    assert got[0] == x.sum()


def test_a_naive_spin_lock_makes_progress_when_lanes_schedule_independently() -> None:
    source = """
    __device__ int lock;
    extern "C" __global__ void k(volatile int *sum) {
        while (atomicCAS(&lock, 0, 1) != 0) {}
        __threadfence();
        *sum = *sum + 1;
        __threadfence();
        atomicExch(&lock, 0);
    }"""
    got = honest(source, {"sum": np.zeros(1, I32)}, grid=2, block=32)["sum"]
    assert got[0] == 64


def test_one_lane_sleeps_until_another_sets_the_flag() -> None:
    source = """
    extern "C" __global__ void k(volatile int *flag, int *y) {
        if (threadIdx.x == 0) {
            while (*flag == 0) __nanosleep(100);
            y[0] = *flag;
        } else if (threadIdx.x == 31) {
            y[1] = 5;
            __threadfence();
            *flag = 9;
        }
    }"""
    got = honest(source, {"flag": np.zeros(1, I32), "y": output(2, I32)})["y"]
    np.testing.assert_array_equal(got, [9, 5])


def test_clocks_never_run_backwards() -> None:
    source = """
    extern "C" __global__ void k(const float *x, float *y, int *later) {
        long long a = clock64();
        unsigned c = clock();
        float v = x[threadIdx.x];
        for (int i = 0; i < 20; i++) v = sqrtf(v) + 1.0f;
        later[threadIdx.x] = (clock64() > a) + 2 * (clock() - c < 1000000u);
        y[threadIdx.x] = v;
    }"""
    got = honest(source, {"x": constant(np.arange(32, dtype=F32)), "y": output(32, F32), "later": output(32, I32)})
    assert (got["later"] == 3).all()


def test_several_lanes_print_in_order() -> None:
    source = r"""
    extern "C" __global__ void k(const float *x) {
        int i = blockIdx.x * 32 + threadIdx.x;
        if (threadIdx.x % 16 == 3) printf("lane %d of block %u: %.2f %s%%\n", threadIdx.x, blockIdx.x, x[i], "ok");
    }"""
    ran = run(source, {"x": constant(np.arange(64, dtype=F32) / 4)}, grid=2)
    assert ran.launched.faults == ()
    assert ran.launched.output.splitlines() == [
        f"lane {t} of block {b}: {(32 * b + t) / 4:.2f} ok%" for b in range(2) for t in (3, 19)
    ]


def test_lanes_of_one_load_and_store_reach_different_arrays() -> None:
    source = """
    extern "C" __global__ void k(const int *a, const int *b, int *c, int *d, int *e) {
        int i = threadIdx.x;
        const int *from = i % 2 ? a : b;
        int *to = i % 3 ? c : d;
        to[i] = from[i];
        atomicAdd(&(i % 5 ? c : e)[i], 1);
    }"""
    a, b = ints(32), ints(33)[:32]
    arguments = {
        "a": constant(a),
        "b": constant(b),
        "c": np.zeros(32, I32),
        "d": np.zeros(32, I32),
        "e": np.zeros(32, I32),
    }
    got = honest(source, arguments)
    i = np.arange(32)
    want = np.where(i % 2, a, b)
    np.testing.assert_array_equal(got["c"], np.where(i % 3, want, 0) + (i % 5 != 0))
    np.testing.assert_array_equal(got["d"], np.where(i % 3, 0, want))
    np.testing.assert_array_equal(got["e"], i % 5 == 0)


def test_lanes_of_one_load_reach_shared_local_and_global_memory() -> None:
    source = """
    __device__ __noinline__ int get(const int *p) { return *p; }
    extern "C" __global__ void k(const int *a, int *y) {
        __shared__ int s[32];
        int i = threadIdx.x, mine[2] = {i * 7, i * 9};
        s[i] = a[i] + 1;
        __syncthreads();
        const int *p = i % 3 == 0 ? &a[i] : i % 3 == 1 ? &s[31 - i] : &mine[i & 1];
        y[i] = get(p);
    }"""
    a = ints(32)
    i = np.arange(32)
    got = honest(source, {"a": constant(a), "y": output(32, I32)})["y"]
    np.testing.assert_array_equal(got, np.choose(i % 3, [a, a[::-1] + 1, np.where(i & 1, i * 9, i * 7)]))


def test_tiles_of_a_warp_shuffle_at_one_instruction_with_their_own_masks() -> None:
    source = """
    extern "C" __global__ void k(const int *x, int *y) {
        int i = threadIdx.x, v = x[i];
        unsigned mask = 0xffu << (i & 24);
        for (int o = 4; o; o >>= 1) v += __shfl_xor_sync(mask, v, o, 8);
        __syncwarp(mask);
        y[i] = v * 2 + __any_sync(mask, x[i] > 900);
    }"""
    x = ints(32)
    tiles = x.reshape(4, 8)
    got = honest(source, {"x": constant(x), "y": output(32, I32)})["y"].reshape(4, 8)
    np.testing.assert_array_equal(got, (tiles.sum(1) * 2 + (tiles > 900).any(1))[:, None] + np.zeros(8, I32))
