// What chosen blocks did, step by step: the input of the simulation of one multiprocessor.
// A step is an instruction executed by a warp; a step that touched memory has one record of what the access costs and
// which sectors it moved.
#pragma once
#include <memory>
#include <vector>

#include "lanes.hpp"

namespace warpsight {

struct MemoryStep {
    u32 step;            // index in WarpTrace::steps
    u32 first_sector;    // in WarpTrace::sectors
    u16 sectors = 0;     // 32-byte sectors of global or local memory
    u16 lines = 0;       // 128-byte lines
    u16 wavefronts = 0;  // passes through shared memory
    u16 passes = 0;      // atomics: the most lanes at one address
    u8 bytes_per_lane = 0;
    u8 space = 0;
    u16 partial = 0;         // of the sectors, those that the lanes cover in part
    u16 tag_passes = 0;      // cycles in the tag stage: lines, four sets at a time
    u16 constant_lines = 0;  // of constant memory, 64 bytes each; they too are listed in WarpTrace::sectors
};

// A step at a barrier has in `first_sector` which one it is, whether the warp goes on, and how many warps meet (0:
// all).
struct BarrierStep {
    u32 id = 0;
    bool arrives = false;
    u32 warps = 0;
    static BarrierStep of(u32 packed) { return {packed & 15, (packed >> 4 & 1) != 0, packed >> 8}; }
    u32 packed() const { return id | (u32)arrives << 4 | warps << 8; }
};

struct WarpTrace {
    std::vector<u32> steps;  // instruction index; the top bit says that it has a MemoryStep
    std::vector<MemoryStep> memory;
    std::vector<u32> sectors;  // (address - start of global memory) / 32; lines of constant memory
    u64 far_lines = 0;         // that a small cache of the block's own would not hold, while steps were kept
};

struct BlockTrace {
    u64 id = 0;
    std::vector<WarpTrace> warps;
};

using Traces = std::vector<std::shared_ptr<const BlockTrace>>;

constexpr u32 kTouchesMemory = 0x80000000u;

}  // namespace warpsight
