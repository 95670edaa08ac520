"""Honest kernels that use what CUDA programs really include: cooperative groups, CUB, wmma, half and bfloat16 types."""

from __future__ import annotations

import numpy as np
import pytest
from tests.vgpu.run import constant, honest, output

I32, U32, F16, F32 = np.int32, np.uint32, np.float16, np.float32


def ints(n: int, high: int = 1000) -> np.ndarray:
    return np.random.default_rng(n).integers(0, high, n).astype(I32)


def test_cooperative_groups_tiles_and_block() -> None:
    source = """
    #include <cooperative_groups.h>
    #include <cooperative_groups/reduce.h>
    namespace cg = cooperative_groups;
    extern "C" __global__ void k(const int *x, int *y) {
        __shared__ int s[128];
        auto block = cg::this_thread_block();
        auto tile = cg::tiled_partition<8>(block);
        int v = x[block.thread_rank()];
        int sum = cg::reduce(tile, v, cg::plus<int>());
        s[block.thread_rank()] = sum + tile.shfl(v, 0) + tile.meta_group_rank();
        block.sync();
        y[block.thread_rank()] = s[127 - block.thread_rank()];
    }"""
    x = ints(128)
    tiles = x.reshape(16, 8)
    want = (tiles.sum(1, keepdims=True) + tiles[:, :1] + np.arange(16)[:, None] + np.zeros((1, 8), int)).ravel()[::-1]
    y = honest(source, {"x": constant(x), "y": output(128, I32)}, block=128)["y"]
    np.testing.assert_array_equal(y, want)


def test_coalesced_groups_in_a_divergent_branch() -> None:
    source = """
    #include <cooperative_groups.h>
    namespace cg = cooperative_groups;
    extern "C" __global__ void k(const int *x, int *y, int *kept) {
        int i = blockIdx.x * 64 + threadIdx.x, v = x[i];
        if (v % 3 == 1) {
            auto g = cg::coalesced_threads();
            int base;
            if (g.thread_rank() == 0) base = atomicAdd(kept, (int)g.size());
            y[g.shfl(base, 0) + g.thread_rank()] = v;
        }
    }"""
    x = ints(256)
    got = honest(source, {"x": constant(x), "y": np.full(256, -1, I32), "kept": np.zeros(1, I32)}, grid=4, block=64)
    want = x[x % 3 == 1]
    assert got["kept"][0] == want.size
    np.testing.assert_array_equal(np.sort(got["y"][: want.size]), np.sort(want))


def test_cooperative_groups_labelled_partition() -> None:
    source = """
    #include <cooperative_groups.h>
    namespace cg = cooperative_groups;
    extern "C" __global__ void k(const int *x, int *y) {
        auto g = cg::labeled_partition(cg::tiled_partition<32>(cg::this_thread_block()), x[threadIdx.x]);
        y[threadIdx.x] = g.size() * 100 + g.thread_rank();
    }"""
    x = ints(32, 4)
    y = honest(source, {"x": constant(x), "y": output(32, I32)})["y"]
    np.testing.assert_array_equal(y, [(x == v).sum() * 100 + (x[:i] == v).sum() for i, v in enumerate(x)])


BLOCK_CUB = """
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
extern "C" __global__ void k(const int *x, int *sums, int *scanned) {
    using Reduce = cub::BlockReduce<int, 128, cub::%s>;
    using Scan = cub::BlockScan<int, 128, cub::%s>;
    __shared__ union { typename Reduce::TempStorage reduce; typename Scan::TempStorage scan; } temp;
    int i = blockIdx.x * 128 + threadIdx.x, v = x[i], out;
    int sum = Reduce(temp.reduce).Sum(v);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
    __syncthreads();
    Scan(temp.scan).ExclusiveSum(v, out);
    scanned[i] = out;
}"""


