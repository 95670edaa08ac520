// Integer operations on one lane that have no vector form here: bit fields, byte permutes, divisions, dot products.
// Every function is defined for all inputs (docs/bytecode.md says what the odd ones give) and never traps.
#pragma once
#include <limits>

#include "scalar.hpp"

namespace warpsight {

template <class T>
constexpr int width_of = 8 * (int)sizeof(T);
template <class T>
constexpr bool is_signed_of = std::is_signed_v<T>;

template <class T>
T shift_left(T a, u32 n) {
    return n < (u32)width_of<T> ? (T)((Wrap<T>)a << n) : (T)0;
}

template <class T>
T shift_right(T a, u32 n) {
    constexpr u32 width = width_of<T>;
    if constexpr (is_signed_of<T>)
        return (T)(a >> (n < width ? n : width - 1));
    else
        return n < width ? (T)(a >> n) : (T)0;
}

template <class T>
T divide(T a, T b) {
    if (b == 0) return (T) ~(T)0;
    if constexpr (sizeof(T) <= 4) {
        // Exact: a quotient of 32-bit integers is never nearer than 2^20 units of a double to the next integer.
        // Vectorises.
        return (T)(i64)((double)a / (double)b);
    } else if constexpr (is_signed_of<T>) {
        if (b == -1) return (T)(0 - (u64)a);
        return a / b;
    } else
        return a / b;
}

template <class T>
T remainder(T a, T b) {
    if (b == 0) return a;
    if constexpr (is_signed_of<T> && sizeof(T) == 8) {
        if (b == -1) return 0;
    }
    if constexpr (sizeof(T) == 8)
        return a % b;
    else
        return (T)((u32)a - (u32)divide<T>(a, b) * (u32)b);
}

template <class T>
T multiply_high(T a, T b) {
    if constexpr (sizeof(T) == 8) {
        using Wide = std::conditional_t<is_signed_of<T>, __int128, unsigned __int128>;
        return (T)((Wide)a * (Wide)b >> 64);
    } else {
        using Wide = std::conditional_t<is_signed_of<T>, i64, u64>;
        return (T)((Wide)a * (Wide)b >> width_of<T>);
    }
}

template <class T>
T bit_field(T a, u32 pos, u32 len) {
    constexpr u32 width = width_of<T>;
    using U = Bits<T>;
    pos &= 255, len &= 255;
    if (len == 0) return 0;
    U field = shift_right<U>((U)a, pos);
    U low = len < width ? (U)(shift_left<U>(1, len) - 1) : (U) ~(U)0;
    field &= low;
    if constexpr (is_signed_of<T>) {
        u32 top = pos + len - 1 < width ? pos + len - 1 : width - 1;
        u32 known = pos < width ? (len < width - pos ? len : width - pos) : 0;  // bits that exist in a
        if ((U)a >> top & 1) field |= known < width ? (U) ~(shift_left<U>(1, known) - 1) : 0;
    }
    return (T)field;
}

template <class T>
T insert_field(T f, T g, u32 pos, u32 len) {
    using U = Bits<T>;
    pos &= 255, len &= 255;
    U low = len < (u32)width_of<T> ? (U)(shift_left<U>(1, len) - 1) : (U) ~(U)0;
    U mask = shift_left<U>(low, pos);
    return (T)(((U)g & ~mask) | (shift_left<U>((U)f, pos) & mask));
}

template <class T>
int leading_zeros(T a) {
    return std::countl_zero((Bits<T>)a);
}

template <class T>
u32 find_top_bit(T a, bool as_shift) {
    Bits<T> x = (Bits<T>)a;
    if (is_signed_of<T> && a < (T)0) x = (Bits<T>)~x;
    if (x == 0) return kFull;
    u32 zeros = (u32)std::countl_zero(x);
    return as_shift ? zeros : (u32)width_of<T> - 1 - zeros;
}

template <class T>
T reverse_bits(T a) {
    Bits<T> x = (Bits<T>)a, r = 0;
    for (int k = 0; k < width_of<T>; k++) r = (Bits<T>)((r << 1) | (x >> k & 1));
    return (T)r;
}

inline u32 find_nth_set(u32 mask, u32 base, i32 offset) {
    if (base > 31) return kFull;
    if (offset == 0) return mask >> base & 1 ? base : kFull;
    int step = offset > 0 ? 1 : -1;
    u32 left = (offset > 0 ? (u32)offset : 0u - (u32)offset) - 1;
    for (int pos = (int)base; pos >= 0 && pos < 32; pos += step)
        if (mask >> pos & 1 && left-- == 0) return (u32)pos;
    return kFull;
}

// Modes as PTX's table numbers them: 0 default, 1 f4e, 2 b4e, 3 rc8, 4 ecl, 5 ecr, 6 rc16.
inline u32 permute_bytes(u32 a, u32 b, u32 c, int mode) {
    u64 bytes = (u64)b << 32 | a;
    u32 s = c & 3, r = 0;
    for (u32 k = 0; k < 4; k++) {
        u32 pick = c >> 4 * k & 15;
        switch (mode) {
            case 1: pick = k + s; break;
            case 2: pick = (s - k) & 7; break;
            case 3: pick = s; break;
            case 4: pick = k > s ? k : s; break;
            case 5: pick = k < s ? k : s; break;
            case 6: pick = (k & 1) + 2 * (s & 1); break;
            default: break;
        }
        u32 byte = (u32)(bytes >> 8 * (pick & 7)) & 255;
        if (pick & 8) byte = byte & 128 ? 255 : 0;
        r |= byte << 8 * k;
    }
    return r;
}

inline u32 bit_mask(u32 start, u32 count, bool wrap) {
    if (wrap) start &= 31, count &= 31;
    u32 ones = count < 32 ? (1u << count) - 1 : kFull;
    return shift_left<u32>(ones, start);
}

template <class T>
T extend_from(T a, u32 bits, bool wrap) {
    bits = wrap ? bits & 31 : (bits < 32 ? bits : 32);
    return bits == 0 ? (T)0 : shift_right<T>(shift_left<T>(a, 32 - bits), 32 - bits);
}

inline u32 funnel_shift(u32 a, u32 b, u32 n) {  // left: the high word of (b:a) << n, n <= 32
    return (u32)(((u64)b << 32 | a) << n >> 32);
}

// Part k, `bits` wide, of x as a signed or unsigned number.
inline i64 part_of(u32 x, int k, int bits, bool is_signed) {
    u32 p = x << (32 - bits * (k + 1)) >> (32 - bits);
    return is_signed ? (i64)((i32)(p << (32 - bits)) >> (32 - bits)) : (i64)p;
}

inline u32 dot_bytes(u32 a, u32 b, u32 c, bool sa, bool sb) {
    i64 sum = c;
    for (int k = 0; k < 4; k++) sum += part_of(a, k, 8, sa) * part_of(b, k, 8, sb);
    return (u32)sum;
}

inline u32 dot_halves(u32 a, u32 b, u32 c, bool sa, bool sb, bool high) {
    i64 sum = c;
    for (int k = 0; k < 2; k++) sum += part_of(a, k, 16, sa) * part_of(b, k + (high ? 2 : 0), 8, sb);
    return (u32)sum;
}

inline u32 absolute_differences(u32 a, u32 b, u32 c, int parts, bool is_signed, bool accumulate) {
    int bits = 32 / parts;
    u32 sum = c, packed = 0, mask = (u32)((1ull << bits) - 1);
    for (int k = 0; k < parts; k++) {
        i64 d = part_of(a, k, bits, is_signed) - part_of(b, k, bits, is_signed);
        u32 size = (u32)(d < 0 ? -d : d);
        sum += size;
        packed |= (size & mask) << bits * k;
    }
    return accumulate ? sum : packed;
}

}  // namespace warpsight
