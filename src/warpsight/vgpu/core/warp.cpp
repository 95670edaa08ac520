// Operations among the lanes of a warp (the member lanes have arrived), and the registers that tell a thread where it
// is.
#include <algorithm>

#include "eight.hpp"
#include "undefined.hpp"

namespace warpsight {
namespace {

constexpr u32 kMultiprocessors = 108;
constexpr u64 kTick = 64;

// A lane that reads one that takes no part gets anything.
void check_sources(Warp &w, const Ins &x, u32 m, const u32 *source) {
    for (u32 rest = m; rest; rest &= rest - 1) {
        const u32 lane = lowest(rest), first = w.id * kLanes;
        if (!(m >> source[lane] & 1))
            mark_undefined(w, x.d0, 1u << lane,
                           {FaultKind::shuffle_outside_mask, w.now, first + lane, first + source[lane], 0});
    }
}

// Which lane each lane of group g reads, and, as sign bits, whether that is in range.
WS_INLINE v8u source_of(u8 how, v8u lane, v8u by, v8u limit, v8u *in_range) {
    const v8u clamp = limit & 31, segment = limit >> 8 & 31, highest = (lane & segment) | (clamp & ~segment);
    by &= 31;
    v8u from;
    switch (how) {
        case 0: from = lane - by; break;
        case 1: from = lane + by; break;
        case 2: from = lane ^ by; break;
        default: from = (lane & segment) | (by & ~segment);
    }
    *in_range = how == 0 ? (v8u)((v8i)from >= (v8i)highest) : (v8u)((v8i)from <= (v8i)highest);
    return choose8(*in_range, from, lane) & 31;
}

void shuffle(Warp &w, const Ins &x, u32 m) {
    const u32 *a = Row::at(w, x.a), *b = Row::at(w, x.b), *c = Row::at(w, x.c);
    alignas(32) u32 source[kLanes], v[kLanes];
    const u32 in_range = bits8([&](int g) {
        v8u ok;
        store8(source, g, source_of(x.sub, lane8(g), load8(b, g), load8(c, g), &ok));
        return ok;
    });
    for (u32 lane = 0; lane < kLanes; lane++) v[lane] = a[source[lane]];
    if (w.follows) follow_shuffle(w, x, m, source);
    if (m != kFull && w.block->launch->options.check) check_sources(w, x, m, source);
    write8(w, x.d0, m, [&](int g) { return load8(v, g); });
    put_predicate(w.preds, x.d1, in_range, m);
}

void vote(Warp &w, const Ins &x, u32 m) {
    const u32 value = predicate(w.preds, x.a) & m;
    switch (x.sub) {
        case 0: put_predicate(w.preds, x.d1, value == m ? kFull : 0, m); break;
        case 1: put_predicate(w.preds, x.d1, value ? kFull : 0, m); break;
        case 2: put_predicate(w.preds, x.d1, value == m || !value ? kFull : 0, m); break;
        default: Row::put(w, x.d0, vu32{} + value, m);
    }
}

void match(Warp &w, const Ins &x, u32 m) {
    const bool wide = x.ta == Type::B64 || x.ta == Type::U64 || x.ta == Type::S64;
    const u32 *low = Row::at(w, x.a), *high = wide ? Row::at(w, Row::high(x.a)) : low;
    vu32 v{};
    bool all = true;
    for (u32 i = 0; i < kLanes; i++)
        for (u32 j = 0; j < kLanes; j++)
            if ((m >> i & 1) && (m >> j & 1)) {
                bool same = low[i] == low[j] && high[i] == high[j];
                v[i] |= (u32)same << j;
                all &= same;
            }
    if (x.sub) v = vu32{} + (all ? m : 0);
    Row::put(w, x.d0, v, m);
    if (x.sub) put_predicate(w.preds, x.d1, all ? kFull : 0, m);
}

void reduce(Warp &w, const Ins &x, u32 m) {
    const u32 *a = Row::at(w, x.a);
    const bool is_signed = x.ta == Type::S32;
    u32 r = a[lowest(m)];
    for (u32 rest = m & (m - 1); rest; rest &= rest - 1) {
        u32 v = a[lowest(rest)];
        switch (x.sub) {
            case 0: r += v; break;
            case 1: r = is_signed ? (u32)std::min((i32)r, (i32)v) : std::min(r, v); break;
            case 2: r = is_signed ? (u32)std::max((i32)r, (i32)v) : std::max(r, v); break;
            case 3: r &= v; break;
            case 4: r |= v; break;
            default: r ^= v;
        }
    }
    Row::put(w, x.d0, vu32{} + r, m);
}

void elect(Warp &w, const Ins &x, u32 m) {
    Row::put(w, x.d0, vu32{} + lowest(m), m);
    put_predicate(w.preds, x.d1, 1u << lowest(m), m);
}

vu32 thread_axis(const Warp &w, int axis) {
    const u32 *size = w.block->launch->options.block;
    vu32 v{};
    for (u32 lane = 0; lane < kLanes; lane++) {
        u32 t = w.id * kLanes + lane;
        v[lane] = axis == 0 ? t % size[0] : axis == 1 ? t / size[0] % size[1] : t / size[0] / size[1];
    }
    return v;
}

// A clock goes on by a step each time a lane looks at it, and by nothing else: PTX and machine code do different
// numbers of instructions, and a kernel must not tell from the time which of the two is run.
vu64 next_tick(Warp &w, u32 m) {
    vu64 v{};
    for (u32 lane = 0; lane < kLanes; lane++) {
        w.clock_reads[lane] += m >> lane & 1;
        v[lane] = (u64)w.clock_reads[lane] * kTick;
    }
    return v;
}

vu32 upper_half(const Warp &w) {
    vu32 v{};
    for (u32 lane = 0; lane < kLanes; lane++) v[lane] = (u32)((u64)w.clock_reads[lane] * kTick >> 32);
    return v;
}

// What is the same in all lanes.
u32 same_in_warp(const Warp &w, u8 which) {
    const Block &b = *w.block;
    const LaunchOptions &o = b.launch->options;
    switch (which) {
        case 3:
        case 4:
        case 5: return o.block[which - 3];
        case 6:
        case 7:
        case 8: return b.index[which - 6];
        case 9:
        case 10:
        case 11: return o.grid[which - 9];
        case 13: return w.id;
        case 14: return (u32)b.warps.size();
        case 15: return (u32)(b.id % kMultiprocessors);
        case 16: return kMultiprocessors;
        case 23: return o.dynamic_shared_bytes;
        case 24: return o.shared_bytes;
        default: return 0;  // gridid, envreg: zero
    }
}

// A thread's place along an axis. Where rows of the block are whole warps, a warp lies in one row.
void thread_index(Warp &w, const Ins &x, u32 m) {
    const u32 *size = w.block->launch->options.block;
    if (size[0] % kLanes) {
        const vu32 v = thread_axis(w, x.sub);
        return write8(w, x.d0, m, [&](int g) { return load8((const u32 *)&v, g); });
    }
    const u32 first = w.id * kLanes, row = first / size[0];
    if (x.sub == 0) return write8(w, x.d0, m, [&](int g) { return lane8(g) + all8(first % size[0]); });
    const u32 v = x.sub == 1 ? row % size[1] : row / size[1];
    write8(w, x.d0, m, [&](int) { return all8(v); });
}

void special_register(Warp &w, const Ins &x, u32 m) {
    auto bit = [](int g) { return sll8(all8(1), lane8(g)); };
    switch (x.sub) {
        case 0:
        case 1:
        case 2: return thread_index(w, x, m);
        case 12: return write8(w, x.d0, m, lane8);
        case 18: return write8(w, x.d0, m, bit);
        case 19: return write8(w, x.d0, m, [&](int g) { return bit(g) | (bit(g) - 1); });
        case 20: return write8(w, x.d0, m, [&](int g) { return bit(g) - 1; });
        case 21: return write8(w, x.d0, m, [&](int g) { return ~(bit(g) - 1); });
        case 22: return write8(w, x.d0, m, [&](int g) { return ~(bit(g) | (bit(g) - 1)); });
        case 25:
        case 27: return Row::put(w, x.d0, __builtin_convertvector(next_tick(w, m), vu32), m);
        case 26:
        case 28: return Row::put(w, x.d0, upper_half(w), m);
        default: {
            const u32 v = same_in_warp(w, x.sub);
            write8(w, x.d0, m, [&](int) { return all8(v); });
        }
    }
}

void clock(Warp &w, const Ins &x, u32 m) {
    const bool wide = x.ta == Type::B64 || x.ta == Type::U64 || x.ta == Type::S64;
    const vu64 now = next_tick(w, m);
    if (wide)
        Row::put64(w, x.d0, now, m);
    else
        Row::put(w, x.d0, __builtin_convertvector(now, vu32), m);
}

}  // namespace

Handler find_warp(const Ins &x) {
    switch (x.op) {
        case Op::SHFL: return shuffle;
        case Op::VOTE: return vote;
        case Op::MATCH: return match;
        case Op::REDUX: return reduce;
        case Op::ELECT: return elect;
        case Op::S2R: return x.sub < 30 ? special_register : nullptr;
        case Op::CLOCK: return clock;
        default: return nullptr;
    }
}

}  // namespace warpsight
