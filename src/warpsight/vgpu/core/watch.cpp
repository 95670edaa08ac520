// Keeping what blocks of a watched launch do; work.hpp says what for.
#include <algorithm>

#include "memory.hpp"

namespace warpsight {
namespace {

constexpr u8 kSwap = 7;  // Ins::tb of an exchange on condition

constexpr u32 kOtherWave = 1u << kMostWaves;

void mark(u32 *marks, u64 first, u64 last, u32 wave) {
    for (u64 s = first; s <= last; s++)
        if (!(__atomic_load_n(marks + s, __ATOMIC_RELAXED) & wave))
            __atomic_fetch_or(marks + s, wave, __ATOMIC_RELAXED);
}

// Counts lines that are far, for the block and for what is kept of the warp.
void count_far(Warp &w, u64 lines) {
    w.block->work[k_work_far_lines] += lines;
    if (w.trace && w.trace->steps.size() < w.block->launch->options.max_trace_steps) w.trace->far_lines += lines;
}

void touch(Warp &w, u32 *marks, u64 base, u64 first, u64 last) {
    mark(marks, (first - base) / 32, (last - base) / 32, w.block->wave_mark);
    for (u64 line = first / 128; line <= last / 128; line++) count_far(w, w.block->near.miss(line));
}

void touch_global(Warp &w, const Access &x, const Allocation &a, u32 size) {
    Block &b = *w.block;
    const Launch &l = *b.launch;
    const Op op = l.program.code[w.now].op;
    const auto &touched = op == Op::ST || op == Op::ATOM ? b.touched->marks->stored : b.touched->marks->loaded;
    u32 *marks = touched[(size_t)(&a - l.memory.allocations.data())].get();
    if (x.shape != Shape::general) return touch(w, marks, a.base, x.base, x.base + x.reach + size - 1);
    u64 last = ~0ull;
    for (u32 rest = x.m; rest; rest &= rest - 1) {
        const u64 at = x.base + x.offset[lowest(rest)], end = at + size - 1;
        if (end / 32 == last && at / 32 == last) continue;
        touch(w, marks, a.base, at, end);
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

// Adds the sectors of one allocation to those of each wave; returns how many were loaded or stored at all.
template <class Add>
u64 for_each_marked(const SectorMarks::Marks &marks, size_t count, Add add) {
    u64 n = 0;
    for (size_t s = 0; s < count; s++) {
        if (!marks[s]) continue;
        n++;
        for (u32 rest = marks[s] & ~kOtherWave, last = kMostWaves; rest; rest &= rest - 1) {
            const u32 at = (u32)__builtin_ctz(rest);
            add(at, last);
            last = at;
        }
    }
    return n;
}

}  // namespace

SectorMarks begin_watching(const Memory &memory) {
    SectorMarks marks;
    const auto zeros = [](size_t count) {  // of the system: they take no room until they are touched
        void *found = std::calloc(count, sizeof(u32));
        if (!found) throw std::bad_alloc();
        return SectorMarks::Marks((u32 *)found);
    };
    for (const Allocation &a : memory.allocations) {
        marks.counts.push_back((size_t)a.size / 32 + 2);
        marks.loaded.push_back(zeros(marks.counts.back()));
        marks.stored.push_back(zeros(marks.counts.back()));
    }
    return marks;
}

void begin_block(Block &block, Touched *touched, u64 place) {
    block.touched = touched, block.place = place;
    if (!touched) return;
    const LaunchOptions &o = block.launch->options;
    const auto found = std::lower_bound(o.waves.begin(), o.waves.end(), place / o.concurrent);
    const bool watched = found != o.waves.end() && *found == place / o.concurrent;
    block.wave_mark = watched ? 1u << (found - o.waves.begin()) : kOtherWave;
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

void end_watching(std::vector<Touched> &cores, const std::vector<u64> &waves, LaunchResult &result) {
    Touched &all = cores[0];
    for (size_t c = 1; c < cores.size(); c++) {
        for (auto [sector, passes] : cores[c].atomics) all.atomics[sector] += passes;
        all.failed_polls += cores[c].failed_polls;
        for (auto [pc, lanes] : cores[c].excused_swaps) all.excused_swaps[pc] += lanes;
    }
    const SectorMarks &marks = *all.marks;
    result.waves.resize(waves.size());
    for (size_t a = 0; a < marks.counts.size(); a++) {
        result.loaded_sectors += for_each_marked(marks.loaded[a], marks.counts[a], [&](u32 at, u32 last) {
            const u64 back = last < kMostWaves ? waves[at] - waves[last] : 0;
            result.waves[at].loaded[back < kBack ? back : 0]++;
        });
        result.stored_sectors +=
            for_each_marked(marks.stored[a], marks.counts[a], [&](u32 at, u32) { result.waves[at].stored++; });
    }
    result.failed_polls = all.failed_polls;
    result.excused_swaps = std::move(all.excused_swaps);
    for (auto [sector, passes] : all.atomics) result.hottest_atomic = std::max(result.hottest_atomic, passes);
}

}  // namespace warpsight
