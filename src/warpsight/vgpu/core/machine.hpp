// The machine: a loaded program, a launch, and the state of blocks and warps. Behaviour is in execute.cpp (the warp
// loop), memory.cpp and atomic.cpp (accesses), block.cpp (barriers, turns), launch.cpp (grids and cores), shadow.cpp
// (races, uninitialised reads), owners.cpp (who touched what, in the quick pass of a checked launch). Must stay true:
// nothing a kernel does can touch host memory outside its allocations, and results do not depend on the number of
// cores.
#pragma once
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "access.hpp"
#include "lanes.hpp"
#include "trace.hpp"
#include "work.hpp"

namespace warpsight {

enum Counter {
#define COUNTER(name, unit, meaning) k_##name,
#include "counters.def"
#undef COUNTER
    kCounters
};
using Counts = std::array<u64, kCounters>;

constexpr u64 kSharedWindow = 0x700000000000, kLocalWindow = 0x710000000000, kConstWindow = 0x720000000000,
              kParamWindow = 0x730000000000, kFunctionWindow = 0x740000000000;
constexpr u64 kGlobalBase = 0x200000000,
              kLocalTrace = 1ull << 36;     // traces place local memory after 64 GiB of global memory
constexpr u32 kConstantTrace = 0xf0000000;  // and number lines of constant memory from here
constexpr int kBarriers = 16;

enum class FaultKind : u8 {
    out_of_bounds,
    misaligned,
    uninitialised_read,
    write_to_const,
    shared_race,
    global_race,
    barrier_divergence,
    deadlock,
    endless_loop,
    deadline,
    assert_failed,
    trap,
    stack_overflow,
    warp_sync_divergence,
    bad_jump,
    interrupted,
    shuffle_outside_mask,
    launch_too_large
};

// What is known of the cause: the other thread went past the barrier, or returned before it, or waits at another one;
// a loop does not end, or polls for a value that nobody writes; an undefined value was stored.
enum class Why : u8 { unknown, skipped, returned, elsewhere, loops, polls, used };

struct Fault {
    FaultKind kind;
    i32 pc;
    u32 thread;         // linear in the block
    u64 block;          // linear in the grid
    u64 address;        // generic address, or 0
    i32 other_pc = -1;  // the other side of a race
    u32 other_thread = 0;
    u64 other_block = 0;
    u64 count = 1;
    bool is_write = false;
    u8 size = 0;
    std::string text = {};  // what an assertion said
    Why why = Why::unknown;
    i32 seen_pc = -1;  // where the consequence showed, or what a loop waits for
    u64 rounds = 0;    // of a loop without end
};

// Thrown inside a worker to end the launch; the fault is recorded before.
struct Stop {};

// Bits and stamps kept beside memory while checking; see shadow.hpp.
struct GlobalShadow;

struct Allocation {
    u64 base, size;
    char *host;
    bool writable;
    std::vector<u64> initialised;          // one bit per byte, empty when everything is
    std::shared_ptr<GlobalShadow> shadow;  // only while checking, only when writable
    std::vector<i32> writers{};            // instructions that wrote it, while checking
    u8 was_read = 0, was_written = 0;      // by a launch, since somebody cleared them

