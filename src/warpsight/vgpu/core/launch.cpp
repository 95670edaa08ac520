// Running a grid: blocks over cores, faults, limits. A block that waits for others (a spin on memory) is set aside
// while later ones start, so that grid-wide synchronisation goes on. Order-sensitive programs run on one core in
// ascending order. A checked launch of any other program has a quick pass on all cores (owners.hpp): if its blocks
// share nothing and nothing is wrong, that is what one core in order would have seen. Else memory is put back and the
// exact pass, one core in ascending order with the stamps of shadow.hpp, says what is wrong: so reports do not depend
// on timing.
#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <map>
#include <thread>
#include <unordered_map>

#include "machine.hpp"
#include "owners.hpp"
#include "shadow.hpp"

namespace warpsight {
namespace {

constexpr size_t kMostFaults = 64, kMostWaitingBytes = 2ull << 30;
constexpr u64 kShares = 64, kMostShare = 8;  // of a launch for each core; blocks of one
constexpr u64 kSteps = 1u << 14;             // warp instructions of whole blocks between two looks at the clock

struct ConstRows {
    char *data;
    explicit ConstRows(const std::vector<u32> &values) {
        data = (char *)std::aligned_alloc(256, (values.size() * kRowBytes + 511) / 256 * 256);
        for (size_t i = 0; i < values.size(); i++)
            for (int lane = 0; lane < kLanes; lane++) ((u32 *)data)[i * kLanes + lane] = values[i];
    }
    ~ConstRows() { std::free(data); }
    ConstRows(const ConstRows &) = delete;
    ConstRows &operator=(const ConstRows &) = delete;
};

struct Grid {
    Launch &launch;
    u64 count;
    alignas(kCacheLine) std::atomic<u64> next{0};
    alignas(kCacheLine) std::vector<std::shared_ptr<BlockTrace>> traces{};
    std::unordered_map<u64, size_t> traced{};  // where the trace of a chosen block goes; empty: all are traced
    std::vector<BlockWork> work{};
    u64 share = 1;  // blocks that a core takes at a time
    u64 id(u64 i) const { return launch.options.blocks.empty() ? i : launch.options.blocks[i]; }
};

// The blocks of one core, taken a few at a time: cores that ask for each block by itself wait for one another.
struct Share {
    Grid &grid;
    u64 at = 0, end = 0;
    bool any() const { return at < end || grid.next.load(std::memory_order_relaxed) < grid.count; }
    u64 take() {  // grid.count when there are no more
        if (at == end) {
            at = std::min(grid.count, grid.next.fetch_add(grid.share, std::memory_order_relaxed));
            end = std::min(grid.count, at + grid.share);
        }
        return at < end ? at++ : grid.count;
    }
};

using Outputs = std::map<u64, std::string>;

std::mutex looking;
std::atomic<bool> end_asked{false};
const Grid *running = nullptr;

// While it lives, `progress` tells of this grid.
struct Shown {
    explicit Shown(const Grid &grid) { show(&grid); }
    ~Shown() { show(nullptr); }
    static void show(const Grid *grid) {
        std::lock_guard guard(looking);
        running = grid;
    }
};

// Many short blocks use up a budget too; the clock is looked at after some blocks or some instructions.
struct Watch {
    u64 blocks = 0, looked = 0;
    void check_limits(Launch &l, u64 block) {
        const u64 now = l.executed.load(std::memory_order_relaxed);
        const bool at_clock = (++blocks & 63) == 0 || now - looked >= kSteps;
        if (at_clock) looked = now;
        FaultKind kind;
        if (!l.over_limits(now, at_clock, &kind)) return;
        if (kind == FaultKind::endless_loop) kind = FaultKind::launch_too_large;  // this block has ended
        l.record(Fault{kind, -1, 0, block, 0});
        l.stop = true;
    }
};

// Where a block's trace goes, if it is wanted.
void begin_trace(Block &block, Grid &grid, u64 i) {
    block.trace = nullptr;
    if (grid.traces.empty()) return;
    size_t at = i;
    if (!grid.traced.empty()) {
        auto found = grid.traced.find(grid.id(i));
        if (found == grid.traced.end()) return;
        at = found->second;
    }
    block.trace = grid.traces[at].get();
    block.trace->id = grid.id(i);
    block.trace->warps.resize(block.warps.size());
}

void prepare_traces(Grid &grid) {
    const LaunchOptions &o = grid.launch.options;
    if (!o.trace) return;
    grid.traces.resize(o.traced.empty() ? grid.count : o.traced.size());
    for (auto &trace : grid.traces) trace = std::make_shared<BlockTrace>();
    for (size_t i = 0; i < o.traced.size(); i++) grid.traced.emplace(o.traced[i], i);
}

// One core: takes blocks until there are none.
void work(Grid &grid, Core &core, Touched *touched, Outputs &outputs, u64 &run) {
    Block block(grid.launch, core);
    std::string text;
    block.output = &text;
    Watch watch;
    Share share{grid};
    for (;;) {
        const u64 i = share.take();
        if (i >= grid.count || grid.launch.stop) return;
        text.clear();
        try {
            begin_trace(block, grid, i);
            begin_block(block, touched, i);
            block.start(grid.id(i));
            while (!block.run_turn())
                if (grid.launch.stop) throw Stop{};
            run++;
            if (touched) grid.work[i] = block.work;
            watch.check_limits(grid.launch, grid.id(i));
        } catch (const Stop &) {
        }
        if (!text.empty()) outputs[grid.id(i)] = text;
    }
}

// One core, blocks in order; a block that has used a turn without ending lets the next one start and comes back later.
void work_in_order(Grid &grid, Core &core, Touched *touched, std::string &output, u64 &run) {
    std::deque<std::unique_ptr<Block>> waiting, idle;
    const size_t each = (size_t)(grid.launch.program.n_rows + 2) * kRowBytes * 32 + grid.launch.options.shared_bytes +
                        (size_t)grid.launch.options.local_bytes * 1024;
    const size_t room = std::max<size_t>(1, kMostWaitingBytes / (size_t)grid.launch.cores / std::max<size_t>(each, 1));
    const size_t most = std::min<size_t>(room, grid.launch.options.concurrent);
    Watch watch;
    Share share{grid};
    try {
        for (;;) {
            std::unique_ptr<Block> b;
            const bool room_left = waiting.size() < most && share.any();
            const u64 place = room_left ? share.take() : grid.count;
            if (place < grid.count) {
                if (idle.empty()) idle.push_back(std::make_unique<Block>(grid.launch, core));
                b = std::move(idle.front());
                idle.pop_front();
                b->output = &output;
                begin_block(*b, touched, place);
                begin_trace(*b, grid, place);
                b->start(grid.id(b->place));
            } else if (!waiting.empty()) {
                b = std::move(waiting.front());
                waiting.pop_front();
            } else {
                return;
            }
            if (b->run_turn()) {
                run++;
                if (touched) grid.work[b->place] = b->work;
                watch.check_limits(grid.launch, b->id);
                idle.push_back(std::move(b));
            } else {
                waiting.push_back(std::move(b));
            }
            if (grid.launch.stop) return;
        }
    } catch (const Stop &) {
    }
}

void prepare_checks(Launch &l) {
    for (Allocation &a : l.memory.allocations)
        if (a.writable) a.shadow = std::make_shared<GlobalShadow>(a.size, l.program.global_granule);
}

}  // namespace

bool Launch::over_limits(u64 so_far, bool look_at_clock, FaultKind *kind) const {
    *kind = FaultKind::endless_loop;
    if (so_far > options.max_instructions) return true;
    *kind = FaultKind::deadline;
    return look_at_clock && std::chrono::steady_clock::now() > end;
}

void Launch::doubt() {
    doubtful = true;
    stop = true;
    throw Stop{};
}

void Launch::record(Fault f) {
    std::lock_guard guard(lock);
    if (quick && cores > 1 && f.kind != FaultKind::deadline) {  // which fault comes first depends on timing
        doubtful = true;
        stop = true;
        return;
    }
    for (Fault &known : faults)
        if (known.kind == f.kind && known.pc == f.pc) {
            known.count++;
            return;
        }
    if (faults.size() < kMostFaults)
        faults.push_back(std::move(f));
    else
        stop = true;
}

namespace {

// What a pass may change, to put back before another.
struct Before {
    std::vector<std::unique_ptr<LazyBytes>> bytes;  // null: nobody may write the allocation
    explicit Before(const Memory &memory) {
        for (const Allocation &a : memory.allocations) {
            bytes.push_back(a.writable && a.size ? std::make_unique<LazyBytes>(a.size) : nullptr);
            if (bytes.back()) std::memcpy(bytes.back()->data(), a.host, a.size);
        }
    }
    void restore(Memory &memory) const {
        for (size_t i = 0; i < bytes.size(); i++)
            if (bytes[i]) std::memcpy(memory.allocations[i].host, bytes[i]->data(), memory.allocations[i].size);
    }
};

// Blocks of such a launch may run beside each other while they are checked, since what they do shows no order.
bool may_be_quick(const Launch &l) {
    const bool one_word = l.total_blocks < (1u << 30) - 2;  // a word of owners.hpp holds the block
    return l.options.check && !l.program.order_sensitive && one_word;
}

int cores_for(const Launch &l, u64 blocks) {
    const LaunchOptions &o = l.options;
    const bool in_order =
        l.program.order_sensitive || (o.check && !l.quick) || (l.quick && (l.program.prints || o.concurrent != ~0ull));
    return in_order ? 1 : (int)std::max<u64>(1, std::min<u64>((u64)std::max(1, o.cores), blocks));
}

void begin(Launch &l) {
    const double seconds = std::min(l.options.deadline_seconds, 1e8);
    l.end = std::chrono::steady_clock::now() +
            std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds));
    l.stop = l.doubtful = false;
    l.executed = l.longest_warp = 0;
    l.heap_used = l.options.heap_used;
    l.faults.clear();
    l.fence_counts.clear();
    if (l.options.check && !l.quick) prepare_checks(l);
}

