// F32 and F64: arithmetic in every rounding mode, division, min and max, signs, comparisons and class tests.
// Approximate functions are in special.cpp; halves in half.cpp; conversions in convert.cpp.
// Must stay true: results of arithmetic are canonical when NaN; operations on signs move bits and leave NaN as it came.
#include "reals.hpp"

namespace warpsight {

namespace {

// ---- signs

template <class T, bool Ftz, bool Clear>
void change_sign(Warp &w, const Ins &i, u32 m) {
    constexpr Bits<T> sign = Real<T>::sign;
    auto a = values<T>(w, i.a);
    fill<Bits<T>>(w, i.d0, m, [&](int l) {
        Bits<T> x = std::bit_cast<Bits<T>>(taken<T, Ftz>(a[l]));
        return Clear ? x & ~sign : x ^ sign;
    });
}

template <class T>
void copy_sign(Warp &w, const Ins &i, u32 m) {
    constexpr Bits<T> sign = Real<T>::sign;
    auto a = values<Bits<T>>(w, i.a), b = values<Bits<T>>(w, i.b);
    fill<Bits<T>>(w, i.d0, m, [&](int l) { return (b[l] & ~sign) | (a[l] & sign); });
}

// ---- min and max

enum : int { kNanMode = 1, kXorSign = 2 };

template <bool Max, int Sub>
struct RealExtreme {
    WS_INLINE static v8u run8(v8u x, v8u y) {
        const v8u sign = all8(Real<float>::sign), nan = all8(Real<float>::canonical);
        v8u flip = Sub & kXorSign ? (x ^ y) & sign : all8(0);
        if (Sub & kXorSign) x &= ~sign, y &= ~sign;
        v8f a = (v8f)x, b = (v8f)y;
        v8u r = (v8u)((Max ? a > b : a < b) ? x : y);
        r = a == b ? (Max ? x & y : x | y) : r;  // only zeros differ: -0 is the smaller
        r = a != a ? y : r;
        r = b != b ? x : r;
        v8i none = Sub & kNanMode ? (v8i)(a != a) | (v8i)(b != b) : (v8i)((v8f)r != (v8f)r);
        return none ? nan : r | flip;
    }
    template <class T>
    WS_INLINE static Bits<T> run(Bits<T> x, Bits<T> y) {
        constexpr Bits<T> sign = Real<T>::sign;
        Bits<T> flip = Sub & kXorSign ? (x ^ y) & sign : 0;
        if (Sub & kXorSign) x &= ~sign, y &= ~sign;
        T a = std::bit_cast<T>(x), b = std::bit_cast<T>(y);
        Bits<T> r = (Max ? a > b : a < b) ? x : y;
        if (a == b) r = Max ? x & y : x | y;
        if (a != a) r = y;
        if (b != b) r = x;
        bool none = Sub & kNanMode ? a != a || b != b : a != a && b != b;
        return none ? Real<T>::canonical : r | flip;
    }
};

template <class T, class F, bool Ftz>
void extreme(Warp &w, const Ins &i, u32 m) {
    if constexpr (sizeof(T) == 4) {
        const u32 *a = Row::at(w, i.a), *b = Row::at(w, i.b);
        write8(w, i.d0, m, [&](int g) { return F::run8((v8u)taken8<Ftz>(a, g), (v8u)taken8<Ftz>(b, g)); });
    } else {
        auto a = values<Bits<T>>(w, i.a), b = values<Bits<T>>(w, i.b);
        fill<Bits<T>>(w, i.d0, m, [&](int l) { return F::template run<T>(a[l], b[l]); });
    }
}

template <class T, bool Max>
Handler extreme_handler(const Ins &i) {
    const bool ftz = i.mod & kFtz && sizeof(T) == 4;
    switch (i.sub & 3) {
        case 0: return ftz ? extreme<T, RealExtreme<Max, 0>, true> : extreme<T, RealExtreme<Max, 0>, false>;
        case 1: return ftz ? extreme<T, RealExtreme<Max, 1>, true> : extreme<T, RealExtreme<Max, 1>, false>;
        case 2: return ftz ? extreme<T, RealExtreme<Max, 2>, true> : extreme<T, RealExtreme<Max, 2>, false>;
        default: return ftz ? extreme<T, RealExtreme<Max, 3>, true> : extreme<T, RealExtreme<Max, 3>, false>;
    }
}

// ---- division

// The quick division, step by step as the hardware does it: a product with the reciprocal, which is flushed where it is
// denormal (so quotients by very large divisors become zero, unless Full scales them first). Denormal divisors are
// scaled.
template <bool Full>
struct ApproxDiv {
    WS_INLINE static v8f run(v8f a, v8f b) {
        const v8u size = (v8u)b & ~all8(Real<float>::sign);
        const v8f one = v8f{} + 1.0f;
        v8f scale = (v8f)(v8u)(size < 0x00800000u ? (v8u)(v8f{} + 0x1p24f) : (v8u)one);
        if constexpr (Full) scale = (v8f)(v8u)(size > 0x7e800000u ? (v8u)(v8f{} + 0.25f) : (v8u)scale);
        return a * scale * (v8f)flushed8((v8u)(one / (b * scale)));
    }
};

template <bool Full>
Handler quick_division(u8 mod) {
    using F = ApproxDiv<Full>;
    if (mod & kSat) return mod & kFtz ? nearest<float, F, 2, true, true> : nearest<float, F, 2, false, true>;
    return mod & kFtz ? nearest<float, F, 2, true, false> : nearest<float, F, 2, false, false>;
}

Handler divide_handler(const Ins &i) {
    if (i.ta == Type::F64) return rounded_handler<double, RealDiv, 2>(i.mod & kRound);
    if (i.sub == 0) return rounded_handler<float, RealDiv, 2>(i.mod);
    const u8 mod = i.mod & (kFtz | kSat);
    return i.sub == 1 ? quick_division<false>(mod) : quick_division<true>(mod);
}

// ---- comparisons

template <class T, bool Ftz, int Test>
void test_lanes(Warp &w, const Ins &i, u32 m) {
    u32 t;
    if constexpr (sizeof(T) == 4) {
        const u32 *a = Row::at(w, i.a), *b = Row::at(w, i.b);
        t = bits8([&](int g) { return (v8u)real_compared<Test, v8f>(taken8<Ftz>(a, g), taken8<Ftz>(b, g)); });
    } else {
        auto a = values<T>(w, i.a), b = values<T>(w, i.b);
        t = bits_where([&](int l) { return real_compared<Test, T>(a[l], b[l]); });
    }
    write_test(w, i, t, m);
}

template <class T, bool Ftz, int... Tests>
Handler test_of(u8 sub, std::integer_sequence<int, Tests...>) {
    constexpr Handler all[] = {test_lanes<T, Ftz, Tests>...};
    return sub < sizeof...(Tests) ? all[sub] : nullptr;
}

Handler test_handler(const Ins &i) {
    constexpr auto tests = std::make_integer_sequence<int, 14>{};
    if (i.ta == Type::F64) return test_of<double, false>(i.sub, tests);
    return i.mod & kFtz ? test_of<float, true>(i.sub, tests) : test_of<float, false>(i.sub, tests);
}

template <class T>
bool in_class(Bits<T> x, int which) {
    Bits<T> exponent = x & Real<T>::exponent, size = x & (Bits<T>)~Real<T>::sign;
    switch (which) {
        case 0: return size < Real<T>::exponent;
        case 1: return size == Real<T>::exponent;
        case 2: return size <= Real<T>::exponent;
        case 3: return size > Real<T>::exponent;
        case 4: return exponent != 0 && exponent != Real<T>::exponent;
        default: return exponent == 0 && size != 0;
    }
}

template <class T>
void test_class(Warp &w, const Ins &i, u32 m) {
    auto a = values<Bits<T>>(w, i.a);
    u32 t = bits_where([&](int l) { return in_class<T>(a[l], i.sub); });
    if (i.d0) put_predicate(w.preds, (i32)i.d0, t, m);
}

template <class T>
Handler sign_handler(const Ins &i) {
    const bool ftz = i.mod & kFtz && sizeof(T) == 4;
    if (i.op == Op::COPYSIGN) return copy_sign<T>;
    if (i.op == Op::NEG) return ftz ? change_sign<T, true, false> : change_sign<T, false, false>;
    return ftz ? change_sign<T, true, true> : change_sign<T, false, true>;
}

template <class T>
Handler handler_of(const Ins &i) {
    const u8 mod = sizeof(T) == 8 ? i.mod & kRound : i.mod;  // F64 knows neither FTZ nor SAT
    switch (i.op) {
        case Op::ADD: return rounded_handler<T, RealAdd, 2>(mod);
        case Op::SUB: return rounded_handler<T, RealSub, 2>(mod);
        case Op::MUL: return rounded_handler<T, RealMul, 2>(mod);
        case Op::FMA:
        case Op::MAD: return rounded_handler<T, RealFma, 3>(mod);
        case Op::DIV: return divide_handler(i);
        case Op::NEG:
        case Op::ABS:
        case Op::COPYSIGN: return sign_handler<T>(i);
        case Op::MIN: return extreme_handler<T, false>(i);
        case Op::MAX: return extreme_handler<T, true>(i);
        case Op::SETP: return test_handler(i);
        case Op::TESTP: return test_class<T>;
        default: return nullptr;
    }
}

}  // namespace

Handler find_float(const Ins &i) {
    if (i.ta == Type::F32) return handler_of<float>(i);
    return i.ta == Type::F64 ? handler_of<double>(i) : nullptr;
}

}  // namespace warpsight
