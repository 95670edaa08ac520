// The shape of one warp access: addresses of the lanes that are on, and what they cost in sectors, lines and
// shared-memory passes. Rules: a sector is 32 bytes, a line 128; shared memory has 32 banks of 4 bytes, and accesses of
// 8 or 16 bytes per lane go in 2 or 4 passes of lanes.
#pragma once
#include <array>

#include "lanes.hpp"

namespace warpsight {

enum class Shape : u8 { uniform, contiguous, general };

struct Access {
    u64 base;   // lowest address of a lane that is on
    u32 reach;  // highest offset from base
    Shape shape;
    u32 m;
    alignas(32) u32 offset[kLanes];  // from base; 0 for lanes that are off
    u32 low_bits = ~0u;              // bits in which addresses differ, or more
    u8 groups = 0;                   // of a general shape, for each group of eight lanes: see group_of
};

enum : u8 { kScattered = 0, kSame = 1, kInARow = 2 };  // how the eight lanes of a group lie
inline u8 group_of(const Access &x, int g) { return x.groups >> 2 * g & 3; }

struct Allocation;

// What one access cost.
struct Cost {
    u32 sectors = 0, lines = 0, wavefronts = 0, ideal = 0;
};

constexpr u32 kPlaces = 32;  // words in a line

// The shape that an instruction's last access had, what it cost and where it was: most accesses of an instruction
// differ in their base alone. One for each memory instruction and core.
struct Known {
    Access access;
    u32 size = 0;     // of the access; 0: nothing is known
    u8 space = 0;     // for which the costs below hold
    u32 counted = 0;  // a bit for each place in a line whose cost is known
    i32 pc = 0;       // whose accesses these are
    std::array<Cost, kPlaces> cost{};
    std::array<u32, kPlaces> times{};  // accesses at each place that are not in the counters yet
    Allocation *allocation = nullptr;  // of an access to global memory
    u64 start = 0, bytes = 0;          // the addresses of the shared array of one to shared memory, and...
    u64 shift = 0;                     // ...how far they are from its places
};

// Lanes of `m` at `low + high * 2^32 + imm` (high may be null). False when they are too far apart for 32-bit offsets:
// treat lane by lane.
bool shape_of(const u32 *low, const u32 *high, i64 imm, u32 m, u32 size, Access &out);

void count_blocks(const Access &, u32 size, u32 *sectors, u32 *lines);  // global memory
u32 count_words(const Access &);                                        // distinct 4-byte words: constant memory
u32 count_wavefronts(const Access &, u32 size, u32 *ideal);             // shared memory
u32 most_at_one_address(const Access &);

}  // namespace warpsight