@pytest.mark.parametrize(
    ("reduce", "scan"),
    [
        ("BLOCK_REDUCE_WARP_REDUCTIONS", "BLOCK_SCAN_WARP_SCANS"),
        ("BLOCK_REDUCE_RAKING", "BLOCK_SCAN_RAKING"),
        ("BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY", "BLOCK_SCAN_RAKING_MEMOIZE"),
    ],
)
def test_cub_block_reduce_and_scan(reduce: str, scan: str) -> None:
    x = ints(256)
    arguments = {"x": constant(x), "sums": output(2, I32), "scanned": output(256, I32)}
    got = honest(BLOCK_CUB % (reduce, scan), arguments, grid=2, block=128)
    rows = x.reshape(2, 128)
    np.testing.assert_array_equal(got["sums"], rows.sum(1))
    np.testing.assert_array_equal(got["scanned"].reshape(2, 128), np.cumsum(rows, 1) - rows)


def test_cub_warp_reduce_and_scan() -> None:
    source = """
    #include <cub/warp/warp_reduce.cuh>
    #include <cub/warp/warp_scan.cuh>
    extern "C" __global__ void k(const double *x, double *y, int *z) {
        using Reduce = cub::WarpReduce<double>;
        using Scan = cub::WarpScan<int>;
        __shared__ typename Reduce::TempStorage a[2];
        __shared__ typename Scan::TempStorage b[2];
        int w = threadIdx.x / 32;
        double m = Reduce(a[w]).Reduce(x[threadIdx.x], [](double p, double q) { return p > q ? p : q; });
        if (threadIdx.x % 32 == 0) y[w] = m;
        int s;
        Scan(b[w]).InclusiveSum((int)x[threadIdx.x], s);
        z[threadIdx.x] = s;
    }"""
    x = ints(64).astype(float)
    got = honest(source, {"x": constant(x), "y": output(2, float), "z": output(64, I32)}, block=64)
    np.testing.assert_array_equal(got["y"], x.reshape(2, 32).max(1))
    np.testing.assert_array_equal(got["z"].reshape(2, 32), np.cumsum(x.reshape(2, 32), 1))


def test_cub_block_radix_sort_and_exchange() -> None:
    source = """
    #include <cub/block/block_radix_sort.cuh>
    #include <cub/block/block_load.cuh>
    #include <cub/block/block_store.cuh>
    extern "C" __global__ void k(const unsigned *x, unsigned *y) {
        using Load = cub::BlockLoad<unsigned, 64, 4, cub::BLOCK_LOAD_TRANSPOSE>;
        using Sort = cub::BlockRadixSort<unsigned, 64, 4>;
        using Store = cub::BlockStore<unsigned, 64, 4, cub::BLOCK_STORE_TRANSPOSE>;
        __shared__ union {
            typename Load::TempStorage load;
            typename Sort::TempStorage sort;
            typename Store::TempStorage store;
        } temp;
        unsigned keys[4];
        Load(temp.load).Load(x + blockIdx.x * 256, keys);
        __syncthreads();
        Sort(temp.sort).Sort(keys);
        __syncthreads();
        Store(temp.store).Store(y + blockIdx.x * 256, keys);
    }"""
    x = np.random.default_rng(1).integers(0, 2**32, 512).astype(U32)
    y = honest(source, {"x": constant(x), "y": output(512, U32)}, grid=2, block=64)["y"]
    np.testing.assert_array_equal(y.reshape(2, 256), np.sort(x.reshape(2, 256), 1))


def test_wmma_through_shared_memory() -> None:
    source = """
    #include <mma.h>
    using namespace nvcuda;
    extern "C" __global__ void k(const half *a, const half *b, float *c) {
        __shared__ half sa[256], sb[256];
        for (int i = threadIdx.x; i < 256; i += 32) { sa[i] = a[i]; sb[i] = b[i]; }
        __syncwarp();
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
        wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
        wmma::fill_fragment(fc, 1.0f);
        wmma::load_matrix_sync(fa, sa, 16);
        wmma::load_matrix_sync(fb, sb, 16);
        wmma::mma_sync(fc, fa, fb, fc);
        wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
    }"""
    a, b = (np.random.default_rng(s).integers(-8, 8, (16, 16)).astype(F16) for s in (1, 2))
    c = honest(source, {"a": constant(a), "b": constant(b), "c": output((16, 16), F32)})["c"]
    np.testing.assert_array_equal(c, a.astype(F32) @ b.astype(F32).T + 1)


