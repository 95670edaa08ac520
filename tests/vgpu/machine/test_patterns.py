"""Honest kernels as real programs have them: queues, persistent blocks, specialised warps, tails, hash tables."""

from __future__ import annotations

import numpy as np
from tests.vgpu.run import constant, honest, output

I32, U32, F32 = np.int32, np.uint32, np.float32


def ints(n: int, high: int = 1000) -> np.ndarray:
    return np.random.default_rng(n).integers(0, high, n).astype(I32)


def test_a_partial_warp_uses_the_full_mask() -> None:
    source = """
    extern "C" __global__ void k(const int *x, int *y) {
        int i = threadIdx.x, v = x[i];
        for (int o = 4; o; o >>= 1) v += __shfl_xor_sync(~0u, v, o);
        __syncwarp();
        y[i] = v + (__ballot_sync(~0u, 1) != 0);
    }"""
    x = ints(40)
    y = honest(source, {"x": constant(x), "y": output(40, I32)}, block=40)["y"]
    np.testing.assert_array_equal(y, np.repeat(x.reshape(5, 8).sum(1), 8) + 1)


def test_a_mask_from_a_ballot_serves_the_tail() -> None:
    source = """
    extern "C" __global__ void k(const int *x, int *y, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        unsigned mask = __ballot_sync(~0u, i < n);
        if (i < n) {
            int v = x[i];
            for (int o = 16; o; o >>= 1) {
                int other = __shfl_down_sync(mask, v, o);
                if ((threadIdx.x & 31) + o < __popc(mask)) v += other;
            }
            if ((threadIdx.x & 31) == 0) y[i / 32] = v;
        }
    }"""
    x = ints(150)
    y = honest(source, {"x": constant(x), "y": output(5, I32), "n": I32(150)}, grid=2, block=96)["y"]
    np.testing.assert_array_equal(y, [x[i : i + 32].sum() for i in range(0, 150, 32)])


def test_specialised_warps_meet_the_same_barrier_at_different_places() -> None:
    source = """
    extern "C" __global__ void k(const int *x, int *y, int rounds) {
        __shared__ int ring[2][32];
        int lane = threadIdx.x & 31;
        if (threadIdx.x < 32) {
            for (int r = 0; r < rounds; r++) { ring[r & 1][lane] = x[r * 32 + lane]; __syncthreads(); }
        } else {
            for (int r = 0; r < rounds; r++) { __syncthreads(); y[r * 32 + lane] = ring[r & 1][31 - lane] * 2; }
        }
    }"""
    x = ints(32 * 6)
    y = honest(source, {"x": constant(x), "y": output(192, I32), "rounds": I32(6)}, block=64)["y"]
    np.testing.assert_array_equal(y, 2 * x.reshape(6, 32)[:, ::-1].ravel())


def test_a_queue_in_shared_memory_filled_by_an_atomic_counter() -> None:
    source = """
    extern "C" __global__ void k(const int *x, int *y, int *counts) {
        __shared__ int queue[128], n;
        if (threadIdx.x == 0) n = 0;
        __syncthreads();
        for (int r = 0; r < 2; r++) {
            int v = x[(blockIdx.x * 2 + r) * 128 + threadIdx.x];
            if (v % 4 == 1) queue[atomicAdd(&n, 1)] = v;
            __syncthreads();
            int have = n;
            if (threadIdx.x < have) y[(blockIdx.x * 2 + r) * 128 + threadIdx.x] = queue[threadIdx.x];
            __syncthreads();
            if (threadIdx.x == 0) { counts[blockIdx.x * 2 + r] = have; n = 0; }
            __syncthreads();
        }
    }"""
    x = ints(512)
    got = honest(source, {"x": constant(x), "y": np.zeros(512, I32), "counts": output(4, I32)}, grid=2, block=128)
    for r, row in enumerate(x.reshape(4, 128)):
        want = row[row % 4 == 1]
        assert got["counts"][r] == want.size
        np.testing.assert_array_equal(np.sort(got["y"][r * 128 :][: want.size]), np.sort(want))


