// Eight lanes at a time: the vector steps that the hot handlers are made of, and the masked store that ends them.
// A row is four groups of eight lanes. Every group reads all its sources before it writes, so a destination may be a
// source. Without AVX2 the same steps are spelled with plain vectors; the bits are the same.
#pragma once
#include "machine.hpp"
#if defined(__AVX2__)
#include <immintrin.h>
#endif
#pragma GCC diagnostic ignored "-Wpsabi"

#define WS_INLINE [[gnu::always_inline]] inline

namespace warpsight {

typedef u32 v8u __attribute__((vector_size(32)));
typedef i32 v8i __attribute__((vector_size(32)));
typedef float v8f __attribute__((vector_size(32)));

constexpr int kGroups = kLanes / 8;

// A 64-bit value of eight lanes, kept as it lies in the rows: low words and high words apart.
struct Pair8 {
    v8u lo, hi;
};

WS_INLINE v8u all8(u32 x) { return v8u{x, x, x, x, x, x, x, x}; }

WS_INLINE v8u lane8(int g) { return v8u{0, 1, 2, 3, 4, 5, 6, 7} + all8((u32)(8 * g)); }

WS_INLINE v8u load8(const u32 *row, int g) {
    v8u v;
    std::memcpy(&v, row + 8 * g, sizeof v);
    return v;
}

WS_INLINE void store8(u32 *row, int g, v8u v) { std::memcpy(row + 8 * g, &v, sizeof v); }

WS_INLINE Pair8 load_pair8(const u32 *row, int g) { return {load8(row, g), load8(row + kLanes, g)}; }

// Per lane: where the sign bit of `sign` is set take yes, else no.
WS_INLINE v8u choose8(v8u sign, v8u yes, v8u no) {
#if defined(__AVX2__)
    return (v8u)_mm256_blendv_ps((__m256)no, (__m256)yes, (__m256)sign);
#else
    return (v8i)sign < 0 ? yes : no;
#endif
}

// The lanes of group g that are in m, as sign bits.
WS_INLINE v8u lanes8(u32 m, int g) {
    const v8u left = v8u{31, 30, 29, 28, 27, 26, 25, 24} - all8((u32)(8 * g));
#if defined(__AVX2__)
    return (v8u)_mm256_sllv_epi32((__m256i)all8(m), (__m256i)left);
#else
    return all8(m) << left;
#endif
}

// One bit per lane: the sign bits of eight lanes.
WS_INLINE u32 signs8(v8u v) {
#if defined(__AVX2__)
    return (u32)_mm256_movemask_ps((__m256)v);
#else
    u32 bits = 0;
    for (int l = 0; l < 8; l++) bits |= (v[l] >> 31) << l;
    return bits;
#endif
}

WS_INLINE bool zero8(v8u v) {
#if defined(__AVX2__)
    return _mm256_testz_si256((__m256i)v, (__m256i)v);
#else
    u32 any = 0;
    for (int i = 0; i < 8; i++) any |= v[i];
    return !any;
#endif
}

// Shifts that are defined for every amount: past the width they give zero (sra8: the sign).
WS_INLINE v8u sll8(v8u a, v8u n) {
#if defined(__AVX2__)
    return (v8u)_mm256_sllv_epi32((__m256i)a, (__m256i)n);
#else
    return n < 32 ? a << (n & 31) : all8(0);
#endif
}

WS_INLINE v8u srl8(v8u a, v8u n) {
#if defined(__AVX2__)
    return (v8u)_mm256_srlv_epi32((__m256i)a, (__m256i)n);
#else
    return n < 32 ? a >> (n & 31) : all8(0);
#endif
}

WS_INLINE v8u sra8(v8u a, v8u n) {
#if defined(__AVX2__)
    return (v8u)_mm256_srav_epi32((__m256i)a, (__m256i)n);
#else
    return (v8u)((v8i)a >> (v8i)(n < 32 ? n : all8(31)));
#endif
}

WS_INLINE Pair8 add_pair8(Pair8 a, Pair8 b) {
    v8u lo = a.lo + b.lo;
    return {lo, a.hi + b.hi - (v8u)(lo < a.lo)};
}

WS_INLINE Pair8 sub_pair8(Pair8 a, Pair8 b) { return {a.lo - b.lo, a.hi - b.hi + (v8u)(a.lo < b.lo)}; }

// The whole product of 32-bit lanes.
template <bool Signed>
WS_INLINE Pair8 multiply8(v8u a, v8u b) {
#if defined(__AVX2__)
    auto times = [](__m256i x, __m256i y) { return Signed ? _mm256_mul_epi32(x, y) : _mm256_mul_epu32(x, y); };
    __m256i even = times((__m256i)a, (__m256i)b);
    __m256i odd = times(_mm256_srli_epi64((__m256i)a, 32), _mm256_srli_epi64((__m256i)b, 32));
    return {(v8u)_mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xaa),
            (v8u)_mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa)};