    void touch(bool write) {  // several cores may say the same at once
        std::atomic_ref<u8> flag(write ? was_written : was_read);
        if (!flag.load(std::memory_order_relaxed)) flag.store(1, std::memory_order_relaxed);
    }
};

struct Memory {
    std::vector<Allocation> allocations;  // ascending, never adjacent
    Allocation *find(u64 address);
    Allocation *at_base(u64 base);  // null unless an allocation begins there
};

// marks.cpp: a table of allocations that lives from launch to launch.
void insert_allocation(Memory &, Allocation);  // std::invalid_argument where it meets another
void remove_allocation(Memory &, u64 base);
void mark_written(Memory &, u64 address, u64 bytes);             // all of it has been written
void copy_marks(Memory &, u64 to, u64 from, u64 bytes);          // as much of it as of where it came from
std::array<u64, 8> digest(const Memory &, u64 base, u64 bytes);  // of what an allocation holds

// A shared array: where it is, and how many bytes it has (~0u: all that follow).
struct SharedSlot {
    u32 start = 0, bytes = 0;
};
constexpr u32 kSlotShift = 20;  // a shared address is (number of the array << kSlotShift) + place; number 0: no array

// A branch that decides whether a thread comes to barriers of the whole block (vgpu/flow.py): going on at one of
// `toward` leads to them. Who goes elsewhere comes to code that the others run too (`rejoins`), or only returns.
struct Guard {
    i32 pc;
    bool rejoins;
    std::vector<i32> toward, barriers;
};

// What a thread did at a guard since the block last met: how often it came by, and at which visit it first went toward
// the barriers (0: never).
struct Choice {
    u32 epoch = 0, visits = 0, toward = 0;
};

// A thread that returned, at a guard, before a barrier at which others waited.
struct EarlyReturn {
    i32 barrier = -1, branch = -1;
    u32 thread = 0;
};

struct RowRange {
    u32 first = 0, count = 0;
};

struct Program {
    std::vector<Ins> code;
    std::vector<Guard> guards;             // Ins::watch is the number of one, counted from 1
    std::set<std::pair<i32, i32>> facing;  // barriers at which warps with different roles meet (vgpu/flow.py)
    std::vector<SharedSlot> slots;         // by number; [0] is unused
    std::vector<Ref> lists;
    std::vector<i32> tables;
    std::vector<i32> functions;
    std::vector<u32> consts;  // as given
    u32 n_rows = 0, n_preds = 0;
    std::vector<RowRange> cleared;  // rows that hold zeros when a block starts; the others are written first
    bool order_sensitive = false, prints = false;
    bool keeps_state = false;                   // calls, copies asynchronously or reads clocks
    u32 n_memory = 0;                           // memory instructions
    u8 shared_granule = 4, global_granule = 4;  // the narrowest plain access, for race shadows
};

struct LaunchOptions {
    u32 grid[3], block[3];
    u32 shared_bytes = 0, local_bytes = 0, dynamic_shared_bytes = 0;
    std::vector<u8> params, const_data;
    std::vector<u64> blocks;  // linear ids to run; empty: all
    bool check = false, count = true, trace = false;
    u64 max_trace_steps = 0;                    // of one warp; longer ones are cut there
    std::vector<u64> traced;                    // linear ids to trace; empty: all that run
    u64 quantum = 1 << 16;                      // ticks of a warp before another one gets a turn
    bool last_warp_first = false;               // the warps of a block have their turns the other way round
    u64 concurrent = ~0ull;                     // blocks that take turns, where they may wait for one another
    u64 round_trip = 64;                        // ticks of an access that may wait for others, where blocks take turns
    bool watch = false;                         // keep what each block did
    std::vector<u16> pipe_clocks, held_clocks;  // of each instruction, for watched launches
    std::vector<u64> waves;                     // of `concurrent` blocks, whose sectors are told apart
    u32 swap_passes = 1;  // that an exchange on condition counts for where it succeeds: the next must see it
    int cores = 1;
    u64 max_instructions = ~0ull;
    double deadline_seconds = 1e18;
    u64 heap_base = 0, heap_bytes = 0;  // an allocation that device malloc hands out from...
    u64 heap_used = 0;                  // ...of which earlier launches have so much
};

constexpr size_t kCacheLine = 64;

// What all workers of a launch share. What they write lies on lines of its own, apart from what they read at every
// step.
struct Launch {
    const Program &program;
    Memory &memory;
    LaunchOptions options{};
    char *const_rows = nullptr;  // 32-lane rows of program.consts
    u64 total_blocks = 0;
    bool interrupted = false;  // by the user
    bool quick = false;        // the quick pass of a checked launch: see launch.cpp
    int cores = 1;             // that run it
    alignas(kCacheLine) std::atomic<bool> stop{false};
    std::atomic<bool> doubtful{false};  // the quick pass met what only the exact one can judge
    alignas(kCacheLine) std::atomic<u64> executed{0};
    std::atomic<u64> longest_warp{0};       // instructions of the longest warp that has ended
    alignas(kCacheLine) u64 heap_used = 0;  // programs with malloc run on one core
    std::mutex lock;
    std::vector<Fault> faults;
    std::unordered_map<u64, u32> fence_counts;  // per block that fenced, while checking
    std::chrono::steady_clock::time_point end{};
    Launch(const Program &p, Memory &m) : program(p), memory(m) {}
    bool over_limits(u64 executed, bool look_at_clock, FaultKind *kind) const;
    [[noreturn]] void doubt();  // ends the quick pass
    void record(Fault f);       // keeps the first of each (kind, instruction), counts the rest
};

struct Block;

// A cp.async whose bytes were read but are not yet visible in shared memory.
struct AsyncCopy {
    u32 lane, group, shared, bytes;
    i32 pc;
    u8 data[16];
};

// An access by which a warp may wait for others: which one, where, and what it saw.
struct Poll {
    i32 pc = -1;
    u32 address = 0, value = 0;
    bool operator==(const Poll &) const = default;
};

struct Warp : WarpRows {
    Block *block = nullptr;
    u32 id = 0;
    u32 alive = 0;          // lanes that have not exited
    u32 at_barrier = 0;     // lanes waiting at a block barrier
    u32 at_sync = 0;        // lanes waiting for other lanes of the warp
    u32 fences = 0;         // fences of any scope so far
    bool acquired = false;  // the warp has read shared memory through an atomic or a volatile load
    bool follows = false;   // the block has undefined values (undefined.hpp)
    bool fresh = false;     // nothing of it has run: all its lanes are at the first instruction
    bool spins = false;     // the running group did an atomic or volatile access: it may wait for other lanes
    i32 now = 0;            // instruction being executed
    u64 executed = 0, at_barrier_before = 0;  // instructions so far, and at the last barrier
    u64 waited = 0;                           // clocks asleep or at fences, for the weight of the block
    u32 last_sync = 0;                        // block time of the last warp barrier, for race checks
    i32 pc[kLanes];                           // of lanes that are not in the running group
    u32 frame[kLanes];
    u32 sync_mask[kLanes];
    u8 barrier_id[kLanes];
    char *local = nullptr;            // kLanes * local_bytes
    std::vector<bool> local_written;  // [lane][word], while checking
    WarpTrace *trace = nullptr;
    u32 swapped = 0;  // lanes whose last access, stores left out, was an exchange on condition that was made
    std::vector<AsyncCopy> pending;
    u32 clock_reads[kLanes];       // times each lane looked at a clock
    std::array<Poll, 32> polls{};  // the last ones, by instruction, where blocks take turns
    u32 group[kLanes];             // number of the open group of asynchronous copies
};

struct Barrier {
    u32 expected = 0;  // threads; 0 means all that are alive
    u32 arrived = 0;
    u32 popc = 0;
    bool all = true, any = false;
};

struct SharedShadow;
struct Undefined;
struct Owners;

// Warps and threads that have entered the instructions from here on, less those that have left.
struct Entered {
    u64 warps = 0, threads = 0;
};

// What one core keeps from block to block.
struct Core {
    std::vector<Counts> counts;      // of each instruction, but for what `entered` has
    std::vector<Entered> entered;    // by instruction, of runs that were counted as a whole
    std::vector<Known> known;        // of each memory instruction
    std::unique_ptr<Owners> owners;  // in the quick pass of a checked launch
    explicit Core(const Program &);
    ~Core();
    Core(Core &&) noexcept;
    void count_run(i32 begin, i32 end, u32 threads) {
        entered[(size_t)begin].warps++, entered[(size_t)begin].threads += threads;
        entered[(size_t)end].warps--, entered[(size_t)end].threads -= threads;
    }
    void settle_counts(const Program &);  // moves what `entered` has to `counts`
};

enum class Turn { waits, over, done };

struct Block {
    Launch *launch;
    u64 id = 0, place = 0;  // linear in the grid; in the order of the launch
    u32 index[3];
    u32 threads = 0, alive = 0;
    std::vector<Warp> warps;
    std::unique_ptr<char[]> storage;
    char *rows = nullptr, *shared = nullptr, *local = nullptr;
    std::vector<u32> preds;
    std::array<Barrier, kBarriers> barriers;
    Core *core = nullptr;
    std::vector<Counts> *counts = nullptr;
    bool counting = true;  // how often each instruction runs: wanted by the caller, or to find a loop
    u64 unreported = 0;    // instructions that Launch::executed does not have yet
    std::unique_ptr<SharedShadow> shadow;
    std::unique_ptr<Undefined> undefined;  // null while there is nothing of that kind
    u32 time = 1;                          // advances at every synchronisation; stamps of the race check
    u32 fences = 0;                        // fences of gpu scope so far
    bool acquired = false;                 // this block has read global memory through an atomic or a volatile load
    u32 epoch = 1;                         // counts the times that the whole block met at a barrier
    std::vector<Choice> choices;           // [guard][thread], while checking
    std::vector<u32> ended;                // threads that have ended since the block last met, while checking
    EarlyReturn returned;                  // the first of the block
    std::string *output = nullptr;
    BlockTrace *trace = nullptr;
    Touched *touched = nullptr;  // only while watching
    u32 wave_mark = 0;           // of SectorMarks
    BlockWork work{};
    NearLines<256> near;           // 32 KiB
    NearLines<32> near_constants;  // 2 KiB of constant memory
    Allocation *last_allocation = nullptr;

