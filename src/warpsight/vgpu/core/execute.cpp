// The warp loop: which lanes run, what they run, and every instruction that moves a program counter or waits.
// Lanes keep their own counters; the lowest runs first, so divergent lanes meet again at the earliest common
// instruction.
#include <algorithm>
#include <climits>

#include "eight.hpp"
#include "machine.hpp"
#include "memory.hpp"
#include "undefined.hpp"

namespace warpsight {
namespace {

constexpr u64 kFenceWeight = 760;  // instructions that a fence outweighs, where blocks are told apart
constexpr u8 kSwap = 7;            // Ins::tb of an exchange on condition
constexpr u32 kPatience = 4096;    // instructions of one group while other groups of the warp could run

struct Group {
    i32 pc;
    u32 lanes;
    i32 next;  // lowest counter among the other lanes that could run
    bool others;
};

WS_INLINE i32 least8(v8i v) {
    auto lower = [](v8i a, v8i b) { return a < b ? a : b; };
    v = lower(v, __builtin_shuffle(v, v8i{4, 5, 6, 7, 0, 1, 2, 3}));
    v = lower(v, __builtin_shuffle(v, v8i{2, 3, 0, 1, 6, 7, 4, 5}));
    return std::min(v[0], v[1]);
}

// The lowest counter among the lanes of `m`; INT_MAX if there are none.
WS_INLINE i32 lowest_pc(const Warp &w, u32 m) {
    v8i least = (v8i)all8(INT_MAX);
    for (int g = 0; g < kGroups; g++) {
        const v8i pc = (v8i)choose8(lanes8(m, g), load8((const u32 *)w.pc, g), all8(INT_MAX));
        least = pc < least ? pc : least;
    }
    return least8(least);
}

// The group with the lowest counter among `ready`; lanes of `held` have just had a long stay and give way.
Group choose(const Warp &w, u32 ready, u32 held) {
    const u32 pool = ready & ~held ? ready & ~held : ready;
    Group g{lowest_pc(w, pool), 0, INT_MAX, false};
    g.lanes = pool & lanes_at(w, g.pc);
    if (pool & ~g.lanes) g.next = lowest_pc(w, pool & ~g.lanes);
    g.others = (ready & ~g.lanes) != 0;
    return g;
}

void set_pc(Warp &w, u32 m, i32 pc) {
    for (int g = 0; m && g < kGroups; g++)
        store8((u32 *)w.pc, g, choose8(lanes8(m, g), all8((u32)pc), load8((const u32 *)w.pc, g)));
}

void end_lanes(Warp &w, u32 m, i32 pc) {
    Block &b = *w.block;
    if (!b.choices.empty())
        for (u32 rest = m; rest; rest &= rest - 1) b.ended.push_back(b.thread_of(w, lowest(rest)));
    set_pc(w, m, pc);
    w.alive &= ~m;
    w.at_sync = 0;  // lanes that wait look again whether everybody who is left has come
    b.alive -= (u32)__builtin_popcount(m);
}

// Lanes of `m` arrive at an instruction that needs all lanes of their member masks.
void arrive_at_sync(Warp &w, i32 pc, u32 m, Ref mask_row) {
    const u32 *mask = Row::at(w, mask_row);
    for (u32 rest = m; rest; rest &= rest - 1) {
        u32 lane = lowest(rest);
        if (!(mask[lane] >> lane & 1))
            w.block->fail(w, FaultKind::warp_sync_divergence, lane, 0, 0, "the lane is not in its own member mask");
        w.sync_mask[lane] = mask[lane];
        w.pc[lane] = pc;
    }
    w.at_sync |= m;
}

// Runs the instruction for every set of waiting lanes that is complete; returns the lanes that may go on. Lanes of one
// instruction may have different masks (tiles of a warp). A warp barrier may be met at different places.
u32 run_complete(Warp &w, const Ins &x, i32 pc) {
    const bool anywhere = x.op == Op::WARPBAR;
    const Ins *code = w.block->launch->program.code.data();
    u32 complete = 0, here = 0;
    for (u32 rest = w.at_sync; rest; rest &= rest - 1)
        if (w.pc[lowest(rest)] == pc || (anywhere && code[w.pc[lowest(rest)]].op == Op::WARPBAR))
            here |= 1u << lowest(rest);
    while (here) {
        const u32 wanted = w.sync_mask[lowest(here)];
        u32 together = 0;
        for (u32 rest = here; rest; rest &= rest - 1)
            if (w.sync_mask[lowest(rest)] == wanted) together |= 1u << lowest(rest);
        here &= ~together;
        if ((wanted & w.alive) & ~together) continue;
        complete |= together;
        if (w.follows && x.run && x.op != Op::SHFL) follow_vote(w, x, together);
        if (x.run) x.run(w, x, together);
        for (u32 rest = together; rest; rest &= rest - 1) w.pc[lowest(rest)]++;
    }
    if (complete && anywhere) w.last_sync = ++w.block->time;
    w.at_sync &= ~complete;
    return complete;
}

// Arrivals were counted as executions: lanes that wait are counted when the instruction runs for them.
void correct_counts(Counts &n, u32 width, u32 arrived, u32 ran) {
    const u64 counted = (u64)__builtin_popcount(arrived), executed = (u64)__builtin_popcount(ran);
    if (!ran) n[k_warps]--;
    n[k_threads] += executed - (ran ? counted : width);
    n[k_threads_on] += executed - counted;
}

Ref member_mask(const Ins &x) {
    switch (x.op) {
        case Op::SHFL: return x.e;
        case Op::VOTE:
        case Op::MATCH:
        case Op::REDUX: return x.b;
        case Op::ELECT:
        case Op::WARPBAR: return x.a;
        default: return 0;
    }
}

[[noreturn]] void bad_jump(Warp &w, u32 lane) { w.block->fail(w, FaultKind::bad_jump, lane); }

// Per-lane jump targets; lanes that stay in place go on at pc + 1.
void jump_each(Warp &w, const Ins &x, u32 m) {
    const Program &p = w.block->launch->program;
    for (; m; m &= m - 1) {
        u32 lane = lowest(m);
        u32 a = Row::at(w, x.a)[lane];
        if (x.op == Op::BRX) {
            if (a >= (u32)x.target) bad_jump(w, lane);
            w.pc[lane] = p.tables[(size_t)x.imm + a];
        } else if (x.op == Op::RET) {
            if (a >= p.code.size()) bad_jump(w, lane);
            w.pc[lane] = (i32)a;
            w.frame[lane] = Row::at(w, Row::high(x.a))[lane];
        } else {
            u64 address = a | (u64)Row::at(w, Row::high(x.a))[lane] << 32;
            u64 index = (address - kFunctionWindow) / 16;
            if (address < kFunctionWindow || index >= p.functions.size()) bad_jump(w, lane);
            w.pc[lane] = p.functions[index];
        }
    }
}

void enter_frame(Warp &w, const Ins &x, i32 pc, u32 m) {
    const u32 size = w.block->launch->options.local_bytes;
    for (; m; m &= m - 1) {
        u32 lane = lowest(m);
        Row::at(w, x.d0)[lane] = (u32)pc + 1;
        Row::at(w, Row::high(x.d0))[lane] = w.frame[lane];
        w.frame[lane] += (u32)x.imm;
        if (w.frame[lane] > size) w.block->fail(w, FaultKind::stack_overflow, lane, kLocalWindow + w.frame[lane]);
    }
}

void save_rows(Warp &w, const Ins &x, u32 m) {
    const u32 size = w.block->launch->options.local_bytes;
    for (; m; m &= m - 1) {
        u32 lane = lowest(m);
        u64 at = w.frame[lane] + (u64)x.imm;
        if (at + 4ull * (u32)x.target > size) w.block->fail(w, FaultKind::stack_overflow, lane, kLocalWindow + at);
        char *slot = w.local + (size_t)lane * size + at;
        for (i32 i = 0; i < x.target; i++) {
            u32 *row = Row::at(w, x.list[i]);
            if (x.op == Op::PUSH)
                std::memcpy(slot + 4 * i, row + lane, 4);
            else
                std::memcpy(row + lane, slot + 4 * i, 4);
        }
    }
}

// Device malloc hands out ever new pieces of the heap; free gives nothing back.
void allocate(Warp &w, const Ins &x, u32 m) {
    Launch &l = *w.block->launch;
    for (; m; m &= m - 1) {
        u32 lane = lowest(m);
        u64 wanted = Row::at(w, x.a)[lane] | (u64)Row::at(w, Row::high(x.a))[lane] << 32, address = 0;
        if (wanted && wanted <= l.options.heap_bytes - l.heap_used) {
            address = l.options.heap_base + l.heap_used;
            l.heap_used = std::min(l.options.heap_bytes, (l.heap_used + wanted + 15) / 16 * 16);
        }
        Row::at(w, x.d0)[lane] = (u32)address;
        Row::at(w, Row::high(x.d0))[lane] = (u32)(address >> 32);
    }
}

// Whoever reads again what it has read before, at the same place by the same instruction, waits for somebody. Of
// exchanges on condition, whatever the instruction: one that retries has just been told the value, and would succeed.
void note_poll(Warp &w, const Ins &x, i32 pc, u32 m) {
    if (!w.block->touched || x.op == Op::ST || (x.flags & kUnusedResult)) return;
    const u32 lane = lowest(m), address = Row::at(w, x.a)[lane];
    const bool swaps = x.op == Op::ATOM && (u8)x.tb == kSwap;
    const u32 value = Row::at(w, x.op == Op::LD ? x.list[0] : x.d0)[lane];
    if (swaps && value == Row::at(w, x.b)[lane]) return;
    const Poll seen{swaps ? -2 : pc, address + (u32)x.imm, value};
    Poll &last = w.polls[(swaps ? seen.address / 4 : (u32)pc) % w.polls.size()];
    w.block->touched->failed_polls += seen == last;
    last = seen;
}

// Runs the plain instructions of [pc, end) and returns where it stopped: an instruction may have made an undefined
// value, which is followed from the next one on.
template <bool kCounts>
i32 run_straight(Warp &w, i32 pc, i32 end, u32 lanes) {
    Core &core = *w.block->core;
    const Ins *code = w.block->launch->program.code.data();
    const u32 width = (u32)__builtin_popcount(lanes);
    const i32 begin = pc;
    try {
        for (; pc < end && !w.follows; pc++) {
            const Ins &x = code[pc];
            w.now = pc;
            u32 m = lanes;
            if (x.guard) {
                m &= predicate(w.preds, (u32)x.guard);
                if (kCounts && !(x.flags & kHidden))
                    core.counts[(size_t)pc][k_threads_on] += (u32)__builtin_popcount(m);
                if (!m) continue;
            }
            x.run(w, x, m);
        }
    } catch (const Stop &) {
        if (kCounts) core.count_run(begin, w.now + 1, width);
        throw;
    }
    if (kCounts) core.count_run(begin, pc, width);
    return pc;
}

// Runs one warp until it waits, ends, or has used its turn.
// `kCounts`: how often each instruction runs is counted. `kMore`: the warp is traced or watched, or blocks take turns.
template <bool kCounts, bool kMore>
Turn run_as(Warp &w) {
    Block &block = *w.block;
    Launch &launch = *block.launch;
    const Ins *code = launch.program.code.data();
    const u16 *clocks = kMore && block.touched ? launch.options.pipe_clocks.data() : nullptr;
    const u16 *held_clocks = kMore && block.touched ? launch.options.held_clocks.data() : nullptr;
    std::vector<Counts> &counts = *block.counts;
    u64 left = launch.options.quantum;
    const bool takes_turns = kMore && launch.options.concurrent != ~0ull;
    u32 held = 0;
    const u64 start = w.executed;
    auto leave = [&](Turn t) {
        block.unreported += w.executed - start;
        return t;
    };
    for (;;) {
        u32 ready = w.alive & ~(w.at_barrier | w.at_sync);
        if (!ready) return leave(w.alive ? Turn::waits : Turn::done);
        const Group g = w.fresh ? Group{0, ready, INT_MAX, false} : choose(w, ready, held);
        w.fresh = false;
        i32 pc = g.pc;
        const u32 lanes = g.lanes;
        const u32 width = (u32)__builtin_popcount(lanes);
        const i32 next = g.next;
        held = 0;
        w.spins = false;
        u32 stay = 0;
        for (;;) {
            if (pc >= next) break;
            if (const i32 end = std::min(code[pc].run_end, next); !kMore && end > pc && !w.follows) {
                const u64 many = (u64)(end - pc);
                if (many < left && (!g.others || stay + many <= kPatience)) {
                    const i32 at = run_straight<kCounts>(w, pc, end, lanes);
                    left -= (u64)(at - pc), stay += (u32)(at - pc), w.executed += (u64)(at - pc);
                    pc = at;
                    continue;
                }
            }
            if (g.others && ++stay > kPatience && w.spins) {
                held = lanes;
                break;
            }
            if (--left == 0) {
                set_pc(w, lanes, pc);
                return leave(Turn::over);
            }
            const Ins &x = code[pc];
            u32 m = lanes;
            if (x.guard) m &= predicate(w.preds, (u32)x.guard);
            if ((kCounts || kMore) && !(x.flags & kHidden)) {
                if (kCounts) {
                    Counts &n = counts[(size_t)pc];
                    n[k_warps]++;
                    n[k_threads] += width;
                    n[k_threads_on] += (u32)__builtin_popcount(m);
                }
                if (clocks) {
                    block.work[k_work_instructions]++;
                    block.work[k_work_pipe_clocks] += clocks[pc];
                    block.work[k_work_held_clocks] += held_clocks[pc];
                }
            }
            w.executed++;
            w.now = pc;
            if (kMore && w.trace && !(x.flags & kHidden) && w.trace->steps.size() < launch.options.max_trace_steps)
                w.trace->steps.push_back((u32)pc);
            if (x.plain) {
                if (w.follows && m) [[unlikely]]
                    follow(w, x, m);
                if (m) x.run(w, x, m);
                if (takes_turns && (x.op == Op::ATOM || (x.flags & kVolatile))) {
                    left -= std::min(left - 1,
                                     launch.options.round_trip);  // who polls must not do so at the pace of arithmetic
                    if (m) note_poll(w, x, pc, m);
                }
                pc++;
                continue;
            }
            if (w.follows && m && !x.run) [[unlikely]]
                forget(w, x, m);
            switch (x.op) {
                case Op::BRA:
                    if (x.watch) {
                        note_branch(w, x.watch, m, x.target);
                        note_branch(w, x.watch, lanes & ~m, pc + 1);
                    }
                    if (m == lanes) {
                        pc = x.target;
                        continue;
                    }
                    if (!m) break;
                    if (kCounts) counts[(size_t)pc][k_branches_divergent]++;
                    set_pc(w, lanes & ~m, pc + 1);
                    set_pc(w, m, x.target);
                    goto reschedule;
                case Op::EXIT:
                    if (x.watch) {
                        note_branch(w, x.watch, m, -1);
                        note_branch(w, x.watch, lanes & ~m, pc + 1);
                    }
                    if (!m) break;
                    end_lanes(w, m, pc);
                    set_pc(w, lanes & ~m, pc + 1);
                    goto reschedule;
                case Op::BAR:
                    if (!m) break;
                    set_pc(w, lanes, pc + 1);
                    wait_at_barrier(w, x, pc, m);
                    goto reschedule;
                case Op::BRX:
                case Op::RET:
                    if (!m) break;
                    set_pc(w, lanes, pc + 1);
                    jump_each(w, x, m);
                    for (u32 rest = x.watch ? lanes : 0; rest; rest &= rest - 1)
                        note_branch(w, x.watch, rest & -rest, w.pc[lowest(rest)]);
                    goto reschedule;
                case Op::CALL:
                case Op::CALLX:
                    if (!m) break;
                    set_pc(w, lanes, pc + 1);
                    if (x.op == Op::CALL)
                        set_pc(w, m, x.target);
                    else
                        jump_each(w, x, m);
                    enter_frame(w, x, pc, m);
                    goto reschedule;
                case Op::SHFL:
                case Op::VOTE:
                case Op::MATCH:
                case Op::REDUX:
                case Op::ELECT:
                case Op::WARPBAR: {
                    if (!m) break;
                    set_pc(w, lanes & ~m, pc + 1);
                    arrive_at_sync(w, pc, m, member_mask(x));
                    const u32 go = run_complete(w, x, pc);
                    if (go == lanes) break;  // all of them: go on in this group
                    if (kCounts && !(x.flags & kHidden)) correct_counts(counts[(size_t)pc], width, m, go);
                    goto reschedule;
                }
                case Op::PUSH:
                case Op::POP:
                    if (m) save_rows(w, x, m);
                    break;
                case Op::LEAFP: {
                    vu64 v{};
                    for (int i = 0; i < kLanes; i++) v[i] = w.frame[i] + (u64)x.imm;
                    Row::put64(w, x.d0, v, m);
                    break;
                }
                case Op::ACTIVEMASK: Row::put(w, x.d0, vu32{} + lanes, m); break;
                case Op::NANOSLEEP:
                    if (m) trace_sleep(w, x, m);
                    if (g.others) {
                        held = lanes;
                        pc++;
                        goto yield;
                    }
                    left = 1;
                    break;
                case Op::FENCE:
                    if (!m) break;
                    w.fences++;
                    if (x.sub > 0) block.fence(), w.waited += kFenceWeight;
                    break;
                case Op::TRAP:
                    if (m) block.fail(w, FaultKind::trap, lowest(m));
                    break;
                case Op::PRINTF:
                    if (m) print_formatted(w, x, m);
                    break;
                case Op::ASSERTFAIL:
                    if (m) fail_assertion(w, x, m);
                    break;
                case Op::MALLOC:
                    if (m) allocate(w, x, m);
                    break;
                default: break;  // NOP, PREFETCH, FREE: nothing for values
            }
            pc++;
        }
    yield:
        set_pc(w, lanes, pc);
        continue;
    reschedule:
        if (launch.stop.load(std::memory_order_relaxed)) throw Stop{};
    }
}

}  // namespace

Turn run_warp(Warp &w) {
    const Block &b = *w.block;
    if (w.trace || b.touched || b.launch->options.concurrent != ~0ull)
        return b.counting ? run_as<true, true>(w) : run_as<false, true>(w);
    return b.counting ? run_as<true, false>(w) : run_as<false, false>(w);
}

}  // namespace warpsight
