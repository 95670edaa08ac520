// What the libraries beside the runtime need of it: bounds of their operands, marks of what they wrote, and the account
// of their calls. They compute in this process; the other side is told what a call amounts to and answers its time.
#include <algorithm>

#include "state.hpp"

namespace stand_in {

void library_call(const char *name, double flops, double bytes, Arithmetic kind) {
    WS_LOCKED;
    device();
    auto whole_number = [](double v) { return (u64)std::clamp(v, 0.0, 1e18); };
    Message m(Op::library);
    m.add(std::string(name)).add(whole_number(flops)).add(whole_number(bytes)).add((u64)kind);
    clock_us += (double)m.ask().number() / 1000.0;
}

void note_written(const void *to, u64 row, u64 rows, u64 pitch) {
    WS_LOCKED;
    if (!row || !rows || !on_device(to)) return;
    Message(Op::copy).add((u64)to).add(0).add(0).add(row).add(rows).add(pitch).add(pitch).post();
}

bool host_memory(const void *p) {
    u64 base, bytes;
    Kind kind;
    return !on_device(p) || !find_allocation(p, &base, &bytes, &kind);
}

cudaError_t state_of_device() {
    WS_LOCKED;
    return sticky;
}

}  // namespace stand_in