    Block(Launch &, Core &);
    ~Block();
    void start(u64 id);
    bool run_turn();  // true when every thread has ended
    u64 executed() const { return launch->executed.load(std::memory_order_relaxed) + unreported; }
    void report_executed();
    void fence();
    void add_span();
    bool release_barriers();  // true if someone may go on
    [[noreturn]] void fail(const Warp &, FaultKind, u32 lane, u64 address = 0, u8 size = 0, std::string text = {});
    [[noreturn]] void stop_with(Fault);
    [[noreturn]] void report_stuck();
    [[noreturn]] void give_up(FaultKind);  // endless.cpp: the budget or the time is used up

    // divergence.cpp: who came to a barrier of the whole block, and who did not
    u32 thread_of(const Warp &w, u32 lane) const { return w.id * kLanes + lane; }
    const Guard *passed_by(u32 thread, u32 waiting, i32 barrier) const;
    [[noreturn]] void fail_apart(u32 thread, i32 pc, u32 other, i32 other_pc);
    void judge_meeting(u32 barrier);
    Fault blamed_on_return(Fault) const;
};

inline const WarpRows &rows(const Warp &w) { return w; }
inline u32 lowest(u32 m) { return (u32)__builtin_ctz(m); }
inline Counts &counts_of(Warp &w) { return (*w.block->counts)[w.now]; }

Turn run_warp(Warp &);                                 // execute.cpp
void note_branch(Warp &, u32 guard, u32 m, i32 next);  // divergence.cpp: lanes of m go on at `next`
void wait_at_barrier(Warp &, const Ins &, i32 pc, u32 m);
void settle_async(Warp &, u32 m, i64 keep);  // memory.cpp: make all but the newest `keep` groups visible

void print_formatted(Warp &, const Ins &, u32 m);  // print.cpp
void fail_assertion(Warp &, const Ins &, u32 m);
std::unique_ptr<Program> load_program(const u8 *code, size_t n, std::vector<i32> lists, std::vector<i32> tables,
                                      std::vector<u32> consts, std::vector<i32> functions, u32 n_rows, u32 n_preds,
                                      bool order_sensitive, i32 *unsupported);
void find_first_reads(Program &, const std::vector<u32> &lengths);  // entry.cpp
struct LaunchResult {
    std::vector<Counts> counts;
    std::vector<Fault> faults;
    std::string output;
    Traces traces;
    std::vector<BlockWork> work;     // of each block, in the order of the launch
    std::vector<WaveSectors> waves;  // of each wave that was watched
    u64 loaded_sectors = 0, stored_sectors = 0, hottest_atomic = 0, failed_polls = 0;
    std::unordered_map<i32, u64> excused_swaps;
    u64 blocks_run = 0, warp_instructions = 0, heap_used = 0;
    int cores_used = 1;
};
LaunchResult run_launch(Launch &, bool (*interrupted)());

// How far the launch is that runs now, for whoever looks from another thread; nothing runs where there are no blocks.
struct Progress {
    u64 begun = 0, blocks = 0;
};
Progress progress();
void end_launch();  // from another thread: the launch that runs now ends soon, as if interrupted
SectorMarks begin_watching(const Memory &);  // watch.cpp
void begin_block(Block &, Touched *, u64 place);
void end_watching(std::vector<Touched> &cores, const std::vector<u64> &waves, LaunchResult &);

}  // namespace warpsight
