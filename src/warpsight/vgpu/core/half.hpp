// F16 and BF16: conversions and the additions that atomics need.
// Widening is exact and keeps NaN a NaN; narrowing takes a rounding mode of `mod` and gives the canonical NaN.
#pragma once
#include "lanes.hpp"

namespace warpsight {

float half_to_float(u16 h);
float bf16_to_float(u16 h);
u16 float_to_half(double x, u8 round);
u16 double_to_bf16(double x, u8 round);

u16 add_f16(u16 a, u16 b);
u16 add_bf16(u16 a, u16 b);
u32 add_f16x2(u32 a, u32 b);
u32 add_bf16x2(u32 a, u32 b);

}  // namespace warpsight
