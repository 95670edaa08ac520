// What the simulated multiprocessor remembers of warps, blocks and schedulers, and how long registers and queue places
// stay taken; sm.cpp says what happens to them.
#pragma once
#include <algorithm>
#include <array>
#include <deque>
#include <unordered_map>

#include "icache.hpp"
#include "sm.hpp"

namespace warpsight {

// Clocks from the issue of a memory instruction until the registers it reads may be overwritten, for 4 bytes a lane:
// Huerta et al., "Analyzing Modern NVIDIA GPU Cores" (MICRO 2025), table 2, addresses in regular registers. Values of
// stores take two clocks more for each further register. Atomics and shuffles, not in the table, are taken as stores
// and loads of their memory.
constexpr u32 release_of(StepKind kind, u32 registers) {
    switch (kind) {
        case StepKind::global_load:
        case StepKind::local_load: return 11;
        case StepKind::global_store:
        case StepKind::local_store:
        case StepKind::global_atomic: return 14 + 2 * (registers - 1);
        case StepKind::shared_store:
        case StepKind::shared_atomic: return 12 + 2 * (registers - 1);
        case StepKind::constant_load: return 29;
        case StepKind::async_copy: return 13;
        default: return 9;
    }
}
// A place in a scheduler's queue is free again so many clocks after its request could have been issued: with it the
// issue cycles of table 1 there come out, for one to four schedulers at work.
constexpr u32 kLeaves = 11;
constexpr u32 kReleaseArithmetic = 4;  // the same for arithmetic of variable latency: assumed, nothing is published

// What all SMs share, as one of them sees it: its part of the rate, and a depth. A burst of up to the depth goes at
// once, since the bursts of others come at other times; what goes beyond it waits. (The generic cell rate algorithm.)
struct Share {
    double bytes_per_clock = 0, depth_clocks = 0, due = 0;

    // Clocks that `bytes` asked for now have to wait.
    u64 wait(u64 now, double bytes) {
        if (bytes_per_clock <= 0 || bytes <= 0) return 0;
        due = std::max(due, (double)now) + bytes / bytes_per_clock;
        const double late = due - depth_clocks - (double)now;
        return late > 0 ? (u64)late : 0;
    }
};

struct SimWarp {
    const WarpTrace *trace = nullptr;
    const std::vector<bool> *own = nullptr;  // of a trace that is replayed
    u32 apart = 0;
    u32 local = 0;  // where its local memory starts, in sectors: a place on the SM keeps its own
    u32 block = 0;
    size_t step = 0, memory = 0;
    u64 next = 0;          // first cycle at which it may issue
    u64 fetched = 0;       // when its next instruction is there
    u32 line = ~0u;        // of code, that it is in
    u64 fenced = 0;        // a fence holds it until then
    u64 ready[6] = {};     // scoreboards: when the last known operation ends
    u16 queued[6] = {};    // operations that the load/store unit has not taken yet
    bool is_long[6] = {};  // waits for memory beyond the SM
    u8 barrier = 0;        // which one it waits at
    bool at_barrier = false, done = true;
    std::vector<u64> groups{0};  // asynchronous copies: when each group is done, the open one last
    u16 async_queued = 0;
};

struct SimBlock {
    u32 first_warp = 0, warps = 0, alive = 0, waiting = 0;
    std::array<u16, 16> arrived{}, meet{};  // warps at each barrier, and how many it is for (0: all)
    u32 outstanding = 0;  // requests in the queues; a block gives its place up only when there are none
    u64 drained = 0;      // when its last store is done
    std::unordered_map<u32, u64> swapped{};  // words of shared memory: when the last exchange on condition is seen
    bool active = false;
};

// Which sectors just one of the traced blocks touches: a flag for each of WarpTrace::sectors. A trace that stands for
// another block a second time touches that block's own sectors, not these again: else it would find its own data in L1.
// What blocks share stays where it is.
using OwnSectors = std::unordered_map<const WarpTrace *, std::vector<bool>>;
u32 local_sectors(const Traces &traces);  // of one warp, whole lines
OwnSectors own_sectors(const Traces &traces);
constexpr u32 kApart = 1u << 27;  // sectors between the own data of a trace and of the same trace replayed: 4 GiB

// What an access is, by the memory that it met: a generic instruction (LD, ST, ATOM) does not say. Where lanes met
// several memories, it is the global one, and costs the passes of the shared one besides.
constexpr StepKind kind_of(StepKind written, const MemoryStep &m) {
    const bool shared = m.space == kShared && !m.sectors, local = m.space == kLocal;
    switch (written) {
        case StepKind::global_load:
            return shared ? StepKind::shared_load : local ? StepKind::local_load : StepKind::global_load;
        case StepKind::global_store:
            return shared ? StepKind::shared_store : local ? StepKind::local_store : StepKind::global_store;
        case StepKind::global_atomic: return shared ? StepKind::shared_atomic : StepKind::global_atomic;
        default: return written;
    }
}

struct Request {
    u32 warp;
    const StaticStep *what;
    MemoryStep memory;
    size_t group;   // of an asynchronous copy
    StepKind kind;  // by the memory that it met
};

// Two banks of registers with one read a clock each, and for each operand and bank the register that was kept for
// reuse: Huerta et al., section 5.3.
struct Banks {
    struct Kept {
        u32 warp = ~0u;
        u16 operand = 0;
    };
    std::array<u64, 2> free{};
    std::array<std::array<Kept, 2>, 3> kept{};

    std::array<u32, 2> reads(u32 warp, const StaticStep &x) const {
        std::array<u32, 2> n{};
        for (size_t i = 0; i < 3; i++) {
            const u16 r = x.operands[i];
            const Kept &k = kept[i][r & 1];
            if (r && !(k.warp == warp && (k.operand | kReuse) == (r | kReuse))) n[r & 1]++;
        }
        return n;
    }

    bool late(u32 warp, const StaticStep &x, u64 now, u32 window) const {
        const auto n = reads(warp, x);
        return std::max(free[0], now) + n[0] > now + window || std::max(free[1], now) + n[1] > now + window;
    }

    void take(u32 warp, const StaticStep &x, u64 now) {
        const auto n = reads(warp, x);
        for (size_t b = 0; b < 2; b++) free[b] = std::max(free[b], now) + n[b];
        for (size_t i = 0; i < 3; i++)
            if (const u16 r = x.operands[i]) kept[i][r & 1] = {r & kReuse ? warp : ~0u, r};
    }
};

// Where a warp stands: with which scheduler, and at which place there.
struct Seat {
    u32 scheduler, at;
};

struct Scheduler {
    std::vector<u32> warps;
    std::vector<u64>
        wakes;  // of each warp: the first cycle at which nothing of its own holds it back, if that is known
    std::vector<Pipe> pipes;  // that its next instruction goes to
    u64 soonest = 0;          // no warp wakes before
    Banks banks;
    CodeCache code;
    std::deque<Request> queue;
    std::deque<u64> leaving;  // requests that were taken and still hold their place in the queue
    u64 address_free = 0;     // when it can hand over the next request

    bool full(u32 depth) const { return queue.size() + leaving.size() >= depth; }
    std::array<std::array<u64, 2>, (int)Pipe::count> pipe_free{};
    i64 last = -1;
};

}  // namespace warpsight
