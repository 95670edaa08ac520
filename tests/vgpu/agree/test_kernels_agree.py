"""Whole CUDA kernels on both executors: calls, recursion, warp operations in divergent code, kernels written at random.

Outputs, printed text and the counts of every instruction are the same. Nothing here says what the outputs should be.
"""

from __future__ import annotations

import random

import numpy as np
import pytest
from tests.vgpu.agree.both import cuda

from warpsight.vgpu.coverage import awkward

U32 = np.uint32


def words(n: int, seed: int = 0) -> np.ndarray:
    return awkward(np.random.default_rng(seed), 4, (n,))


CALLS = """
struct Pair { double a; int b[3]; };
__device__ __noinline__ int power(int base, int n) {
    return n == 0 ? 1 : n % 2 ? base * power(base, n - 1) : power(base * base, n / 2);
}
__device__ __noinline__ Pair turned(Pair p, int by) { Pair q = {p.a * by, {p.b[1], p.b[2], p.b[0] ^ by}}; return q; }
__device__ __noinline__ unsigned even(unsigned n);
__device__ __noinline__ unsigned odd(unsigned n) { return n == 0 ? 0 : even(n - 1) + 1; }
__device__ __noinline__ unsigned even(unsigned n) { return n == 0 ? 100 : odd(n - 1) * 3; }
__device__ __noinline__ float half_of(float x) { return x * 0.5f; }
__device__ __noinline__ float root_of(float x) { return sqrtf(fabsf(x)); }
__device__ float (*const choices[2])(float) = {half_of, root_of};
extern "C" __global__ void k(const unsigned *x, double *d, int *i, float *f) {
    int t = threadIdx.x;
    unsigned v = x[t];
    i[t] = power((int)v, t % 9) + (v & 1 ? even(v % 11) : odd(v % 7));
    Pair p = {(double)v, {t, (int)v, 7}};
    for (int n = 0; n < (int)(v % 4); n++) p = turned(p, n + t);
    d[t] = p.a + p.b[0] - p.b[2];
    f[t] = choices[v / 2 % 2](__uint_as_float(v));
    if (t % 9 == 0) printf("%d %u %f %s\\n", t, v, p.a, v & 1 ? "odd" : "even");
}"""


def test_calls_recursion_and_function_pointers() -> None:
    given = {"x": words(48), "d": np.zeros(48), "i": np.zeros(48, np.int32), "f": np.zeros(48, np.float32)}
    assert cuda(CALLS, given, block=48)["d"].any()


WARP = """
extern "C" __global__ void k(const unsigned *x, unsigned *y, int width) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = x[t], sum = 0;
    for (int i = 0; i < 4; i++) {
        sum = sum * 31 + __shfl_sync(~0u, v, v % 67, width);
        sum = sum * 31 + __shfl_up_sync(~0u, v, i * 5, width);
        sum = sum * 31 + __shfl_down_sync(~0u, v, i * 7 + 1, width);
        sum = sum * 31 + __shfl_xor_sync(~0u, v, i * 3 + 1, width);
    }
    unsigned here = __ballot_sync(~0u, v & 4);
    if (v & 4) {
        int equal;
        sum += __reduce_add_sync(here, v) ^ __reduce_max_sync(here, v) ^ __reduce_xor_sync(here, v);
        sum += (unsigned)__reduce_min_sync(here, (int)v) + __match_any_sync(here, v % 5);
        sum += __match_all_sync(here, v & 4, &equal) + equal + __match_any_sync(here, (unsigned long long)v << 9);
        sum += __all_sync(here, v & 1) + 2 * __any_sync(here, v & 2) + __ballot_sync(here, v & 8);
        if (v & 16) return;
        sum += __activemask();
        __syncwarp(__activemask());
    } else {
        sum -= __shfl_sync(~here, v, __ffs(~here) - 1) + __reduce_or_sync(~here, v) + __reduce_and_sync(~here, v);
    }
    sum += __syncthreads_count(v & 1) + 64 * __syncthreads_or(v == 77) + 128 * __syncthreads_and(v != 78);
    y[t] = sum;
}"""


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16, 32])
def test_warp_operations_by_width_and_in_branches(width: int) -> None:
    assert cuda(WARP, {"x": words(128, width), "y": np.zeros(128, U32), "width": np.int32(width)}, grid=2, block=64)[
        "y"
    ].any()


