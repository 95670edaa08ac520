// Traces as they would be without a cause: steps left out, accesses side by side, work split over more blocks.
// The work itself stays: a warp touches no sector that it did not touch before.
#include "what_if.hpp"

#include <algorithm>
#include <unordered_set>

namespace warpsight {
namespace {

// The sectors that scattered accesses of a warp touch, each once and in ascending order. Accesses that are side by side
// take as many of these as their bytes fill, one after the other, and begin again at the end.
struct Stream {
    std::vector<u32> sectors;
    size_t at = 0;

    void take(u32 count, std::vector<u32> &out) {
        for (u32 i = 0; i < count; i++, at++) out.push_back(sectors[at % sectors.size()]);
    }
};

bool scattered(const MemoryStep &m, u16 ideal) { return ideal && m.space != kLocal && m.sectors > ideal; }

Stream stream_of(const WarpTrace &w, const TraceChange &change) {
    Stream all;
    std::unordered_set<u32> seen;
    for (const MemoryStep &m : w.memory) {
        if (!scattered(m, change.ideal[w.steps[m.step] & ~kTouchesMemory])) continue;
        for (u32 i = 0; i < m.sectors; i++)
            if (const u32 sector = w.sectors[m.first_sector + i]; seen.insert(sector).second)
                all.sectors.push_back(sector);
    }
    std::sort(all.sectors.begin(), all.sectors.end());
    return all;
}

// Copies one access; of a scattered one as many sectors as its bytes fill.
void copy_access(const WarpTrace &from, MemoryStep m, u16 ideal, Stream &stream, WarpTrace &to) {
    const u32 first = m.first_sector, count = std::max<u32>({m.sectors, m.constant_lines, m.swaps});
    const bool lists = m.sectors || m.constant_lines || m.swaps;
    m.step = (u32)to.steps.size() - 1;
    if (scattered(m, ideal)) {
        m.first_sector = (u32)to.sectors.size();
        stream.take(ideal, to.sectors);
        m.sectors = ideal;
        m.lines = m.tag_passes = (u16)((ideal + 3) / 4);
        m.partial = 0;
    } else if (lists) {
        m.first_sector = (u32)to.sectors.size();
        for (u32 i = 0; i < count && first + i < from.sectors.size(); i++)
            to.sectors.push_back(from.sectors[first + i]);
    }
    to.memory.push_back(m);
}

// The steps from `first` to `last` of a warp, with those left out that the change leaves out.
WarpTrace changed_warp(const WarpTrace &w, const TraceChange &change, size_t first, size_t last, Stream &stream,
                       std::vector<u32> &turn, size_t &memory) {
    WarpTrace out;
    out.far_lines = w.far_lines;
    for (size_t s = first; s < last; s++) {
        const u32 step = w.steps[s], at = step & ~kTouchesMemory;
        const size_t here = memory;
        memory += step & kTouchesMemory ? 1 : 0;
        const u16 keep = change.keep[at];
        if (!keep || turn[at]++ % keep) continue;
        out.steps.push_back(step);
        if (step & kTouchesMemory) copy_access(w, w.memory[here], change.ideal[at], stream, out);
    }
    return out;
}

}  // namespace

Traces changed_traces(const Traces &traces, const TraceChange &change) {
    Traces out;
    for (const auto &block : traces) {
        std::vector<std::shared_ptr<BlockTrace>> pieces;
        for (u32 k = 0; k < change.split; k++) pieces.push_back(std::make_shared<BlockTrace>());
        for (const WarpTrace &w : block->warps) {
            Stream stream = stream_of(w, change);
            std::vector<u32> turn(change.keep.size());
            size_t memory = 0, first = 0;
            for (u32 k = 0; k < change.split; k++) {
                const size_t last = w.steps.size() * (k + 1) / change.split;
                pieces[k]->warps.push_back(changed_warp(w, change, first, last, stream, turn, memory));
                first = last;
            }
        }
        for (auto &piece : pieces) piece->id = block->id, out.push_back(std::move(piece));
    }
    return out;
}

std::vector<u64> moved_by_kind(const Traces &traces, const std::vector<StaticStep> &program) {
    std::vector<u64> moved((size_t)StepKind::sleep + 1);
    for (const auto &b : traces)
        for (const WarpTrace &w : b->warps)
            for (const MemoryStep &m : w.memory)
                moved[(size_t)kind_of(program[w.steps[m.step] & ~kTouchesMemory].kind, m)] += m.sectors;
    return moved;
}

}  // namespace warpsight