def test_a_loop_until_the_block_agrees() -> None:
    source = """
    extern "C" __global__ void k(const int *x, int *y) {
        int v = x[threadIdx.x], rounds = 0;
        while (__syncthreads_or(v > 1)) { if (v > 1) v /= 2; rounds++; }
        y[threadIdx.x] = rounds;
    }"""
    x = ints(70) + 1
    y = honest(source, {"x": constant(x), "y": output(70, I32)}, block=70)["y"]
    assert (y == int(x.max()).bit_length() - 1).all()


def test_persistent_blocks_take_work_from_a_counter() -> None:
    source = """
    extern "C" __global__ void k(const int *x, int *y, int *next, int n) {
        __shared__ int item;
        for (;;) {
            if (threadIdx.x == 0) item = atomicAdd(next, 1);
            __syncthreads();
            int i = item;
            __syncthreads();
            if (i >= n) return;
            y[i * 32 + threadIdx.x] = x[i * 32 + threadIdx.x] + i;
        }
    }"""
    x = ints(32 * 23)
    got = honest(source, {"x": constant(x), "y": output(736, I32), "next": np.zeros(1, I32), "n": I32(23)}, grid=4)["y"]
    np.testing.assert_array_equal(got.reshape(23, 32), x.reshape(23, 32) + np.arange(23)[:, None])


def test_the_last_block_reads_a_sum_made_by_atomics() -> None:
    source = """
    __device__ unsigned tickets;
    extern "C" __global__ void k(const int *x, int *sum, int *y) {
        int v = __reduce_add_sync(~0u, x[blockIdx.x * 32 + threadIdx.x]);
        if (threadIdx.x == 0) {
            atomicAdd(sum, v);
            __threadfence();
            if (atomicAdd(&tickets, 1u) == gridDim.x - 1) *y = *sum * 2;
        }
    }"""
    x = ints(320)
    got = honest(source, {"x": constant(x), "sum": np.zeros(1, I32), "y": output(1, I32)}, grid=10)["y"]
    assert got[0] == 2 * x.sum()


def test_a_chained_scan_with_flag_and_value_in_one_word() -> None:
    source = """
    extern "C" __global__ void k(const int *x, int *y, volatile unsigned long long *state) {
        __shared__ int before;
        int t = threadIdx.x, v = x[blockIdx.x * 32 + t];
        for (int o = 1; o < 32; o *= 2) { int u = __shfl_up_sync(~0u, v, o); if (t >= o) v += u; }
        if (t == 31) {
            unsigned long long s = 1ull << 63;
            if (blockIdx.x) while (!((s = state[blockIdx.x - 1]) >> 63)) {}
            before = (int)(unsigned)s;
            state[blockIdx.x] = (1ull << 63) | (unsigned)(before + v);
        }
        __syncwarp();
        y[blockIdx.x * 32 + t] = before + v;
    }"""
    x = ints(32 * 30)
    got = honest(source, {"x": constant(x), "y": output(960, I32), "state": np.zeros(30, np.uint64)}, grid=30)["y"]
    np.testing.assert_array_equal(got, np.cumsum(x))


def test_an_open_hash_table_by_compare_and_swap() -> None:
    source = """
    extern "C" __global__ void k(const unsigned *keys, unsigned *table, unsigned *counts, unsigned mask) {
        unsigned key = keys[blockIdx.x * 64 + threadIdx.x], at = key * 2654435761u & mask;
        for (;;) {
            unsigned old = atomicCAS(&table[at], 0u, key);
            if (old == 0u || old == key) { atomicAdd(&counts[at], 1u); return; }
            at = (at + 1) & mask;
        }
    }"""
    keys = (ints(256, 60) + 1).astype(U32)
    got = honest(
        source,
        {"keys": constant(keys), "table": np.zeros(128, U32), "counts": np.zeros(128, U32), "mask": U32(127)},
        grid=4,
        block=64,
    )
    found = {int(k): int(n) for k, n in zip(got["table"], got["counts"], strict=True) if k}
    assert found == {int(k): int(n) for k, n in zip(*np.unique(keys, return_counts=True), strict=True)}