TILES = """
extern "C" __global__ void k(const unsigned *x, unsigned *y, int size) {
    int t = threadIdx.x;
    unsigned lane = t % 32, v = x[t], tile = (size == 32 ? ~0u : (1u << size) - 1) << (lane / size * size);
    for (int i = 1; i < size; i *= 2) v += __shfl_xor_sync(tile, v, i) ^ i;
    v ^= __reduce_add_sync(tile, lane) + __match_any_sync(tile, v % 3) + __ballot_sync(tile, v & 1);
    if (lane / size % 2) { v = v * 3 + __shfl_down_sync(tile, v, 1); __syncwarp(tile); }
    else { __syncwarp(tile); v -= __all_sync(tile, v & 1); }
    __syncthreads();
    y[t] = v;
    if (x[t] % 3 == 0) return;
    y[t] += __shfl_sync(~0u, v, 5) + __ballot_sync(~0u, v & 2);
}"""


@pytest.mark.parametrize("size", [2, 4, 8, 16, 32])
def test_tiles_of_a_warp_and_lanes_that_have_left(size: int) -> None:
    assert cuda(TILES, {"x": words(96, size), "y": np.zeros(96, U32), "size": np.int32(size)}, block=96)["y"].any()


BARRIERS = """
extern "C" __global__ void k(const unsigned *x, unsigned *y) {
    __shared__ unsigned tile[128];
    int t = threadIdx.x, half = t / 64;
    tile[t] = x[t];
    if (half) asm volatile("bar.sync 1, 64;" ::: "memory"); else asm volatile("bar.sync 2, 64;" ::: "memory");
    unsigned v = tile[t ^ 33];
    if (half) asm volatile("bar.arrive 3, 128;" ::: "memory");
    else { asm volatile("bar.sync 3, 128;" ::: "memory"); v += tile[t + 64]; }
    y[t] = v;
    if (t >= 96) return;
    asm volatile("bar.sync 4, 128;" ::: "memory");
    int votes;
    asm volatile("{.reg .pred p; setp.ne.u32 p, %1, 0; bar.red.popc.u32 %0, 5, 96, p;}"
                 : "=r"(votes) : "r"(v & 1) : "memory");
    y[t] += votes + __syncthreads_or(v == 5);
}"""


def test_named_barriers_arrivals_and_threads_that_have_left() -> None:
    assert cuda(BARRIERS, {"x": words(128), "y": np.zeros(128, U32)}, block=128)["y"].any()


FUNCTIONS = """#include <cuda_fp16.h>
#include <cuda_bf16.h>
extern "C" __global__ void k(const float *x, float *f, double *d, unsigned *h) {
    int t = threadIdx.x;
    float a = x[t], b = x[t + 64];
    f[t] = __sinf(a) + __expf(b) * rsqrtf(fabsf(a)) - __logf(fabsf(b)) + tanhf(a) + powf(fabsf(a), 0.3f) + fmodf(a, b);
    f[t + 64] = __fdividef(a, b) + a / b + cbrtf(a) + erff(b) + sinf(a) + fmaf(a, b, 1e-30f) + rintf(b);
    d[t] = sin((double)a) + exp((double)b * 1e-3) / sqrt(fabs((double)a)) + __dmul_rz(a, b) + __ddiv_ru(a, b);
    d[t] += fma((double)a, (double)b, 1e-300) + __saturatef(a);
    __half2 p = __floats2half2_rn(a, b);
    __nv_bfloat162 q = __floats2bfloat162_rn(b, a);
    p = __hfma2(p, __hneg2(p), __hmax2(p, __float2half2_rn(a)));
    q = __hadd2(__hmul2(q, q), __habs2(q));
    h[t] = *(unsigned *)&p + __float2int_rd(a) + __double2uint_rz((double)b) + (unsigned)__float2ll_ru(a);
    h[t + 64] = *(unsigned *)&q ^ __half_as_ushort(__float2half_rz(b));
    h[t + 64] ^= t % 3 ? (unsigned)__popcll(__double_as_longlong((double)a)) : __brev(t);
}"""


