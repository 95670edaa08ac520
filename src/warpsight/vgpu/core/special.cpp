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

template <bool Cosine>
struct Circle {
    static void run(const double *x, double *y, int n) {
        constexpr double turn = 6.283185307179586;
        double r[2 * kLanes];
        bool reduced = true;
        for (int k = 0; k < n; k++) {
            r[k] = x[k];
            reduced &= __builtin_fabs(x[k]) < turn;
        }
        for (int k = 0; k < n && !reduced; k++) r[k] = std::isfinite(x[k]) ? std::fmod(x[k], turn) : __builtin_nan("");
        for (int k = 0; k < n; k++) {
            double v = turn_steps<Cosine ? 1 : 0>(r[k]);
            y[k] = !Cosine && x[k] == 0 ? x[k] : v;
        }
    }
};

template <class F, bool Ftz>
void approximate(Warp &w, const Ins &i, u32 m) {
    auto a = values<float>(w, i.a);
    double x[kLanes], y[kLanes];
    for (int l = 0; l < kLanes; l++) x[l] = (double)taken<float, Ftz>(a[l]);
    F::run(x, y, kLanes);
    if (i.mod & kSat)
        fill<float>(w, i.d0, m, [&](int l) { return finished<float, Ftz, true>((float)y[l]); });
    else
        fill<float>(w, i.d0, m, [&](int l) { return finished<float, Ftz, false>((float)y[l]); });
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
        case Op::SIN: return approximate_handler<Circle<false>>(i);
        case Op::COS: return approximate_handler<Circle<true>>(i);
        case Op::TANH: return approximate_handler<Tanh>(i);
        default: return nullptr;
    }
}

}  // namespace warpsight