def test_a_linked_list_by_exchange() -> None:
    source = """
    extern "C" __global__ void k(int *heads, int *next) {
        int i = blockIdx.x * 32 + threadIdx.x;
        next[i] = atomicExch(&heads[i % 3], i);
    }"""
    got = honest(source, {"heads": np.full(3, -1, I32), "next": output(96, I32)}, grid=3)
    for bucket in range(3):
        seen, at = [], int(got["heads"][bucket])
        while at >= 0:
            seen.append(at)
            at = int(got["next"][at])
        assert sorted(seen) == list(range(bucket, 96, 3))


def test_halves_of_a_warp_write_in_two_branches_then_read_each_other() -> None:
    source = """
    extern "C" __global__ void k(const int *x, int *y) {
        __shared__ int s[32];
        int i = threadIdx.x;
        if (i & 1) { s[i] = x[i] * 3; __syncwarp(); }
        else { s[i] = x[i] + 100; __syncwarp(); }
        y[i] = s[i ^ 1];
    }"""
    x = ints(32)
    i = np.arange(32)
    y = honest(source, {"x": constant(x), "y": output(32, I32)})["y"]
    np.testing.assert_array_equal(y, np.where(i & 1, x * 3, x + 100)[i ^ 1])


def test_tiled_matrix_product_in_a_square_block() -> None:
    source = """
    extern "C" __global__ void k(const float *a, const float *b, float *c, int n) {
        __shared__ float sa[16][16], sb[16][16];
        int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
        float sum = 0.0f;
        for (int t = 0; t < n; t += 16) {
            sa[ty][tx] = row < n && t + tx < n ? a[row * n + t + tx] : 0.0f;
            sb[ty][tx] = col < n && t + ty < n ? b[(t + ty) * n + col] : 0.0f;
            __syncthreads();
            for (int i = 0; i < 16; i++) sum += sa[ty][i] * sb[i][tx];
            __syncthreads();
        }
        if (row < n && col < n) c[row * n + col] = sum;
    }"""
    a, b = (np.random.default_rng(s).integers(-5, 5, (37, 37)).astype(F32) for s in (1, 2))
    c = honest(
        source,
        {"a": constant(a), "b": constant(b), "c": output((37, 37), F32), "n": I32(37)},
        grid=(3, 3),
        block=(16, 16),
    )["c"]
    np.testing.assert_array_equal(c, a @ b)


def test_asynchronous_copies_by_four_warps_in_two_stages() -> None:
    source = """
    #include <cuda_pipeline.h>
    extern "C" __global__ void k(const float4 *x, float *y, int tiles) {
        __shared__ float4 tile[2][128];
        int t = threadIdx.x;
        float sum = 0.0f;
        __pipeline_memcpy_async(&tile[0][t], &x[t], 16);
        __pipeline_commit();
        for (int n = 0; n < tiles; n++) {
            if (n + 1 < tiles) __pipeline_memcpy_async(&tile[(n + 1) & 1][t], &x[(n + 1) * 128 + t], 16);
            __pipeline_commit();
            __pipeline_wait_prior(1);
            __syncthreads();
            float4 v = tile[n & 1][127 - t];
            sum += v.x + v.y - v.z + v.w;
            __syncthreads();
        }
        y[t] = sum;
    }"""
    x = ints(128 * 4 * 5).astype(F32)
    y = honest(source, {"x": constant(x), "y": output(128, F32), "tiles": I32(5)}, block=128)["y"]
    np.testing.assert_array_equal(y, (x.reshape(5, 128, 4) @ np.array([1, 1, -1, 1], F32)).sum(0)[::-1])


def test_cache_operators_prefetches_and_bit_tricks() -> None:
    source = """
    extern "C" __global__ void k(const unsigned *x, unsigned *y) {
        int i = threadIdx.x;
        asm volatile("prefetch.global.L2 [%0];" ::"l"(x + i));
        unsigned a = __ldcg(&x[i]), b = __ldcs(&x[31 - i]);
        __stcs(&y[i], __byte_perm(a, b, 0x5410) ^ __brev(a));
        __stwt(&y[32 + i], __funnelshift_l(a, b, i) + __dp4a(a, b, 7u));
        __stcg(&y[64 + i], __popc(a) + 64 * __clz(b) + 4096 * __ffs(a));
    }"""
    x = np.random.default_rng(8).integers(0, 2**32, 32).astype(U32)
    y = honest(source, {"x": constant(x), "y": output(96, U32)})["y"].reshape(3, 32)
    for i in range(32):
        a, b = int(x[i]), int(x[31 - i])
        assert y[0, i] == ((a & 0xFFFF) | (b & 0xFFFF) << 16) ^ int(f"{a:032b}"[::-1], 2)
        dot = sum((a >> s & 255) * (b >> s & 255) for s in (0, 8, 16, 24))
        assert y[1, i] == ((((b << 32 | a) << i) >> 32) + dot + 7) & 0xFFFFFFFF
        assert y[2, i] == a.bit_count() + 64 * (32 - b.bit_length()) + 4096 * (a & -a).bit_length()


