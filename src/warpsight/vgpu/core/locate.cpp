// From a lane's address to a host pointer, with every check on the way; what an access costs is in cost.cpp.
#include <algorithm>

#include "eight.hpp"
#include "memory.hpp"
#include "owners.hpp"
#include "shadow.hpp"

namespace warpsight {
namespace {

u8 space_of(u64 address) {
    switch (address >> 40) {
        case 0x70: return kShared;
        case 0x71: return kLocal;
        case 0x72: return kConst;
        case 0x73: return kParam;
        default: return kGlobal;
    }
}

u64 window_of(u8 space) {
    switch (space) {
        case kShared: return kSharedWindow;
        case kLocal: return kLocalWindow;
        case kConst: return kConstWindow;
        case kParam: return kParamWindow;
        default: return 0;
    }
}

// Does [at, at + length) lie in [start, start + bytes)? Written so that no sum can wrap around.
bool inside(u64 at, u64 length, u64 start, u64 bytes) {
    return at >= start && at - start <= bytes && length <= bytes - (at - start);
}

bool same_slot(const Access &x) { return (u32)x.base >> kSlotShift == (u32)(x.base + x.reach) >> kSlotShift; }

// The shared array that an address names: the addresses it has, and how far they are from its places in memory.
struct SharedSpan {
    u64 start, bytes, shift;
};

SharedSpan shared_span(const Launch &l, u64 address) {
    const u64 slot = address >> kSlotShift;
    if (!slot) return {0, l.options.shared_bytes, 0};
    if (slot >= l.program.slots.size()) return {0, 0, 0};
    const SharedSlot &s = l.program.slots[slot];
    const u64 left = l.options.shared_bytes > s.start ? l.options.shared_bytes - s.start : 0;
    return {(slot << kSlotShift) + s.start, std::min<u64>(s.bytes, left), slot << kSlotShift};
}

// The first lane (in order) whose access does not lie in [start, start + bytes).
u32 first_outside(const Access &x, u64 start, u64 bytes, u32 size) {
    for (u32 rest = x.m; rest; rest &= rest - 1) {
        u64 a = x.base + x.offset[lowest(rest)];
        if (!inside(a, size, start, bytes)) return lowest(rest);
    }
    return lowest(x.m);
}

void check_alignment(Warp &w, const Access &x, u8 space, u32 size, u32 alignment) {
    const u32 bad = x.shape == Shape::general ? (u32)x.base | x.low_bits : (u32)x.base;
    if (!(bad & (alignment - 1))) return;
    for (u32 rest = x.m; rest; rest &= rest - 1) {
        u64 a = x.base + x.offset[lowest(rest)];
        if (a & (alignment - 1)) w.block->fail(w, FaultKind::misaligned, lowest(rest), window_of(space) + a, (u8)size);
    }
}

[[noreturn]] void outside(Warp &w, const Access &x, u8 space, u64 start, u64 bytes, u32 size) {
    u32 lane = first_outside(x, start, bytes, size);
    w.block->fail(w, FaultKind::out_of_bounds, lane, window_of(space) + x.base + x.offset[lane], (u8)size);
}

}  // namespace

Allocation *Memory::find(u64 address) {
    auto it = std::upper_bound(allocations.begin(), allocations.end(), address,
                               [](u64 a, const Allocation &x) { return a < x.base; });
    if (it == allocations.begin()) return nullptr;
    --it;
    return address - it->base < it->size ? &*it : nullptr;
}

namespace {

// Do the lanes lie in one allocation or space?
bool lies_together(Warp &w, u8 space, u32 size, const Access &x) {
    if (x.reach == 0 || space == kLocal || space == kConst || space == kParam) return true;
    if (space == kGeneric && space_of(x.base) != kGlobal)
        return space_of(x.base) == space_of(x.base + x.reach) && (space_of(x.base) != kShared || same_slot(x));
    Allocation *&a = w.block->last_allocation;
    if (a && inside(x.base, (u64)x.reach + size, a->base, a->size)) return true;
    Allocation *found = w.block->launch->memory.find(x.base);
    if (!found || !inside(x.base, (u64)x.reach + size, found->base, found->size)) return false;
    a = found;
    return true;
}

}  // namespace

bool gather_addresses(Warp &w, Ref row, i64 imm, u8 space, bool narrow, u32 m, u32 size, Access &out) {
    if (space == kShared) {
        if (!shape_of(Row::at(w, row), nullptr, 0, m, size, out)) return false;
        out.base = (u32)(out.base + (u64)imm);
        return same_slot(out);
    }
    if (!shape_of(Row::at(w, row), narrow ? nullptr : Row::at(w, Row::high(row)), imm, m, size, out)) return false;
    return lies_together(w, space, size, out);
}

u32 lanes_together(Warp &w, Ref row, i64 imm, u8 space, bool narrow, u32 m) {
    auto address = [&](u32 lane) {
        const u64 high = narrow ? 0 : Row::at(w, Row::high(row))[lane];
        return (Row::at(w, row)[lane] | high << 32) + (u64)imm;
    };
    const u64 first = address(lowest(m));
    const u8 where = space == kGeneric ? space_of(first) : space;
    if (where != kGlobal) {
        if (space != kGeneric && space != kShared) return 1u << lowest(m);
        auto near = [&](u64 a) {
            const bool slot = where != kShared || (u32)a >> kSlotShift == (u32)first >> kSlotShift;
            return slot && (space == kShared || space_of(a) == where);
        };
        u32 same = 0;
        for (u32 rest = m; rest; rest &= rest - 1) same |= (u32)near(address(lowest(rest))) << lowest(rest);
        return same;
    }
    const Allocation *a = w.block->launch->memory.find(first);
    u32 same = 1u << lowest(m);
    for (u32 rest = m; rest && a; rest &= rest - 1)
        same |= (u32)(w.block->launch->memory.find(address(lowest(rest))) == a) << lowest(rest);
    return same;
}

Place locate(Warp &w, const Access &x, u8 space, u32 size, u32 alignment, bool write) {
    Block &b = *w.block;
    Launch &l = *b.launch;
    u64 base = x.base;
    if (space == kGeneric) {
        space = space_of(base);
        base -= window_of(space);
    }
    if (space == kGlobal) {
        Allocation *a = b.last_allocation;
        if (!a || !inside(base, (u64)x.reach + size, a->base, a->size)) {
            a = l.memory.find(base);
            if (!a) outside(w, x, kGlobal, 0, 0, size);
            if (!inside(base, (u64)x.reach + size, a->base, a->size)) outside(w, x, kGlobal, a->base, a->size, size);
            b.last_allocation = a;
        }
        check_alignment(w, x, kGlobal, size, alignment);
        if (write && !a->writable)
            b.fail(w, FaultKind::write_to_const, lowest(x.m), x.base + x.offset[lowest(x.m)], (u8)size);
        a->touch(write);
        return {a->host + (base - a->base), a, kGlobal};
    }
    if (space == kLocal) return {nullptr, nullptr, kLocal};
    const SharedSpan span = space == kShared  ? shared_span(l, base)
                            : space == kConst ? SharedSpan{0, l.options.const_data.size(), 0}
                                              : SharedSpan{0, l.options.params.size(), 0};
    const bool outside_span = !inside(base, (u64)x.reach + size, span.start, span.bytes);
    if (outside_span || ((base | x.low_bits) & (alignment - 1))) {
        Access local = x;
        local.base = base;
        if (outside_span) outside(w, local, space, span.start, span.bytes, size);
        check_alignment(w, local, space, size, alignment);
    }
    if (write && space != kShared) b.fail(w, FaultKind::write_to_const, lowest(x.m), window_of(space) + base, (u8)size);
    char *host = space == kShared  ? b.shared
                 : space == kConst ? (char *)l.options.const_data.data()
                                   : (char *)l.options.params.data();
    return {host + (base - span.shift), nullptr, space};
}

namespace {

// True when the lanes of m lie to each other as in what is known: then only its base is new, and is set.
WS_INLINE bool same_shape(const u32 *low, const u32 *high, i64 imm, u32 m, u32 size, Known &known) {
    Access &x = known.access;
    if (known.size != size || x.m != m) return false;
    const u32 first = (u32)__builtin_ctz(m), start = low[first] - x.offset[first], upper = high ? high[first] : 0;
    if (start > ~0u - (x.reach + 32 * size)) return false;  // near the end of 32 bits, shapes are found anew
    v8u apart = all8(0);
    for (int g = 0; g < kGroups; g++) {
        v8u here = (load8(low, g) - all8(start)) ^ load8(x.offset, g);
        if (high) here |= load8(high, g) ^ all8(upper);
        apart |= m == kFull ? here : choose8(lanes8(m, g), here, all8(0));
    }
    if (!zero8(apart)) return false;
    x.base = ((u64)upper << 32 | start) + (u64)imm;
    return true;
}

// The same instruction in the same array as last time: all checks by one comparison each.
WS_INLINE bool same_place(const Known &known, u32 size, u32 alignment, bool write, const Block &b, Place &out) {
    const Access &x = known.access;
    if ((x.base | x.low_bits) & (alignment - 1)) return false;
    if (Allocation *a = known.allocation) {
        if (!inside(x.base, (u64)x.reach + size, a->base, a->size) || (write && !a->writable)) return false;
        out = {a->host + (x.base - a->base), a, kGlobal};
        return true;
    }
    if (!inside(x.base, (u64)x.reach + size, known.start, known.bytes)) return false;
    out = {b.shared + (x.base - known.shift), nullptr, kShared};
    return true;
}

}  // namespace

Known *find_place(Warp &w, const Ins &x, u32 m, u32 size, bool write, Place &out) {
    Block &b = *w.block;
    Known &known = b.core->known[x.memory];
    Access &found = known.access;
    const bool shared = x.sub == kShared;
    const u32 *low = Row::at(w, x.a), *high = is_narrow(x) ? nullptr : Row::at(w, Row::high(x.a));
    if (same_shape(low, high, shared ? 0 : x.imm, m, size, known)) {
        if (shared) found.base = (u32)(found.base + (u64)x.imm);
        if (same_place(known, size, size, write, b, out)) return &known;
    } else {
        settle_known(b.core->counts, known);
        known.size = 0;
        if (!shape_of(low, high, shared ? 0 : x.imm, m, size, found)) return nullptr;
        known.size = size;
        if (shared) found.base = (u32)(found.base + (u64)x.imm);
    }
    if (shared ? !same_slot(found) : !lies_together(w, x.sub, size, found)) return nullptr;
    out = locate(w, found, x.sub, size, size, write);
    known.allocation = out.allocation;
    const SharedSpan span = shared ? shared_span(*b.launch, found.base) : SharedSpan{0, 0, 0};
    known.start = span.start, known.bytes = span.bytes, known.shift = span.shift;
    return &known;
}

char *local_at(Warp &w, u32 lane, u64 offset, u32 size, u32 alignment) {
    const u32 bytes = w.block->launch->options.local_bytes;
    if (offset >> 40 == 0x71) offset -= kLocalWindow;  // a generic address
    if (!inside(offset, size, 0, bytes))               // in a called function it is the stack that has run out
        w.block->fail(w, w.frame[lane] ? FaultKind::stack_overflow : FaultKind::out_of_bounds, lane,
                      kLocalWindow + offset, (u8)size);
    if (offset & (alignment - 1)) w.block->fail(w, FaultKind::misaligned, lane, kLocalWindow + offset, (u8)size);
    return w.local + (size_t)lane * bytes + offset;
}

char *locate_one(Warp &w, u32 lane, u64 address, u8 space, u32 size, bool write, Place *out) {
    Access x;
    x.base = space == kShared ? (u32)address : address;
    x.reach = 0;
    x.shape = Shape::uniform;
    x.m = 1u << lane;
    x.offset[lane] = 0;
    Place p = locate(w, x, space, size, 1, write);
    if (p.space == kLocal) p.host = local_at(w, lane, x.base, size, 1);
    if (out) *out = p;
    return p.host;
}

void note_access(Warp &w, const Access &x, const Place &p, u32 size, bool write, u8 kind, u32 unchanged) {
    const Kind k = (Kind)kind;
    if (p.space == kShared) {
        const u32 base = (u32)(p.host - w.block->shared);
        if (!write) return w.block->shadow->read_row(w, x, base, size, k);
        for (u32 rest = x.m; rest; rest &= rest - 1) {
            const u32 lane = lowest(rest);
            w.block->shadow->write(w, lane, base + x.offset[lane], size, k, !(unchanged >> lane & 1));
        }
        return;
    }
    if (p.space != kGlobal) return;
    if (w.block->launch->quick) {
        if (!w.block->core->owners->note(w, x, p, size, write, k)) w.block->launch->doubt();
        return;
    }
    const u64 base = (u64)(p.host - p.allocation->host);
    for (u32 rest = x.m; rest; rest &= rest - 1) {
        const u32 lane = lowest(rest);
        if (!write)
            note_global_read(w, lane, *p.allocation, base + x.offset[lane], size, k);
        else
            note_global_write(w, lane, *p.allocation, base + x.offset[lane], size, k, !(unchanged >> lane & 1));
    }
}

}  // namespace warpsight
