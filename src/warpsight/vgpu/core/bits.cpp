// Moves, predicates, integer comparisons, shifts, bit tables and bit fields; arithmetic is in integer.cpp.
// Predicates are whole 32-bit words, one bit per lane; a comparison ends by combining such words.
#include "integer_shells.hpp"

namespace warpsight {

u32 gather_bits(const vi32 &v) {
    return bits8([&](int g) { return load8((const u32 *)&v, g); });
}

namespace {

// ---- shifts: the amount is a 32-bit row whatever the type

template <class F>
void shift_rows(Warp &w, const Ins &i, u32 m) {
    const u32 *a = Row::at(w, i.a), *n = Row::at(w, i.b);
    write8(w, i.d0, m, [&](int g) { return F::run(load8(a, g), load8(n, g)); });
}

template <class F>
void shift_pairs(Warp &w, const Ins &i, u32 m) {
    const u32 *a = Row::at(w, i.a), *n = Row::at(w, i.b);
    write_pair8(w, i.d0, m, [&](int g) { return F::run(load_pair8(a, g), load8(n, g)); });
}

template <class T, class F>
void shift_lanes(Warp &w, const Ins &i, u32 m) {
    auto a = values<T>(w, i.a);
    auto n = values<u32>(w, i.b);
    fill<T>(w, i.d0, m, [&](int l) { return F::template run<T>(a[l], n[l]); });
}

template <class F>
Handler shift_handler(Type t) {
    return with_integer(t, []<class T>() -> Handler {
        if constexpr (sizeof(T) == 8)
            return shift_pairs<F>;
        else if constexpr (sizeof(T) == 4)
            return shift_rows<F>;
        else
            return shift_lanes<T, F>;
    });
}

template <bool Right, bool WrapAmount>
void funnel(Warp &w, const Ins &i, u32 m) {
    const u32 *a = Row::at(w, i.a), *b = Row::at(w, i.b), *c = Row::at(w, i.c);
    write8(w, i.d0, m, [&](int g) {
        v8u lo = load8(a, g), hi = load8(b, g), n = load8(c, g);
        n = WrapAmount ? n & 31 : (v8u)(n < 32 ? n : all8(32));
        return Right ? srl8(lo, n) | sll8(hi, 32 - n) : sll8(hi, n) | srl8(lo, 32 - n);
    });
}

// ---- tests

template <int Test, class V>
WS_INLINE auto compared(V a, V b) {
    if constexpr (Test == 0)
        return a == b;
    else if constexpr (Test == 1)
        return a != b;
    else if constexpr (Test == 2)
        return a < b;
    else if constexpr (Test == 3)
        return a <= b;
    else if constexpr (Test == 4)
        return a > b;
    else
        return a >= b;
}

template <class T, int Test>
void test_lanes(Warp &w, const Ins &i, u32 m) {
    u32 t;
    if constexpr (sizeof(T) == 4) {
        using V = std::conditional_t<is_signed_of<T>, v8i, v8u>;
        const u32 *a = Row::at(w, i.a), *b = Row::at(w, i.b);
        t = bits8([&](int g) { return (v8u)compared<Test, V>((V)load8(a, g), (V)load8(b, g)); });
    } else if constexpr (sizeof(T) == 8) {
        using V =
            std::conditional_t<is_signed_of<T>, v8i, v8u>;  // the high words decide, by sign; the low words only ties
        const u32 *a = Row::at(w, i.a), *b = Row::at(w, i.b);
        constexpr int strict = Test == 3 ? 2 : Test == 5 ? 4 : Test;
        t = bits8([&](int g) {
            Pair8 x = load_pair8(a, g), y = load_pair8(b, g);
            v8i low = compared<Test, v8u>(x.lo, y.lo), tie = x.hi == y.hi;
            v8i high = compared<strict, V>((V)x.hi, (V)y.hi);
            return (v8u)(Test == 0 ? low & tie : Test == 1 ? low | high : high | (tie & low));
        });
    } else {
        auto a = values<T>(w, i.a), b = values<T>(w, i.b);
        t = bits_where([&](int l) { return compared<Test, T>(a[l], b[l]); });
    }
    write_test(w, i, t, m);
}

Handler test_handler(const Ins &i) {
    return with_integer(i.ta, [&]<class T>() -> Handler {
        constexpr Handler all[] = {test_lanes<T, 0>, test_lanes<T, 1>, test_lanes<T, 2>,
                                   test_lanes<T, 3>, test_lanes<T, 4>, test_lanes<T, 5>};
        return i.sub < 6 ? all[i.sub] : nullptr;
    });
}

// ---- moves and predicates

void move128(Warp &w, const Ins &i, u32 m) {
    u32 *from = Row::at(w, i.a), *to = Row::at(w, i.d0);
    for (int g = 0; g < kGroups; g++) {
        v8u in = lanes8(m, g), v[4];
        for (int r = 0; r < 4; r++) v[r] = load8(from + r * kLanes, g);
        for (int r = 0; r < 4; r++) store8(to + r * kLanes, g, choose8(in, v[r], load8(to + r * kLanes, g)));
    }
}

void select_rows(Warp &w, const Ins &i, u32 m) {
    const u32 *a = Row::at(w, i.a), *b = Row::at(w, i.b);
    u32 c = predicate(w.preds, i.c);
    write8(w, i.d0, m, [&](int g) { return choose8(lanes8(c, g), load8(a, g), load8(b, g)); });
}

void select_pairs(Warp &w, const Ins &i, u32 m) {
    const u32 *a = Row::at(w, i.a), *b = Row::at(w, i.b);
    u32 c = predicate(w.preds, i.c);
    write_pair8(w, i.d0, m, [&](int g) {
        v8u in = lanes8(c, g);
        Pair8 x = load_pair8(a, g), y = load_pair8(b, g);
        return Pair8{choose8(in, x.lo, y.lo), choose8(in, x.hi, y.hi)};
    });
}

void table_predicates(Warp &w, const Ins &i, u32 m) {
    u32 a = predicate(w.preds, i.a), b = predicate(w.preds, i.b), c = predicate(w.preds, i.c), r = 0;
    for (int k = 0; k < 8; k++)
        if (i.imm >> k & 1) r |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
    if (i.d0) put_predicate(w.preds, (i32)i.d0, r, m);
}

void predicate_to_row(Warp &w, const Ins &i, u32 m) {
    u32 a = predicate(w.preds, i.a);
    v8u yes = all8((u32)i.imm);
    write8(w, i.d0, m, [&](int g) { return choose8(lanes8(a, g), yes, all8(0)); });
}

void table_rows(Warp &w, const Ins &i, u32 m) {
    const u32 *a = Row::at(w, i.a), *b = Row::at(w, i.b), *c = Row::at(w, i.c);
    const Table3 t(i.imm);
    write8(w, i.d0, m, [&](int g) { return t.run(load8(a, g), load8(b, g), load8(c, g)); });
}

void table_pairs(Warp &w, const Ins &i, u32 m) {
    const u32 *a = Row::at(w, i.a), *b = Row::at(w, i.b), *c = Row::at(w, i.c);
    const Table3 t(i.imm);
    write_pair8(w, i.d0, m, [&](int g) {
        Pair8 x = load_pair8(a, g), y = load_pair8(b, g), z = load_pair8(c, g);
        return Pair8{t.run(x.lo, y.lo, z.lo), t.run(x.hi, y.hi, z.hi)};
    });
}

// ---- bit fields and the rest, one lane at a time

template <class T>
void extract(Warp &w, const Ins &i, u32 m) {
    auto a = values<T>(w, i.a);
    auto pos = values<u32>(w, i.b), len = values<u32>(w, i.c);
    fill<T>(w, i.d0, m, [&](int l) { return bit_field<T>(a[l], pos[l], len[l]); });
}

template <class T>
void insert(Warp &w, const Ins &i, u32 m) {
    auto f = values<T>(w, i.a), g = values<T>(w, i.b);
    auto pos = values<u32>(w, i.c), len = values<u32>(w, i.e);
    fill<T>(w, i.d0, m, [&](int l) { return insert_field<T>(f[l], g[l], pos[l], len[l]); });
}

template <class T>
void extend(Warp &w, const Ins &i, u32 m) {
    auto a = values<T>(w, i.a);
    auto bits = values<u32>(w, i.b);
    fill<T>(w, i.d0, m, [&](int l) { return extend_from<T>(a[l], bits[l], i.sub != 0); });
}

template <class T>
void count(Warp &w, const Ins &i, u32 m) {
    auto a = values<T>(w, i.a);
    if (i.op == Op::POPC)
        fill<u32>(w, i.d0, m, [&](int l) { return (u32)std::popcount((Bits<T>)a[l]); });
    else if (i.op == Op::CLZ)
        fill<u32>(w, i.d0, m, [&](int l) { return (u32)leading_zeros<T>(a[l]); });
    else
        fill<u32>(w, i.d0, m, [&](int l) { return find_top_bit<T>(a[l], i.sub == 1); });
}

void permute_rows(Warp &w, const Ins &i, u32 m) {
    const u32 *a = Row::at(w, i.a), *b = Row::at(w, i.b), *c = Row::at(w, i.c);
    write8(w, i.d0, m, [&](int g) { return permute8(load8(a, g), load8(b, g), load8(c, g)); });
}

template <Op O>
void rare3(Warp &w, const Ins &i, u32 m) {
    auto a = values<u32>(w, i.a), b = values<u32>(w, i.b), c = values<u32>(w, O == Op::BMSK ? i.b : i.c);
    bool sa = is_signed_type(i.ta), sb = is_signed_type(i.tb);
    fill<u32>(w, i.d0, m, [&](int l) -> u32 {
        if constexpr (O == Op::FNS)
            return find_nth_set(a[l], b[l], (i32)c[l]);
        else if constexpr (O == Op::PRMT)
            return permute_bytes(a[l], b[l], c[l], i.sub);
        else if constexpr (O == Op::BMSK)
            return bit_mask(a[l], b[l], i.sub != 0);
        else if constexpr (O == Op::DP4A)
            return dot_bytes(a[l], b[l], c[l], sa, sb);
        else if constexpr (O == Op::DP2A)
            return dot_halves(a[l], b[l], c[l], sa, sb, i.sub != 0);
        else
            return absolute_differences(a[l], b[l], c[l], i.vec == 4 ? 4 : 2, sa, i.sub != 0);
    });
}

// ---- the choice, made once per instruction of a program

Handler bit_handler(const Ins &i) {
    const Type t = i.ta;
    switch (i.op) {
        case Op::AND: return handler2<And>(t);
        case Op::OR: return handler2<Or>(t);
        case Op::XOR: return handler2<Xor>(t);
        case Op::NOT: return handler1<Not>(t);
        case Op::CNOT: return scalar1<Cnot>(t);
        case Op::LOP3: return type_bytes(t) == 8 ? table_pairs : table_rows;
        case Op::SHL: return shift_handler<Shl>(t);
        case Op::SHR: return is_signed_type(t) ? shift_handler<Shr<true>>(t) : shift_handler<Shr<false>>(t);
        case Op::BFE: return with_integer(t, []<class T>() -> Handler { return extract<T>; });
        case Op::BFI: return with_integer(t, []<class T>() -> Handler { return insert<T>; });
        case Op::BREV: return scalar1<Brev>(t);
        case Op::BFIND:
        case Op::CLZ:
        case Op::POPC: return with_integer(t, []<class T>() -> Handler { return count<T>; });
        case Op::SZEXT: return is_signed_type(t) ? extend<i32> : extend<u32>;
        default: return nullptr;
    }
}

Handler move_handler(const Ins &i) {
    int bytes = type_bytes(i.ta);
    if (i.op == Op::SEL) return bytes == 8 ? select_pairs : bytes < 8 ? select_rows : nullptr;
    return bytes == 16 ? move128 : bytes == 8 ? pairs1<Copy> : rows1<Copy>;
}

}  // namespace

Handler find_bits(const Ins &i) {
    switch (i.op) {
        case Op::MOV:
        case Op::SEL: return move_handler(i);
        case Op::PLOP: return table_predicates;
        case Op::P2R: return predicate_to_row;
        case Op::SETP: return test_handler(i);
        case Op::SHF:
            if (i.sub & 2) return i.sub & 1 ? funnel<true, true> : funnel<false, true>;
            return i.sub & 1 ? funnel<true, false> : funnel<false, false>;
        case Op::FNS: return rare3<Op::FNS>;
        case Op::PRMT: return i.sub == 0 ? permute_rows : rare3<Op::PRMT>;
        case Op::BMSK: return rare3<Op::BMSK>;
        case Op::DP4A: return rare3<Op::DP4A>;
        case Op::DP2A: return rare3<Op::DP2A>;
        case Op::VABSDIFF: return rare3<Op::VABSDIFF>;
        default: return bit_handler(i);
    }
}

}  // namespace warpsight
