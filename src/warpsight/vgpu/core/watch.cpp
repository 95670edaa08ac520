// Keeping what blocks of a watched launch do; work.hpp says what for.
#include <algorithm>

#include "memory.hpp"

namespace warpsight {
namespace {

constexpr u8 kSwap = 7;  // Ins::tb of an exchange on condition

void set_bits(std::vector<u64> &bits, u64 first, u64 last) {
    for (u64 s = first; s <= last;) {
        const u64 end = std::min(last, s | 63);
        bits[s >> 6] |= (~0ull >> (63 - (end - s))) << (s & 63);
        s = end + 1;
    }
}

// Counts lines that are far, for the block and for what is kept of the warp.
void count_far(Warp &w, u64 lines) {
    w.block->work[k_work_far_lines] += lines;
    if (w.trace && w.trace->steps.size() < w.block->launch->options.max_trace_steps) w.trace->far_lines += lines;
}

void touch(Warp &w, std::vector<u64> &bits, u64 base, u64 first, u64 last) {
    set_bits(bits, (first - base) / 32, (last - base) / 32);
    for (u64 line = first / 128; line <= last / 128; line++) count_far(w, w.block->near.miss(line));
}

void touch_global(Warp &w, const Access &x, const Allocation &a, u32 size) {
    Block &b = *w.block;
    const Launch &l = *b.launch;
    const Op op = l.program.code[w.now].op;
    auto &touched = op == Op::ST || op == Op::ATOM ? b.touched->stored : b.touched->loaded;
    std::vector<u64> &bits = touched[(size_t)(&a - l.memory.allocations.data())];
    if (x.shape != Shape::general) return touch(w, bits, a.base, x.base, x.base + x.reach + size - 1);
    u64 last = ~0ull;
    for (u32 rest = x.m; rest; rest &= rest - 1) {
        const u64 at = x.base + x.offset[lowest(rest)], end = at + size - 1;
        if (end / 32 == last && at / 32 == last) continue;
        touch(w, bits, a.base, at, end);
        last = end / 32;
    }
}

void touch_constant(Warp &w, const Access &x) {
    u64 last = ~0ull;
    for (u32 rest = x.m; rest; rest &= rest - 1) {
        const u64 line = (x.base + x.offset[lowest(rest)]) / 64;
        if (line != last) count_far(w, w.block->near_constants.miss(line));
        last = line;
    }
}

u64 set_in(const std::vector<std::vector<u64>> &all) {
    u64 n = 0;
    for (const auto &bits : all)
        for (u64 word : bits) n += (u64)__builtin_popcountll(word);
    return n;
}

void merge(std::vector<std::vector<u64>> &into, const std::vector<std::vector<u64>> &from) {
    for (size_t a = 0; a < into.size(); a++)
        for (size_t i = 0; i < into[a].size(); i++) into[a][i] |= from[a][i];
}

}  // namespace

Touched begin_watching(const Memory &memory) {
    Touched t;
    for (const Allocation &a : memory.allocations) {
        t.loaded.emplace_back((a.size + 2047) / 2048 + 1);
        t.stored.emplace_back((a.size + 2047) / 2048 + 1);
    }
    return t;
}

void watch_access(Warp &w, const Access &x, const Place &p, u32 size, const Cost &cost) {
    BlockWork &work = w.block->work;
    const Ins &i = w.block->launch->program.code[w.now];
    if (i.op == Op::LD || (i.op == Op::ATOM && (u8)i.tb != kSwap)) w.swapped &= ~x.m;
    work[k_work_sectors] += cost.sectors;
    work[k_work_lines] += cost.lines;
    work[k_work_passes] += cost.wavefronts;
    if (p.space == kGlobal) touch_global(w, x, *p.allocation, size);
    if (p.space == kConst) touch_constant(w, x);
}

void watch_swap(Warp &w, u32 lane, bool made) {
    if (!made || !(w.swapped >> lane & 1)) w.block->touched->excused_swaps[w.now]++;
    if (made) w.swapped |= 1u << lane;
}

void watch_atomic(Warp &w, const Access &x, const Place &p, u32 passes) {
    w.block->work[k_work_atomics] += passes;
    if (p.space != kGlobal) return;
    u64 sectors[kLanes];
    u32 n = 0;
    for (u32 rest = x.m; rest; rest &= rest - 1) sectors[n++] = (x.base + x.offset[lowest(rest)]) / 32;
    std::sort(sectors, sectors + n);
    for (u32 i = 0; i < n; i++)
        if (!i || sectors[i] != sectors[i - 1]) w.block->touched->atomics[sectors[i]] += passes;
}

void end_watching(std::vector<Touched> &cores, LaunchResult &result) {
    Touched &all = cores[0];
    for (size_t c = 1; c < cores.size(); c++) {
        merge(all.loaded, cores[c].loaded);
        merge(all.stored, cores[c].stored);
        for (auto [sector, passes] : cores[c].atomics) all.atomics[sector] += passes;
        all.failed_polls += cores[c].failed_polls;
        for (auto [pc, lanes] : cores[c].excused_swaps) all.excused_swaps[pc] += lanes;
    }
    result.loaded_sectors = set_in(all.loaded);
    result.stored_sectors = set_in(all.stored);
    result.failed_polls = all.failed_polls;
    result.excused_swaps = std::move(all.excused_swaps);
    for (auto [sector, passes] : all.atomics) result.hottest_atomic = std::max(result.hottest_atomic, passes);
}

}  // namespace warpsight
