// F32 and F64 values: canonical NaN, flushing, saturation, and the shells that run an operation over a warp's lanes.
// Round to nearest runs vectorised; a directed mode sets the processor's rounding around a loop over volatile values,
// which the compiler may neither fold nor move. The processor is always left rounding to nearest.
#pragma once
#include <cfenv>
#include <cmath>

#include "scalar.hpp"

namespace warpsight {

template <class T>
struct Real;
template <>
struct Real<float> {
    static constexpr u32 sign = 0x80000000u, exponent = 0x7f800000u, canonical = 0x7fffffffu;
};
template <>
struct Real<double> {
    static constexpr u64 sign = 1ull << 63, exponent = 0x7ffull << 52, canonical = 0xfff8000000000000ull;
};

template <class T>
WS_INLINE T canonical_nan() {
    return std::bit_cast<T>(Real<T>::canonical);
}
template <class T>
WS_INLINE T canonical(T x) {
    return x != x ? canonical_nan<T>() : x;
}

// Denormals become zero of their sign.
template <class T>
WS_INLINE T flushed(T x) {
    Bits<T> b = std::bit_cast<Bits<T>>(x);
    return std::bit_cast<T>((b & Real<T>::exponent) == 0 ? b & Real<T>::sign : b);
}

template <class T>
WS_INLINE T clamped(T x) {
    return x > 0 ? (x < 1 ? x : (T)1) : (T)0;
}

template <class T, bool Ftz>
WS_INLINE T taken(T x) {
    return Ftz ? flushed(x) : x;
}

template <class T, bool Ftz, bool Sat>
WS_INLINE T finished(T x) {
    if (Ftz) x = flushed(x);
    return Sat ? clamped(x) : canonical(x);
}

// The same on eight lanes of F32.
WS_INLINE v8u flushed8(v8u x) { return (x & Real<float>::exponent) == 0 ? x & Real<float>::sign : x; }
WS_INLINE v8u canonical8(v8u x) { return (v8f)x != (v8f)x ? all8(Real<float>::canonical) : x; }
WS_INLINE v8u clamped8(v8u x) {
    v8f r = (v8f)x, one = (v8f)all8(0x3f800000u);
    return (v8u)(r > 0 ? (r < one ? x : (v8u)one) : all8(0));
}
template <bool Ftz>
WS_INLINE v8f taken8(const u32 *row, int g) {
    return (v8f)(Ftz ? flushed8(load8(row, g)) : load8(row, g));
}
template <bool Ftz, bool Sat>
WS_INLINE v8u finished8(v8f r) {
    v8u x = Ftz ? flushed8((v8u)r) : (v8u)r;
    return Sat ? clamped8(x) : canonical8(x);
}

// Eight lanes of F64 in two vectors, in the order that interleaving words within 128 bits gives: no lane minds its
// place.
typedef double v4d __attribute__((vector_size(32)));
struct Real8 {
    v4d x, y;
};

WS_INLINE Real8 load_real8(const u32 *row, int g) {
    Pair8 p = load_pair8(row, g);
    return {(v4d)__builtin_shufflevector(p.lo, p.hi, 0, 8, 1, 9, 4, 12, 5, 13),
            (v4d)__builtin_shufflevector(p.lo, p.hi, 2, 10, 3, 11, 6, 14, 7, 15)};
}

WS_INLINE Pair8 words_of(Real8 r) {
    v8u x = (v8u)r.x, y = (v8u)r.y;
    return {__builtin_shufflevector(x, y, 0, 2, 8, 10, 4, 6, 12, 14),
            __builtin_shufflevector(x, y, 1, 3, 9, 11, 5, 7, 13, 15)};
}

WS_INLINE v4d canonical4(v4d x) {
    const double nan = canonical_nan<double>();
    return x != x ? v4d{nan, nan, nan, nan} : x;
}

// ---- the correctly rounded operations: the rounding is whatever the processor is set to

struct RealAdd {
    template <class V>
    WS_INLINE static V run(V a, V b) {
        return a + b;
    }
};
struct RealSub {
    template <class V>
    WS_INLINE static V run(V a, V b) {
        return a - b;
    }
};
struct RealMul {
    template <class V>
    WS_INLINE static V run(V a, V b) {
        return a * b;
    }
};
struct RealDiv {
    template <class V>
    WS_INLINE static V run(V a, V b) {
        return a / b;
    }
};
struct RealRcp {
    template <class V>
    WS_INLINE static V run(V a) {
        return (V{} + 1.0f) / a;
    }
};
struct RealSqrt {
    WS_INLINE static float run(float a) { return __builtin_sqrtf(a); }
    WS_INLINE static double run(double a) { return __builtin_sqrt(a); }
    WS_INLINE static v4d run(v4d a) {
        for (int l = 0; l < 4; l++) a[l] = __builtin_sqrt(a[l]);
        return a;
    }
    WS_INLINE static v8f run(v8f a) {
#if defined(__AVX2__)
        return (v8f)_mm256_sqrt_ps((__m256)a);
#else
        for (int l = 0; l < 8; l++) a[l] = __builtin_sqrtf(a[l]);
        return a;
#endif
    }
};
struct RealFma {
    WS_INLINE static v4d run(v4d a, v4d b, v4d c) {
#if defined(__FMA__)
        return (v4d)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
        for (int l = 0; l < 4; l++) c[l] = __builtin_fma(a[l], b[l], c[l]);
        return c;
#endif
    }
    WS_INLINE static float run(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
    WS_INLINE static double run(double a, double b, double c) { return __builtin_fma(a, b, c); }
    WS_INLINE static v8f run(v8f a, v8f b, v8f c) {
#if defined(__FMA__)
        return (v8f)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
        for (int l = 0; l < 8; l++) a[l] = __builtin_fmaf(a[l], b[l], c[l]);
        return a;
#endif
    }
};

// The fourteen tests of SETP: 0-5 ordered, 6-11 true with NaN, 12 both numbers, 13 some NaN.
template <int Test, class V>
WS_INLINE auto real_compared(V a, V b) {
    if constexpr (Test == 0)
        return a == b;
    else if constexpr (Test == 1)
        return (a < b) | (a > b);
    else if constexpr (Test == 2)
        return a < b;
    else if constexpr (Test == 3)
        return a <= b;
    else if constexpr (Test == 4)
        return a > b;
    else if constexpr (Test == 5)
        return a >= b;
    else if constexpr (Test == 6)
        return ((a < b) | (a > b)) == 0;
    else if constexpr (Test == 7)
        return a != b;
    else if constexpr (Test == 8)
        return (a >= b) == 0;
    else if constexpr (Test == 9)
        return (a > b) == 0;
    else if constexpr (Test == 10)
        return (a <= b) == 0;
    else if constexpr (Test == 11)
        return (a < b) == 0;
    else if constexpr (Test == 12)
        return (a == a) & (b == b);
    else
        return (a != a) | (b != b);
}

// ---- shells

// F64 knows neither FTZ nor SAT.
template <class T, class F, int Arity, bool Ftz, bool Sat>
void nearest(Warp &w, const Ins &i, u32 m) {
    const Ref rb = Arity > 1 ? i.b : i.a, rc = Arity > 2 ? i.c : i.a;
    if constexpr (sizeof(T) == 4) {
        const u32 *a = Row::at(w, i.a), *b = Row::at(w, rb), *c = Row::at(w, rc);
        write8(w, i.d0, m, [&](int g) {
            v8f x = taken8<Ftz>(a, g);
            if constexpr (Arity == 1)
                return finished8<Ftz, Sat>(F::run(x));
            else if constexpr (Arity == 2)
                return finished8<Ftz, Sat>(F::run(x, taken8<Ftz>(b, g)));
            else
                return finished8<Ftz, Sat>(F::run(x, taken8<Ftz>(b, g), taken8<Ftz>(c, g)));
        });
    } else {
        const u32 *a = Row::at(w, i.a), *b = Row::at(w, rb), *c = Row::at(w, rc);
        write_pair8(w, i.d0, m, [&](int g) {
            Real8 p = load_real8(a, g), q = load_real8(b, g), s = load_real8(c, g), r;
            if constexpr (Arity == 1)
                r = {F::run(p.x), F::run(p.y)};
            else if constexpr (Arity == 2)
                r = {F::run(p.x, q.x), F::run(p.y, q.y)};
            else
                r = {F::run(p.x, q.x, s.x), F::run(p.y, q.y, s.y)};
            return words_of({canonical4(r.x), canonical4(r.y)});
        });
    }
}

inline int processor_rounding(u8 mode) {
    switch (mode) {
        case kRZ: return FE_TOWARDZERO;
        case kRM: return FE_DOWNWARD;
        case kRP: return FE_UPWARD;
        default: return FE_TONEAREST;
    }
}

struct RoundingScope {
    explicit RoundingScope(u8 mode) { std::fesetround(processor_rounding(mode)); }
    ~RoundingScope() { std::fesetround(FE_TONEAREST); }
    RoundingScope(const RoundingScope &) = delete;
    RoundingScope &operator=(const RoundingScope &) = delete;
};

template <class T, class F, int Arity>
[[gnu::noinline]] void directed(Warp &w, const Ins &i, u32 m) {
    const bool ftz = i.mod & kFtz, sat = i.mod & kSat;
    const Ref rb = Arity > 1 ? i.b : i.a, rc = Arity > 2 ? i.c : i.a;
    auto a = values<T>(w, i.a), b = values<T>(w, rb), c = values<T>(w, rc);
    auto take = [&](T x) { return ftz ? flushed(x) : x; };
    T out[kLanes];
    {
        RoundingScope scope(i.mod & kRound);
        for (int l = 0; l < kLanes; l++) {
            volatile T x = take(a[l]), y = take(b[l]), z = take(c[l]), r;
            const T p = x, q = y, s = z;
            if constexpr (Arity == 1)
                r = F::run(p);
            else if constexpr (Arity == 2)
                r = F::run(p, q);
            else
                r = F::run(p, q, s);
            out[l] = r;
        }
    }
    fill<T>(w, i.d0, m, [&](int l) {
        T r = take(out[l]);
        return sat ? clamped(r) : canonical(r);
    });
}

template <class T, class F, int Arity>
Handler rounded_handler(u8 mod) {
    if (mod & kRound) return directed<T, F, Arity>;
    if constexpr (sizeof(T) == 8) return nearest<T, F, Arity, false, false>;
    switch (mod & (kFtz | kSat)) {
        case 0: return nearest<T, F, Arity, false, false>;
        case kFtz: return nearest<T, F, Arity, true, false>;
        case kSat: return nearest<T, F, Arity, false, true>;
        default: return nearest<T, F, Arity, true, true>;
    }
}

}  // namespace warpsight
