"""Honest kernels with calls, private arrays, constant tables, the device heap, and double arithmetic."""

from __future__ import annotations

import numpy as np
from tests.vgpu.run import constant, honest, output

I32, U32, F32 = np.int32, np.uint32, np.float32


def ints(n: int, high: int = 1000) -> np.ndarray:
    return np.random.default_rng(n).integers(0, high, n).astype(I32)


def test_recursion_of_a_different_depth_in_each_lane() -> None:
    source = """
    __device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
    extern "C" __global__ void k(const int *x, int *y) { y[threadIdx.x] = fib(x[threadIdx.x]); }"""
    fib = [0, 1]
    while len(fib) < 13:
        fib.append(fib[-1] + fib[-2])
    x = ints(32, 13)
    y = honest(source, {"x": constant(x), "y": output(32, I32)})["y"]
    np.testing.assert_array_equal(y, [fib[n] for n in x])


def test_deep_recursion_within_the_limit() -> None:
    source = """
    __device__ __noinline__ int down(int n, const int *x) { return n == 0 ? 0 : down(n - 1, x) + x[n & 1]; }
    extern "C" __global__ void k(const int *x, int *y) { y[threadIdx.x] = down(100 + threadIdx.x, x); }"""
    y = honest(source, {"x": constant(np.array([3, 5], I32)), "y": output(32, I32)})["y"]
    np.testing.assert_array_equal(y, [sum((3, 5)[n & 1] for n in range(1, 101 + t)) for t in range(32)])


def test_function_pointers_chosen_per_lane() -> None:
    source = """
    typedef int (*Function)(int);
    __device__ __noinline__ int twice(int v) { return 2 * v; }
    __device__ __noinline__ int square(int v) { return v * v; }
    __device__ __noinline__ int minus(int v) { return -v; }
    __device__ Function table[3] = {twice, square, minus};
    extern "C" __global__ void k(const int *x, int *y) {
        int v = x[threadIdx.x];
        y[threadIdx.x] = table[v % 3](v);
    }"""
    x = ints(64)
    y = honest(source, {"x": constant(x), "y": output(64, I32)}, block=64)["y"]
    np.testing.assert_array_equal(y, np.choose(x % 3, [2 * x, x * x, -x]))


def test_virtual_functions() -> None:
    source = """
    struct Shape { __device__ virtual float area() const = 0; };
    struct Square : Shape {
        float a;
        __device__ Square(float v) : a(v) {}
        __device__ float area() const override { return a * a; }
    };
    struct Strip : Shape {
        float a;
        __device__ Strip(float v) : a(v) {}
        __device__ float area() const override { return 3.0f * a; }
    };
    __device__ __noinline__ float ask(const Shape *s) { return s->area(); }
    extern "C" __global__ void k(const float *x, float *y) {
        Square q(x[threadIdx.x]);
        Strip s(x[threadIdx.x]);
        const Shape *p = threadIdx.x % 2 ? (const Shape *)&q : (const Shape *)&s;
        y[threadIdx.x] = ask(p);
    }"""
    x = np.arange(32, dtype=F32)
    y = honest(source, {"x": constant(x), "y": output(32, F32)})["y"]
    np.testing.assert_array_equal(y, np.where(np.arange(32) % 2, x * x, 3 * x))


def test_a_private_array_with_a_dynamic_index() -> None:
    source = """
    extern "C" __global__ void k(const int *x, int *y) {
        int mine[16];
        for (int i = 0; i < 16; i++) mine[i] = x[threadIdx.x * 16 + i];
        for (int i = 1; i < 16; i++) {
            int v = mine[i], j = i - 1;
            while (j >= 0 && mine[j] > v) { mine[j + 1] = mine[j]; j--; }
            mine[j + 1] = v;
        }
        for (int i = 0; i < 16; i++) y[threadIdx.x * 16 + i] = mine[i];
    }"""
    x = ints(64 * 16)
    y = honest(source, {"x": constant(x), "y": output(1024, I32)}, block=64)["y"]
    np.testing.assert_array_equal(y.reshape(64, 16), np.sort(x.reshape(64, 16), 1))


def test_a_private_array_passed_to_a_function() -> None:
    source = """
    __device__ __noinline__ void fill(int *p, int n, int v) { for (int i = 0; i < n; i++) p[i] = v * i; }
    __device__ __noinline__ int total(const int *p, int n) {
        int s = 0;
        for (int i = 0; i < n; i++) s += p[i];
        return s;
    }
    extern "C" __global__ void k(int *y) {
        int a[8];
        fill(a, 8, threadIdx.x + 1);
        y[threadIdx.x] = total(a, 8);
    }"""
    y = honest(source, {"y": output(40, I32)}, block=40)["y"]
    np.testing.assert_array_equal(y, 28 * (np.arange(40) + 1))


