// Running a grid: blocks over cores, faults, limits. Blocks of order-sensitive programs, and every checked launch, run
// on one core in ascending order; a block that waits for others (a spin on memory) is set aside while later ones start,
// so that grid-wide synchronisation goes on.
#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <map>
#include <thread>
#include <unordered_map>

#include "machine.hpp"
#include "shadow.hpp"

namespace warpsight {
namespace {

constexpr size_t kMostFaults = 64, kMostWaitingBytes = 2ull << 30;
constexpr u64 kSteps = 1u << 14;  // warp instructions of whole blocks between two looks at the clock

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
    std::atomic<u64> next{0};
    u64 count;
    std::vector<std::shared_ptr<BlockTrace>> traces{};
    std::unordered_map<u64, size_t> traced{};  // where the trace of a chosen block goes; empty: all are traced
    std::vector<BlockWork> work{};
    u64 id(u64 i) const { return launch.options.blocks.empty() ? i : launch.options.blocks[i]; }
};

using Outputs = std::map<u64, std::string>;

// Many short blocks use up a budget too; the clock is looked at after some blocks or some instructions.
struct Watch {
    u64 blocks = 0, looked = 0;
    void check_limits(Launch &l, u64 block) {
        const u64 now = l.executed.load(std::memory_order_relaxed);
        const bool at_clock = (++blocks & 63) == 0 || now - looked >= kSteps;
        if (at_clock) looked = now;
        FaultKind kind;
        if (!l.over_limits(at_clock, &kind)) return;
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
void work(Grid &grid, std::vector<Counts> &counts, Touched *touched, Outputs &outputs, u64 &run) {
    Block block(grid.launch, &counts);
    block.touched = touched;
    std::string text;
    block.output = &text;
    Watch watch;
    for (;;) {
        u64 i = grid.next.fetch_add(1);
        if (i >= grid.count || grid.launch.stop) return;
        text.clear();
        try {
            begin_trace(block, grid, i);
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
void work_in_order(Grid &grid, std::vector<Counts> &counts, Touched *touched, std::string &output, u64 &run) {
    std::deque<std::unique_ptr<Block>> waiting, idle;
    const size_t each = (size_t)(grid.launch.program.n_rows + 2) * kRowBytes * 32 + grid.launch.options.shared_bytes +
                        (size_t)grid.launch.options.local_bytes * 1024;
    const size_t room = std::max<size_t>(1, kMostWaitingBytes / std::max<size_t>(each, 1));
    const size_t most = std::min<size_t>(room, grid.launch.options.concurrent);
    Watch watch;
    try {
        for (;;) {
            std::unique_ptr<Block> b;
            if (grid.next < grid.count && waiting.size() < most) {
                if (idle.empty()) idle.push_back(std::make_unique<Block>(grid.launch, &counts));
                b = std::move(idle.front());
                idle.pop_front();
                b->output = &output;
                b->touched = touched;
                b->place = grid.next++;
                begin_trace(*b, grid, b->place);
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

bool Launch::over_limits(bool look_at_clock, FaultKind *kind) const {
    *kind = FaultKind::endless_loop;
    if (executed.load(std::memory_order_relaxed) > options.max_instructions) return true;
    *kind = FaultKind::deadline;
    return look_at_clock && std::chrono::steady_clock::now() > end;
}

void Launch::record(Fault f) {
    std::lock_guard guard(lock);
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

LaunchResult run_launch(Launch &l, bool (*interrupted)()) {
    const LaunchOptions &o = l.options;
    ConstRows consts(l.program.consts);
    l.const_rows = consts.data;
    l.total_blocks = (u64)o.grid[0] * o.grid[1] * o.grid[2];
    l.end = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                   std::chrono::duration<double>(std::min(o.deadline_seconds, 1e8)));
    if (o.check) prepare_checks(l);
    Grid grid{l, {}, o.blocks.empty() ? l.total_blocks : o.blocks.size()};
    prepare_traces(grid);
    if (o.watch) grid.work.resize(grid.count);
    const bool in_order = l.program.order_sensitive || o.check;
    const int cores = in_order ? 1 : (int)std::max<u64>(1, std::min<u64>((u64)std::max(1, o.cores), grid.count));
    std::vector<std::vector<Counts>> counts((size_t)cores, std::vector<Counts>(l.program.code.size(), Counts{}));
    std::vector<Outputs> outputs((size_t)cores);
    std::vector<Touched> touched;
    for (int i = 0; o.watch && i < cores; i++) touched.push_back(begin_watching(l.memory));
    std::vector<u64> run((size_t)cores, 0);
    LaunchResult result;
    std::mutex m;
    std::condition_variable done;
    int left = cores;
    std::exception_ptr broken;
    std::vector<std::thread> threads;
    for (int i = 0; i < cores; i++)
        threads.emplace_back([&, i] {
            try {
                Touched *mine = o.watch ? &touched[(size_t)i] : nullptr;
                if (in_order)
                    work_in_order(grid, counts[(size_t)i], mine, result.output, run[(size_t)i]);
                else
                    work(grid, counts[(size_t)i], mine, outputs[(size_t)i], run[(size_t)i]);
            } catch (...) {
                std::lock_guard guard(m);
                broken = std::current_exception();
                l.stop = true;
            }
            std::lock_guard guard(m);
            left--;
            done.notify_all();
        });
    {
        std::unique_lock guard(m);
        while (!done.wait_for(guard, std::chrono::milliseconds(100), [&] { return left == 0; })) {
            guard.unlock();
            if (interrupted && interrupted()) l.stop = true;
            guard.lock();
        }
    }
    for (std::thread &t : threads) t.join();
    for (Allocation &a : l.memory.allocations) a.shadow.reset();
    if (broken) std::rethrow_exception(broken);
    result.counts = std::move(counts[0]);
    for (size_t c = 1; c < counts.size(); c++)
        for (size_t i = 0; i < result.counts.size(); i++)
            for (int k = 0; k < kCounters; k++) result.counts[i][k] += counts[c][i][k];
    Outputs all;
    for (Outputs &part : outputs) all.merge(part);
    for (auto &[id, text] : all) result.output += text;
    for (u64 n : run) result.blocks_run += n;
    result.traces.assign(grid.traces.begin(), grid.traces.end());
    result.work = std::move(grid.work);
    if (o.watch) end_watching(touched, result);
    result.faults = std::move(l.faults);
    result.warp_instructions = l.executed;
    result.cores_used = cores;
    return result;
}

}  // namespace warpsight
