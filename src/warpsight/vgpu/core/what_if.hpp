// What traces would be without a cause: see what_if.cpp.
#pragma once
#include "machine.hpp"
#include "sm_state.hpp"

namespace warpsight {

// For each instruction: how many of its steps are kept (0: none, 1: all, n: one in n), and how many sectors an access
// touches where lanes lie side by side (0: as it is). `split`: how many blocks share the work of one.
struct TraceChange {
    std::vector<u16> keep, ideal;
    u32 split = 1;
};

// Sectors that traced accesses move, by what they are (StepKind).
std::vector<u64> moved_by_kind(const Traces &traces, const std::vector<StaticStep> &program);

Traces changed_traces(const Traces &traces, const TraceChange &change);

}  // namespace warpsight
