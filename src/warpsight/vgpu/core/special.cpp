// Reciprocals, roots and the approximate functions.
// The rounded forms use the shells of reals.hpp; the approximate ones take the steps of series.hpp in double and round
// once.
#include "halves.hpp"
#include "series.hpp"

namespace warpsight {

namespace {

struct Rsqrt {
    static void run(const double *x, double *y, int n) {
        for (int k = 0; k < n; k++) y[k] = 1.0 / __builtin_sqrt(x[k]);
    }
};
struct Exp2 {
    static void run(const double *x, double *y, int n) {
        for (int k = 0; k < n; k++) y[k] = exp2_steps(x[k]);
    }
};
struct Log2 {
    static void run(const double *x, double *y, int n) {
        for (int k = 0; k < n; k++) y[k] = log2_steps(x[k]);
    }
};
struct Tanh {
    static void run(const double *x, double *y, int n) {
        for (int k = 0; k < n; k++) y[k] = tanh_steps(x[k]);
    }
};

// x is in turns. Whole turns come off exactly; a zero stays the zero it is.
template <bool Cosine>
struct Circle {
    static void run(const double *x, double *y, int n) {
        double r[2 * kLanes];
        bool reduced = true;
        for (int k = 0; k < n; k++) {
            r[k] = x[k];
            reduced &= __builtin_fabs(x[k]) < 1;
        }
        for (int k = 0; k < n && !reduced; k++) r[k] = std::isfinite(x[k]) ? std::fmod(x[k], 1.0) : __builtin_nan("");
        for (int k = 0; k < n; k++) {
            double v = turn_steps<Cosine ? 1 : 0>(r[k]);
            y[k] = !Cosine && x[k] == 0 ? x[k] : v;
        }
    }
};

// Radians as turns, as the hardware's two steps do it: a product rounded to zero, then denormals flushed.
WS_INLINE float turns_of(float a) {
    const double exact = (double)a * (double)0x1.45f306p-3f;  // 24 + 24 bits: exact
    float r = (float)exact;
    if (__builtin_fabs((double)r) > __builtin_fabs(exact)) r = std::bit_cast<float>(std::bit_cast<u32>(r) - 1);
    return flushed(r);
}

template <class F>
void circular(Warp &w, const Ins &i, u32 m) {
    auto a = values<float>(w, i.a);
    double x[kLanes], y[kLanes];
    const bool ftz = i.mod & kFtz;
    for (int l = 0; l < kLanes; l++) {
        const float v = ftz ? flushed(a[l]) : a[l];
        x[l] = i.sub ? flushed(v) : turns_of(v);
    }
    F::run(x, y, kLanes);
    fill<float>(w, i.d0, m, [&](int l) { return finished<float, true, false>((float)y[l]); });
}

// Where denormals count, the hardware's sequence around its own flushing step is followed: 2^x below -126 is the square
// of 2^(x/2), and the logarithm of a denormal is that of 2^24 times it, less 24.
template <class F>
constexpr bool kHasTail = std::is_same_v<F, Exp2> || std::is_same_v<F, Log2>;

template <class F>
WS_INLINE bool in_tail(float a) {
    return std::is_same_v<F, Exp2> ? a < -126.0f : __builtin_fabsf(a) < 0x1p-126f;
}

template <class F>
WS_INLINE float from_tail(float r) {
    return std::is_same_v<F, Exp2> ? flushed(r) * flushed(r) : r + -24.0f;
}

template <class F, bool Ftz>
void approximate(Warp &w, const Ins &i, u32 m) {
    auto a = values<float>(w, i.a);
    constexpr bool tails = kHasTail<F> && !Ftz;
    double x[kLanes], y[kLanes];
    for (int l = 0; l < kLanes; l++) {
        x[l] = (double)taken<float, Ftz>(a[l]);
        if (tails && in_tail<F>(a[l])) x[l] *= std::is_same_v<F, Exp2> ? 0.5 : 0x1p24;
    }
    F::run(x, y, kLanes);
    float r[kLanes];
    for (int l = 0; l < kLanes; l++) {
        r[l] = (float)y[l];
        if (tails && in_tail<F>(a[l])) r[l] = from_tail<F>(r[l]);
    }
    if (i.mod & kSat)
        fill<float>(w, i.d0, m, [&](int l) { return finished<float, Ftz, true>(r[l]); });
    else
        fill<float>(w, i.d0, m, [&](int l) { return finished<float, Ftz, false>(r[l]); });
}

template <class Format16, int N, class F>
void approximate_halves(Warp &w, const Ins &i, u32 m) {
    const u8 mod = std::is_same_v<Format16, BrainFormat> ? i.mod & (u8)~kFtz : i.mod;
    float a[N];
    double x[N], y[N];
    u16 h[N];
    take_halves<Format16, N>(w, i.a, mod & kFtz, a);
    for (int k = 0; k < N; k++) x[k] = a[k];
    F::run(x, y, N);
    Format16::narrow(y, h, N);
    finish_halves<Format16>(h, N, mod);
    write_halves<N>(w, i.d0, m, h);
}

// F64 has only coarse reciprocals: the low word of the result is zero.
template <bool Root>
void coarse_reciprocal(Warp &w, const Ins &i, u32 m) {
    auto a = values<double>(w, i.a);
    const bool ftz = i.mod & kFtz;
    fill<double>(w, i.d0, m, [&](int l) {
        double x = ftz ? flushed(a[l]) : a[l];
        double r = canonical(1.0 / (Root ? __builtin_sqrt(x) : x));
        r = std::bit_cast<double>(std::bit_cast<u64>(r) & ~0xffffffffull);
        return ftz ? flushed(r) : r;
    });
}

template <class F>
Handler approximate_handler(const Ins &i) {
    switch (i.ta) {
        case Type::F32: return i.mod & kFtz ? approximate<F, true> : approximate<F, false>;
        case Type::F16: return approximate_halves<HalfFormat, kLanes, F>;
        case Type::BF16: return approximate_halves<BrainFormat, kLanes, F>;
        case Type::F16X2: return approximate_halves<HalfFormat, 2 * kLanes, F>;
        case Type::BF16X2: return approximate_halves<BrainFormat, 2 * kLanes, F>;
        default: return nullptr;
    }
}

template <class F>
Handler rounded_or_nearest(const Ins &i) {
    if (i.ta == Type::F64) return rounded_handler<double, F, 1>(i.sub == 0 ? i.mod & kRound : 0);
    if (i.ta != Type::F32) return nullptr;
    return rounded_handler<float, F, 1>(i.sub == 0 ? i.mod : i.mod & (kFtz | kSat));
}

}  // namespace

Handler find_special(const Ins &i) {
    switch (i.op) {
        case Op::RCP:
            return i.ta == Type::F64 && i.sub == 1 ? coarse_reciprocal<false> : rounded_or_nearest<RealRcp>(i);
        case Op::SQRT: return rounded_or_nearest<RealSqrt>(i);
        case Op::RSQRT: return i.ta == Type::F64 ? coarse_reciprocal<true> : approximate_handler<Rsqrt>(i);
        case Op::EX2: return approximate_handler<Exp2>(i);
        case Op::LG2: return approximate_handler<Log2>(i);
        case Op::SIN: return i.ta == Type::F32 ? circular<Circle<false>> : nullptr;
        case Op::COS: return i.ta == Type::F32 ? circular<Circle<true>> : nullptr;
        case Op::TANH: return approximate_handler<Tanh>(i);
        default: return nullptr;
    }
}

}  // namespace warpsight
