// The integer operations themselves, each as run(): on eight lanes, on eight pairs of words, and on one lane of any
// type. integer.cpp wraps them in handlers. Operations that differ by sign take it from the lane type or a template
// argument.
#pragma once
#include "bits.hpp"

namespace warpsight {

#define WS_BITWISE(Name, expression_ab)                                                             \
    struct Name {                                                                                   \
        WS_INLINE static v8u run(v8u a, v8u b) { return expression_ab; }                            \
        WS_INLINE static Pair8 run(Pair8 a, Pair8 b) { return {run(a.lo, b.lo), run(a.hi, b.hi)}; } \
        template <class T>                                                                          \
        WS_INLINE static T run(T a, T b) {                                                          \
            return (T)(expression_ab);                                                              \
        }                                                                                           \
    };
WS_BITWISE(And, a &b)
WS_BITWISE(Or, a | b)
WS_BITWISE(Xor, a ^ b)
#undef WS_BITWISE

struct Copy {
    WS_INLINE static v8u run(v8u a) { return a; }
    WS_INLINE static Pair8 run(Pair8 a) { return a; }
    template <class T>
    WS_INLINE static T run(T a) {
        return a;
    }
};

struct Not {
    WS_INLINE static v8u run(v8u a) { return ~a; }
    WS_INLINE static Pair8 run(Pair8 a) { return {~a.lo, ~a.hi}; }
    template <class T>
    WS_INLINE static T run(T a) {
        return (T)~a;
    }
};

struct Cnot {
    template <class T>
    WS_INLINE static T run(T a) {
        return a == 0;
    }
};

struct Add {
    WS_INLINE static v8u run(v8u a, v8u b) { return a + b; }
    WS_INLINE static Pair8 run(Pair8 a, Pair8 b) { return add_pair8(a, b); }
    template <class T>
    WS_INLINE static T run(T a, T b) {
        return (T)((Wrap<T>)a + (Wrap<T>)b);
    }
};

struct Sub {
    WS_INLINE static v8u run(v8u a, v8u b) { return a - b; }
    WS_INLINE static Pair8 run(Pair8 a, Pair8 b) { return sub_pair8(a, b); }
    template <class T>
    WS_INLINE static T run(T a, T b) {
        return (T)((Wrap<T>)a - (Wrap<T>)b);
    }
};

struct Neg {
    WS_INLINE static v8u run(v8u a) { return 0 - a; }
    WS_INLINE static Pair8 run(Pair8 a) { return sub_pair8({all8(0), all8(0)}, a); }
    template <class T>
    WS_INLINE static T run(T a) {
        return (T)(0 - (Wrap<T>)a);
    }
};

struct Abs {
    WS_INLINE static v8u run(v8u a) {
        v8u sign = (v8u)((v8i)a >> 31);
        return (a ^ sign) - sign;
    }
    WS_INLINE static Pair8 run(Pair8 a) {
        v8u sign = (v8u)((v8i)a.hi >> 31);
        return sub_pair8({a.lo ^ sign, a.hi ^ sign}, {sign, sign});
    }
    template <class T>
    WS_INLINE static T run(T a) {
        return a < (T)0 ? Neg::run<T>(a) : a;
    }
};

struct Mul {
    WS_INLINE static v8u run(v8u a, v8u b) { return a * b; }
    WS_INLINE static Pair8 run(Pair8 a, Pair8 b) { return multiply_pair8(a, b); }
    template <class T>
    WS_INLINE static T run(T a, T b) {
        return (T)((Wrap<T>)a * (Wrap<T>)b);
    }
};

struct Mad {
    WS_INLINE static v8u run(v8u a, v8u b, v8u c) { return a * b + c; }
    WS_INLINE static Pair8 run(Pair8 a, Pair8 b, Pair8 c) { return add_pair8(multiply_pair8(a, b), c); }
    template <class T>
    WS_INLINE static T run(T a, T b, T c) {
        return Add::run<T>(Mul::run<T>(a, b), c);
    }
};

template <bool Signed>
struct MulHi32 {
    WS_INLINE static v8u run(v8u a, v8u b) { return multiply8<Signed>(a, b).hi; }
};

struct MulHi {
    template <class T>
    WS_INLINE static T run(T a, T b) {
        return multiply_high<T>(a, b);
    }
};

struct MadHi {
    template <class T>
    WS_INLINE static T run(T a, T b, T c) {
        return Add::run<T>(multiply_high<T>(a, b), c);
    }
};

WS_INLINE i32 saturated(i64 x) { return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (i32)x; }

struct AddSat {
    WS_INLINE static i32 run(i32 a, i32 b) { return saturated((i64)a + b); }
};
struct SubSat {
    WS_INLINE static i32 run(i32 a, i32 b) { return saturated((i64)a - b); }
};
struct MadHiSat {
    WS_INLINE static i32 run(i32 a, i32 b, i32 c) { return saturated(((i64)a * b >> 32) + c); }
};

template <bool Max, bool Relu>
struct Extreme {
    template <class T>
    WS_INLINE static T run(T a, T b) {
        T r = (a < b) == Max ? b : a;
        return Relu && r < (T)0 ? (T)0 : r;
    }
};

struct Div {
    template <class T>
    WS_INLINE static T run(T a, T b) {
        return divide<T>(a, b);
    }
};
struct Rem {
    template <class T>
    WS_INLINE static T run(T a, T b) {
        return remainder<T>(a, b);
    }
};
struct Sad {
    template <class T>
    WS_INLINE static T run(T a, T b, T c) {
        return Add::run<T>(a < b ? Sub::run<T>(b, a) : Sub::run<T>(a, b), c);
    }
};
struct Brev {
    template <class T>
    WS_INLINE static T run(T a) {
        return reverse_bits<T>(a);
    }
};

// Two 16-bit numbers in a row, each by itself.
template <class T, class F>
struct Halves {
    WS_INLINE static u32 run(u32 a, u32 b) {
        u32 lo = (u16)F::template run<T>((T)a, (T)b), hi = (u16)F::template run<T>((T)(a >> 16), (T)(b >> 16));
        return lo | hi << 16;
    }
};

// In the pair forms a wrapped amount (n - 32 below zero) is a huge unsigned one, which shifts everything out.
struct Shl {
    WS_INLINE static v8u run(v8u a, v8u n) { return sll8(a, n); }
    WS_INLINE static Pair8 run(Pair8 a, v8u n) {
        return {sll8(a.lo, n), sll8(a.hi, n) | srl8(a.lo, 32 - n) | sll8(a.lo, n - 32)};
    }
    template <class T>
    WS_INLINE static T run(T a, u32 n) {
        return shift_left<T>(a, n);
    }
};

template <bool Signed>
struct Shr {
    WS_INLINE static v8u run(v8u a, v8u n) { return Signed ? sra8(a, n) : srl8(a, n); }
    WS_INLINE static Pair8 run(Pair8 a, v8u n) {
        v8u across = srl8(a.lo, n) | sll8(a.hi, 32 - n);
        if (!Signed) return {across | srl8(a.hi, n - 32), srl8(a.hi, n)};
        return {(v8u)(n < 32 ? across : sra8(a.hi, n - 32)), sra8(a.hi, n)};
    }
    template <class T>
    WS_INLINE static T run(T a, u32 n) {
        return shift_right<T>(a, n);
    }
};

// A tree of choices: c picks in the four leaves (each 0, 1, c or not c), then b, then a.
struct Table3 {
    v8u keep[4], flip[4];
    explicit Table3(i64 table) {
        for (int k = 0; k < 4; k++) {
            u32 zero = table >> 2 * k & 1, one = table >> (2 * k + 1) & 1;
            flip[k] = all8(0u - zero);
            keep[k] = all8(0u - (zero ^ one));
        }
    }
    WS_INLINE v8u run(v8u a, v8u b, v8u c) const {
        auto leaf = [&](int k) { return (c & keep[k]) ^ flip[k]; };
        v8u l0 = leaf(0), l2 = leaf(2);
        v8u low = l0 ^ ((l0 ^ leaf(1)) & b), high = l2 ^ ((l2 ^ leaf(3)) & b);
        return low ^ ((low ^ high) & a);
    }
};

// Byte permute in the default mode: a byte's nibble of c names a byte of a or (bit 2) of b; bit 3 asks for its sign
// only.
WS_INLINE v8u permute8(v8u a, v8u b, v8u c) {
#if defined(__AVX2__)
    const v8u spread = (c & 0xf) | (c & 0xf0) << 4 | (c & 0xf00) << 8 | (c & 0xf000) << 12;  // a nibble to each byte
    const v8u first = {0x00000000, 0x04040404, 0x08080808, 0x0c0c0c0c, 0x00000000, 0x04040404, 0x08080808, 0x0c0c0c0c};
    const __m256i index = (__m256i)((spread & 0x03030303) | first);
    __m256i from_a = _mm256_shuffle_epi8((__m256i)a, index), from_b = _mm256_shuffle_epi8((__m256i)b, index);
    __m256i byte = _mm256_blendv_epi8(from_a, from_b, (__m256i)(spread << 5));
    __m256i sign = _mm256_cmpgt_epi8(_mm256_setzero_si256(), byte);
    return (v8u)_mm256_blendv_epi8(byte, sign, (__m256i)(spread << 4));
#else
    v8u r;
    for (int l = 0; l < 8; l++) r[l] = permute_bytes(a[l], b[l], c[l], 0);
    return r;
#endif
}

}  // namespace warpsight
