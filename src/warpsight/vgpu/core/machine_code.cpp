// Operations that only machine code has: three-way sums with two carries, products with carries, halves of 64-bit
// comparisons and shifts, and warp operations among the lanes that happen to run together (the compiler has made them
// meet before).
#include <bit>

#include "integer_shells.hpp"

namespace warpsight {

// warp.cpp's handlers work on the lanes they are given, whoever chose them.
Handler find_warp(const Ins &);

namespace {

void add_three(Warp &w, const Ins &i, u32 m) {
    const u32 *a = Row::at(w, i.a), *b = Row::at(w, i.b), *c = Row::at(w, i.c);
    const u32 na = i.imm & 1 ? kFull : 0, nb = i.imm & 2 ? kFull : 0, nc = i.imm & 4 ? kFull : 0;
    const u32 in = predicate(w.preds, i.e), in2 = predicate(w.preds, (u32)i.target);
    const u64 more = (u64)(i.imm >> 4 & 3);
    alignas(32) u32 sum[kLanes], carry[kLanes];
    for (int l = 0; l < kLanes; l++) {
        u64 t = (u64)(a[l] ^ na) + (b[l] ^ nb) + (c[l] ^ nc) + more + (in >> l & 1) + (in2 >> l & 1);
        sum[l] = (u32)t;
        carry[l] = (u32)(t >> 32);
    }
    write8(w, i.d0, m, [&](int g) { return load8(sum, g); });
    put_predicate(w.preds, i.d1, bits_where([&](int l) { return carry[l] >= 1; }), m);
    if (i.vec) put_predicate(w.preds, i.vec, bits_where([&](int l) { return carry[l] >= 2; }), m);
}

template <bool Signed, bool High>
void multiply_add_wide(Warp &w, const Ins &i, u32 m) {
    const u32 *a = Row::at(w, i.a), *b = Row::at(w, i.b);
    auto c = values<u64>(w, i.c);
    const u32 in = predicate(w.preds, i.e);
    u64 sum[kLanes];
    u32 out = 0;
    for (int l = 0; l < kLanes; l++) {
        u64 product = Signed ? (u64)((i64)(i32)a[l] * (i32)b[l]) : (u64)a[l] * b[l];
        unsigned __int128 t = (unsigned __int128)product + c[l] + (in >> l & 1);
        sum[l] = (u64)t;
        out |= (u32)(t >> 64 != 0) << l;
    }
    if constexpr (High)
        fill<u32>(w, i.d0, m, [&](int l) { return (u32)(sum[l] >> 32); });
    else
        fill<u64>(w, i.d0, m, [&](int l) { return sum[l]; });
    put_predicate(w.preds, i.d1, out, m);
}

template <class T>
bool upper_half(u8 test, T a, T b, bool lower) {
    switch (test) {
        case 0: return a == b && lower;
        case 1: return a != b || lower;
        case 2:
        case 3: return a < b || (a == b && lower);
        default: return a > b || (a == b && lower);
    }
}

template <class T>
void test_upper(Warp &w, const Ins &i, u32 m) {
    auto a = values<T>(w, i.a), b = values<T>(w, i.b);
    const u32 lower = predicate(w.preds, i.e);
    write_test(w, i, bits_where([&](int l) { return upper_half<T>(i.sub, a[l], b[l], lower >> l & 1); }), m);
}

void shift_both(Warp &w, const Ins &i, u32 m) {
    const u32 *a = Row::at(w, i.a), *b = Row::at(w, i.b), *c = Row::at(w, i.c);
    const u32 top = i.sub & 8 ? 64 : 32;
    const bool right = i.sub & 1, wrap = i.sub & 2, high = i.sub & 4, is_signed = is_signed_type(i.ta);
    fill<u32>(w, i.d0, m, [&](int l) -> u32 {
        const u32 n = wrap ? c[l] & (top - 1) : c[l] < top ? c[l] : top;
        const u64 v = (u64)b[l] << 32 | a[l];
        u64 r;
        if (!right)
            r = n > 63 ? 0 : v << n;
        else if (is_signed)
            r = (u64)((i64)v >> (n > 63 ? 63 : n));
        else
            r = n > 63 ? 0 : v >> n;
        return (u32)(high ? r >> 32 : r);
    });
}

// True where the short sequence of a division could lose bits: no finite, normal divisor, or exponents near an end.
void check_quotient(Warp &w, const Ins &i, u32 m) {
    const u32 *a = Row::at(w, i.a), *b = Row::at(w, i.b);
    const u32 slow = bits_where([&](int l) {
        const i32 ea = (i32)(a[l] >> 23 & 255), eb = (i32)(b[l] >> 23 & 255);
        return eb == 0 || eb >= 253 || ea == 255 || ea < 25 || ea - eb > 125 || ea - eb < -124;
    });
    put_predicate(w.preds, (i32)i.d0, slow, m);
}

void diverged(Warp &w, const Ins &i, u32 m) {
    const u32 *mask = Row::at(w, i.a);
    const u32 agree = m & predicate(w.preds, i.b);
    put_predicate(w.preds, (i32)i.d0, bits_where([&](int l) { return (mask[l] & w.alive) != agree; }), m);
}

void note_lanes(Warp &w, const Ins &i, u32 m) { Row::put(w, i.d0, vu32{} + m, m); }

void leave_mask(Warp &w, const Ins &i, u32 m) {
    Row::put(w, i.d0, Row::u(w, i.d0) & ~m, kFull);
    w.at_sync = 0;  // who waits looks again whether everybody who is left has come
}

constexpr u32 kYields = 64;  // turns through a waiting loop before the lanes that wait at its end are let go

// Lanes that spin on memory (a lock) while others of their warp wait for them behind the loop: those others may hold
// what is spun on.
void yield(Warp &w, const Ins &i, u32 m) {
    Row::put(w, i.d0, Row::u(w, i.d0) + 1, m);
    if (!w.spins || Row::at(w, i.d0)[lowest(m)] < kYields) return;
    Row::put(w, i.d0, vu32{}, m);
    const Ins *code = w.block->launch->program.code.data();
    for (u32 rest = w.at_sync; rest; rest &= rest - 1) {
        const u32 lane = lowest(rest);
        const Ins &at = code[w.pc[lane]];
        if (at.op != Op::WARPBAR || at.a & 1 || !(w.sync_mask[lane] & m)) continue;
        Row::put(w, at.a, Row::u(w, at.a) & ~(1u << lane), kFull);
        w.pc[lane]++;
        w.at_sync &= ~(1u << lane);
    }
}

// The handler of the operation that waits does the same once everybody is there.
Handler among_active(const Ins &x, Op op) {
    Ins same = x;
    same.op = op;
    return find_warp(same);
}

}  // namespace

Handler find_machine_code(const Ins &i) {
    const bool is_signed = is_signed_type(i.ta);
    switch (i.op) {
        case Op::ADD3: return add_three;
        case Op::WMAD:
            if (i.sub) return is_signed ? multiply_add_wide<true, true> : multiply_add_wide<false, true>;
            return is_signed ? multiply_add_wide<true, false> : multiply_add_wide<false, false>;
        case Op::SETPX: return i.sub > 5 ? nullptr : is_signed ? test_upper<i32> : test_upper<u32>;
        case Op::SHF64: return shift_both;
        case Op::FCHK: return i.ta == Type::F32 ? check_quotient : nullptr;
        case Op::SHFLA: return among_active(i, Op::SHFL);
        case Op::VOTEA: return among_active(i, Op::VOTE);
        case Op::MATCHA: return among_active(i, Op::MATCH);
        case Op::REDUXA: return among_active(i, Op::REDUX);
        case Op::DIVERGED: return diverged;
        case Op::BSSY: return note_lanes;
        case Op::BREAK: return leave_mask;
        case Op::YIELD: return yield;
        default: return nullptr;
    }
}

}  // namespace warpsight
