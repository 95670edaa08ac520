// Atomic operations: lanes act in ascending order. Integer operations without a used result may run on several cores at
// once and are then atomic on the host too; everything order-sensitive runs on one core (see Program::order_sensitive).
#include <algorithm>
#include <type_traits>

#include "half.hpp"
#include "memory.hpp"
#include "shadow.hpp"

namespace warpsight {
namespace {

enum Operation : u8 { kAdd, kMin, kMax, kAnd, kOr, kXor, kExch, kCas, kInc, kDec };

struct F16Pair {
    u32 bits;
};
struct BF16Pair {
    u32 bits;
};
struct F16One {
    u16 bits;
};
struct BF16One {
    u16 bits;
};

template <class E>
E added(E a, E b) {
    if constexpr (std::is_same_v<E, F16Pair>)
        return {add_f16x2(a.bits, b.bits)};
    else if constexpr (std::is_same_v<E, BF16Pair>)
        return {add_bf16x2(a.bits, b.bits)};
    else if constexpr (std::is_same_v<E, F16One>)
        return {add_f16(a.bits, b.bits)};
    else if constexpr (std::is_same_v<E, BF16One>)
        return {add_bf16(a.bits, b.bits)};
    else if constexpr (std::is_same_v<E, float>) {
        float r = a + b;
        u32 nan = 0x7fffffffu;
        if (r != r) std::memcpy(&r, &nan, 4);
        return r;
    } else if constexpr (std::is_same_v<E, double>) {
        double r = a + b;
        u64 nan = 0xfff8000000000000ull;
        if (r != r) std::memcpy(&r, &nan, 8);
        return r;
    } else
        return (E)((std::make_unsigned_t<E>)a + (std::make_unsigned_t<E>)b);
}

template <class E>
E combine(u8 operation, E old, E b, E c) {
    if constexpr (std::is_integral_v<E>) {
        using U = std::make_unsigned_t<E>;
        switch (operation) {
            case kAdd: return added(old, b);
            case kMin: return std::min(old, b);
            case kMax: return std::max(old, b);
            case kAnd: return old & b;
            case kOr: return old | b;
            case kXor: return old ^ b;
            case kExch: return b;
            case kCas: return old == b ? c : old;
            case kInc: return (U)old >= (U)b ? 0 : (E)((U)old + 1);
            case kDec: return old == 0 || (U)old > (U)b ? b : (E)((U)old - 1);
            default: return old;
        }
    } else {
        return operation == kExch ? b : added(old, b);
    }
}

template <class E>
E operand(const Warp &w, Ref r, u32 lane) {
    u64 bits = Row::at(w, r)[lane];
    if constexpr (sizeof(E) == 8) bits |= (u64)Row::at(w, Row::high(r))[lane] << 32;
    E v;
    std::memcpy(&v, &bits, sizeof(E));
    return v;
}

template <class E>
void result(const Warp &w, Ref r, u32 lane, E v) {
    u64 bits = 0;
    std::memcpy(&bits, &v, sizeof(E));
    Row::at(w, r)[lane] = (u32)bits;
    if constexpr (sizeof(E) == 8) Row::at(w, Row::high(r))[lane] = (u32)(bits >> 32);
}

// One lane's read-modify-write, atomic among the cores of the host for integers.
template <class E>
E update(char *host, u8 operation, E b, E c) {
    E old, next;
    if constexpr (std::is_integral_v<E>) {
        E *p = (E *)host;
        old = __atomic_load_n(p, __ATOMIC_RELAXED);
        do next = combine(operation, old, b, c);
        while (!__atomic_compare_exchange_n(p, &old, next, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    } else {
        std::memcpy(&old, host, sizeof(E));
        next = combine(operation, old, b, c);
        std::memcpy(host, &next, sizeof(E));
    }
    return old;
}

template <class E>
void atomic(Warp &w, const Ins &x, u32 m) {
    constexpr u32 size = sizeof(E);
    Place p;
    Known *known = find_place(w, x, m, size, true, p);
    if (!known) return part_by_part(w, x.a, x.imm, x.sub, is_narrow(x), m, [&](u32 part) { atomic<E>(w, x, part); });
    const Access &a = known->access;
    Block &b = *w.block;
    const LaunchOptions &o = b.launch->options;
    w.spins = true;
    if (x.flags & kVolatile) {  // release or acquire semantics
        w.fences++;
        b.fence();
    }
    if (o.count) {
        Counts &n = counts_of(w);
        count_access(w, a, p, size, known);
        n[k_atomic_lanes] += (u32)__builtin_popcount(m);
        const u32 passes = most_at_one_address(a);
        n[k_atomic_passes] += passes;
        trace_passes(w, passes);
        if (b.touched) watch_atomic(w, a, p, passes);
    }
    if (o.check) {
        note_access(w, a, p, size, false, (u8)Kind::atomic, 0);
        note_access(w, a, p, size, true, (u8)Kind::atomic, 0);
    }
    w.acquired = true;  // orders what comes after it
    b.acquired |= p.space == kGlobal;
    for (u32 rest = m; rest; rest &= rest - 1) {
        u32 lane = lowest(rest);
        char *host =
            p.space == kLocal ? local_at(w, lane, a.base + a.offset[lane], size, size) : p.host + a.offset[lane];
        const E expected = operand<E>(w, x.b, lane), next = operand<E>(w, x.c, lane);
        const E old = update<E>(host, (u8)x.tb, expected, next);
        if constexpr (std::is_integral_v<E>)
            if (b.touched && x.tb == (decltype(x.tb))kCas) watch_swap(w, lane, old == expected);
        if constexpr (std::is_integral_v<E>)
            if (x.tb == (decltype(x.tb))kCas && old == expected && next != old) {
                if (b.touched && p.space == kGlobal)
                    b.touched->atomics[(a.base + a.offset[lane]) / 32] += o.swap_passes;
                if (w.trace && p.space == kShared) trace_swap(w, (u32)(host - b.shared) / 4);
            }
        if (!(x.flags & kUnusedResult)) result<E>(w, x.d0, lane, old);
    }
}

}  // namespace

Handler find_atomic(const Ins &x) {
    if (x.op != Op::ATOM || x.vec > 1) return nullptr;
    const u8 operation = (u8)x.tb;
    const bool whole = operation != kAdd && operation != kExch;
    switch (x.ta) {
        case Type::S32: return atomic<i32>;
        case Type::U32:
        case Type::B32: return atomic<u32>;
        case Type::S64: return atomic<i64>;
        case Type::U64:
        case Type::B64: return atomic<u64>;
        case Type::B16:
        case Type::U16: return atomic<u16>;
        case Type::F32: return whole ? nullptr : atomic<float>;
        case Type::F64: return whole ? nullptr : atomic<double>;
        case Type::F16X2: return whole ? nullptr : atomic<F16Pair>;
        case Type::BF16X2: return whole ? nullptr : atomic<BF16Pair>;
        case Type::F16: return whole ? nullptr : atomic<F16One>;
        case Type::BF16: return whole ? nullptr : atomic<BF16One>;
        default: return nullptr;
    }
}

}  // namespace warpsight
