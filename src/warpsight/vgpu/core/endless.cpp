// The budget of instructions, or the time, is used up: which loop does not end? The block runs on for a while, and the
// widest jump back that it takes in that time is the loop it cannot leave: loops inside it end, loops around it are not
// gone round. A block that ends after all, in a launch where others have, was only one of too many.
#include <algorithm>

#include "machine.hpp"

namespace warpsight {
namespace {

constexpr u64 kWindow = 1 << 20;  // warp instructions that the block runs on for
constexpr u64 kUnlike = 16;       // a warp that has run so many times longer than any that ended is not like them
constexpr u8 kExchange = 6, kCompare = 7;

// May the loop wait for another thread: does it read what others may change?
bool polls(const Ins &x) {
    if (x.op == Op::LD) return x.flags & kVolatile;
    if (x.op != Op::ATOM) return false;
    return (u8)x.tb == kExchange || (u8)x.tb == kCompare || !(x.flags & kUnusedResult);
}

struct Loop {
    i32 branch = -1, polled = -1;
    u64 rounds = 0;
};

// The widest loop among the instructions that ran, by how often they did.
Loop widest(const Program &p, const std::vector<u64> &ran) {
    Loop loop;
    i32 width = -1;
    for (i32 pc = 0; pc < (i32)ran.size(); pc++) {
        const Ins &x = p.code[pc];
        if (x.op != Op::BRA || x.target > pc || !ran[pc] || !ran[x.target] || pc - x.target <= width) continue;
        width = pc - x.target;
        loop = {pc, -1, ran[pc]};
    }
    bool stores = false;
    for (i32 pc = loop.branch - width; loop.branch >= 0 && pc <= loop.branch; pc++) {
        if (!ran[pc]) continue;
        stores |= p.code[pc].op == Op::ST && p.code[pc].sub != kLocal;
        if (loop.polled < 0 && polls(p.code[pc])) loop.polled = pc;
    }
    if (stores) loop.polled = -1;
    return loop;
}

u32 ready(const Warp &w) { return w.alive & ~(w.at_barrier | w.at_sync); }

}  // namespace

void Block::give_up(FaultKind kind) {
    std::vector<u64> ran(launch->program.code.size());
    counting = true;
    core->settle_counts(launch->program);
    for (size_t i = 0; i < ran.size(); i++) ran[i] = (*counts)[i][k_warps];
    const u64 start = executed();
    for (bool moved = true; moved && alive && executed() - start < kWindow;) {
        moved = false;
        for (Warp &w : warps)
            if (ready(w) && executed() - start < kWindow) run_warp(w), moved = true;
        if (alive) moved |= release_barriers();
    }
    const u64 window = executed() - start;
    core->settle_counts(launch->program);
    for (size_t i = 0; i < ran.size(); i++) ran[i] = (*counts)[i][k_warps] - ran[i];
    Warp *busy = &warps[0];
    for (Warp &w : warps)
        if ((ready(w) != 0) > (ready(*busy) != 0) ||
            ((ready(w) != 0) == (ready(*busy) != 0) && w.executed > busy->executed))
            busy = &w;
    const Loop loop = widest(launch->program, ran);
    Fault f{kind, -1, 0, id, 0};
    f.thread = thread_of(*busy, ready(*busy) ? lowest(ready(*busy)) : busy->alive ? lowest(busy->alive) : 0);
    const bool one_of_many = launch->longest_warp && busy->executed < kUnlike * launch->longest_warp;
    if (!alive || one_of_many || loop.branch < 0) {
        if (kind == FaultKind::endless_loop) f.kind = FaultKind::launch_too_large;
        stop_with(std::move(f));
    }
    f.pc = loop.branch;
    f.why = loop.polled >= 0 ? Why::polls : Why::loops;
    f.seen_pc = loop.polled;
    f.rounds = window ? (u64)((double)busy->executed * (double)loop.rounds / (double)window) : 0;
    stop_with(std::move(f));
}

}  // namespace warpsight
