// Questions about traces: what blocks touch between them, and where their atomics meet.
#include <algorithm>
#include <unordered_map>

#include "machine.hpp"
#include "sm_state.hpp"

namespace warpsight {
namespace {

bool is_store(StepKind k) { return k == StepKind::global_store || k == StepKind::global_atomic; }

}  // namespace

std::vector<Footprint> footprints(const Traces &traces, const std::vector<StaticStep> &program,
                                  const std::vector<u32> &counts) {
    std::vector<u32> loaded, stored;
    std::vector<Footprint> out;
    auto distinct = [](std::vector<u32> &all) {
        std::sort(all.begin(), all.end());
        all.erase(std::unique(all.begin(), all.end()), all.end());
    };
    size_t done = 0;
    for (u32 want : counts) {
        for (; done < want && done < traces.size(); done++) {
            for (const WarpTrace &w : traces[done]->warps)
                for (const MemoryStep &m : w.memory) {
                    const StepKind kind = program[w.steps[m.step] & ~kTouchesMemory].kind;
                    if (kind == StepKind::local_load || kind == StepKind::local_store) continue;
                    const auto first = w.sectors.begin() + m.first_sector;
                    auto &some = is_store(kind) ? stored : loaded;
                    some.insert(some.end(), first, first + m.sectors);
                }
            distinct(loaded), distinct(stored);
        }
        out.push_back({loaded.size(), stored.size()});
    }
    return out;
}

u32 local_sectors(const Traces &traces) {
    u32 most = 0;
    for (const auto &b : traces)
        for (const WarpTrace &w : b->warps)
            for (const MemoryStep &m : w.memory)
                if (m.space == kLocal && m.sectors)
                    most = std::max(most, w.sectors[m.first_sector + m.sectors - 1] - (u32)(kLocalTrace / 32) + 1);
    return (most + 3) / 4 * 4;
}

OwnSectors own_sectors(const Traces &traces) {
    std::vector<u64> touched;  // sector and block
    for (u64 b = 0; b < traces.size(); b++)
        for (const WarpTrace &w : traces[b]->warps)
            for (u32 sector : w.sectors) touched.push_back((u64)sector << 32 | b);
    std::sort(touched.begin(), touched.end());
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    std::vector<u32> shared;
    for (size_t i = 1; i < touched.size(); i++)
        if (touched[i] >> 32 == touched[i - 1] >> 32) shared.push_back((u32)(touched[i] >> 32));
    OwnSectors own;
    for (const auto &b : traces)
        for (const WarpTrace &w : b->warps) {
            std::vector<bool> &flags = own[&w];
            for (u32 sector : w.sectors) flags.push_back(!std::binary_search(shared.begin(), shared.end(), sector));
        }
    return own;
}

BlockWork work_of(const Traces &traces, const std::vector<StaticStep> &program) {
    BlockWork sum{};
    for (const auto &b : traces)
        for (const WarpTrace &w : b->warps) {
            sum[k_work_instructions] += w.steps.size();
            sum[k_work_far_lines] += w.far_lines;
            for (u32 step : w.steps) {
                const StaticStep &x = program[step & ~kTouchesMemory];
                sum[k_work_pipe_clocks] += x.interval;
                sum[k_work_held_clocks] += held_clocks(x);
                sum[k_work_barriers] += x.kind == StepKind::barrier;
            }
            for (const MemoryStep &m : w.memory) {
                sum[k_work_sectors] += m.sectors;
                sum[k_work_lines] += m.lines;
                sum[k_work_passes] += m.wavefronts;
                sum[k_work_atomics] += m.passes;
            }
        }
    return sum;
}

u64 hottest_atomic(const Traces &traces, const std::vector<StaticStep> &program) {
    std::unordered_map<u32, u64> passes;
    u64 most = 0;
    for (const auto &b : traces)
        for (const WarpTrace &w : b->warps)
            for (const MemoryStep &m : w.memory)
                if (program[w.steps[m.step] & ~kTouchesMemory].kind == StepKind::global_atomic)
                    for (u32 i = 0; i < m.sectors; i++)
                        most = std::max(most, passes[w.sectors[m.first_sector + i]] += m.passes);
    return most;
}

}  // namespace warpsight
