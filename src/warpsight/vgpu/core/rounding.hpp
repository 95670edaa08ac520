// Rounding of an exact number to any binary format in any mode, in integers only: conversions do not depend on the
// processor's rounding mode. A number is sign, 64-bit magnitude and power of two; a double is one exactly.
#pragma once
#include <bit>

#include "lanes.hpp"

namespace warpsight {

struct Format {
    int mantissa, bias;  // explicit mantissa bits, exponent bias; IEEE layout
    u64 quiet_nan;
    bool has_infinity = true;  // else only the last code is NaN and every code before it is finite
};
constexpr Format kF16Format{10, 15, 0x7fff}, kBf16Format{7, 127, 0x7fff}, kTf32Format{10, 127, 0x3ffff},
    kF32Format{23, 127, 0x7fffffff}, kF64Format{52, 1023, 0xfff8000000000000}, kE4m3Format{3, 7, 0x7f, false},
    kE5m2Format{2, 15, 0x7f};

constexpr u64 sign_bit_of(Format f) { return (u64)(2 * f.bias + 2) << f.mantissa; }
// The code after the largest finite number: infinity, or NaN where there is none.
constexpr u64 infinity_of(Format f) {
    return f.has_infinity ? (u64)(2 * f.bias + 1) << f.mantissa : sign_bit_of(f) - 1;
}

inline bool rounds_up(bool negative, bool odd, u64 rest, u64 half, u8 mode) {
    switch (mode) {
        case kRZ: return false;
        case kRM: return negative && rest != 0;
        case kRP: return !negative && rest != 0;
        case kRNA: return rest >= half;
        default: return rest > half || (rest == half && odd);
    }
}

// magnitude * 2^power, signed, in format f.
inline u64 round_number(bool negative, u64 magnitude, int power, Format f, u8 mode) {
    const u64 sign = negative ? sign_bit_of(f) : 0;
    if (magnitude == 0) return sign;
    int zeros = std::countl_zero(magnitude);
    u64 m = magnitude << zeros;         // top bit set
    int exponent = power + 63 - zeros;  // of the top bit
    const int lowest = 1 - f.bias;
    int field = exponent > lowest ? exponent - lowest : 0;
    int drop = 63 - f.mantissa + (exponent < lowest ? lowest - exponent : 0);
    if (drop > 62) {  // too small to keep a bit: squeeze, and remember in the last bit that something was there
        int extra = drop - 62;
        m = extra > 63 ? 1 : (m >> extra) | ((m & ((1ull << extra) - 1)) != 0);
        drop = 62;
    }
    u64 kept = m >> drop, rest = m & ((1ull << drop) - 1);
    u64 value =
        ((u64)field << f.mantissa) + kept + (rounds_up(negative, kept & 1, rest, 1ull << (drop - 1), mode) ? 1 : 0);
    if (value >= infinity_of(f)) {
        bool keep_finite = mode == kRZ || (mode == kRM && !negative) || (mode == kRP && negative);
        value = infinity_of(f) - (keep_finite ? 1 : 0);
    }
    return sign | value;
}

inline u64 round_double(double x, Format f, u8 mode) {
    u64 bits = std::bit_cast<u64>(x), fraction = bits & ((1ull << 52) - 1);
    int field = (int)(bits >> 52 & 0x7ff);
    bool negative = bits >> 63;
    if (field == 0x7ff) return fraction ? f.quiet_nan : (negative ? sign_bit_of(f) : 0) | infinity_of(f);
    return round_number(negative, field ? fraction | 1ull << 52 : fraction, (field ? field : 1) - 1075, f, mode);
}

inline u64 round_integer(bool negative, u64 magnitude, Format f, u8 mode) {
    return round_number(negative && magnitude, magnitude, 0, f, mode);
}

}  // namespace warpsight
