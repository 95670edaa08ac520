// The shape of one warp access: addresses of the lanes that are on, and what they cost in sectors, lines and
// shared-memory passes. Rules: a sector is 32 bytes, a line 128; shared memory has 32 banks of 4 bytes, and accesses of
// 8 or 16 bytes per lane go in 2 or 4 passes of lanes.
#pragma once
#include "lanes.hpp"

namespace warpsight {

enum class Shape : u8 { uniform, contiguous, general };

struct Access {
    u64 base;   // lowest address of a lane that is on
    u32 reach;  // highest offset from base
    Shape shape;
    u32 m;
    alignas(32) u32 offset[kLanes];  // from base; 0 for lanes that are off
};

// Lanes of `m` at `low + high * 2^32 + imm` (high may be null). False when they are too far apart for 32-bit offsets:
// treat lane by lane.
bool shape_of(const u32 *low, const u32 *high, i64 imm, u32 m, u32 size, Access &out);

void count_blocks(const Access &, u32 size, u32 *sectors, u32 *lines);  // global memory
u32 count_words(const Access &);                                        // distinct 4-byte words: constant memory
u32 count_wavefronts(const Access &, u32 size, u32 *ideal);             // shared memory
u32 most_at_one_address(const Access &);

}  // namespace warpsight