#else
    Pair8 r;
    for (int l = 0; l < 8; l++) {
        u64 p = Signed ? (u64)((i64)(i32)a[l] * (i32)b[l]) : (u64)a[l] * b[l];
        r.lo[l] = (u32)p;
        r.hi[l] = (u32)(p >> 32);
    }
    return r;
#endif
}

// The low 64 bits of a product of 64-bit lanes.
WS_INLINE Pair8 multiply_pair8(Pair8 a, Pair8 b) {
    Pair8 r = multiply8<false>(a.lo, b.lo);
    r.hi += a.lo * b.hi + a.hi * b.lo;
    return r;
}

// Writes f(g), eight lanes of 32 bits for each group g, to row d in the lanes of m.
template <class F>
WS_INLINE void write8(const WarpRows &w, Ref d, u32 m, F f) {
    u32 *row = Row::at(w, d);
    for (int g = 0; g < kGroups; g++) {
        v8u v = f(g);
        if (m != kFull) v = choose8(lanes8(m, g), v, load8(row, g));
        store8(row, g, v);
    }
}

// The same for 64-bit values in two rows.
template <class F>
WS_INLINE void write_pair8(const WarpRows &w, Ref d, u32 m, F f) {
    u32 *row = Row::at(w, d), *high = row + kLanes;
    for (int g = 0; g < kGroups; g++) {
        Pair8 v = f(g);
        if (m != kFull) {
            v8u in = lanes8(m, g);
            v.lo = choose8(in, v.lo, load8(row, g));
            v.hi = choose8(in, v.hi, load8(high, g));
        }
        store8(row, g, v.lo);
        store8(high, g, v.hi);
    }
}

// One bit per lane from f(g), which answers with sign bits.
template <class F>
WS_INLINE u32 bits8(F f) {
    u32 bits = 0;
    for (int g = 0; g < kGroups; g++) bits |= signs8(f(g)) << (8 * g);
    return bits;
}

// The lanes whose counter is at an instruction, and those that wait at a barrier or last did.
WS_INLINE u32 lanes_at(const Warp &w, i32 pc) {
    return bits8([&](int g) { return (v8u)(load8((const u32 *)w.pc, g) == all8((u32)pc)); });
}

WS_INLINE u32 lanes_with(const Warp &w, u8 barrier) {
    u32 bits = 0;
    for (int i = 0; i < kLanes; i++) bits |= (u32)(w.barrier_id[i] == barrier) << i;
    return bits;
}

WS_INLINE u32 combined(u32 t, u32 c, i64 how) { return how == 0 ? t & c : how == 1 ? t | c : t ^ c; }

// The end of a SETP: two answers, each combined with predicate c (which may be a destination: it is read first).
// Predicate 0 is never written.
WS_INLINE void write_tests(const WarpRows &w, const Ins &i, u32 first, u32 second, u32 m) {
    const u32 c = predicate(w.preds, i.c);
    if (i.d0) put_predicate(w.preds, (i32)i.d0, combined(first, c, i.imm), m);
    if (i.d1) put_predicate(w.preds, i.d1, combined(second, c, i.imm), m);
}

WS_INLINE void write_test(const WarpRows &w, const Ins &i, u32 t, u32 m) { write_tests(w, i, t, ~t, m); }

}  // namespace warpsight
