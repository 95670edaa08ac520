// One streaming multiprocessor, cycle by cycle, over the real schedule of the machine code: schedulers, stall counts,
// scoreboards, pipes, the load/store unit, an L1 cache, barriers, and blocks that replace one another. L2 and DRAM are
// a latency, a share of misses, a port, and this SM's part of a bandwidth that all share.
// Instructions come from caches of their own (icache.hpp). Not modelled: TLB, power. Deterministic: the same traces and
// numbers give the same cycles.
#pragma once
#include <array>
#include <vector>

#include "trace.hpp"
#include "work.hpp"

namespace warpsight {

enum class Pipe : u8 { none, fma, fma_heavy, alu, sfu, fp64, tensor, memory, count };

enum class StepKind : u8 {
    plain,
    shared_load,
    shared_store,
    shared_atomic,
    global_load,
    global_store,
    global_atomic,
    local_load,
    local_store,
    constant_load,
    shuffle,
    async_copy,
    async_commit,
    async_wait,
    barrier,
    exit,
    branch,
    fence,
    sleep
};

enum class Stall : u8 {
    selected,
    not_selected,
    wait,
    long_scoreboard,
    short_scoreboard,
    math_pipe_throttle,
    lg_throttle,
    mio_throttle,
    barrier,
    branch,
    membar,
    no_instruction,
    count
};
constexpr int kStalls = (int)Stall::count;

constexpr u16 kReuse = 0x100, kOperand = 0x200;

// The way of a load: through L1, past it, or through L1 as data that nobody writes (ld.global.nc, __ldg).
enum class Path : u8 { l1, past_l1, read_only };

// One instruction of the program, as the scheduler sees it.
struct StaticStep {
    Pipe pipe = Pipe::none;
    StepKind kind = StepKind::plain;
    u8 stall = 1, write_bar = 7, read_bar = 7, wait_mask = 0;
    Path path = Path::l1;
    u8 keep_groups = 0;
    u16 latency = 0;                // of results that are waited for by a scoreboard and are not memory
    u16 interval = 1;               // cycles the pipe is taken
    std::array<u16, 3> operands{};  // registers that arithmetic of fixed latency reads, with kOperand and kReuse
    u16 line = 0;                   // of its machine code
};

// For how long an instruction holds its warp back, alone on an empty SM, as far as the compiler wrote it down: a chain
// of results that are needed at once holds longer than the same work with the results needed later.
constexpr u16 kScoreboardClocks = 24;  // about the shortest that is waited for by a scoreboard
constexpr u16 held_clocks(const StaticStep &x) { return u16(x.stall + (x.wait_mask ? kScoreboardClocks : 0)); }

struct SmNumbers {
    u32 schedulers = 4, fma_units = 1, queue_depth = 5, address_cycles = 2, shuffle_cycles = 2;
    u32 partition_cycles = 4;  // between two requests of one scheduler
    // From the issue of an access to the issue of what uses its value, when nothing else is under way.
    u32 latency_shared = 24, latency_l1 = 32, latency_l2 = 238, latency_dram = 498, latency_constant = 29,
        latency_shuffle = 26, latency_async = 39;
    u64 constant_l1_bytes = 0, constant_l15_bytes = 0;  // caches of constant memory; 0: always there
    u32 latency_constant_l15 = 89;
    double clocks_per_ns = 1.0;                     // for sleeping
    u32 latency_barrier = 21, barrier_cycles = 2;   // from the last arrival to the release; for each arriving warp
    u32 wavefront_cycles = 1, register_cycles = 1;  // of a pass through shared memory; of a register that a load fills
    u32 l1_bytes_per_clock = 0;                     // that L1 reads for a load; 0 sets no limit
    bool read_only_sectors = true;                  // the read-only path moves whole sectors
    // A row of bytes that lies in one line more than it must: clocks of a load, and of a sector of a read-only one.
    u32 split_clocks = 0, split_sector_clocks = 0;
    u32 port_bytes = 32;  // between L2 and the SM, per cycle, each way
    u64 l1_bytes = 0;
    double l2_miss = 1.0;                                     // share of L1 misses that go on to DRAM
    double partial_sectors = 1.0;                             // what a partly written sector takes of L2, in whole ones
    double atomic_clocks = 1.0;                               // that a slice of L2 takes for a sector
    double store_miss = 1.0;                                  // share of stored sectors that go on to DRAM
    double l2_bytes_per_clock = 0, dram_bytes_per_clock = 0;  // this SM's part of what all share; 0 sets no limit
    u32 bank_window =
        0;  // clocks in which an instruction must get its registers from two banks; 0: banks do not matter
    // Bytes of the instruction caches of a scheduler and of the SM (0: instructions are always there), lines that are
    // asked for ahead, clocks between two lines from L2.
    u32 code_l0_bytes = 0, code_l1_bytes = 0, code_ahead = 0, code_line_cycles = 0;
    bool local_allocates = true;  // stores to local memory stay in L1
    u32 resident_blocks = 1, blocks = 1;
    u32 least_blocks = ~0u;  // from here on the simulation ends when its pace has settled; `blocks` end it anyway
    double settle = 0.01;    // the paces of both halves of the fillings differ by no more than this
    bool move_replayed = true;
    u64 max_cycles = 1ull << 40;
    bool free_lsu = false, free_tags = false, free_banks = false;  // terms left out, to see what they do
};

struct SmResult {
    u64 cycles = 0, issued = 0, lsu_busy = 0;
    std::array<u64, (int)Pipe::count> pipe_busy{};
    u64 l1_hits = 0, l1_misses = 0, store_sectors = 0, atomic_sectors = 0, load_sectors = 0;
    u64 constant_misses = 0;                       // lines that the small constant cache did not have
    u64 local_hits = 0, local_misses = 0;          // of the hits and misses, those of local memory
    u64 code_sectors = 0;                          // of instructions, from L2
    std::vector<u64> block_end;                    // completion of the n-th block to finish
    std::vector<std::array<u64, kStalls>> stalls;  // per instruction: samples by reason
    u64 samples = 0;
};

SmResult simulate_sm(const Traces &traces, const std::vector<StaticStep> &program, const SmNumbers &numbers);

// The multiprocessor of each block: they are handed out in order, each to the place that is free first. A block keeps
// its place for its clocks times the blocks beside it.
std::vector<u32> dispatch(const double *clocks, u64 blocks, u32 multiprocessors, u32 resident);

// Distinct sectors that the first n blocks load and store, for each n asked for.
struct Footprint {
    u64 loaded = 0, stored = 0;
};
std::vector<Footprint> footprints(const Traces &, const std::vector<StaticStep> &, const std::vector<u32> &counts);

// What the traced steps did, in the numbers of BlockWork; lines far away are not known.
BlockWork work_of(const Traces &, const std::vector<StaticStep> &);

// Atomic passes at the sector that gets most of them.
u64 hottest_atomic(const Traces &, const std::vector<StaticStep> &);

}  // namespace warpsight
