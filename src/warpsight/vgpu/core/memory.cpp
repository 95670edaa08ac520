// Loads and stores. A row of words moves at once when lanes are adjacent or agree; the rest goes lane by lane.
#include "memory.hpp"

#include <type_traits>

#include "shadow.hpp"
#include "undefined.hpp"

namespace warpsight {
namespace {

u8 kind_of(const Ins &x) { return (u8)(x.flags & kVolatile ? Kind::is_volatile : Kind::plain); }

// A volatile, relaxed or acquire load may learn of what others did before.
void acquire(Warp &w, const Ins &x, const Place &p) {
    if (!(x.flags & kVolatile)) return;
    w.spins = true;
    if (p.space == kGlobal) w.block->acquired = true;
    w.acquired = true;
}

// A volatile, relaxed or release store may tell others of what was done before: taken for a fence, so that nobody is
// accused wrongly.
void release(Warp &w, const Ins &x) {
    if (!(x.flags & kVolatile)) return;
    w.fences++;
    w.block->fence();
}

// Private memory: what a lane reads before it wrote any of it is undefined.
void note_local(Warp &w, const Ins &x, u32 lane, u64 offset, u32 size, bool write) {
    const u32 words = (w.block->launch->options.local_bytes + 3) / 4;
    const u32 first = (u32)(offset & 0xffffffff) / 4, last = ((u32)(offset & 0xffffffff) + size - 1) / 4;
    bool known = false;
    for (u32 i = first; i <= last && i < words; i++) {
        const size_t at = (size_t)lane * words + i;
        if (write) w.local_written[at] = true;
        known |= w.local_written[at];
    }
    if (known) return;
    const Origin o{FaultKind::uninitialised_read, w.now, w.id * kLanes + lane, 0, kLocalWindow + first * 4ull};
    for (int k = 0; k < x.vec * (x.width == 8 ? 2 : 1); k++) mark_undefined(w, x.list[k], 1u << lane, o);
}

// ---- words: elements of 4, 8 or 16 bytes in all; x.list holds one row for each of the W words of a lane

template <int W>
void load_words(Warp &w, const Ins &x, u32 m) {
    constexpr u32 size = 4 * W;
    Access a;
    if (!gather_addresses(w, x.a, x.imm, x.sub, is_narrow(x), m, size, a))
        return part_by_part(w, x.a, x.imm, x.sub, is_narrow(x), m, [&](u32 part) { load_words<W>(w, x, part); });
    Place p = locate(w, a, x.sub, size, size, false);
    const LaunchOptions &o = w.block->launch->options;
    if (o.count) count_access(w, a, p, size);
    if (o.check) note_access(w, a, p, size, false, kind_of(x), nullptr);
    acquire(w, x, p);
    if (p.space == kLocal) {
        for (u32 rest = m; rest; rest &= rest - 1) {
            u32 lane = lowest(rest);
            const char *from = local_at(w, lane, a.base + a.offset[lane], size, size);
            if (o.check) note_local(w, x, lane, a.base + a.offset[lane], size, false);
            for (int k = 0; k < W; k++) std::memcpy(Row::at(w, x.list[k]) + lane, from + 4 * k, 4);
        }
        return;
    }
    const u32 *from = (const u32 *)p.host;
    if (a.shape == Shape::contiguous) {
        vu32 v[W];
        for (int lane = 0; lane < kLanes; lane++)
            for (int k = 0; k < W; k++) ((u32 *)&v[k])[lane] = from[lane * W + k];
        for (int k = 0; k < W; k++) *(vu32 *)Row::at(w, x.list[k]) = v[k];
    } else if (a.shape == Shape::uniform) {
        u32 v[W];
        std::memcpy(v, from, size);
        for (int k = 0; k < W; k++) Row::put(w, x.list[k], vu32{} + v[k], m);
    } else if (m == kFull) {
        u32 *to[W];
        for (int k = 0; k < W; k++) to[k] = Row::at(w, x.list[k]);
        for (int lane = 0; lane < kLanes; lane++) {
            u32 v[W];
            std::memcpy(v, p.host + a.offset[lane], size);
            for (int k = 0; k < W; k++) to[k][lane] = v[k];
        }
    } else {
        for (u32 rest = m; rest; rest &= rest - 1) {
            u32 lane = lowest(rest);
            for (int k = 0; k < W; k++) std::memcpy(Row::at(w, x.list[k]) + lane, p.host + a.offset[lane] + 4 * k, 4);
        }
    }
}

template <int W>
void store_words(Warp &w, const Ins &x, u32 m) {
    constexpr u32 size = 4 * W;
    Access a;
    if (!gather_addresses(w, x.a, x.imm, x.sub, is_narrow(x), m, size, a))
        return part_by_part(w, x.a, x.imm, x.sub, is_narrow(x), m, [&](u32 part) { store_words<W>(w, x, part); });
    Place p = locate(w, a, x.sub, size, size, true);
    const LaunchOptions &o = w.block->launch->options;
    if (o.count) count_access(w, a, p, size);
    if (p.space == kLocal) {
        for (u32 rest = m; rest; rest &= rest - 1) {
            u32 lane = lowest(rest);
            char *to = local_at(w, lane, a.base + a.offset[lane], size, size);
            if (o.check) note_local(w, x, lane, a.base + a.offset[lane], size, true);
            for (int k = 0; k < W; k++) std::memcpy(to + 4 * k, Row::at(w, x.list[k]) + lane, 4);
        }
        return;
    }
    const u32 *from[W];
    for (int k = 0; k < W; k++) from[k] = Row::at(w, x.list[k]);
    release(w, x);
    if (o.check) {
        for (u32 rest = m; rest;
             rest &= rest - 1) {  // in lane order, so that two lanes on one address are compared with each other
            u32 lane = lowest(rest);
            u32 v[W];
            for (int k = 0; k < W; k++) v[k] = from[k][lane];
            u8 same[kLanes] = {};
            same[lane] = std::memcmp(p.host + a.offset[lane], v, size) == 0;
            Access one = a;
            one.m = 1u << lane;
            note_access(w, one, p, size, true, kind_of(x), same);
            std::memcpy(p.host + a.offset[lane], v, size);
        }
        return;
    }
    u32 *to = (u32 *)p.host;
    if (a.shape == Shape::contiguous) {
        for (int lane = 0; lane < kLanes; lane++)
            for (int k = 0; k < W; k++) to[lane * W + k] = from[k][lane];
    } else {
        for (u32 rest = m; rest; rest &= rest - 1) {
            u32 lane = lowest(rest);
            u32 v[W];
            for (int k = 0; k < W; k++) v[k] = from[k][lane];
            std::memcpy(p.host + a.offset[lane], v, size);
        }
    }
}

// ---- small or oddly sized elements: 1 and 2 bytes, vectors of them, and words loaded into wider registers

template <class E>
void load_small(Warp &w, const Ins &x, u32 m) {
    const u32 size = (u32)sizeof(E) * x.vec;
    Access a;
    if (!gather_addresses(w, x.a, x.imm, x.sub, is_narrow(x), m, size, a))
        return part_by_part(w, x.a, x.imm, x.sub, is_narrow(x), m, [&](u32 part) { load_small<E>(w, x, part); });
    Place p = locate(w, a, x.sub, size, size, false);
    const LaunchOptions &o = w.block->launch->options;
    if (o.count) count_access(w, a, p, size);
    if (o.check) note_access(w, a, p, size, false, kind_of(x), nullptr);
    acquire(w, x, p);
    const u32 mask = x.flags & (kWide32 | kWide64) ? kFull : 0xffffu;
    for (u32 rest = m; rest; rest &= rest - 1) {
        u32 lane = lowest(rest);
        const char *from =
            p.space == kLocal ? local_at(w, lane, a.base + a.offset[lane], size, size) : p.host + a.offset[lane];
        if (o.check && p.space == kLocal) note_local(w, x, lane, a.base + a.offset[lane], size, false);
        for (int k = 0; k < x.vec; k++) {
            E v;
            std::memcpy(&v, from + sizeof(E) * k, sizeof(E));
            Row::at(w, x.list[k])[lane] = (u32)(i64)v & (sizeof(E) == 4 ? kFull : mask);
            if (x.flags & kWide64) Row::at(w, Row::high(x.list[k]))[lane] = (u32)((u64)(i64)v >> 32);
        }
    }
}

template <class E>
void store_small(Warp &w, const Ins &x, u32 m) {
    const u32 size = (u32)sizeof(E) * x.vec;
    Access a;
    if (!gather_addresses(w, x.a, x.imm, x.sub, is_narrow(x), m, size, a))
        return part_by_part(w, x.a, x.imm, x.sub, is_narrow(x), m, [&](u32 part) { store_small<E>(w, x, part); });
    Place p = locate(w, a, x.sub, size, size, true);
    const LaunchOptions &o = w.block->launch->options;
    if (o.count) count_access(w, a, p, size);
    release(w, x);
    for (u32 rest = m; rest; rest &= rest - 1) {
        u32 lane = lowest(rest);
        char *to = p.space == kLocal ? local_at(w, lane, a.base + a.offset[lane], size, size) : p.host + a.offset[lane];
        E v[4];
        for (int k = 0; k < x.vec; k++) v[k] = (E)Row::at(w, x.list[k])[lane];
        if (o.check && p.space == kLocal) note_local(w, x, lane, a.base + a.offset[lane], size, true);
        if (o.check && p.space != kLocal) {
            u8 same[kLanes] = {};
            same[lane] = std::memcmp(to, v, size) == 0;
            Access one = a;
            one.m = 1u << lane;
            note_access(w, one, p, size, true, kind_of(x), same);
        }
        std::memcpy(to, v, size);
    }
}

// A parameter at a fixed place: the same for every thread.
template <int W>
void load_parameter(Warp &w, const Ins &x, u32 m) {
    const std::vector<u8> &params = w.block->launch->options.params;
    if ((u64)x.imm + 4 * W > params.size())
        w.block->fail(w, FaultKind::out_of_bounds, lowest(m), kParamWindow + (u64)x.imm, 4 * W);
    for (int k = 0; k < W; k++) {
        u32 v;
        std::memcpy(&v, params.data() + x.imm + 4 * k, 4);
        Row::put(w, x.list[k], vu32{} + v, m);
    }
}

Handler find_load(const Ins &x) {
    const int words = x.width * x.vec / 4;
    const bool wide = x.flags & kWide64;
    if (x.width >= 4 && !wide && x.sub == kParam && x.a == 1)  // constant row 0
        return words == 1   ? load_parameter<1>
               : words == 2 ? load_parameter<2>
               : words == 4 ? load_parameter<4>
                            : nullptr;
    if (x.width >= 4 && !wide)
        return words == 1 ? load_words<1> : words == 2 ? load_words<2> : words == 4 ? load_words<4> : nullptr;
    const bool is_signed = x.ta == Type::S8 || x.ta == Type::S16 || x.ta == Type::S32;
    switch (x.width) {
        case 1: return is_signed ? load_small<i8> : load_small<u8>;
        case 2: return is_signed ? load_small<i16> : load_small<u16>;
        case 4: return is_signed ? load_small<i32> : load_small<u32>;
        default: return nullptr;
    }
}

Handler find_store(const Ins &x) {
    const int words = x.width * x.vec / 4;
    switch (x.width) {
        case 1: return store_small<u8>;
        case 2: return store_small<u16>;
        default:
            return words == 1 ? store_words<1> : words == 2 ? store_words<2> : words == 4 ? store_words<4> : nullptr;
    }
}

void convert_address(Warp &w, const Ins &x, u32 m) {
    u64 window = x.sub == kShared  ? kSharedWindow
                 : x.sub == kLocal ? kLocalWindow
                 : x.sub == kConst ? kConstWindow
                 : x.sub == kParam ? kParamWindow
                                   : 0;
    vu64 a = Row::u64s(w, x.a);
    Row::put64(w, x.d0, x.imm ? a - window : a + window, m);
}

void test_space(Warp &w, const Ins &x, u32 m) {
    static const u64 windows[] = {0, 0, kSharedWindow, kLocalWindow, kConstWindow, kParamWindow};
    u32 in = 0;
    for (u32 lane = 0; lane < kLanes; lane++) {
        u64 top = ((u64)Row::at(w, Row::high(x.a))[lane] << 32) >> 40;
        bool windowed = top >= 0x70 && top <= 0x74 && top != 0x73;  // parameters lie inside global memory
        in |= (u32)(x.sub == kGlobal ? !windowed : top == windows[x.sub] >> 40) << lane;
    }
    put_predicate(w.preds, (i32)x.d0, in, m);
}

}  // namespace

Handler find_memory(const Ins &x) {
    switch (x.op) {
        case Op::LD: return find_load(x);
        case Op::ST: return find_store(x);
        case Op::CVTA: return convert_address;
        case Op::ISSPACE: return test_space;
        default: return find_matrix(x);
    }
}

}  // namespace warpsight
