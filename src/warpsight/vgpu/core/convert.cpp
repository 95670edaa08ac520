// CVT and CVT2. The common conversions have a vector form each; every other one goes through an exact number (a double,
// or sign and magnitude) that is rounded in integers by rounding.hpp, so the processor's rounding mode plays no part.
#include <limits>

#include "halves.hpp"
#include "rounding.hpp"

namespace warpsight {

namespace {

bool is_real(Type t) { return t == Type::F16 || t == Type::BF16 || t == Type::F32 || t == Type::F64; }
bool is_integer(Type t) { return t <= Type::S64; }
bool is_signed_type(Type t) { return t == Type::S8 || t == Type::S16 || t == Type::S32 || t == Type::S64; }

// ---- between integers

// Lanes as T, extended to 32 bits by T's sign.
template <class T>
WS_INLINE v8u extended8(v8u a) {
    constexpr int gap = 32 - 8 * (sizeof(T) < 4 ? (int)sizeof(T) : 4);
    if constexpr (gap == 0)
        return a;
    else if constexpr (std::is_signed_v<T>)
        return (v8u)((v8i)(a << gap) >> gap);
    else
        return a & (kFull >> gap);
}

template <class D, class S>
void resize(Warp &w, const Ins &i, u32 m) {
    const u32 *a = Row::at(w, i.a);
    if constexpr (sizeof(D) < 8) {
        write8(w, i.d0, m, [&](int g) { return extended8<Bits<D>>(extended8<S>(load8(a, g))); });
    } else if constexpr (sizeof(S) < 8) {
        write_pair8(w, i.d0, m, [&](int g) {
            v8u lo = extended8<S>(load8(a, g));
            return Pair8{lo, std::is_signed_v<S> ? (v8u)((v8i)lo >> 31) : all8(0)};
        });
    } else {
        write_pair8(w, i.d0, m, [&](int g) { return load_pair8(a, g); });
    }
}

Handler resize_handler(const Ins &i) {
    return with_integer(i.ta, [&]<class D>() -> Handler {
        return with_integer(i.tb, []<class S>() -> Handler { return resize<D, S>; });
    });
}

// ---- any source as an exact number

struct Number {
    bool whole;  // an integer: sign and magnitude; else a double
    bool negative;
    u64 magnitude;
    double real;
};

Number read_number(const u32 *row, int l, Type t) {
    u64 bits = row[l];
    int bytes = type_bytes(t);
    if (bytes == 8) bits |= (u64)row[l + kLanes] << 32;
    switch (t) {
        case Type::F16: return {false, false, 0, half_to_float((u16)bits)};
        case Type::BF16: return {false, false, 0, bf16_to_float((u16)bits)};
        case Type::F32: return {false, false, 0, std::bit_cast<float>((u32)bits)};
        case Type::F64: return {false, false, 0, std::bit_cast<double>(bits)};
        default: break;
    }
    int gap = 64 - 8 * bytes;
    bits <<= gap;
    if (!is_signed_type(t)) return {true, false, bits >> gap, 0};
    i64 value = (i64)bits >> gap;
    return {true, value < 0, value < 0 ? 0 - (u64)value : (u64)value, 0};
}

double rounded_to_whole(double x, u8 mode) {
    switch (mode) {
        case kRZ: return __builtin_trunc(x);
        case kRM: return __builtin_floor(x);
        case kRP: return __builtin_ceil(x);
        case kRNA: return __builtin_round(x);
        default: return __builtin_rint(x);
    }
}

// Clamped to the range of an integer type; bits of a 64-bit two's complement number.
u64 clamped_integer(Number n, Type t, u8 mode) {
    int width = 8 * type_bytes(t);
    bool is_signed = is_signed_type(t);
    if (!n.whole) {
        if (n.real != n.real) return width == 64 ? 1ull << 63 : 0;
        double x = rounded_to_whole(n.real, mode), size = __builtin_fabs(x);
        n = {true, x < 0, size >= 0x1p64 ? ~0ull : (u64)size, 0};
    }
    u64 highest = is_signed ? (1ull << (width - 1)) - 1 : width == 64 ? ~0ull : (1ull << width) - 1;
    u64 lowest = is_signed ? highest + 1 : 0;  // size of the most negative number
    if (n.negative) return 0 - (n.magnitude < lowest ? n.magnitude : lowest);
    return n.magnitude < highest ? n.magnitude : highest;
}

Format format_of(Type t) {
    switch (t) {
        case Type::F16: return kF16Format;
        case Type::BF16: return kBf16Format;
        case Type::F32: return kF32Format;
        default: return kF64Format;
    }
}

// FTZ (F32 only), SAT and RELU on a rounded result.
u64 finished_bits(u64 bits, Type t, u8 mod) {
    Format f = format_of(t);
    u64 sign = sign_bit_of(f), size = bits & (sign - 1), infinity = infinity_of(f), one = (u64)f.bias << f.mantissa;
    bool nan = size > infinity, negative = bits & sign;
    if (mod & kFtz && t == Type::F32 && size < 1ull << f.mantissa) bits &= sign, size = 0;
    if (mod & kSat) return nan || negative ? 0 : size > one ? one : size;
    if (mod & kRelu && !nan && negative) return 0;
    return nan ? f.quiet_nan : bits;
}

u64 converted(const u32 *row, int l, const Ins &i) {
    const u8 mode = i.mod & kRound;
    Number n = read_number(row, l, i.tb);
    if (i.tb == Type::F32 && i.mod & kFtz) n.real = flushed((float)n.real);
    if (is_integer(i.ta)) {
        if (!n.whole || i.mod & kSat) return clamped_integer(n, i.ta, mode);
        return n.negative ? 0 - n.magnitude : n.magnitude;
    }
    u64 bits;
    if (n.whole)
        bits = round_integer(n.negative, n.magnitude, format_of(i.ta), mode);
    else if (i.sub == 1)
        bits = round_double(rounded_to_whole(n.real, mode), format_of(i.ta), kRN);
    else
        bits = round_double(n.real, format_of(i.ta), mode);
    return finished_bits(bits, i.ta, i.mod);
}

// The general conversion. An integer narrower than its register is extended to it by its own sign.
void convert_any(Warp &w, const Ins &i, u32 m) {
    const u32 *row = Row::at(w, i.a);
    int bytes = type_bytes(i.ta), room = i.vec > bytes ? i.vec : bytes;
    int gap = 64 - 8 * bytes;
    bool extend = is_integer(i.ta) && is_signed_type(i.ta);
    u64 mask = room >= 8 ? ~0ull : (1ull << 8 * room) - 1;
    u64 out[kLanes];
    for (int l = 0; l < kLanes; l++) {
        u64 bits = converted(row, l, i) << gap;
        out[l] = (extend ? (u64)((i64)bits >> gap) : bits >> gap) & mask;
    }
    if (room == 8)
        fill<u64>(w, i.d0, m, [&](int l) { return out[l]; });
    else
        fill<u32>(w, i.d0, m, [&](int l) { return (u32)out[l]; });
}

// ---- common conversions with floats

template <bool Signed>
void integer_to_float(Warp &w, const Ins &i, u32 m) {
    const u32 *a = Row::at(w, i.a);
    write8(w, i.d0, m, [&](int g) {
        v8u x = load8(a, g);
        if (Signed) return (v8u) __builtin_convertvector((v8i)x, v8f);
        // Halves convert exactly, the scaling is exact, so the sum is the only rounding.
        v8f high = __builtin_convertvector((v8i)(x >> 16), v8f), low = __builtin_convertvector((v8i)(x & 0xffff), v8f);
        return (v8u)(high * 65536.0f + low);
    });
}

// Other integers to F32 or F64: the processor's own conversion, which rounds to nearest.
template <class R, class T>
void integer_to_real(Warp &w, const Ins &i, u32 m) {
    auto a = values<T>(w, i.a);
    fill<R>(w, i.d0, m, [&](int l) { return (R)a[l]; });
}

template <u8 Mode, class R>
WS_INLINE R whole_real(R x) {
    if constexpr (Mode == kRZ)
        return std::trunc(x);
    else if constexpr (Mode == kRM)
        return std::floor(x);
    else if constexpr (Mode == kRP)
        return std::ceil(x);
    else
        return std::rint(x);
}

// Clamping first keeps the conversion in range; NaN takes the middle of three choices, zero.
template <class T, class R, u8 Mode, bool Ftz>
void real_to_integer(Warp &w, const Ins &i, u32 m) {
    auto a = values<R>(w, i.a);
    constexpr R top = std::is_signed_v<T> ? (R)0x1p31 : (R)0x1p32, bottom = std::is_signed_v<T> ? (R)-0x1p31 : (R)0;
    fill<u32>(w, i.d0, m, [&](int l) {
        R x = whole_real<Mode, R>(taken<R, Ftz>(a[l]));
        bool high = x >= top, inside = x > bottom && x < top;
        R safe = inside ? x : (R)0;
        u32 bits;
        if constexpr (std::is_signed_v<T>)
            bits = (u32)(i32)safe;
        else
            bits = safe >= (R)0x1p31 ? (u32)(i32)(safe - (R)0x1p31) ^ 0x80000000u : (u32)(i32)safe;
        u32 least = std::is_signed_v<T> && x <= bottom ? 0x80000000u : 0u;
        return high ? (u32)std::numeric_limits<T>::max() : bits | least;
    });
}

template <class T, class R, bool Ftz>
Handler to_integer_handler(u8 mode) {
    switch (mode) {
        case kRN: return real_to_integer<T, R, kRN, Ftz>;
        case kRZ: return real_to_integer<T, R, kRZ, Ftz>;
        case kRM: return real_to_integer<T, R, kRM, Ftz>;
        case kRP: return real_to_integer<T, R, kRP, Ftz>;
        default: return nullptr;
    }
}

template <class T>
Handler to_integer_handler(const Ins &i) {
    const u8 mode = i.mod & kRound;
    if (i.tb == Type::F64) return to_integer_handler<T, double, false>(mode);
    if (i.tb != Type::F32) return nullptr;
    return i.mod & kFtz ? to_integer_handler<T, float, true>(mode) : to_integer_handler<T, float, false>(mode);
}

Handler from_integer_handler(const Ins &i) {
    if (i.ta == Type::F32 && i.tb == Type::S32) return integer_to_float<true>;
    if (i.ta == Type::F32 && (i.tb == Type::U32 || i.tb == Type::B32)) return integer_to_float<false>;
    return with_integer(i.tb, [&]<class T>() -> Handler {
        return i.ta == Type::F32 ? integer_to_real<float, T> : i.ta == Type::F64 ? integer_to_real<double, T> : nullptr;
    });
}

template <class Format16>
void half_to_f32(Warp &w, const Ins &i, u32 m) {
    float x[kLanes];
    take_halves<Format16, kLanes>(w, i.a, false, x);
    const bool ftz = i.mod & kFtz;
    fill<float>(w, i.d0, m, [&](int l) { return canonical(ftz ? flushed(x[l]) : x[l]); });
}

template <class Format16>
void f32_to_half(Warp &w, const Ins &i, u32 m) {
    auto a = values<float>(w, i.a);
    const bool ftz = i.mod & kFtz;
    float x[kLanes];
    u16 h[kLanes];
    for (int l = 0; l < kLanes; l++) x[l] = ftz ? flushed(a[l]) : a[l];
    Format16::narrow(x, h, kLanes);
    finish_halves<Format16>(h, kLanes, i.mod & (kSat | kRelu));
    write_halves<kLanes>(w, i.d0, m, h);
}

void f32_to_f64(Warp &w, const Ins &i, u32 m) {
    auto a = values<float>(w, i.a);
    const bool ftz = i.mod & kFtz;
    fill<double>(w, i.d0, m, [&](int l) { return canonical((double)(ftz ? flushed(a[l]) : a[l])); });
}

void f64_to_f32(Warp &w, const Ins &i, u32 m) {
    auto a = values<double>(w, i.a);
    const bool ftz = i.mod & kFtz;
    fill<float>(w, i.d0, m, [&](int l) {
        float x = (float)a[l];
        return canonical(ftz ? flushed(x) : x);
    });
}

// To the nearest of ten mantissa bits, ties away from zero; the low thirteen bits stay clear.
void f32_to_tf32(Warp &w, const Ins &i, u32 m) {
    auto a = values<float>(w, i.a);
    fill<u32>(w, i.d0, m, [&](int l) {
        u32 bits = std::bit_cast<u32>(i.mod & kFtz ? flushed(a[l]) : a[l]);
        if ((bits & 0x7fffffffu) > 0x7f800000u) return Real<float>::canonical;
        if (i.mod & kRelu && bits >> 31) return 0u;
        return (bits + 0x1000u) & 0xffffe000u;
    });
}

// Two floats to a pair: a to the high half, b to the low half.
template <class Format16>
void pack(Warp &w, const Ins &i, u32 m) {
    const u32 *a = Row::at(w, i.a), *b = Row::at(w, i.b);
    Ins half = i;
    half.ta = std::is_same_v<Format16, HalfFormat> ? Type::F16 : Type::BF16;
    half.mod = i.sub == 1 ? i.mod | kRelu : i.mod;
    half.sub = 0;
    fill<u32>(w, i.d0, m, [&](int l) { return (u32)converted(b, l, half) | (u32)converted(a, l, half) << 16; });
}

template <class Format16>
void pack_nearest(Warp &w, const Ins &i, u32 m) {
    auto a = values<float>(w, i.a), b = values<float>(w, i.b);
    float x[2 * kLanes];
    u16 h[2 * kLanes];
    for (int l = 0; l < kLanes; l++) x[2 * l] = b[l], x[2 * l + 1] = a[l];
    Format16::narrow(x, h, 2 * kLanes);
    if (i.sub == 1 || i.mod & kRelu) finish_halves<Format16>(h, 2 * kLanes, kRelu);
    write_halves<2 * kLanes>(w, i.d0, m, h);
}

// ---- pairs of 8-bit floats

// The nearest number of format F, ties to even; what is too large, and infinity, becomes the largest finite one.
template <Format F>
WS_INLINE u32 to_eight(float x, bool relu) {
    constexpr int drop = 23 - F.mantissa;
    constexpr u32 smallest_normal = (u32)(128 - F.bias) << 23, largest = (u32)infinity_of(F) - 1;
    // A float whose last bit is the last bit of F's denormals: adding it rounds to them.
    constexpr u32 unit = (u32)(127 + 24 - F.bias - F.mantissa) << 23;
    u32 bits = std::bit_cast<u32>(x), size = bits & 0x7fffffffu, sign = bits >> 24 & 0x80;
    u32 normal = ((size + (1u << (drop - 1)) - 1 + (size >> drop & 1)) >> drop) - ((u32)(127 - F.bias) << F.mantissa);
    u32 denormal = std::bit_cast<u32>(std::bit_cast<float>(size) + std::bit_cast<float>(unit)) - unit;
    u32 code = size < smallest_normal ? denormal : normal;
    code = code < largest ? code : largest;
    code = relu && sign ? 0 : code | sign;
    return size > 0x7f800000u ? (u32)F.quiet_nan : code;
}

template <Format F>
WS_INLINE float from_eight(u32 code) {
    u32 size = code & 0x7f;
    float x = std::bit_cast<float>(size << (23 - F.mantissa)) * std::bit_cast<float>((u32)(254 - F.bias) << 23);
    u32 bits = std::bit_cast<u32>(x) | (code & 0x80) << 24;
    u32 beyond = F.has_infinity && size == infinity_of(F) ? 0x7f800000u | (code & 0x80) << 24 : Real<float>::canonical;
    return std::bit_cast<float>(size < infinity_of(F) ? bits : beyond);
}

// Two floats: a to the high byte, b to the low byte.
template <Format F>
void pack_eights(Warp &w, const Ins &i, u32 m) {
    auto a = values<float>(w, i.a), b = values<float>(w, i.b);
    const bool relu = i.sub == 1 || i.mod & kRelu;
    fill<u32>(w, i.d0, m, [&](int l) { return to_eight<F>(b[l], relu) | to_eight<F>(a[l], relu) << 8; });
}

template <Format F>
void halves_to_eights(Warp &w, const Ins &i, u32 m) {
    float x[2 * kLanes];
    take_halves<HalfFormat, 2 * kLanes>(w, i.a, false, x);
    const bool relu = i.mod & kRelu;
    fill<u32>(w, i.d0, m, [&](int l) { return to_eight<F>(x[2 * l], relu) | to_eight<F>(x[2 * l + 1], relu) << 8; });
}

template <Format F>
void eights_to_halves(Warp &w, const Ins &i, u32 m) {
    auto a = values<u16>(w, i.a);
    float x[2 * kLanes];
    u16 h[2 * kLanes];
    for (int l = 0; l < kLanes; l++) x[2 * l] = from_eight<F>(a[l]), x[2 * l + 1] = from_eight<F>(a[l] >> 8);
    HalfFormat::narrow(x, h, 2 * kLanes);
    finish_halves<HalfFormat>(h, 2 * kLanes, i.mod & kRelu);
    write_halves<2 * kLanes>(w, i.d0, m, h);
}

// nullptr for any conversion that has no pair of 8-bit floats.
Handler eights_handler(const Ins &i) {
    if (i.mod & (kRound | kSat | kFtz)) return nullptr;
    if (i.op == Op::CVT2) {
        if (i.tb != Type::F32) return nullptr;
        if (i.ta == Type::E4M3X2) return pack_eights<kE4m3Format>;
        return i.ta == Type::E5M2X2 ? pack_eights<kE5m2Format> : nullptr;
    }
    if (i.tb == Type::F16X2) {
        if (i.ta == Type::E4M3X2) return halves_to_eights<kE4m3Format>;
        return i.ta == Type::E5M2X2 ? halves_to_eights<kE5m2Format> : nullptr;
    }
    if (i.ta != Type::F16X2) return nullptr;
    if (i.tb == Type::E4M3X2) return eights_to_halves<kE4m3Format>;
    return i.tb == Type::E5M2X2 ? eights_to_halves<kE5m2Format> : nullptr;
}

// A vector form, or nullptr when only the general one will do.
Handler common_handler(const Ins &i) {
    const Type d = i.ta, s = i.tb;
    const bool nearest = (i.mod & kRound) == kRN, sat = i.mod & kSat, plain = i.sub == 0;
    if (is_integer(d) && is_integer(s)) return sat || i.vec > type_bytes(d) ? nullptr : resize_handler(i);
    if (i.vec > type_bytes(d)) return nullptr;
    if (d == Type::S32) return to_integer_handler<i32>(i);
    if (d == Type::U32) return to_integer_handler<u32>(i);
    if (is_integer(d) || !plain) return nullptr;
    if (is_integer(s)) return nearest && !sat && !(i.mod & kRelu) ? from_integer_handler(i) : nullptr;
    if (d == Type::F32 && !sat && !(i.mod & kRelu)) {
        if (s == Type::F16) return half_to_f32<HalfFormat>;
        if (s == Type::BF16) return half_to_f32<BrainFormat>;
        if (s == Type::F64 && nearest) return f64_to_f32;
    }
    if (s == Type::F32 && nearest) {
        if (d == Type::F16) return f32_to_half<HalfFormat>;
        if (d == Type::BF16) return f32_to_half<BrainFormat>;
    }
    if (s == Type::F32 && d == Type::F64 && !sat) return f32_to_f64;
    return nullptr;
}

Handler pack_handler(const Ins &i) {
    const bool nearest = i.tb == Type::F32 && !(i.mod & (kRound | kSat | kFtz));
    if (!is_real(i.tb) && !is_integer(i.tb)) return nullptr;
    if (i.ta == Type::F16X2) return nearest ? pack_nearest<HalfFormat> : pack<HalfFormat>;
    if (i.ta == Type::BF16X2) return nearest ? pack_nearest<BrainFormat> : pack<BrainFormat>;
    return nullptr;
}

}  // namespace

Handler find_convert(const Ins &i) {
    if (i.op != Op::CVT && i.op != Op::CVT2) return nullptr;
    if (Handler eights = eights_handler(i)) return eights;
    if (i.op == Op::CVT2) return pack_handler(i);
    if (i.ta == Type::TF32) return i.tb == Type::F32 ? f32_to_tf32 : nullptr;
    if ((!is_real(i.ta) && !is_integer(i.ta)) || (!is_real(i.tb) && !is_integer(i.tb))) return nullptr;
    Handler common = common_handler(i);
    return common ? common : convert_any;
}

}  // namespace warpsight
