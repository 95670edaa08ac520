// Operations among the lanes of a warp (the member lanes have arrived), and the registers that tell a thread where it
// is.
#include <algorithm>

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

void shuffle(Warp &w, const Ins &x, u32 m) {
    const u32 *a = Row::at(w, x.a), *b = Row::at(w, x.b), *c = Row::at(w, x.c);
    vu32 v{};
    u32 in_range = 0, source[kLanes];
    for (u32 lane = 0; lane < kLanes; lane++) {
        const u32 clamp = c[lane] & 31, segment = c[lane] >> 8 & 31, by = b[lane] & 31;
        const u32 highest = (lane & segment) | (clamp & ~segment), lowest_lane = lane & segment;
        i32 from;
        bool ok;
        switch (x.sub) {
            case 0:
                from = (i32)lane - (i32)by;
                ok = from >= (i32)highest;
                break;
            case 1:
                from = (i32)(lane + by);
                ok = from <= (i32)highest;
                break;
            case 2:
                from = (i32)(lane ^ by);
                ok = from <= (i32)highest;
                break;
            default:
                from = (i32)(lowest_lane | (by & ~segment));
                ok = from <= (i32)highest;
                break;
        }
        if (!ok) from = (i32)lane;
        source[lane] = (u32)from & 31;
        v[lane] = a[source[lane]];
        in_range |= (u32)ok << lane;
    }
    if (w.follows) follow_shuffle(w, x, m, source);
    if (w.block->launch->options.check) check_sources(w, x, m, source);
    Row::put(w, x.d0, v, m);
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

void special_register(Warp &w, const Ins &x, u32 m) {
    const Block &b = *w.block;
    const LaunchOptions &o = b.launch->options;
    const vu32 lane = (vu32)lane_index(), bit = (vu32{} + 1u) << lane;
    vu32 v{};
    switch (x.sub) {
        case 0:
        case 1:
        case 2: v = thread_axis(w, x.sub); break;
        case 3:
        case 4:
        case 5: v += o.block[x.sub - 3]; break;
        case 6:
        case 7:
        case 8: v += b.index[x.sub - 6]; break;
        case 9:
        case 10:
        case 11: v += o.grid[x.sub - 9]; break;
        case 12: v = lane; break;
        case 13: v += w.id; break;
        case 14: v += (u32)b.warps.size(); break;
        case 15: v += (u32)(b.id % kMultiprocessors); break;
        case 16: v += kMultiprocessors; break;
        case 18: v = bit; break;
        case 19: v = bit | (bit - 1); break;
        case 20: v = bit - 1; break;
        case 21: v = ~(bit - 1); break;
        case 22: v = ~(bit | (bit - 1)); break;
        case 23: v += o.dynamic_shared_bytes; break;
        case 24: v += o.shared_bytes; break;
        case 25:
        case 27: v = __builtin_convertvector(next_tick(w, m), vu32); break;
        case 26:
        case 28: v = upper_half(w); break;
        default: break;  // gridid, envreg: zero
    }
    Row::put(w, x.d0, v, m);
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
