// One lane at a time: values of any type read from their rows, and a masked store of what a function of the lane gives.
// For operations too rare or too irregular for eight.hpp; the compiler vectorises the simple ones by itself.
// Must stay true: f is called for every lane, in or out of the mask, so it must be defined for all bits (no traps, no
// UB).
#pragma once
#include <bit>
#include <type_traits>

#include "eight.hpp"

namespace warpsight {

template <int Bytes>
struct BitsOf;
template <>
struct BitsOf<1> {
    using type = u8;
};
template <>
struct BitsOf<2> {
    using type = u16;
};
template <>
struct BitsOf<4> {
    using type = u32;
};
template <>
struct BitsOf<8> {
    using type = u64;
};
template <class T>
using Bits = typename BitsOf<sizeof(T)>::type;

// Arithmetic without promotion surprises: unsigned, at least 32 bits.
template <class T>
using Wrap = std::conditional_t<sizeof(T) == 8, u64, u32>;

template <class T>
struct Values {
    const u32 *row;
    WS_INLINE T operator[](int l) const {
        if constexpr (sizeof(T) == 8)
            return std::bit_cast<T>((u64)row[l] | (u64)row[l + kLanes] << 32);
        else
            return std::bit_cast<T>((Bits<T>)row[l]);
    }
};

template <class T>
WS_INLINE Values<T> values(const WarpRows &w, Ref r) {
    return {Row::at(w, r)};
}

// Writes f(lane) as a T: small types zero-extended, 64-bit types to two rows.
template <class T, class F>
WS_INLINE void fill(const WarpRows &w, Ref d, u32 m, F f) {
    constexpr bool wide = sizeof(T) == 8;
    alignas(32) u32 out[wide ? 2 * kLanes : kLanes];
    for (int l = 0; l < kLanes; l++) {
        Bits<T> bits = std::bit_cast<Bits<T>>((T)f(l));
        out[l] = (u32)bits;
        if constexpr (wide) out[l + kLanes] = (u32)(bits >> 32);
    }
    if constexpr (wide)
        write_pair8(w, d, m, [&](int g) { return load_pair8(out, g); });
    else
        write8(w, d, m, [&](int g) { return load8(out, g); });
}

// One bit per lane where f(lane) is true.
template <class F>
WS_INLINE u32 bits_where(F f) {
    alignas(32) u32 out[kLanes];
    for (int l = 0; l < kLanes; l++) out[l] = f(l) ? kFull : 0;
    return bits8([&](int g) { return load8(out, g); });
}

template <class T, class F>
void lanes1(Warp &w, const Ins &i, u32 m) {
    auto a = values<T>(w, i.a);
    fill<T>(w, i.d0, m, [&](int l) { return F::run(a[l]); });
}

template <class T, class F>
void lanes2(Warp &w, const Ins &i, u32 m) {
    auto a = values<T>(w, i.a), b = values<T>(w, i.b);
    fill<T>(w, i.d0, m, [&](int l) { return F::run(a[l], b[l]); });
}

template <class T, class F>
void lanes3(Warp &w, const Ins &i, u32 m) {
    auto a = values<T>(w, i.a), b = values<T>(w, i.b), c = values<T>(w, i.c);
    fill<T>(w, i.d0, m, [&](int l) { return F::run(a[l], b[l], c[l]); });
}

// Calls make.operator()<T>() with the C++ type of an integer type; nullptr for other types.
template <class Make>
Handler with_integer(Type t, Make make) {
    switch (t) {
        case Type::B8:
        case Type::U8: return make.template operator()<u8>();
        case Type::S8: return make.template operator()<i8>();
        case Type::B16:
        case Type::U16: return make.template operator()<u16>();
        case Type::S16: return make.template operator()<i16>();
        case Type::B32:
        case Type::U32: return make.template operator()<u32>();
        case Type::S32: return make.template operator()<i32>();
        case Type::B64:
        case Type::U64: return make.template operator()<u64>();
        case Type::S64: return make.template operator()<i64>();
        default: return nullptr;
    }
}

inline int type_bytes(Type t) {
    switch (t) {
        case Type::B8:
        case Type::U8:
        case Type::S8: return 1;
        case Type::B16:
        case Type::U16:
        case Type::S16:
        case Type::F16:
        case Type::BF16:
        case Type::E4M3X2:
        case Type::E5M2X2: return 2;
        case Type::B64:
        case Type::U64:
        case Type::S64:
        case Type::F64: return 8;
        case Type::B128: return 16;
        default: return 4;
    }
}

}  // namespace warpsight
