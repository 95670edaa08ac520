// Loads and stores. A row of words moves at once when lanes are adjacent or agree; the rest goes lane by lane.
#include "memory.hpp"

#include <type_traits>

#include "eight.hpp"
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

// A word for each lane, eight lanes at a time where they agree or are adjacent.
void load_groups(const Access &a, const char *host, u32 *to) {
    for (int g = 0; g < kGroups; g++) {
        const u32 *offset = a.offset + 8 * g;
        const char *from = host + offset[0];
        u32 first;
        std::memcpy(&first, from, 4);
        switch (group_of(a, g)) {
            case kSame: store8(to, g, all8(first)); break;
            case kInARow: store8(to, g, load8((const u32 *)from, 0)); break;
            default:
                for (int i = 0; i < 8; i++) std::memcpy(to + 8 * g + i, host + offset[i], 4);
        }
    }
}

template <int W>
void load_words(Warp &w, const Ins &x, u32 m) {
    constexpr u32 size = 4 * W;
    Place p;
    Known *known = find_place(w, x, m, size, false, p);
    if (!known)
        return part_by_part(w, x.a, x.imm, x.sub, is_narrow(x), m, [&](u32 part) { load_words<W>(w, x, part); });
    const Access &a = known->access;
    const LaunchOptions &o = w.block->launch->options;
    if (o.count) count_access(w, a, p, size, known);
    if (o.check) note_access(w, a, p, size, false, kind_of(x), 0);
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
    if (a.shape == Shape::contiguous) {
        if constexpr (W == 1) {
            u32 *to = Row::at(w, x.list[0]);
            for (int g = 0; g < kGroups; g++) store8(to, g, load8((const u32 *)p.host, g));
        } else {
            u32 *to[W];
            for (int k = 0; k < W; k++) to[k] = Row::at(w, x.list[k]);
            for (int lane = 0; lane < kLanes; lane++)
                for (int k = 0; k < W; k++) std::memcpy(to[k] + lane, p.host + 4 * (lane * W + k), 4);
        }
    } else if (a.shape == Shape::uniform) {
        u32 v[W];
        std::memcpy(v, p.host, size);
        for (int k = 0; k < W; k++) write8(w, x.list[k], m, [&](int) { return all8(v[k]); });
    } else if (W == 1 && a.groups) {
        load_groups(a, p.host, Row::at(w, x.list[0]));
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

// A row of lanes writes: true if that was seen to be in order at once.
bool note_row(Warp &w, const Access &a, const Place &p, u32 size, u8 kind) {
    if (p.space == kShared)
        return a.shape == Shape::contiguous &&
               w.block->shadow->write_row(w, a, (u32)(p.host - w.block->shared), size, (Kind)kind);
    if (p.space != kGlobal || !w.block->launch->quick) return false;
    note_access(w, a, p, size, true, kind, 0);
    return true;
}

// One lane writes `value`. What it finds there is looked at only where that matters.
void note_lane(Warp &w, const Access &a, const Place &p, u32 lane, u32 size, u8 kind, const void *value) {
    Access one;
    one.shape = Shape::uniform;
    one.base = a.base + a.offset[lane];
    one.reach = 0;
    one.m = 1u << lane;
    one.offset[lane] = 0;
    const Place at{p.host + a.offset[lane], p.allocation, p.space};
    if (p.space == kShared &&
        w.block->shadow->write_quickly(w, lane, (u32)(at.host - w.block->shared), size, (Kind)kind))
        return;
    const bool same = std::memcmp(at.host, value, size) == 0;
    note_access(w, one, at, size, true, kind, (u32)same << lane);
}

template <int W>
void store_words(Warp &w, const Ins &x, u32 m) {
    constexpr u32 size = 4 * W;
    Place p;
    Known *known = find_place(w, x, m, size, true, p);
    if (!known)
        return part_by_part(w, x.a, x.imm, x.sub, is_narrow(x), m, [&](u32 part) { store_words<W>(w, x, part); });
    const Access &a = known->access;
    const LaunchOptions &o = w.block->launch->options;
    if (o.count) count_access(w, a, p, size, known);
    if (p.space == kLocal) {
        for (u32 rest = m; rest; rest &= rest - 1) {
            u32 lane = lowest(rest);
            char *to = local_at(w, lane, a.base + a.offset[lane], size, size);
            if (o.check) note_local(w, x, lane, a.base + a.offset[lane], size, true);
            for (int k = 0; k < W; k++) std::memcpy(to + 4 * k, Row::at(w, x.list[k]) + lane, 4);
        }
        return;
    }
    release(w, x);
    if (o.check && !note_row(w, a, p, size, kind_of(x))) {
        // In lane order, so that two lanes on one address are compared with each other.
        for (u32 rest = m; rest; rest &= rest - 1) {
            const u32 lane = lowest(rest);
            u32 v[W];
            for (int k = 0; k < W; k++) v[k] = Row::at(w, x.list[k])[lane];
            note_lane(w, a, p, lane, size, kind_of(x), v);
            std::memcpy(p.host + a.offset[lane], v, size);
        }
        return;
    }
    const u32 *from[W];
    for (int k = 0; k < W; k++) from[k] = Row::at(w, x.list[k]);
    if (W == 1 && a.shape == Shape::contiguous) {
        for (int g = 0; g < kGroups; g++) store8((u32 *)p.host, g, load8(from[0], g));
        return;
    }
    for (u32 rest = m; rest; rest &= rest - 1) {
        const u32 lane = lowest(rest);
        u32 v[W];
        for (int k = 0; k < W; k++) v[k] = from[k][lane];
        std::memcpy(p.host + a.offset[lane], v, size);
    }
}

// ---- small or oddly sized elements: 1 and 2 bytes, vectors of them, and words loaded into wider registers

template <class E>
void load_small(Warp &w, const Ins &x, u32 m) {
    const u32 size = (u32)sizeof(E) * x.vec;
    Place p;
    Known *known = find_place(w, x, m, size, false, p);
    if (!known)
        return part_by_part(w, x.a, x.imm, x.sub, is_narrow(x), m, [&](u32 part) { load_small<E>(w, x, part); });
    const Access &a = known->access;
    const LaunchOptions &o = w.block->launch->options;
    if (o.count) count_access(w, a, p, size, known);
    if (o.check) note_access(w, a, p, size, false, kind_of(x), 0);
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
    Place p;
    Known *known = find_place(w, x, m, size, true, p);
    if (!known)
        return part_by_part(w, x.a, x.imm, x.sub, is_narrow(x), m, [&](u32 part) { store_small<E>(w, x, part); });
    const Access &a = known->access;
    const LaunchOptions &o = w.block->launch->options;
    if (o.count) count_access(w, a, p, size, known);
    release(w, x);
    const bool by_lane = o.check && p.space != kLocal && !note_row(w, a, p, size, kind_of(x));
    for (u32 rest = m; rest; rest &= rest - 1) {
        u32 lane = lowest(rest);
        char *to = p.space == kLocal ? local_at(w, lane, a.base + a.offset[lane], size, size) : p.host + a.offset[lane];
        E v[4];
        for (int k = 0; k < x.vec; k++) v[k] = (E)Row::at(w, x.list[k])[lane];
        if (o.check && p.space == kLocal) note_local(w, x, lane, a.base + a.offset[lane], size, true);
        if (by_lane) note_lane(w, a, p, lane, size, kind_of(x), v);
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
        write8(w, x.list[k], m, [&](int) { return all8(v); });
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
    const u64 shift = x.imm ? 0 - window : window;
    const Pair8 by{all8((u32)shift), all8((u32)(shift >> 32))};
    const u32 *a = Row::at(w, x.a);
    write_pair8(w, x.d0, m, [&](int g) { return add_pair8(load_pair8(a, g), by); });
}

void test_space(Warp &w, const Ins &x, u32 m) {
    static const u64 windows[] = {0, 0, kSharedWindow, kLocalWindow, kConstWindow, kParamWindow};
    const u32 *high = Row::at(w, Row::high(x.a));
    const u32 wanted = (u32)(windows[x.sub] >> 40);
    const u32 in = bits8([&](int g) {
        const v8u top = load8(high, g) >> 8;
        if (x.sub != kGlobal) return (v8u)(top == wanted);
        return ~((v8u)(top >= 0x70) & (v8u)(top <= 0x74) & (v8u)(top != 0x73));  // parameters lie inside global memory
    });
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
