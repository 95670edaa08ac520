// Barriers of the whole block (__syncthreads) and the threads that do not come to them. At a guard (vgpu/flow.py) each
// thread's choice is noted; when the block meets, those who wait at another barrier, and those who ended since, are
// compared with one who waits. Going past a barrier and on to what follows it is a fault, though the count may add up.
// Returning before it is none: hardware does not wait for threads that have ended. What others then find missing is
// blamed on the return. Whole warps with different roles, on different ways of one branch, may each have a barrier of
// their own there. Barriers with a number or a count of their own, and unaligned ones, may be met anywhere.
#include <algorithm>

#include "eight.hpp"
#include "machine.hpp"

namespace warpsight {
namespace {

bool has(const std::vector<i32> &v, i32 x) { return std::find(v.begin(), v.end(), x) != v.end(); }

}  // namespace

void note_branch(Warp &w, u32 guard, u32 m, i32 next) {
    Block &b = *w.block;
    const bool toward = has(b.launch->program.guards[guard - 1].toward, next);
    Choice *row = b.choices.data() + ((size_t)(guard - 1) * b.warps.size() + w.id) * kLanes;
    for (; m; m &= m - 1) {
        Choice &c = row[lowest(m)];
        if (c.epoch != b.epoch) c = {b.epoch, 0, 0};
        c.visits++;
        if (toward && !c.toward) c.toward = c.visits;
    }
}

// The guard at which `thread` went past `barrier` on the visit that took `waiting` to it; null when there was none.
const Guard *Block::passed_by(u32 thread, u32 waiting, i32 barrier) const {
    if (choices.empty()) return nullptr;
    const std::vector<Guard> &guards = launch->program.guards;
    const Guard *found = nullptr;
    for (size_t i = 0; i < guards.size(); i++) {
        if (!has(guards[i].barriers, barrier)) continue;
        const Choice *row = choices.data() + i * warps.size() * kLanes;
        const Choice &gone = row[thread], &came = row[waiting];
        if (gone.epoch != epoch || came.epoch != epoch || !came.toward) continue;
        if (gone.visits >= came.toward && (!gone.toward || gone.toward > came.toward))
            if (!found || guards[i].rejoins) found = &guards[i];
    }
    return found;
}

// Two threads wait at different places. The barrier that one of them went past is the one in divergent code.
void Block::fail_apart(u32 thread, i32 pc, u32 other, i32 other_pc) {
    const Guard *guard = passed_by(other, thread, pc);
    const Guard *reverse = passed_by(thread, other, other_pc);
    if (!guard || (reverse && other_pc < pc)) {
        if (reverse || other_pc < pc) {
            std::swap(thread, other);
            std::swap(pc, other_pc);
            guard = reverse;
        }
    }
    Fault f{FaultKind::barrier_divergence, pc, thread, id, 0};
    f.other_thread = other;
    f.other_block = id;
    f.other_pc = guard ? guard->pc : other_pc;
    f.seen_pc = other_pc;
    f.why = guard ? Why::skipped : Why::elsewhere;
    stop_with(std::move(f));
}

// All who are alive have come to `barrier`: is it the same place for all, and did those who ended not just go past it?
void Block::judge_meeting(u32 barrier) {
    if (barrier != 0 || barriers[0].expected) return;
    const Program &p = launch->program;
    i32 pc = -1;
    u32 first = 0;
    for (const Warp &w : warps) {
        if (pc >= 0 && !(w.at_barrier & ~(lanes_at(w, pc) & lanes_with(w, 0)))) continue;
        for (u32 rest = w.at_barrier; rest; rest &= rest - 1) {
            const u32 lane = lowest(rest);
            if (w.barrier_id[lane] != 0 || p.code[w.pc[lane]].imm) continue;
            if (pc < 0) pc = w.pc[lane], first = thread_of(w, lane);
            if (w.pc[lane] == pc || (w.id != first / kLanes && p.facing.count({pc, w.pc[lane]}))) continue;
            fail_apart(first, pc, thread_of(w, lane), w.pc[lane]);
        }
    }
    for (u32 thread : pc < 0 ? std::vector<u32>{} : ended) {
        const Guard *guard = passed_by(thread, first, pc);
        if (!guard) continue;
        if (!guard->rejoins) {
            if (returned.barrier < 0) returned = {pc, guard->pc, thread};
            continue;
        }
        Fault f{FaultKind::barrier_divergence, pc, first, id, 0};
        f.other_thread = thread;
        f.other_block = id;
        f.other_pc = guard->pc;
        f.why = Why::skipped;
        stop_with(std::move(f));
    }
    ended.clear();
    epoch++;
}

// A race or a read of what nobody wrote, in a block of which threads returned before a barrier: that is the cause.
Fault Block::blamed_on_return(Fault f) const {
    if (returned.barrier < 0) return f;
    f.seen_pc = f.pc;
    f.kind = FaultKind::barrier_divergence;
    f.why = Why::returned;
    f.pc = returned.barrier;
    f.other_pc = returned.branch;
    f.other_thread = returned.thread;
    f.other_block = id;
    return f;
}

}  // namespace warpsight