def test_narrow_and_paired_atomics_and_scopes() -> None:
    source = """
    #include <cuda_fp16.h>
    extern "C" __global__ void k(unsigned short *s, half2 *h, int *p, float *top) {
        int i = blockIdx.x * 32 + threadIdx.x;
        unsigned short old = s[1], seen;
        do { seen = old; old = atomicCAS(s, seen, (unsigned short)(seen + 1)); } while (seen != old);
        atomicAdd(h, __floats2half2_rn(1.0f, 2.0f));
        atomicAdd_block(&p[blockIdx.x], 1);
        atomicAdd_system(&p[7], 2);
        atomicMax((int *)top, __float_as_int((float)i));
    }"""
    arguments = {
        "s": np.zeros(2, np.uint16),
        "h": np.zeros(2, np.float16),
        "p": np.zeros(8, I32),
        "top": np.zeros(1, F32),
    }
    got = honest(source, arguments, grid=2)
    assert got["s"][0] == 64
    np.testing.assert_array_equal(got["h"], [64, 128])
    np.testing.assert_array_equal(got["p"], [32, 32, 0, 0, 0, 0, 0, 128])
    assert got["top"][0] == 63


def test_wide_stores_are_read_as_narrow_ones() -> None:
    source = """
    extern "C" __global__ void k(uint4 *y, unsigned *sums) {
        int i = threadIdx.x;
        y[i] = make_uint4(i, i + 1, i * 256, 0x01020304u);
        unsigned char *bytes = (unsigned char *)(y + i);
        unsigned s = 0;
        for (int j = 0; j < 16; j++) s += ((volatile unsigned char *)bytes)[j];
        sums[i] = s;
    }"""
    got = honest(source, {"y": output(128, U32), "sums": output(32, U32)})["sums"]
    i = np.arange(32)
    np.testing.assert_array_equal(got, i + i + 1 + i + 10)


def test_warps_aggregate_their_atomics_by_matching_keys() -> None:
    source = """
    extern "C" __global__ void k(const int *x, int *bins) {
        int key = x[blockIdx.x * 64 + threadIdx.x], lane = threadIdx.x & 31;
        unsigned same = __match_any_sync(~0u, key);
        if (lane == __ffs(same) - 1) atomicAdd(&bins[key], __popc(same));
    }"""
    x = ints(320, 16)
    got = honest(source, {"x": constant(x), "bins": np.zeros(16, I32)}, grid=5, block=64)["bins"]
    np.testing.assert_array_equal(got, np.bincount(x, minlength=16))


def test_templates_lambdas_and_structures() -> None:
    source = """
    template <int N> struct Vec { float v[N]; __device__ float &operator[](int i) { return v[i]; } };
    template <int N, class F> __device__ float fold(Vec<N> &a, F f) {
        float r = a[0];
        for (int i = 1; i < N; i++) r = f(r, a[i]);
        return r;
    }
    extern "C" __global__ void __launch_bounds__(64) k(const float *x, float *y, int pick) {
        Vec<6> a;
        #pragma unroll
        for (int i = 0; i < 6; i++) a[i] = x[threadIdx.x * 6 + i];
        y[threadIdx.x] = fold(a, [&](float p, float q) { return p > q ? p : q; }) + a[(threadIdx.x + pick) % 6];
    }"""
    x = ints(384).astype(F32)
    y = honest(source, {"x": constant(x), "y": output(64, F32), "pick": I32(2)}, block=64)["y"]
    rows, t = x.reshape(64, 6), np.arange(64)
    np.testing.assert_array_equal(y, rows.max(1) + rows[t, (t + 2) % 6])
