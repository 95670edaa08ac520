"""CUDA sources compiled by NVRTC, loaded from PTX, run by the definition, compared with NumPy: names, frames, calls
and addresses all the way.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from warpsight.toolchain.compile import compile_cuda
from warpsight.vgpu.bytecode import OP_NAMES, Program
from warpsight.vgpu.definition import DefinitionFault, Memory, run
from warpsight.vgpu.ptx import load_ptx


def build(source: str, *options: str, entry: str = "k") -> Program:
    made = compile_cuda(source, gpu_arch="sm_80", options=options)
    assert made.ptx, made
    return load_ptx(made.ptx, entry)


class Launched:
    """A run of one kernel: arrays by position as they are afterwards, and what was printed."""

    def __init__(self, program: Program, grid: int, block: int, *arguments: Any, shared: int = 0) -> None:
        memory, packed, places = Memory(), bytearray(program.param_bytes), list[tuple[int, NDArray[Any]]]()
        for param, argument in zip(program.params, arguments, strict=True):
            if isinstance(argument, np.ndarray):
                address = memory.alloc(param.name, argument)
                places.append((address, argument))
                data = np.uint64(address).tobytes()
            else:
                data = argument if isinstance(argument, bytes) else np.asarray(argument).tobytes()
            assert len(data) == param.size
            packed[param.offset : param.offset + param.size] = data
        result = run(
            program, grid=(grid, 1, 1), block=(block, 1, 1), shared_bytes=shared, params=bytes(packed), memory=memory
        )
        self.output, self.warps = result.output, result.warps
        self.arrays = [np.frombuffer(memory.read(a, x.nbytes), x.dtype).reshape(x.shape) for a, x in places]


def test_saxpy_with_a_ragged_end() -> None:
    source = 'extern "C" __global__ void k(float* y, const float* __restrict__ x, float a, int n)'
    source += "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = a * x[i] + y[i]; }"
    x, y = np.arange(50, dtype=np.float32), np.ones(50, np.float32)
    got = Launched(build(source), 2, 32, y, x, np.float32(2), np.int32(45)).arrays[0]
    want = np.where(np.arange(50) < 45, 2 * x + 1, 1)
    np.testing.assert_array_equal(got, want)


def test_block_sum_with_shuffles_static_and_dynamic_shared_memory() -> None:
    source = r"""
    extern "C" __global__ void k(const int* x, int* sums, int* reversed) {
        __shared__ int partial[2]; extern __shared__ int tile[];
        int t = threadIdx.x, v = x[blockIdx.x * 64 + t];
        tile[t] = v;
        for (int o = 16; o; o >>= 1) v += __shfl_down_sync(~0u, v, o);
        if (t % 32 == 0) partial[t / 32] = v;
        __syncthreads();
        if (t == 0) sums[blockIdx.x] = partial[0] + partial[1];
        reversed[blockIdx.x * 64 + t] = tile[63 - t];
    }"""
    x = np.random.default_rng(1).integers(-1000, 1000, 128).astype(np.int32)
    program = build(source)
    assert program.uses_dynamic_shared and program.shared_bytes == 16
    run = Launched(program, 2, 64, x, np.zeros(2, np.int32), np.zeros(128, np.int32), shared=256)
    np.testing.assert_array_equal(run.arrays[1], x.reshape(2, 64).sum(1))
    np.testing.assert_array_equal(run.arrays[2], x.reshape(2, 64)[:, ::-1].ravel())


def test_recursion_saves_registers_and_predicates() -> None:
    source = r"""
    __device__ __noinline__ int fib(int n, int* calls) {
        atomicAdd(calls, 1);
        if (n < 2) return n;
        bool odd = n & 1;
        int a = fib(n - 1, calls), b = fib(n - 2, calls);
        return odd ? a + b : b + a;
    }
    extern "C" __global__ void k(int* out, int* calls) { out[threadIdx.x] = fib(threadIdx.x % 9, calls); }"""
    program = build(source)
    assert {"PUSH", "POP", "CALL"} <= {OP_NAMES[op] for op in program.code["op"]}
    got = Launched(program, 1, 32, np.zeros(32, np.int32), np.zeros(1, np.int32)).arrays
    fib = np.array([0, 1, 1, 2, 3, 5, 8, 13, 21])
    np.testing.assert_array_equal(got[0], fib[np.arange(32) % 9])
    calls = np.array([1, 1, 3, 5, 9, 15, 25, 41, 67])
    assert got[1][0] == calls[np.arange(32) % 9].sum()


def test_indirect_calls_through_tables_and_virtual_functions() -> None:
    source = r"""
    typedef float (*F)(float, int);
    __device__ __noinline__ float twice(float x, int) { return 2 * x; }
    __device__ __noinline__ float raise(float x, int n) { float r = 1; for (int i = 0; i < n; ++i) r *= x; return r; }
    __device__ F table[2] = {twice, raise};
    __constant__ F fixed[2] = {raise, twice};
    struct Shape { __device__ virtual float area(float s) const = 0; };
    struct Square : Shape { __device__ float area(float s) const override { return s * s; } };
    struct Half : Shape { __device__ float area(float s) const override { return s * 0.5f; } };
    extern "C" __global__ void k(float* a, float* b, float* c) {
        int t = threadIdx.x;
        a[t] = table[t & 1](t, 3); b[t] = fixed[t & 1](t, 2);
        Square q; Half h; Shape* s = t % 3 ? (Shape*)&q : (Shape*)&h;
        c[t] = s->area(t);
    }"""
    program = build(source)
    assert "CALLX" in {OP_NAMES[op] for op in program.code["op"]}
    a, b, c = Launched(program, 1, 32, *(np.zeros(32, np.float32) for _ in range(3))).arrays
    t = np.arange(32, dtype=np.float32)
    np.testing.assert_array_equal(a, np.where(np.arange(32) % 2, t**3, 2 * t))
    np.testing.assert_array_equal(b, np.where(np.arange(32) % 2, 2 * t, t**2))
    np.testing.assert_array_equal(c, np.where(np.arange(32) % 3, t * t, t / 2))


def test_mutual_and_indirect_recursion() -> None:
    source = r"""
    struct Node { __device__ virtual int walk(int depth, Node* other) = 0; int seen; };
    struct Left : Node { __device__ int walk(int d, Node* o) override {
        int s = seen + d; return d > 0 ? s + o->walk(d - 1, this) * 2 : s; } };
    struct Right : Node { __device__ int walk(int d, Node* o) override {
        int s = seen * d; return d > 0 ? o->walk(d - 2, this) + s : s; } };
    __device__ __noinline__ bool odd(int n);
    __device__ __noinline__ bool even(int n) { return n == 0 ? true : odd(n - 1); }
    __device__ __noinline__ bool odd(int n) { return n == 0 ? false : even(n - 1); }
    extern "C" __global__ void k(int* out, int* parity) {
        int t = threadIdx.x;
        Left l; Right r; l.seen = t; r.seen = 3;
        Node* a = t % 2 ? (Node*)&l : (Node*)&r; Node* b = t % 2 ? (Node*)&r : (Node*)&l;
        out[t] = a->walk(t % 7, b);
        parity[t] = even(t % 5);
    }"""

    def walk(left: bool, t: int, d: int) -> int:
        own = t + d if left else 3 * d
        if d <= 0:
            return own
        return own + walk(False, t, d - 1) * 2 if left else walk(True, t, d - 2) + own

    out, parity = Launched(build(source), 1, 32, np.zeros(32, np.int32), np.zeros(32, np.int32)).arrays
    assert out.tolist() == [walk(t % 2 == 1, t, t % 7) for t in range(32)]
    assert parity.tolist() == [int(t % 5 % 2 == 0) for t in range(32)]


def test_lanes_meet_again_after_a_call_that_only_some_make() -> None:
    source = r"""
    __device__ __noinline__ float slow(float x) { for (int i = 0; i < 5; ++i) x = x * 1.5f + 1; return x; }
    extern "C" __global__ void k(float* y) {
        float v = y[threadIdx.x];
        if (threadIdx.x & 1) v = slow(v);
        y[threadIdx.x] = v + 1;
    }"""
    program = build(source)
    run = Launched(program, 1, 32, np.zeros(32, np.float32))
    stores = [i for i, text in enumerate(program.texts) if text.startswith("st.global")]
    assert [int(run.warps[i]) for i in stores] == [1]


def test_switch_struct_parameters_local_arrays_and_constants() -> None:
    source = r"""
    struct P { int scale; short bias; char tag; double big; float v[3]; };
    __constant__ int weights[4] = {1, 10, 100, 1000};
    __device__ int global_counter = 7;
    __device__ int* pointer = &global_counter;
    __device__ __noinline__ P change(P p, int t) { p.scale += t; p.v[t % 3] += 1; return p; }
    extern "C" __global__ void k(P p, int* out, double* d) {
        int t = threadIdx.x, local[8];
        for (int i = 0; i < 8; ++i) local[i] = i * p.scale;
        int r;
        switch (out[t]) {
            case 0: r = 5; break; case 1: r = t * 3; break; case 2: r = t - 7; break; case 3: r = t ^ 9; break;
            case 4: r = -t; break; case 5: r = t << 2; break; case 6: r = t | 64; break; default: r = weights[t & 3]; }
        P q = change(p, t);
        out[t] = r + local[(t * 5) & 7] + p.bias + p.tag + *pointer + q.scale;
        d[t] = p.big / 3.0 + q.v[t % 3];
    }"""
    p = np.zeros(
        1, np.dtype([("scale", "i4"), ("bias", "i2"), ("tag", "i1"), ("big", "f8"), ("v", "f4", 3)], align=True)
    )
    p["scale"], p["bias"], p["tag"], p["big"], p["v"] = 3, -2, 4, 10.0, [1, 2, 3]
    t = np.arange(32)
    out, d = Launched(build(source), 1, 32, p.tobytes(), (t % 9).astype(np.int32), np.zeros(32)).arrays
    r = np.select([t % 9 == i for i in range(7)], [t * 0 + 5, t * 3, t - 7, t ^ 9, -t, t << 2, t | 64], 10 ** (t & 3))
    np.testing.assert_array_equal(out, r + ((t * 5) & 7) * 3 - 2 + 4 + 7 + 3 + t)
    np.testing.assert_allclose(d, 10 / 3 + np.array([1, 2, 3])[t % 3] + 1, rtol=1e-15)


def test_initialisers_with_addresses_aligned_and_packed() -> None:
    source = r"""
    struct S { char c; int* p; float f; const char* s; };
    struct __attribute__((packed)) Q { char a; int* p; };
    __device__ int g[4] = {10, 20, 30};
    __device__ S s = {1, &g[2], 1.5f, "hey"};
    __constant__ S fixed = {2, g, 2.5f, "you"};
    __device__ Q q = {3, g + 1};
    extern "C" __global__ void k(int* out) {
        out[0] = *s.p + s.c + (int)(s.f * 2) + s.s[threadIdx.x];
        out[1] = fixed.p[1] + fixed.c + (int)(fixed.f * 2) + fixed.s[threadIdx.x + 1];
        Q copy = q;
        out[2] = (copy.p == g + 1) + copy.a;
        g[0]++; s.c++; q.a++;
    }"""
    out = Launched(build(source), 1, 1, np.zeros(3, np.int32)).arrays[0]
    assert out.tolist() == [30 + 1 + 3 + ord("h"), 20 + 2 + 5 + ord("o"), 4]


def test_printf_and_heap() -> None:
    source = r"""
    extern "C" __global__ void k(long long* out) {
        long long* p = (long long*)malloc(16);
        p[0] = threadIdx.x * 3; p[1] = p[0] + 1;
        out[threadIdx.x] = p[0] + p[1];
        free(p);
        if (threadIdx.x == 2) printf("%s %d %.2f %lld\n", "two", 7, 1.5f, out[2]);
    }"""
    program = build(source)
    assert program.order_sensitive
    run = Launched(program, 1, 4, np.zeros(4, np.int64))
    assert run.output == "two 7 1.50 13\n"
    np.testing.assert_array_equal(run.arrays[0], 6 * np.arange(4) + 1)


def test_a_failed_assertion_is_a_fault() -> None:
    source = 'extern "C" __global__ void k(int* x) { assert(x[threadIdx.x] < 3); x[threadIdx.x] = 9; }'
    with pytest.raises(DefinitionFault) as caught:
        Launched(build(source), 1, 4, np.arange(4, dtype=np.int32))
    assert "assert" in str(caught.value).lower()


def test_wide_integers_carry_chains_and_bits() -> None:
    source = r"""
    typedef unsigned long long u64;
    extern "C" __global__ void k(const u64* a, const u64* b, u64* sum, u64* high, unsigned* misc) {
        int t = threadIdx.x;
        u64 low, top;
        asm("mad.lo.cc.u64 %0, %2, 3, %3; madc.hi.u64 %1, %2, 3, 0;" : "=l"(low), "=l"(top) : "l"(b[t]), "l"(a[t]));
        sum[t] = top + a[t] * 3 + (low & 1); high[t] = __umul64hi(a[t], b[t]);
        unsigned m; asm("{ .reg .u32 t; .reg .pred p; add.cc.u32 t, %1, %2; addc.u32 %0, 0, 0;"
            "setp.eq.u32 p, t, 0; @p add.u32 %0, %0, 16; }"
            : "=r"(m) : "r"((unsigned)a[t]), "r"((unsigned)b[t]));
        misc[t] = m + (__clzll(a[t]) << 8) + (__popc((unsigned)b[t]) << 16) + (__ffs((int)b[t]) << 24);
    }"""
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 2**64, (2, 32), dtype=np.uint64)
    a[0], b[0] = 2**32 - 1, 1
    program = build(source)
    s, h, m = Launched(
        program, 1, 32, a, b, np.zeros(32, np.uint64), np.zeros(32, np.uint64), np.zeros(32, np.uint32)
    ).arrays[2:]
    for i, (x, y) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        assert int(s[i]) == ((((x << 64 | y) * 3 + x) >> 64) + ((3 * y + x) & 1)) % 2**64
        assert int(h[i]) == x * y >> 64
        low = (x % 2**32) + (y % 2**32)
        flags = (low >> 32) + (16 if low % 2**32 == 0 else 0)
        word = y % 2**32
        first = (word & -word).bit_length()
        assert int(m[i]) == (flags + ((64 - x.bit_length()) << 8) + (word.bit_count() << 16) + (first << 24)) % 2**32


def test_scalar_video_shifts() -> None:
    lines = [
        f'asm("v{op}.{t}.{t}.u32.{mode}{then} %0, %1, %2{last};" : "=r"(r) : "r"(a), "r"(b){use});'
        f" out[{4 * i} * n + t] = r;"
        for i, (op, t, mode, then, last, use) in enumerate(
            (("shr", "u32", "clamp", ".add", ", %3", ', "r"(c)'), ("shl", "u32", "wrap", "", "", ""),
             ("shr", "s32", "clamp", "", "", ""), ("shr", "s32", "wrap", ".max", ", %3", ', "r"(c)'))
        )
    ]  # fmt: skip
    source = 'extern "C" __global__ void k(unsigned* out, const unsigned* x) { int t = threadIdx.x, n = 8; unsigned r;'
    source += f"unsigned a = x[t], b = x[32 + t], c = x[64 + t]; {' '.join(lines)} }}"
    rng = np.random.default_rng(3)
    x = rng.integers(0, 1 << 32, 96, dtype=np.uint32)
    x[32:64] = rng.integers(0, 70, 32)
    got = Launched(build(source), 1, 32, np.zeros(128, np.uint32), x).arrays[0].reshape(4, 32)
    a, b, c = x.reshape(3, 32).astype(np.int64)
    signed, then = a.astype(np.int32).astype(np.int64), c.astype(np.int32).astype(np.int64)
    want = [
        (a >> np.minimum(b, 63)) + c,
        a << (b % 32),
        signed >> np.minimum(b, 63),
        np.maximum(signed >> b % 32, then),
    ]
    np.testing.assert_array_equal(got, np.array(want).astype(np.uint32))


def test_double_precision_functions_with_slow_paths() -> None:
    source = 'extern "C" __global__ void k(double* x) {'
    source += (
        "int t = threadIdx.x; x[t] = exp(x[t]) + sin(x[t] * 100) / sqrt(x[t] + 1) + pow(x[t], 1.7) * rsqrt(x[t]); }"
    )
    x = np.linspace(0.1, 4000, 32) ** 0.5
    got = Launched(build(source), 1, 32, x).arrays[0]
    np.testing.assert_allclose(got, np.exp(x) + np.sin(x * 100) / np.sqrt(x + 1) + x**1.2, rtol=1e-13)


def test_halves_votes_and_matches() -> None:
    source = r"""
    #include <cuda_fp16.h>
    #include <cuda_bf16.h>
    extern "C" __global__ void k(__half2* h, __nv_bfloat16* b, unsigned* masks) {
        int t = threadIdx.x;
        h[t] = __hfma2(h[t], h[t], __float2half2_rn(0.5f));
        b[t] = __float2bfloat16(__bfloat162float(b[t]) * 3.0f);
        masks[t] = __ballot_sync(~0u, t & 1) ^ __match_any_sync(~0u, t / 4);
        masks[t] ^= __reduce_add_sync(~0u, t) ^ (__any_sync(~0u, t == 40) ? 1 : 0);
    }"""
    t = np.arange(32)
    h = (np.arange(64) / 16).astype(np.float16)
    b = ((t / 3).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    halves, bees, masks = Launched(build(source), 1, 32, h, b, np.zeros(32, np.uint32)).arrays
    np.testing.assert_array_equal(halves, (h.astype(np.float64) ** 2 + 0.5).astype(np.float16))
    exact = (b.astype(np.uint32) << 16).view(np.float32) * 3
    np.testing.assert_allclose((bees.astype(np.uint32) << 16).view(np.float32), exact, rtol=2**-8)
    np.testing.assert_array_equal(masks, 0xAAAAAAAA ^ (0xF << (t // 4 * 4)) ^ 496)


def test_tensor_cores_through_wmma() -> None:
    source = r"""
    #include <mma.h>
    using namespace nvcuda;
    extern "C" __global__ void k(const half* a, const half* b, float* c) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
        wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
        wmma::fill_fragment(fc, 0.25f);
        wmma::load_matrix_sync(fa, a, 16); wmma::load_matrix_sync(fb, b, 16);
        wmma::mma_sync(fc, fa, fb, fc);
        wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
    }"""
    rng = np.random.default_rng(3)
    a, b = rng.integers(-8, 8, (2, 16, 16)).astype(np.float16)
    c = Launched(build(source), 1, 32, a, b, np.zeros((16, 16), np.float32)).arrays[2]
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32).T + 0.25)


def test_mma_sync_with_ldmatrix() -> None:
    source = r"""
    #include <cuda_fp16.h>
    extern "C" __global__ void k(const half* a, const half* b, float* c) {
        __shared__ half sa[16 * 16], sb[16 * 8];
        int t = threadIdx.x;
        for (int i = t; i < 256; i += 32) sa[i] = a[i];
        for (int i = t; i < 128; i += 32) sb[i] = b[i];
        __syncwarp();
        unsigned A[4], B[2]; float C[4] = {1, 1, 1, 1};
        unsigned pa = __cvta_generic_to_shared(sa + (t % 16) * 16 + t / 16 * 8);
        unsigned pb = __cvta_generic_to_shared(sb + (t % 16) * 8);
        asm("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
            : "=r"(A[0]), "=r"(A[1]), "=r"(A[2]), "=r"(A[3]) : "r"(pa));
        asm("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(B[0]), "=r"(B[1]) : "r"(pb));
        asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
            "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(C[0]), "+f"(C[1]), "+f"(C[2]), "+f"(C[3])
            : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "r"(B[0]), "r"(B[1]));
        for (int i = 0; i < 4; ++i) c[(t / 4 + i / 2 * 8) * 8 + t % 4 * 2 + i % 2] = C[i];
    }"""
    rng = np.random.default_rng(5)
    a, b = rng.integers(-8, 8, (16, 16)).astype(np.float16), rng.integers(-8, 8, (16, 8)).astype(np.float16)
    c = Launched(build(source), 1, 32, a, b, np.zeros((16, 8), np.float32)).arrays[2]
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32) + 1)


def test_asynchronous_copies_and_atomics() -> None:
    source = r"""
    #include <cuda_pipeline.h>
    extern "C" __global__ void k(const int4* x, int* out, unsigned* bins) {
        __shared__ int4 tile[32];
        int t = threadIdx.x;
        __pipeline_memcpy_async(&tile[t], &x[t], 16, t == 5 ? 8 : 0);
        __pipeline_commit(); __pipeline_wait_prior(0); __syncthreads();
        int4 v = tile[31 - t];
        out[t] = v.x + v.y * 2 + v.z * 3 + v.w * 5;
        atomicAdd(&bins[v.x & 3], 1u); atomicMax(&bins[4], (unsigned)v.y);
        if (atomicCAS(&bins[5], 0u, 77u) == 0u) atomicExch(&bins[6], 5u);
        atomicInc(&bins[7], 6u);
    }"""
    x = np.random.default_rng(4).integers(0, 99, (32, 4)).astype(np.int32)
    out, bins = Launched(build(source), 1, 32, x, np.zeros(32, np.int32), np.zeros(8, np.uint32)).arrays[1:]
    seen = x.copy()
    seen[5, 2:] = 0
    np.testing.assert_array_equal(out, (seen[::-1] * [1, 2, 3, 5]).sum(1))
    np.testing.assert_array_equal(bins[:4], np.bincount(seen[:, 0] & 3, minlength=4))
    assert bins[4:].tolist() == [seen[:, 1].max(), 77, 5, 32 % 7]
