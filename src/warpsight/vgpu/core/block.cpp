// A block of threads: its storage, its turns, and its barriers.
// Counting follows PTX: a barrier without a count waits for every thread that has not exited; a thread that exits
// releases the others.
#include <algorithm>

#include "eight.hpp"
#include "machine.hpp"
#include "memory.hpp"
#include "owners.hpp"
#include "shadow.hpp"
#include "undefined.hpp"

namespace warpsight {
namespace {

constexpr size_t kAlign = 256;
constexpr u32 kPasses = 4096;        // rounds over the warps of a block in one turn
constexpr u64 kSteps = 1u << 16;     // warp instructions between two looks at the clock
constexpr u64 kReported = 1u << 12;  // warp instructions of a block after which the other cores are told
size_t aligned(size_t n) { return (n + kAlign - 1) / kAlign * kAlign; }

// Lanes of a warp wait at an aligned barrier but not all at the same one: the barrier was reached by a part of the
// warp.
void check_alignment(Warp &w) {
    if (!w.at_barrier || (w.alive & ~w.at_barrier)) return;
    const Block &b = *w.block;
    const u32 first = lowest(w.at_barrier);
    if (!(w.at_barrier & ~lanes_at(w, w.pc[first]))) return;
    for (u32 rest = w.at_barrier; rest; rest &= rest - 1) {
        const u32 lane = lowest(rest);
        if (w.pc[lane] != w.pc[first] && !b.launch->program.code[w.pc[lane]].imm)
            w.block->fail_apart(b.thread_of(w, first), w.pc[first], b.thread_of(w, lane), w.pc[lane]);
    }
}

}  // namespace

Core::Core(const Program &p) : counts(p.code.size(), Counts{}), entered(p.code.size() + 1), known(p.n_memory) {}
Core::~Core() = default;
Core::Core(Core &&) noexcept = default;

void Core::settle_counts(const Program &p) {
    Entered in;
    for (size_t i = 0; i < counts.size(); i++) {
        in.warps += entered[i].warps, in.threads += entered[i].threads;
        entered[i] = {};
        if (p.code[i].flags & kHidden) continue;
        counts[i][k_warps] += in.warps;
        counts[i][k_threads] += in.threads;
        if (!p.code[i].guard) counts[i][k_threads_on] += in.threads;
    }
    entered.back() = {};
    for (Known &one : known) settle_known(counts, one);
}

Block::Block(Launch &l, Core &c) : launch(&l), core(&c), counts(&c.counts) {
    const LaunchOptions &o = l.options;
    counting = o.count || o.check || o.watch;
    threads = o.block[0] * o.block[1] * o.block[2];
    const u32 n = (threads + kLanes - 1) / kLanes;
    const size_t row_bytes = aligned((size_t)(l.program.n_rows + 2) * kRowBytes);  // two sink rows
    const size_t shared_bytes = aligned(o.shared_bytes + 64),
                 local_bytes = aligned((size_t)o.local_bytes * kLanes + 64);
    storage.reset(new char[n * (row_bytes + local_bytes) + shared_bytes + kAlign]());
    rows = (char *)aligned((size_t)storage.get());
    local = rows + n * row_bytes;
    shared = local + n * local_bytes;
    preds.resize((size_t)n * (l.program.n_preds + 1));  // one sink
    warps.resize(n);
    for (u32 i = 0; i < n; i++) {
        Warp &w = warps[i];
        w.block = this;
        w.id = i;
        w.base[0] = rows + i * row_bytes;
        w.base[1] = l.const_rows - 1;
        w.preds = preds.data() + (size_t)i * (l.program.n_preds + 1);
        w.local = local + i * local_bytes;
    }
    if (!o.check) return;
    shadow = std::make_unique<SharedShadow>(o.shared_bytes, l.program.shared_granule, n);
    choices.resize(l.program.guards.size() * n * kLanes);
    for (Warp &w : warps) w.local_written.resize((size_t)kLanes * ((o.local_bytes + 3) / 4));
}

Block::~Block() { report_executed(); }

void Block::start(u64 linear) {
    const LaunchOptions &o = launch->options;
    id = linear;
    index[0] = (u32)(linear % o.grid[0]);
    index[1] = (u32)(linear / o.grid[0] % o.grid[1]);
    index[2] = (u32)(linear / o.grid[0] / o.grid[1]);
    alive = threads;
    time = 1;
    fences = 0;
    acquired = false;
    epoch = 1;
    ended.clear();
    returned = EarlyReturn{};
    undefined.reset();
    std::fill(choices.begin(), choices.end(), Choice{});
    barriers.fill(Barrier{});
    work.fill(0);
    if (touched) near.clear(), near_constants.clear();
    const size_t n = warps.size();
    if (o.local_bytes) std::memset(local, 0, (size_t)(shared - local));
    std::memset(shared, 0, o.shared_bytes);
    std::fill(preds.begin(), preds.end(), 0u);
    for (size_t i = 0; i < n; i++) {
        Warp &w = warps[i];
        u32 left = threads - (u32)i * kLanes;
        w.alive = left >= kLanes ? kFull : (1u << left) - 1;
        w.at_barrier = w.at_sync = 0;
        w.executed = w.waited = w.at_barrier_before = 0;
        w.last_sync = w.fences = 0;
        w.acquired = w.follows = false;
        w.fresh = true;
        w.swapped = 0;
        std::fill(w.local_written.begin(), w.local_written.end(), false);
        w.pending.clear();
        w.preds[0] = kFull;
        for (const RowRange &r : launch->program.cleared)
            std::memset(w.base[0] + (size_t)r.first * kRowBytes, 0, (size_t)r.count * kRowBytes);
        w.trace = trace ? &trace->warps[i] : nullptr;
        std::memset(w.pc, 0, sizeof w.pc);
        if (launch->program.keeps_state) {
            std::memset(w.frame, 0, sizeof w.frame);
            std::memset(w.group, 0, sizeof w.group);
            std::memset(w.clock_reads, 0, sizeof w.clock_reads);
        }
        if (o.concurrent != ~0ull) w.polls.fill(Poll{});
    }
    if (shadow) shadow->reset();
}

void Block::report_executed() {
    launch->executed.fetch_add(unreported, std::memory_order_relaxed);
    unreported = 0;
}

bool Block::run_turn() {
    const LaunchOptions &o = launch->options;
    struct AtEnd {
        Block &block;
        ~AtEnd() {
            if (block.launch->cores == 1 || block.unreported >= kReported) block.report_executed();
        }
    } at_end{*this};
    u32 passes = 0;
    const u64 before = work[k_work_span];
    u64 looked = executed();
    auto look = [&](bool at_clock) {
        if (at_clock) looked = executed();
        FaultKind over_limit;
        if (launch->over_limits(executed(), at_clock, &over_limit)) give_up(over_limit);
    };
    for (bool moved = true; moved;) {
        moved = false;
        bool over = false;
        for (size_t i = 0; i < warps.size(); i++) {
            Warp &w = warps[o.last_warp_first ? warps.size() - 1 - i : i];
            if (!w.alive) continue;
            if (w.alive & ~(w.at_barrier | w.at_sync)) {
                moved = true;
                over |= run_warp(w) == Turn::over;
                if (o.check) check_alignment(w);
                // By steps: the warps of a few passes can take long together.
                if (unreported >= kReported) report_executed();
                if (executed() - looked >= kSteps) look(true);
            }
        }
        if (!alive) {
            if (touched) add_span();
            if (shadow) shadow->settle(*launch);
            u64 longest = launch->longest_warp.load(std::memory_order_relaxed);
            for (const Warp &w : warps) longest = std::max(longest, w.executed);
            if (longest > launch->longest_warp.load(std::memory_order_relaxed))
                launch->longest_warp.store(longest, std::memory_order_relaxed);
            return true;
        }
        moved |= release_barriers();
        look(over || (++passes & 255) == 0);
        if (over || passes > kPasses) return false;  // a block that polls at a barrier lets others run too
        if (o.concurrent != ~0ull && work[k_work_span] - before >= o.quantum) return false;
    }
    report_stuck();
}

void wait_at_barrier(Warp &w, const Ins &x, i32 pc, u32 m) {
    Block &b = *w.block;
    u32 id = Row::at(w, x.a)[lowest(m)] & (kBarriers - 1);
    Barrier &bar = b.barriers[id];
    bar.expected = Row::at(w, x.b)[lowest(m)];
    trace_barrier(w, id, bar.expected, x.sub == 1);
    bar.arrived += (u32)__builtin_popcount(m);
    if (x.sub >= 2) {
        u32 value = predicate(w.preds, x.c) & m;
        bar.popc += (u32)__builtin_popcount(value);
        bar.all &= value == m;
        bar.any |= value != 0;
    }
    if (x.sub == 1) {  // arrive: goes on; its writes before count as ordered for those who wait
        if (b.shadow) b.shadow->arrive(w.id, id, b.time);
        return;
    }
    b.work[k_work_barriers]++;
    w.at_barrier |= m;
    if (m == kFull) {
        for (int g = 0; g < kGroups; g++) store8((u32 *)w.pc, g, all8((u32)pc));
        std::memset(w.barrier_id, (int)id, kLanes);
        return;
    }
    for (u32 rest = m; rest; rest &= rest - 1) {
        w.pc[lowest(rest)] = pc;
        w.barrier_id[lowest(rest)] = (u8)id;
    }
}

void Block::fence() {
    fences++;
    if (launch->options.check && !launch->quick) launch->fence_counts[id] = fences;
}

// The slowest warp since the last barrier is what the block waited for.
void Block::add_span() {
    u64 longest = 0;
    for (Warp &w : warps) {
        longest = std::max(longest, w.executed + w.waited - w.at_barrier_before);
        w.at_barrier_before = w.executed + w.waited;
    }
    work[k_work_span] += longest;
}

bool Block::release_barriers() {
    bool released = false;
    for (u32 id = 0; id < kBarriers; id++) {
        Barrier &bar = barriers[id];
        u32 wanted = bar.expected && bar.expected != threads ? bar.expected : alive;  // exited threads count as arrived
        if (!bar.arrived || bar.arrived < wanted) continue;
        released = true;
        if (touched) add_span();
        if (launch->options.check) judge_meeting(id);
        u32 members = 0;
        for (Warp &w : warps) {
            const u32 here = w.at_barrier ? w.at_barrier & lanes_with(w, (u8)id) : 0;
            if (!here) continue;
            members |= 1u << w.id;
            const i32 pc = w.pc[lowest(here)];
            if (here == kFull && lanes_at(w, pc) == kFull && launch->program.code[(size_t)pc].sub < 2) {
                for (int g = 0; g < kGroups; g++) store8((u32 *)w.pc, g, all8((u32)pc + 1));
                w.at_barrier = 0;
                continue;
            }
            for (u32 rest = here; rest; rest &= rest - 1) {
                u32 lane = lowest(rest);
                const Ins &x = launch->program.code[w.pc[lane]++];
                if (x.sub == 2) Row::at(w, x.d0)[lane] = bar.popc;
                if (x.sub >= 3)
                    put_predicate(w.preds, x.d1, x.sub == 3 ? (bar.all ? kFull : 0) : (bar.any ? kFull : 0),
                                  1u << lane);
            }
            w.at_barrier &= ~here;
        }
        bar = Barrier{};
        time++;
        if (shadow) {
            shadow->settle(*launch);
            shadow->meet(members, id, time);
        }
    }
    return released;
}

void Block::stop_with(Fault f) {
    launch->record(std::move(f));
    launch->stop = true;
    throw Stop{};
}

void Block::fail(const Warp &w, FaultKind kind, u32 lane, u64 address, u8 size, std::string text) {
    Fault f{kind, w.now, thread_of(w, lane), id, address};
    f.size = size;
    f.text = std::move(text);
    stop_with(std::move(f));
}

// Nobody can go on. Where one thread went past a barrier at which another waits, that is the cause; else the first who
// waits is named, lanes of a warp before threads at a barrier.
void Block::report_stuck() {
    auto each = [&](auto &&waits, auto &&visit) {
        for (Warp &w : warps)
            for (u32 rest = waits(w); rest; rest &= rest - 1) visit(w, lowest(rest));
    };
    auto at_barrier = [](const Warp &w) { return w.at_barrier; };
    auto anywhere = [](const Warp &w) { return w.at_barrier | w.at_sync; };
    each(at_barrier, [&](Warp &w, u32 lane) {
        each(anywhere, [&](Warp &v, u32 other) {
            if (v.pc[other] == w.pc[lane]) return;
            const Guard *guard = passed_by(thread_of(v, other), thread_of(w, lane), w.pc[lane]);
            if (guard && guard->rejoins) fail_apart(thread_of(w, lane), w.pc[lane], thread_of(v, other), v.pc[other]);
        });
    });
    each([](const Warp &w) { return w.at_sync; },
         [&](Warp &w, u32 lane) {
             w.now = w.pc[lane];
             fail(w, FaultKind::warp_sync_divergence, lane);
         });
    each(at_barrier, [&](Warp &w, u32 lane) {
        w.now = w.pc[lane];
        fail(w, FaultKind::deadlock, lane);
    });
    fail(warps[0], FaultKind::deadlock, 0);
}

}  // namespace warpsight