void wait_for(std::vector<std::thread> &threads, const int &left, std::mutex &m, std::condition_variable &done,
              Launch &l, bool (*interrupted)()) {
    std::unique_lock guard(m);
    while (!done.wait_for(guard, std::chrono::milliseconds(100), [&] { return left == 0; })) {
        guard.unlock();
        if (end_asked || (interrupted && interrupted())) l.stop = l.interrupted = true;
        guard.lock();
    }
    guard.unlock();
    for (std::thread &t : threads) t.join();
}

LaunchResult run_pass(Launch &l, bool (*interrupted)()) {
    const LaunchOptions &o = l.options;
    begin(l);
    Grid grid{l, o.blocks.empty() ? l.total_blocks : o.blocks.size()};
    const Shown shown(grid);
    prepare_traces(grid);
    if (o.watch) grid.work.resize(grid.count);
    l.cores = cores_for(l, grid.count);
    const size_t n = (size_t)l.cores;
    if (n > 1) grid.share = std::clamp<u64>(grid.count / (n * kShares), 1, kMostShare);
    const bool in_order = l.program.order_sensitive || o.check;
    std::vector<Core> cores;
    std::vector<Touched> touched;
    SectorMarks marks;
    if (o.watch) marks = begin_watching(l.memory);
    for (size_t i = 0; i < n; i++) {
        cores.emplace_back(l.program);
        if (l.quick) cores.back().owners = std::make_unique<Owners>(l.memory, l.program.global_granule);
        if (o.watch) touched.emplace_back().marks = &marks;
    }
    std::vector<Outputs> outputs(n);
    std::vector<u64> run(n, 0);
    LaunchResult result;
    std::mutex m;
    std::condition_variable done;
    int left = l.cores;
    std::exception_ptr broken;
    std::vector<std::thread> threads;
    for (size_t i = 0; i < n; i++)
        threads.emplace_back([&, i] {
            try {
                Touched *mine = o.watch ? &touched[i] : nullptr;
                if (in_order)
                    work_in_order(grid, cores[i], mine, outputs[i][0], run[i]);
                else
                    work(grid, cores[i], mine, outputs[i], run[i]);
            } catch (...) {
                std::lock_guard guard(m);
                broken = std::current_exception();
                l.stop = true;
            }
            std::lock_guard guard(m);
            left--;
            done.notify_all();
        });
    wait_for(threads, left, m, done, l, interrupted);
    if (n > 1 && !l.stop) Watch{}.check_limits(l, grid.id(grid.count - 1));  // cores report their steps now and then
    for (Allocation &a : l.memory.allocations) a.shadow.reset();
    if (broken) std::rethrow_exception(broken);
    if (l.quick && !l.doubtful && !l.interrupted) {
        std::vector<const Owners *> owners;
        for (const Core &core : cores) owners.push_back(core.owners.get());
        l.doubtful = !settle_owners(l.memory, owners);
    }
    for (Core &core : cores) core.settle_counts(l.program);
    result.counts = std::move(cores[0].counts);
    for (size_t c = 1; c < n; c++)
        for (size_t i = 0; i < result.counts.size(); i++)
            for (int k = 0; k < kCounters; k++) result.counts[i][k] += cores[c].counts[i][k];
    Outputs all;
    for (Outputs &part : outputs) all.merge(part);
    for (auto &[id, text] : all) result.output += text;
    for (u64 blocks : run) result.blocks_run += blocks;
    result.traces.assign(grid.traces.begin(), grid.traces.end());
    result.work = std::move(grid.work);
    if (o.watch) end_watching(touched, o.waves, result);
    result.faults = std::move(l.faults);
    result.warp_instructions = l.executed;
    result.heap_used = l.heap_used;
    result.cores_used = l.cores;
    return result;
}

}  // namespace

void end_launch() { end_asked = true; }

Progress progress() {
    std::lock_guard guard(looking);
    if (!running) return {};
    return {std::min(running->count, running->next.load(std::memory_order_relaxed)), running->count};
}

LaunchResult run_launch(Launch &l, bool (*interrupted)()) {
    end_asked = false;
    ConstRows consts(l.program.consts);
    const LaunchOptions &o = l.options;
    l.const_rows = consts.data;
    l.total_blocks = (u64)o.grid[0] * o.grid[1] * o.grid[2];
    l.quick = may_be_quick(l);
    if (!l.quick) return run_pass(l, interrupted);
    const Before before(l.memory);
    LaunchResult result = run_pass(l, interrupted);
    if (!l.doubtful || l.interrupted) return result;
    before.restore(l.memory);
    l.quick = false;
    return run_pass(l, interrupted);
}

}  // namespace warpsight
