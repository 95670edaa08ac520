// What accesses cost, in counters and in traces.
#include <algorithm>

#include "memory.hpp"

namespace warpsight {
namespace {

constexpr u32 kLongestSleep = 1'000'000;  // nanoseconds: the PTX manual

// The record of the step being executed; parts of one access share it.
MemoryStep &record_of(WarpTrace &t) {
    const u32 step = (u32)t.steps.size() - 1;
    if (t.memory.empty() || t.memory.back().step != step) {
        t.steps[step] |= kTouchesMemory;
        t.memory.push_back(MemoryStep{step, (u32)t.sectors.size()});
    }
    return t.memory.back();
}

void trace_global(Warp &w, MemoryStep &r, const Access &x, u32 size, u64 base) {
    u32 seen[kLanes * 2], n = 0;
    u8 in_set[4] = {};
    u64 last_line = ~0ull;
    for (u32 rest = x.m; rest; rest &= rest - 1) {
        const u64 first = (base + x.offset[lowest(rest)]) / 32, last = (base + x.offset[lowest(rest)] + size - 1) / 32;
        for (u64 s = first; s <= last && n < kLanes * 2; s++) seen[n++] = (u32)s;
    }
    std::sort(seen, seen + n);
    n = (u32)(std::unique(seen, seen + n) - seen);
    for (u32 i = 0; i < n; i++) {
        w.trace->sectors.push_back(seen[i]);
        if (seen[i] / 4 != last_line) {
            last_line = seen[i] / 4;
            r.lines++;
            in_set[last_line & 3]++;
        }
    }
    r.sectors = (u16)(r.sectors + n);
    r.tag_passes = (u16)(r.tag_passes + *std::max_element(in_set, in_set + 4));
}

// Lines of constant memory that a load wants, each once. Parameters are there when a launch begins.
void trace_constant(Warp &w, MemoryStep &r, const Access &x, u32 size) {
    std::vector<u32> &all = w.trace->sectors;
    for (u32 rest = x.m; rest; rest &= rest - 1) {
        const u64 at = x.base + x.offset[lowest(rest)];
        for (u64 line = at / 64; line <= (at + size - 1) / 64; line++) {
            const u32 number = kConstantTrace + (u32)line;
            if (std::find(all.begin() + r.first_sector, all.end(), number) != all.end()) continue;
            all.push_back(number);
            r.constant_lines++;
        }
    }
}

// A generic address of constant memory is an address of global memory on a GPU.
bool by_generic_address(const Warp &w) { return w.block->launch->program.code[(size_t)w.now].sub != kConst; }

void trace_access(Warp &w, const Access &x, const Place &p, u32 size, u32 wavefronts) {
    WarpTrace &t = *w.trace;
    if (t.steps.size() >= w.block->launch->options.max_trace_steps || t.steps.empty()) return;
    MemoryStep &r = record_of(t);
    r.bytes_per_lane = (u8)size;
    r.space = p.space;
    r.wavefronts = (u16)(r.wavefronts + wavefronts);
    if (p.space == kGlobal) {
        const u32 before = r.sectors, bytes = (u32)__builtin_popcount(x.m) * size;
        trace_global(w, r, x, size, x.base - kGlobalBase);
        r.partial = (u16)(r.partial + std::max(0, (i32)(r.sectors - before) - (i32)(bytes / 32)));
    }
    if (p.space == kConst) {
        if (by_generic_address(w))
            trace_global(w, r, x, size, x.base - kConstWindow + kConstantTrace * 32ull);
        else
            trace_constant(w, r, x, size);
    }
    if (p.space == kLocal) {  // its lanes' words side by side; where a warp's memory lies is up to its place on the SM
        Access y = x;
        for (u32 rest = x.m; rest; rest &= rest - 1)
            y.offset[lowest(rest)] = (x.offset[lowest(rest)] + (u32)(x.base & 0xffffff)) / 4 * 128 + lowest(rest) * 4;
        trace_global(w, r, y, std::max(4u, size), kLocalTrace);
    }
}

}  // namespace

void trace_wavefronts(Warp &w, u32 wavefronts) {
    if (w.block->touched) w.block->work[k_work_passes] += wavefronts;
    if (!w.trace || w.trace->steps.size() >= w.block->launch->options.max_trace_steps || w.trace->steps.empty()) return;
    MemoryStep &r = record_of(*w.trace);
    r.wavefronts = (u16)(r.wavefronts + wavefronts);
}

void trace_sleep(Warp &w, const Ins &x, u32 m) {
    u32 longest = 0;
    for (u32 rest = m; rest; rest &= rest - 1) longest = std::max(longest, Row::at(w, x.a)[lowest(rest)]);
    longest = std::min(longest, kLongestSleep);
    w.waited += longest;
    if (!w.trace || w.trace->steps.size() >= w.block->launch->options.max_trace_steps || w.trace->steps.empty()) return;
    record_of(*w.trace).first_sector = longest;
}

void trace_barrier(Warp &w, u32 id, u32 threads, bool arrives) {
    if (!w.trace || w.trace->steps.size() >= w.block->launch->options.max_trace_steps || w.trace->steps.empty()) return;
    const u32 all = (u32)w.block->warps.size(), expected = (threads + kLanes - 1) / kLanes;
    record_of(*w.trace).first_sector = BarrierStep{id, arrives, expected == all ? 0 : expected}.packed();
}

void trace_passes(Warp &w, u32 passes) {
    if (!w.trace || w.trace->steps.size() >= w.block->launch->options.max_trace_steps || w.trace->steps.empty()) return;
    MemoryStep &r = record_of(*w.trace);
    r.passes = (u16)std::max<u32>(r.passes, passes);
}

// Places swaps in shared memory behind all sectors, where nothing else is listed.
constexpr u32 kSwapTrace = 0xf8000000u;

void trace_swap(Warp &w, u32 word) {
    if (w.trace->steps.size() >= w.block->launch->options.max_trace_steps || w.trace->steps.empty()) return;
    MemoryStep &r = record_of(*w.trace);
    w.trace->sectors.push_back(kSwapTrace + word);
    r.swaps++;
}

namespace {

// A constant operand of arithmetic (FFMA R0, R1, c[3][8]) is read by a hidden instruction before the visible one. The
// constant port of the pipe delivers it: it is no access of the load/store unit, and belongs to no earlier step.
bool is_operand(const Warp &w, const Place &p) {
    return (p.space == kConst || p.space == kParam) && (w.block->launch->program.code[(size_t)w.now].flags & kHidden);
}

}  // namespace

namespace {

// Words of a warp's lanes lie side by side in local memory: 8 lanes of one word are a sector.
Cost cost_of_local(const Access &x, u32 size) {
    Access y = x;
    y.base = 0;
    y.shape = Shape::general;
    for (u32 rest = x.m; rest; rest &= rest - 1) {
        const u32 lane = lowest(rest);
        y.offset[lane] = (x.offset[lane] + ((u32)x.base & 3)) / 4 * 128 + lane * 4;
    }
    const u32 words = std::max(1u, size / 4), first = y.offset[lowest(x.m)];
    for (u32 lane = 0; lane < kLanes; lane++)
        if (!(x.m >> lane & 1)) y.offset[lane] = first;
    y.reach = ~0u >> 1;
    Cost cost;
    count_blocks(y, 4, &cost.sectors, &cost.lines);
    cost.sectors *= words, cost.lines *= words;
    return cost;
}

Cost cost_of(const Access &x, u8 space, u32 size) {
    Cost cost;
    if (space == kLocal) return cost_of_local(x, size);
    if (space == kGlobal)
        count_blocks(x, size, &cost.sectors, &cost.lines);
    else if (space == kShared)
        cost.wavefronts = count_wavefronts(x, size, &cost.ideal);
    else
        cost.wavefronts = count_words(x), cost.ideal = 1;
    return cost;
}

void add_costs(Counts &n, const Access &x, u8 space, u32 size, const Cost &cost, u32 times) {
    const u32 bytes = (u32)__builtin_popcount(x.m) * size;
    n[k_requests] += times;
    n[k_bytes] += (u64)bytes * times;
    if (space == kGlobal || space == kLocal) {
        n[k_sectors] += (u64)cost.sectors * times;
        n[k_sectors_ideal] += (u64)((bytes + 31) / 32) * times;
        n[k_lines] += (u64)cost.lines * times;
    } else {
        n[k_wavefronts] += (u64)cost.wavefronts * times;
        n[k_wavefronts_ideal] += (u64)cost.ideal * times;
    }
}

// The cost depends on the shape and on the place of the base in its line alone: what is known, or finds it out.
const Cost &known_cost(Warp &w, Known &known, u8 space) {
    const u32 place = (u32)(known.access.base & 127) / 4, bit = 1u << place;
    if (known.space != space || !(known.counted & bit)) {
        if (known.space != space) settle_known(*w.block->counts, known);
        known.cost[place] = cost_of(known.access, space, known.size);
        known.counted |= bit, known.space = space, known.pc = w.now;
    }
    if (++known.times[place] == ~0u) settle_known(*w.block->counts, known);
    return known.cost[place];
}

}  // namespace

void settle_known(std::vector<Counts> &counts, Known &known) {
    for (u32 rest = known.counted; rest; rest &= rest - 1) {
        const u32 place = lowest(rest);
        add_costs(counts[(size_t)known.pc], known.access, known.space, known.size, known.cost[place],
                  known.times[place]);
        known.times[place] = 0;
    }
    known.counted = 0;
}

void count_access(Warp &w, const Access &x, const Place &p, u32 size, Known *known) {
    const u8 space = p.space == kConst && by_generic_address(w) ? (u8)kGlobal : p.space;
    const bool watched = (w.trace || w.block->touched) && !is_operand(w, p);
    Cost cost;
    if (known && !(x.base & 3)) {
        const Cost &found = known_cost(w, *known, space);
        if (!watched) return;
        cost = found;
    } else {
        cost = cost_of(x, space, size);
        add_costs(counts_of(w), x, space, size, cost, 1);
        if (!watched) return;
    }
    if (w.trace) trace_access(w, x, p, size, cost.wavefronts);
    if (w.block->touched) watch_access(w, x, p, size, cost);
}

}  // namespace warpsight
