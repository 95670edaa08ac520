// Many halves at once: a row as 32 halves (one to a lane) or 64 (two to a lane), widened to float and narrowed back.
// Double rounding is avoided by rounding to odd first: an inexact intermediate gets an odd last bit, so that the final
// rounding sees which side of a midpoint the exact value lies on.
#pragma once
#include "half.hpp"
#include "reals.hpp"

namespace warpsight {

// A float (or double) moved to its odd neighbour when the exact value lies beyond it by an error of that direction.
template <class T>
WS_INLINE T made_odd(T x, bool inexact, bool outward) {
    Bits<T> b = std::bit_cast<Bits<T>>(x);
    Bits<T> step = outward ? (Bits<T>)1 : (Bits<T>)-1;
    return std::bit_cast<T>((Bits<T>)(b + (inexact && (b & 1) == 0 ? step : 0)));
}

WS_INLINE float odd_float(double x) {
    float f = (float)x;
    double size = __builtin_fabs(x), got = __builtin_fabs((double)f);
    return made_odd(f, size < got || size > got, size > got);
}

// a * b + c rounded to odd; the product must be exact in T.
template <class T>
WS_INLINE T odd_fma(T a, T b, T c) {
    T p = a * b, s = p + c, t = s - p;
    T error = (p - (s - t)) + (c - t);
    return made_odd(s, error < 0 || error > 0, (error > 0) == (s > 0));
}

struct HalfFormat {
    static constexpr u16 exponent = 0x7c00, one = 0x3c00;
    using Work = float;  // wide enough: products of halves are exact, sums round innocently (24 >= 2 * 11 + 2 bits)
    static void widen(const u16 *h, float *x, int n) {
#if defined(__F16C__)
        for (int k = 0; k < n; k += 8)
            _mm256_storeu_ps(x + k, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(h + k))));
#else
        for (int k = 0; k < n; k++) x[k] = half_to_float(h[k]);
#endif
    }
    static void narrow(const float *x, u16 *h, int n) {
#if defined(__F16C__)
        for (int k = 0; k < n; k += 8) {
            __m256 v = (__m256)canonical8((v8u)_mm256_loadu_ps(x + k));
            _mm_storeu_si128((__m128i *)(h + k), _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
        }
#else
        for (int k = 0; k < n; k++) h[k] = float_to_half(x[k], kRN);
#endif
    }
    static void narrow(const double *x, u16 *h, int n) {
        float f[2 * kLanes];
        for (int k = 0; k < n; k++) f[k] = odd_float(x[k]);
        narrow(f, h, n);
    }
};

struct BrainFormat {
    static constexpr u16 exponent = 0x7f80, one = 0x3f80;
    using Work = double;  // a float's exponent range is too small for exact products
    static void widen(const u16 *h, float *x, int n) {
        for (int k = 0; k < n; k++) x[k] = std::bit_cast<float>((u32)h[k] << 16);
    }
    static void narrow(const float *x, u16 *h, int n) {
        for (int k = 0; k < n; k++) {
            u32 b = std::bit_cast<u32>(x[k]);
            u32 near = (b + 0x7fff + (b >> 16 & 1)) >> 16;
            h[k] = (b & 0x7fffffffu) > 0x7f800000u ? (u16)0x7fff : (u16)near;
        }
    }
    static void narrow(const double *x, u16 *h, int n) {
        float f[2 * kLanes];
        for (int k = 0; k < n; k++) f[k] = odd_float(x[k]);
        narrow(f, h, n);
    }
};

// The halves of a row: N = 32 takes the low half of each lane, N = 64 both.
template <int N>
WS_INLINE void read_halves(const WarpRows &w, Ref r, u16 *h) {
    const u32 *row = Row::at(w, r);
    if constexpr (N == 2 * kLanes)
        std::memcpy(h, row, kRowBytes);
    else
        for (int l = 0; l < kLanes; l++) h[l] = (u16)row[l];
}

template <int N>
WS_INLINE void write_halves(const WarpRows &w, Ref d, u32 m, const u16 *h) {
    alignas(32) u32 out[kLanes];
    if constexpr (N == 2 * kLanes)
        std::memcpy(out, h, kRowBytes);
    else
        for (int l = 0; l < kLanes; l++) out[l] = h[l];
    write8(w, d, m, [&](int g) { return load8(out, g); });
}

template <class Format16>
WS_INLINE u16 flushed_half(u16 h) {
    return h & Format16::exponent ? h : h & 0x8000;
}

template <class Format16, int N>
WS_INLINE void take_halves(const WarpRows &w, Ref r, bool ftz, float *x) {
    u16 h[N];
    read_halves<N>(w, r, h);
    if (ftz)
        for (int k = 0; k < N; k++) h[k] = flushed_half<Format16>(h[k]);
    Format16::widen(h, x, N);
}

// FTZ, then SAT or RELU, on results already rounded.
template <class Format16>
void finish_halves(u16 *h, int n, u8 mod) {
    if (mod & kFtz)
        for (int k = 0; k < n; k++) h[k] = flushed_half<Format16>(h[k]);
    for (int k = 0; k < n && mod & (kSat | kRelu); k++) {
        bool nan = (h[k] & 0x7fff) > Format16::exponent, below = h[k] & 0x8000;
        if (mod & kSat)
            h[k] = nan || below ? (u16)0 : h[k] > Format16::one ? Format16::one : h[k];
        else if (!nan && below)
            h[k] = 0;
    }
}

}  // namespace warpsight
