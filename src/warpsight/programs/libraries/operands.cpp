#include "operands.hpp"

namespace stand_in {
namespace {

float from_bits(uint32_t bits) {
    float f;
    return memcpy(&f, &bits, 4), f;
}
uint32_t to_bits(float f) {
    uint32_t bits;
    return memcpy(&bits, &f, 4), bits;
}

// A small float with its sign first: widening is exact.
float small_float(uint32_t bits, int exponent_bits, int mantissa_bits, bool has_infinity) {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const uint32_t top = (1u << exponent_bits) - 1, mantissa_mask = (1u << mantissa_bits) - 1;
    const uint32_t exponent = (bits >> mantissa_bits) & top, mantissa = bits & mantissa_mask;
    const float sign = bits >> (exponent_bits + mantissa_bits) & 1 ? -1.0f : 1.0f;
    if (exponent == top && (has_infinity || mantissa == mantissa_mask))
        return mantissa ? std::nanf("") : sign * INFINITY;
    if (!exponent) return sign * std::ldexp((float)mantissa, 1 - bias - mantissa_bits);
    return sign * std::ldexp((float)(mantissa | (mantissa_mask + 1)), (int)exponent - bias - mantissa_bits);
}

// To the nearest value of such a float, ties to even; values past the largest become `over`.
uint32_t small_bits(float f, int exponent_bits, int mantissa_bits, float largest, uint32_t over, uint32_t nan) {
    const uint32_t sign = to_bits(f) >> 31 << (exponent_bits + mantissa_bits);
    const int bias = (1 << (exponent_bits - 1)) - 1;
    if (std::isnan(f)) return sign | nan;
    const float a = std::fabs(f);
    int exponent;
    std::frexp(a, &exponent);
    const int least = 1 - bias;
    const int unit = std::max(exponent - 1, least) - mantissa_bits;
    const float rounded = std::nearbyint(std::ldexp(a, -unit));  // the default direction: nearest, even
    const float value = std::ldexp(rounded, unit);
    if (a == INFINITY || value > largest) return sign | over;
    if (value < std::ldexp(1.0f, least)) return sign | (uint32_t)std::ldexp(value, mantissa_bits - least);
    std::frexp(value, &exponent);
    const uint32_t mantissa = (uint32_t)std::ldexp(value, mantissa_bits - (exponent - 1)) & ((1u << mantissa_bits) - 1);
    return sign | (uint32_t)(exponent - 1 + bias) << mantissa_bits | mantissa;
}

}  // namespace

float widened(Half v) {
    static const std::vector<float> all = [] {
        std::vector<float> made(65536);
        for (uint32_t bits = 0; bits < made.size(); bits++) made[bits] = small_float(bits, 5, 10, true);
        return made;
    }();
    return all[v.bits];
}
float widened(Bfloat v) { return from_bits((uint32_t)v.bits << 16); }
float widened(E4M3 v) { return small_float(v.bits, 4, 3, false); }
float widened(E5M2 v) { return small_float(v.bits, 5, 2, true); }
void narrow(float f, Half *out) { out->bits = (uint16_t)small_bits(f, 5, 10, 65504.0f, 0x7c00, 0x7fff); }
void narrow(float f, Bfloat *out) {
    const uint32_t bits = to_bits(f);
    out->bits = std::isnan(f) ? 0x7fff : (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
void narrow(float f, E4M3 *out) { out->bits = (uint8_t)small_bits(f, 4, 3, 448.0f, 0x7e, 0x7f); }
void narrow(float f, E5M2 *out) { out->bits = (uint8_t)small_bits(f, 5, 2, 57344.0f, 0x7b, 0x7f); }

u64 size_of(cudaDataType type) {
    switch (type) {
        case CUDA_R_8F_E4M3:
        case CUDA_R_8F_E5M2:
        case CUDA_R_8I:
        case CUDA_R_8U: return 1;
        case CUDA_R_16F:
        case CUDA_R_16BF: return 2;
        case CUDA_R_32F:
        case CUDA_R_32I: return 4;
        case CUDA_R_64F:
        case CUDA_C_32F: return 8;
        case CUDA_C_64F: return 16;
        default: return 0;
    }
}

double number_at(const void *p, cudaDataType type, u64 i) {
    switch (type) {
        case CUDA_R_8F_E4M3: return widened(((const E4M3 *)p)[i]);
        case CUDA_R_8F_E5M2: return widened(((const E5M2 *)p)[i]);
        case CUDA_R_8I: return ((const int8_t *)p)[i];
        case CUDA_R_8U: return ((const uint8_t *)p)[i];
        case CUDA_R_16F: return widened(((const Half *)p)[i]);
        case CUDA_R_16BF: return widened(((const Bfloat *)p)[i]);
        case CUDA_R_32F: return ((const float *)p)[i];
        case CUDA_R_32I: return ((const int32_t *)p)[i];
        case CUDA_R_64F: return ((const double *)p)[i];
        default: return 0;
    }
}

void put_number(void *p, cudaDataType type, u64 i, double v) {
    switch (type) {
        case CUDA_R_8F_E4M3: return narrow((float)v, (E4M3 *)p + i);
        case CUDA_R_8F_E5M2: return narrow((float)v, (E5M2 *)p + i);
        case CUDA_R_8I: ((int8_t *)p)[i] = (int8_t)v; return;
        case CUDA_R_16F: return narrow((float)v, (Half *)p + i);
        case CUDA_R_16BF: return narrow((float)v, (Bfloat *)p + i);
        case CUDA_R_32F: ((float *)p)[i] = (float)v; return;
        case CUDA_R_32I: ((int32_t *)p)[i] = (int32_t)v; return;
        case CUDA_R_64F: ((double *)p)[i] = v; return;
        default: return;
    }
}

Extent matrix_extent(const void *p, u64 rows, u64 columns, i64 leading, u64 size) {
    return {p, rows && columns ? ((columns - 1) * (u64)leading + rows) * size : 0};
}

Extent vector_extent(const void *p, i64 n, i64 step, u64 size) {
    return {p, n > 0 ? ((u64)(n - 1) * (u64)std::abs(step) + 1) * size : 0};
}

bool reachable(const char *name, std::initializer_list<Extent> operands) {
    for (const auto &[at, bytes] : operands) {
        if (!bytes) continue;
        if (host_memory(at)) return say("%s: %p is no device memory", name, at), false;
        if (!whole(at, bytes))
            return say("%s: %zu bytes at %p run past their allocation", name, (size_t)bytes, at), false;
    }
    return true;
}

}  // namespace stand_in