def test_ldmatrix_and_mma_by_assembly() -> None:
    source = """
    #include <cuda_fp16.h>
    extern "C" __global__ void k(const half *a, const half *b, float *c) {
        __shared__ __align__(16) half sa[16 * 16], sb[16 * 8];
        int t = threadIdx.x;
        for (int i = t; i < 256; i += 32) sa[i] = a[i];
        for (int i = t; i < 128; i += 32) sb[i] = b[i];
        __syncthreads();
        unsigned ra[4], rb[2];
        unsigned pa = (unsigned)__cvta_generic_to_shared(&sa[(t % 16) * 16 + (t / 16) * 8]);
        unsigned pb = (unsigned)__cvta_generic_to_shared(&sb[(t % 16) * 8]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3]) : "r"(pa));
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                     : "=r"(rb[0]), "=r"(rb[1]) : "r"(pb));
        float d[4] = {0, 0, 0, 0};
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
                     " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
        int row = t / 4, col = t % 4 * 2;
        c[row * 8 + col] = d[0]; c[row * 8 + col + 1] = d[1];
        c[(row + 8) * 8 + col] = d[2]; c[(row + 8) * 8 + col + 1] = d[3];
    }"""
    a = np.random.default_rng(1).integers(-8, 8, (16, 16)).astype(F16)
    b = np.random.default_rng(2).integers(-8, 8, (16, 8)).astype(F16)
    c = honest(source, {"a": constant(a), "b": constant(b), "c": output((16, 8), F32)})["c"]
    np.testing.assert_array_equal(c, a.astype(F32) @ b.astype(F32))


def test_half2_and_bfloat162_arithmetic() -> None:
    source = """
    #include <cuda_fp16.h>
    #include <cuda_bf16.h>
    extern "C" __global__ void k(const half2 *x, half2 *y, const __nv_bfloat162 *p, __nv_bfloat162 *q) {
        int i = threadIdx.x;
        half2 v = x[i];
        y[i] = __hfma2(v, v, __float2half2_rn(0.5f));
        __nv_bfloat162 w = p[i];
        q[i] = __hmul2(w, __hadd2(w, w));
    }"""
    x = np.random.default_rng(6).random(64).astype(F16)
    p = (np.random.default_rng(7).integers(1, 16, 64).astype(F32).view(U32) >> 16).astype(np.uint16)
    got = honest(source, {"x": constant(x), "y": output(64, F16), "p": constant(p), "q": output(64, np.uint16)})
    wide = x.astype(np.float64)
    np.testing.assert_array_equal(got["y"], (wide * wide + 0.5).astype(F16))
    value = (p.astype(U32) << 16).view(F32)
    np.testing.assert_array_equal((got["q"].astype(U32) << 16).view(F32), 2 * value * value)


def test_vectorised_and_read_only_loads() -> None:
    source = """
    extern "C" __global__ void k(const float4 *__restrict__ x, const float *__restrict__ w, float *__restrict__ y) {
        int i = threadIdx.x;
        float4 v = x[i];
        y[i] = v.x + 2 * v.y + 4 * v.z + 8 * v.w + __ldg(&w[31 - i]);
    }"""
    x, w = np.arange(128, dtype=F32), np.arange(32, dtype=F32)
    y = honest(source, {"x": constant(x), "w": constant(w), "y": output(32, F32)})["y"]
    np.testing.assert_array_equal(y, x.reshape(32, 4) @ np.array([1, 2, 4, 8], F32) + w[::-1])
