// The approximate functions as fixed steps in double precision: docs/bytecode.md spells out each step, and the
// definition takes the same ones, so both give the same bits. Must stay true: no step is fused, reordered or replaced.
#pragma once
#include "reals.hpp"

namespace warpsight {

// (ln 2)^k / k!, each rounded to double.
constexpr double kExpTerms[13] = {
    0x1.0000000000000p+0,  0x1.62e42fefa39efp-1,  0x1.ebfbdff82c58fp-3,  0x1.c6b08d704a0c0p-5,  0x1.3b2ab6fba4e77p-7,
    0x1.5d87fe78a6731p-10, 0x1.430912f86c787p-13, 0x1.ffcbfc588b0c7p-17, 0x1.62c0223a5c824p-20, 0x1.b5253d395e7c4p-24,
    0x1.e4cf5158b8ecap-28, 0x1.e8cac7351bb25p-32, 0x1.c3bd650fc2986p-36};

constexpr double kSineTerms[8] = {1.0,
                                  -1.0 / 6.0,
                                  1.0 / 120.0,
                                  -1.0 / 5040.0,
                                  1.0 / 362880.0,
                                  -1.0 / 39916800.0,
                                  1.0 / 6227020800.0,
                                  -1.0 / 1307674368000.0};
constexpr double kCosineTerms[9] = {1.0,
                                    -1.0 / 2.0,
                                    1.0 / 24.0,
                                    -1.0 / 720.0,
                                    1.0 / 40320.0,
                                    -1.0 / 3628800.0,
                                    1.0 / 479001600.0,
                                    -1.0 / 87178291200.0,
                                    1.0 / 20922789888000.0};

template <int N>
WS_INLINE double horner(const double (&terms)[N], double x) {
    double p = terms[N - 1];
    for (int k = N - 2; k >= 0; k--) p = p * x + terms[k];
    return p;
}

// A double near an integer of at most 51 bits, as that integer: adding 1.5 * 2^52 leaves it in the low bits.
WS_INLINE i64 integer_of(double integral) { return (i64)(std::bit_cast<u64>(integral + 0x1.8p52) << 13) >> 13; }
WS_INLINE double power_of_two(i64 n) { return std::bit_cast<double>((u64)(n + 1023) << 52); }  // -1022 <= n <= 1023

// 2^x. The scaling is in two exact steps; where the second is not exact the result is far below every format's
// denormals.
WS_INLINE double exp2_steps(double a) {
    double x = a > 1100 ? 1100 : a < -1100 ? -1100 : a;
    double n = __builtin_rint(x), p = horner(kExpTerms, x - n);
    i64 whole = n == n ? integer_of(n) : 0, first = whole >> 1;
    return p * power_of_two(first) * power_of_two(whole - first);
}

// log2 of a double that came from a narrower format, so it is not denormal.
WS_INLINE double log2_steps(double x) {
    u64 bits = std::bit_cast<u64>(x);
    double e = (double)((i32)(bits >> 52 & 0x7ff) - 1022);
    double m = std::bit_cast<double>((bits & ((1ull << 52) - 1)) | 1022ull << 52);
    bool low = m < 0.70710678118654752440;
    m = low ? 2 * m : m;
    e = low ? e - 1 : e;
    double f = (m - 1) / (m + 1), s = f * f, p = 1.0 / 19;
    for (int k = 17; k >= 1; k -= 2) p = p * s + 1.0 / k;
    double r = e + (f * p) * 2.8853900817779268;
    double inf = __builtin_inf();
    r = x == inf ? inf : r;
    r = x == 0 ? -inf : r;
    return x < 0 || x != x ? __builtin_nan("") : r;
}

// Sine (Quarter 0) or cosine (Quarter 1) of r turns, |r| < 1. Quarters of a turn come off exactly.
template <int Quarter>
WS_INLINE double turn_steps(double r) {
    double k = __builtin_rint(r * 4);
    double t = (r - k * 0.25) * 6.283185307179586, s = t * t;
    double sine = t * horner(kSineTerms, s), cosine = horner(kCosineTerms, s);
    i64 q = (integer_of(k) + Quarter) & 3;
    double v = q & 1 ? cosine : sine;
    return q & 2 ? -v : v;
}

WS_INLINE double tanh_steps(double x) {
    double size = __builtin_fabs(x);
    double e = exp2_steps(2 * x * 1.4426950408889634), mid = (e - 1) / (e + 1);
    double small = x - (x * x) * x / 3.0;
    double r = size < 0x1p-12 ? small : mid;
    r = size > 20 ? (x > 0 ? 1.0 : -1.0) : r;
    return x == 0 || x != x ? x : r;
}

}  // namespace warpsight
