// What each block of a watched launch did, in the numbers that tell blocks apart, and what the launch touched as a
// whole. The sample of blocks that a simulated time is made of is drawn by these numbers, after the blocks have run;
// watching changes nothing that a kernel can see.
#pragma once
#include <array>
#include <cstdlib>
#include <memory>
#include <unordered_map>
#include <vector>

#include "lanes.hpp"

namespace warpsight {

enum Work {
    k_work_instructions,
    k_work_pipe_clocks,
    k_work_held_clocks,  // that an instruction keeps its warp from the next one, as the compiler wrote it
    k_work_sectors,
    k_work_lines,
    k_work_passes,   // through shared memory, or distinct words of constant memory
    k_work_atomics,  // passes of atomics, on any memory
    k_work_barriers,
    k_work_far_lines,  // lines that a small cache of the block's own would not hold
    k_work_span,       // instructions of the longest warp between two barriers, and what it slept, added up
    kWorks
};
using BlockWork = std::array<u64, kWorks>;

// A direct-mapped cache, only to tell blocks that come back to what they touched from blocks that do not.
template <u32 Lines>
struct NearLines {
    std::array<u64, Lines> tags{};
    void clear() { tags.fill(0); }
    bool miss(u64 line) {
        u64 &slot = tags[(line ^ line >> 8) & (Lines - 1)];
        if (slot == line + 1) return false;
        slot = line + 1;
        return true;
    }
};

// In which waves of blocks each sector of an allocation was loaded or stored: a bit for each wave that is watched, and
// one for all others. All cores write to it; which of them comes first changes nothing.
constexpr u32 kMostWaves = 31, kBack = 16;
struct SectorMarks {
    struct Free {
        void operator()(u32 *marks) const { std::free(marks); }
    };
    using Marks = std::unique_ptr<u32[], Free>;
    std::vector<Marks> loaded, stored;  // of each allocation
    std::vector<size_t> counts;         // sectors of each
};

// Distinct sectors of a wave: those it loaded by how many waves ago they were loaded last (at 0: never, or longer ago),
// and those it stored.
struct WaveSectors {
    std::array<u64, kBack> loaded{};
    u64 stored = 0;
};

// What a core keeps of a watched launch: atomic passes by sector, and what tells waiting from work.
struct Touched {
    SectorMarks *marks = nullptr;
    std::unordered_map<u64, u64> atomics;
    std::unordered_map<i32, u64> excused_swaps;  // exchanges on condition that no poll makes, by instruction
    u64 failed_polls = 0;  // accesses that saw again what they had seen: their warp waits for another
};

}  // namespace warpsight
