// F16, BF16 and their pairs: arithmetic rounded to nearest, signs, min and max, comparisons.
// A pair is two halves that do not know of each other; BF16 keeps denormals whatever `mod` says.
#include "halves.hpp"
#include "rounding.hpp"

namespace warpsight {

float half_to_float(u16 h) {
    u32 sign = (u32)(h & 0x8000) << 16, field = h >> 10 & 31, fraction = h & 0x3ff;
    if (field == 31) return std::bit_cast<float>(sign | 0x7f800000u | fraction << 13);
    if (field) return std::bit_cast<float>(sign | (field + 112) << 23 | fraction << 13);
    float tiny = (float)fraction * 0x1p-24f;
    return sign ? -tiny : tiny;
}

float bf16_to_float(u16 h) { return std::bit_cast<float>((u32)h << 16); }
u16 float_to_half(double x, u8 round) { return (u16)round_double(x, kF16Format, round); }
u16 double_to_bf16(double x, u8 round) { return (u16)round_double(x, kBf16Format, round); }

u16 add_f16(u16 a, u16 b) { return float_to_half((double)half_to_float(a) + half_to_float(b), kRN); }
u16 add_bf16(u16 a, u16 b) { return double_to_bf16((double)bf16_to_float(a) + bf16_to_float(b), kRN); }
u32 add_f16x2(u32 a, u32 b) { return add_f16((u16)a, (u16)b) | (u32)add_f16((u16)(a >> 16), (u16)(b >> 16)) << 16; }
u32 add_bf16x2(u32 a, u32 b) { return add_bf16((u16)a, (u16)b) | (u32)add_bf16((u16)(a >> 16), (u16)(b >> 16)) << 16; }

namespace {

template <class Format16>
u8 known_mod(u8 mod) {
    return std::is_same_v<Format16, BrainFormat> ? mod & (u8)~kFtz : mod;
}

struct HalfFma {
    template <class T>
    WS_INLINE static T run(T a, T b, T c) {
        return odd_fma(a, b, c);
    }
};

template <class Format16, int N, class F, int Arity>
void arithmetic(Warp &w, const Ins &i, u32 m) {
    // Sums of either format round innocently in float: it has over twice their bits, and sums of denormals are exact.
    constexpr bool sum = std::is_same_v<F, RealAdd> || std::is_same_v<F, RealSub>;
    using T = std::conditional_t<sum, float, typename Format16::Work>;
    const u8 mod = known_mod<Format16>(i.mod);
    float a[N], b[N], c[N];
    T r[N];
    u16 h[N];
    take_halves<Format16, N>(w, i.a, mod & kFtz, a);
    take_halves<Format16, N>(w, i.b, mod & kFtz, b);
    if constexpr (Arity == 3) take_halves<Format16, N>(w, i.c, mod & kFtz, c);
    for (int k = 0; k < N; k++) {
        if constexpr (Arity == 3)
            r[k] = F::run((T)a[k], (T)b[k], (T)c[k]);
        else
            r[k] = F::run((T)a[k], (T)b[k]);
    }
    Format16::narrow(r, h, N);
    finish_halves<Format16>(h, N, mod);
    write_halves<N>(w, i.d0, m, h);
}

template <class Format16, int N>
void change_sign(Warp &w, const Ins &i, u32 m) {
    u16 h[N];
    read_halves<N>(w, i.a, h);
    const bool ftz = known_mod<Format16>(i.mod) & kFtz, clear = i.op == Op::ABS;
    for (int k = 0; k < N; k++) {
        u16 x = ftz ? flushed_half<Format16>(h[k]) : h[k];
        h[k] = clear ? x & 0x7fff : x ^ 0x8000;
    }
    write_halves<N>(w, i.d0, m, h);
}

// Bits in the order of the numbers they stand for, as signed integers; -0 lies below +0.
WS_INLINE i16 rank_of(u16 h) { return (i16)(h ^ (h & 0x8000 ? 0x7fff : 0)); }

template <class Format16, bool Max, int Sub>
WS_INLINE u16 extreme_half(u16 x, u16 y) {
    u16 flip = Sub & 2 ? (x ^ y) & 0x8000 : 0;
    if (Sub & 2) x &= 0x7fff, y &= 0x7fff;
    bool no_x = (x & 0x7fff) > Format16::exponent, no_y = (y & 0x7fff) > Format16::exponent;
    u16 r = (rank_of(x) < rank_of(y)) == Max ? y : x;
    r = no_x ? y : r;
    r = no_y ? x : r;
    bool none = Sub & 1 ? no_x | no_y : no_x & no_y;
    return none ? (u16)0x7fff : (u16)(r | flip);
}

template <class Format16, int N, bool Max, int Sub>
void extreme(Warp &w, const Ins &i, u32 m) {
    u16 a[N], b[N], h[N];
    read_halves<N>(w, i.a, a);
    read_halves<N>(w, i.b, b);
    const u8 mod = known_mod<Format16>(i.mod);
    for (int k = 0; k < N && mod & kFtz; k++) a[k] = flushed_half<Format16>(a[k]), b[k] = flushed_half<Format16>(b[k]);
    for (int k = 0; k < N; k++) h[k] = extreme_half<Format16, Max, Sub>(a[k], b[k]);
    finish_halves<Format16>(h, N, mod & (kRelu | kSat));
    write_halves<N>(w, i.d0, m, h);
}

template <class Format16, int N, bool Max>
Handler extreme_handler(u8 sub) {
    constexpr Handler all[] = {extreme<Format16, N, Max, 0>, extreme<Format16, N, Max, 1>, extreme<Format16, N, Max, 2>,
                               extreme<Format16, N, Max, 3>};
    return all[sub & 3];
}

template <class Format16, int N, int Test>
void test_halves(Warp &w, const Ins &i, u32 m) {
    float a[N], b[N];
    const bool ftz = known_mod<Format16>(i.mod) & kFtz;
    take_halves<Format16, N>(w, i.a, ftz, a);
    take_halves<Format16, N>(w, i.b, ftz, b);
    auto tested = [&](int k) { return real_compared<Test, float>(a[k], b[k]); };
    if constexpr (N == kLanes)
        write_test(w, i, bits_where(tested), m);
    else {  // the low half's answer goes to d0, the high half's to d1
        u32 low = bits_where([&](int l) { return tested(2 * l); }),
            high = bits_where([&](int l) { return tested(2 * l + 1); });
        write_tests(w, i, low, high, m);
    }
}

template <class Format16, int N, int... Tests>
Handler test_of(u8 sub, std::integer_sequence<int, Tests...>) {
    constexpr Handler all[] = {test_halves<Format16, N, Tests>...};
    return sub < sizeof...(Tests) ? all[sub] : nullptr;
}

template <class Format16, int N>
Handler handler_of(const Ins &i) {
    switch (i.op) {
        case Op::ADD: return arithmetic<Format16, N, RealAdd, 2>;
        case Op::SUB: return arithmetic<Format16, N, RealSub, 2>;
        case Op::MUL: return arithmetic<Format16, N, RealMul, 2>;
        case Op::FMA:
        case Op::MAD: return arithmetic<Format16, N, HalfFma, 3>;
        case Op::NEG:
        case Op::ABS: return change_sign<Format16, N>;
        case Op::MIN: return extreme_handler<Format16, N, false>(i.sub);
        case Op::MAX: return extreme_handler<Format16, N, true>(i.sub);
        case Op::SETP: return test_of<Format16, N>(i.sub, std::make_integer_sequence<int, 14>{});
        default: return nullptr;
    }
}

}  // namespace

Handler find_half(const Ins &i) {
    switch (i.ta) {
        case Type::F16: return handler_of<HalfFormat, kLanes>(i);
        case Type::BF16: return handler_of<BrainFormat, kLanes>(i);
        case Type::F16X2: return handler_of<HalfFormat, 2 * kLanes>(i);
        case Type::BF16X2: return handler_of<BrainFormat, 2 * kLanes>(i);
        default: return nullptr;
    }
}

}  // namespace warpsight