def test_functions_of_every_precision() -> None:
    given = {
        "x": words(128).view(np.float32),
        "f": np.zeros(128, np.float32),
        "d": np.zeros(64),
        "h": np.zeros(128, U32),
    }
    assert cuda(FUNCTIONS, given, block=64)["d"].any()


TYPES = {
    "u": "unsigned", "v": "unsigned", "i": "int", "j": "int", "f": "float", "g": "float", "d": "double",
    "q": "unsigned long long",
}  # fmt: skip


class Writer:
    """A CUDA kernel of random statements over a few variables: loops end, addresses stay inside, all meet barriers."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.loops = 0

    def value(self, depth: int = 0) -> str:
        if depth > 2 or self.rng.random() < 0.3:
            return self.rng.choice([*TYPES, "t", str(self.rng.randrange(-9, 300)), "1.5f", "x[(u + v) % 64]"])
        a, b = self.value(depth + 1), self.value(depth + 1)
        bits = self.rng.choice(["^", "&", "|", "<<", ">>", "%", "/"])
        return self.rng.choice(
            [
                f"({a} {self.rng.choice('+-*')} {b})",
                f"({a} < {b} ? {a} : {b})",
                f"((int)({a}) {bits} ((int)({b}) & 31 | 1))",
                f"min((int)({a}), (int)({b}))",
            ]
        )

    def assignment(self) -> str:
        name = self.rng.choice([*TYPES])
        return f"{name} = ({TYPES[name]})({self.value()});\n"

    def together(self) -> str:
        """What all threads of the block reach."""
        n = self.rng.randrange(1, 32)
        return self.rng.choice(
            [
                f"__syncthreads(); tile[t] = {self.value()}; __syncthreads(); u += tile[(t + {n}) % 64];\n",
                f"v ^= __shfl_xor_sync(~0u, u, {n}); i += __popc(__ballot_sync(~0u, j > {n}));\n",
                f"atomicAdd(&y[512 + (u % 8)], v + {n});\n",
                f"j += __syncthreads_count(i & {n});\n",
            ]
        )

    def block(self, depth: int) -> str:
        return "".join(self.statement(depth) for _ in range(self.rng.randrange(1, 4)))

    def statement(self, depth: int) -> str:
        kind = self.rng.random()
        if depth > 2 or kind < 0.5:
            return self.assignment()
        inside = self.block(depth + 1)
        if kind < 0.7:
            return f"if ({self.value()} > {self.value()}) {{\n{inside}}} else {{\n{self.block(depth + 1)}}}\n"
        if kind < 0.85:
            self.loops += 1
            n = f"n{self.loops}"
            leave = self.rng.choice(["", f"if ({self.value()} == 3) break;\n", "if (i & 8) { u++; continue; }\n"])
            times = f"(int)({self.rng.choice('uv')} % 5)"
            return f"for (int {n} = 0; {n} < {times}; {n}++) {{\n{leave}{inside}}}\n"
        cases = "".join(f"case {c}: {self.block(depth + 1)} {self.rng.choice(['break;', ''])}\n" for c in range(5))
        return f"switch ({self.rng.choice('uv')} % 6) {{\n{cases}}}\n"

    def kernel(self) -> str:
        body = "".join(self.statement(0) + self.together() for _ in range(6))
        declared = "".join(
            f"{kind} {name} = ({kind})x[(t + {n}) % 64];\n" for n, (name, kind) in enumerate(TYPES.items())
        )
        return f"""extern "C" __global__ void k(const unsigned *x, unsigned *y) {{
            __shared__ unsigned tile[64];
            int t = threadIdx.x;
            {declared}{body}
            y[t] = u ^ i; y[64 + t] = v ^ j; y[128 + t] = __float_as_uint(f); y[192 + t] = __float_as_uint(g);
            ((double *)(y + 256))[t] = d;
            ((unsigned long long *)(y + 384))[t] = q;
        }}"""


@pytest.mark.parametrize("seed", range(16))
def test_random_kernels(seed: int) -> None:
    assert cuda(Writer(seed).kernel(), {"x": words(64, seed), "y": np.zeros(520, U32)}, block=64)["y"].any()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(16, 116))
def test_many_random_kernels(seed: int) -> None:
    assert cuda(Writer(seed).kernel(), {"x": words(64, seed), "y": np.zeros(520, U32)}, block=64)["y"].any()