def test_constant_tables_and_device_variables() -> None:
    source = """
    __constant__ float weights[4] = {0.5f, 1.5f, -2.0f, 8.0f};
    __constant__ unsigned char small[8] = {3, 1, 4, 1, 5, 9, 2, 6};
    __device__ int offset = 7;
    extern "C" __global__ void k(const float *x, float *y) {
        int i = threadIdx.x;
        y[i] = x[i] * weights[i % 4] + small[i % 8] + offset;
    }"""
    x = np.arange(32, dtype=F32)
    i = np.arange(32)
    y = honest(source, {"x": constant(x), "y": output(32, F32)})["y"]
    small = np.array([3, 1, 4, 1, 5, 9, 2, 6])
    np.testing.assert_array_equal(y, x * np.array([0.5, 1.5, -2, 8], F32)[i % 4] + small[i % 8] + 7)


def test_a_structure_by_value() -> None:
    source = """
    struct Box { double scale; int shift[3]; char tag; };
    extern "C" __global__ void k(double *y, Box box, short n) {
        y[threadIdx.x] = box.scale * box.shift[threadIdx.x % 3] + box.tag + n;
    }"""
    box = np.zeros(1, np.dtype([("scale", "f8"), ("shift", "i4", 3), ("tag", "i1")], align=True))
    box[0] = (2.5, (1, 2, 3), 9)
    y = honest(source, {"y": output(32, float), "box": box.tobytes(), "n": np.int16(-4)})["y"]
    np.testing.assert_array_equal(y, 2.5 * np.array([1, 2, 3])[np.arange(32) % 3] + 5)


def test_the_device_heap() -> None:
    source = """
    extern "C" __global__ void k(const int *x, int *y) {
        int n = x[threadIdx.x] % 5 + 1;
        int *p = (int *)malloc(n * sizeof(int));
        if (!p) return;
        for (int i = 0; i < n; i++) p[i] = i + threadIdx.x;
        int s = 0;
        for (int i = 0; i < n; i++) s += p[i];
        free(p);
        y[threadIdx.x] = s;
    }"""
    x = ints(64)
    n, t = x % 5 + 1, np.arange(64)
    y = honest(source, {"x": constant(x), "y": output(64, I32)}, block=64)["y"]
    np.testing.assert_array_equal(y, n * (n - 1) // 2 + n * t)


def test_double_arithmetic_and_functions() -> None:
    source = """
    extern "C" __global__ void k(const double *x, double *y) {
        int i = threadIdx.x;
        double v = x[i];
        y[i] = fma(v, v, 1.0) / (v + 3.0);
        y[32 + i] = sqrt(v);
        y[64 + i] = exp(-v) + log(v + 1.0);
        y[96 + i] = sin(v) * cos(v) + pow(v, 1.5);
    }"""
    x = np.arange(32) / 7
    y = honest(source, {"x": constant(x), "y": output(128, float)})["y"].reshape(4, 32)
    np.testing.assert_allclose(y[0], (x * x + 1) / (x + 3), rtol=4e-16)
    np.testing.assert_array_equal(y[1], np.sqrt(x))
    np.testing.assert_allclose(y[2], np.exp(-x) + np.log(x + 1), rtol=1e-15)
    np.testing.assert_allclose(y[3], np.sin(x) * np.cos(x) + x**1.5, rtol=1e-14, atol=1e-15)


def test_float_functions_and_fast_ones() -> None:
    source = """
    extern "C" __global__ void k(const float *x, float *y) {
        int i = threadIdx.x;
        float v = x[i];
        y[i] = expf(-v) + tanhf(v);
        y[32 + i] = __expf(-v) + __sinf(v);
        y[64 + i] = rsqrtf(v + 1.0f) + erff(v);
        y[96 + i] = floorf(v) + roundf(v) + fmodf(v, 0.7f) + (float)(int)v;
    }"""
    x = (np.arange(32) / 9).astype(F32)
    y = honest(source, {"x": constant(x), "y": output(128, F32)})["y"].reshape(4, 32)
    wide = x.astype(float)
    np.testing.assert_allclose(y[0], np.exp(-wide) + np.tanh(wide), rtol=1e-6)
    np.testing.assert_allclose(y[1], np.exp(-wide) + np.sin(wide), rtol=2e-6, atol=2e-6)
    whole = np.floor(wide) * 2 + np.floor(wide + 0.5)
    np.testing.assert_allclose(y[3], whole + np.fmod(wide, float(F32(0.7))), rtol=1e-6)


def test_64_bit_integers_and_division() -> None:
    source = """
    extern "C" __global__ void k(const long long *x, long long *y, unsigned *z) {
        int i = threadIdx.x;
        long long v = x[i];
        y[i] = v / 12345 + v % 977 + (v >> 7) * 3;
        y[32 + i] = __mul64hi(v, v);
        z[i] = __popcll(v) + 100 * __clzll(v) + 10000 * (unsigned)__ffsll(v);
    }"""
    x = np.random.default_rng(9).integers(1, 2**62, 32)
    got = honest(source, {"x": constant(x), "y": output(64, np.int64), "z": output(32, U32)})
    np.testing.assert_array_equal(got["y"][:32], x // 12345 + x % 977 + (x >> 7) * 3)
    np.testing.assert_array_equal(got["y"][32:], [int(v) * int(v) >> 64 for v in x])
    bits = [(v.bit_count() + 100 * (64 - v.bit_length()) + 10000 * ((v & -v).bit_length())) for v in map(int, x)]
    np.testing.assert_array_equal(got["z"], bits)
