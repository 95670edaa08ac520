// Integer arithmetic: sums, products, carries, divisions, minima. Moves, tests and bit operations are in bits.cpp.
// The choice by type and modifiers is made when a program is loaded; nothing is decided again when it runs.
#include "integer_shells.hpp"

namespace warpsight {

namespace {

// ---- widening products

template <bool Signed, bool Accumulate>
void multiply_wide(Warp &w, const Ins &i, u32 m) {
    const u32 *a = Row::at(w, i.a), *b = Row::at(w, i.b), *c = Row::at(w, Accumulate ? i.c : i.a);
    write_pair8(w, i.d0, m, [&](int g) {
        Pair8 p = multiply8<Signed>(load8(a, g), load8(b, g));
        return Accumulate ? add_pair8(p, load_pair8(c, g)) : p;
    });
}

template <class T, bool Accumulate>
void multiply_wide16(Warp &w, const Ins &i, u32 m) {
    auto a = values<T>(w, i.a), b = values<T>(w, i.b);
    auto c = values<u32>(w, Accumulate ? i.c : i.a);
    fill<u32>(w, i.d0, m, [&](int l) { return (u32)a[l] * (u32)b[l] + (Accumulate ? c[l] : 0u); });
}

template <bool Accumulate>
Handler wide_handler(Type t) {
    switch (t) {
        case Type::U16: return multiply_wide16<u16, Accumulate>;
        case Type::S16: return multiply_wide16<i16, Accumulate>;
        case Type::U32: return multiply_wide<false, Accumulate>;
        case Type::S32: return multiply_wide<true, Accumulate>;
        default: return nullptr;
    }
}

// ---- carries

template <class T, bool Subtract>
void carry_lanes(Warp &w, const Ins &i, u32 m) {
    auto a = values<T>(w, i.a), b = values<T>(w, i.b);
    u32 in = predicate(w.preds, i.c);
    using Wide = unsigned __int128;
    auto sum = [&](int l) { return Subtract ? (Wide)a[l] - b[l] - (in >> l & 1) : (Wide)a[l] + b[l] + (in >> l & 1); };
    u32 out = bits_where([&](int l) { return (sum(l) >> width_of<T> & 1) != 0; });
    fill<T>(w, i.d0, m, [&](int l) { return (T)sum(l); });
    if (i.d1) put_predicate(w.preds, i.d1, out, m);
}

template <class T, class Product>
void carry_mad(Warp &w, const Ins &i, u32 m) {
    auto a = values<T>(w, i.a), b = values<T>(w, i.b), c = values<T>(w, i.c);
    u32 in = predicate(w.preds, i.e);
    using U = Bits<T>;
    auto sum = [&](int l) {
        return (unsigned __int128)(U)Product::template run<T>(a[l], b[l]) + (U)c[l] + (in >> l & 1);
    };
    u32 out = bits_where([&](int l) { return (sum(l) >> width_of<T> & 1) != 0; });
    fill<U>(w, i.d0, m, [&](int l) { return (U)sum(l); });
    if (i.d1) put_predicate(w.preds, i.d1, out, m);
}

Handler carry_handler(const Ins &i) {
    return with_integer(i.ta, [&]<class T>() -> Handler {
        if constexpr (sizeof(T) < 4)
            return nullptr;
        else if (i.op == Op::MADC)
            return i.sub ? carry_mad<T, MulHi> : carry_mad<T, Mul>;
        else
            return i.op == Op::SUBC ? carry_lanes<Bits<T>, true> : carry_lanes<Bits<T>, false>;
    });
}

// ---- the choice, made once per instruction of a program

template <class F>
Handler halves2(Type t) {
    return t == Type::S16X2 ? lanes2<u32, Halves<i16, F>> : lanes2<u32, Halves<u16, F>>;
}

template <bool Max>
Handler extreme_handler(const Ins &i) {
    return i.mod & kRelu ? scalar2<Extreme<Max, true>>(i.ta) : scalar2<Extreme<Max, false>>(i.ta);
}

Handler paired16_handler(const Ins &i) {
    bool relu = i.mod & kRelu;
    switch (i.op) {
        case Op::ADD: return halves2<Add>(i.ta);
        case Op::SUB: return halves2<Sub>(i.ta);
        case Op::MUL: return halves2<Mul>(i.ta);
        case Op::MIN: return relu ? halves2<Extreme<false, true>>(i.ta) : halves2<Extreme<false, false>>(i.ta);
        case Op::MAX: return relu ? halves2<Extreme<true, true>>(i.ta) : halves2<Extreme<true, false>>(i.ta);
        default: return nullptr;
    }
}

Handler arithmetic_handler(const Ins &i) {
    const Type t = i.ta;
    const bool sat = i.mod & kSat && t == Type::S32;
    switch (i.op) {
        case Op::ADD: return sat ? lanes2<i32, AddSat> : handler2<Add>(t);
        case Op::SUB: return sat ? lanes2<i32, SubSat> : handler2<Sub>(t);
        case Op::MUL: return handler2<Mul>(t);
        case Op::MULHI:
            if (type_bytes(t) == 4) return t == Type::S32 ? rows2<MulHi32<true>> : rows2<MulHi32<false>>;
            return scalar2<MulHi>(t);
        case Op::MULWIDE: return wide_handler<false>(t);
        case Op::MAD: return handler3<Mad>(t);
        case Op::MADHI: return sat ? lanes3<i32, MadHiSat> : scalar3<MadHi>(t);
        case Op::MADWIDE: return wide_handler<true>(t);
        case Op::ADDC:
        case Op::SUBC:
        case Op::MADC: return carry_handler(i);
        case Op::NEG: return handler1<Neg>(t);
        case Op::ABS: return is_signed_type(t) ? handler1<Abs>(t) : handler1<Copy>(t);
        case Op::MIN: return extreme_handler<false>(i);
        case Op::MAX: return extreme_handler<true>(i);
        case Op::DIV: return scalar2<Div>(t);
        case Op::REM: return scalar2<Rem>(t);
        case Op::SAD: return scalar3<Sad>(t);
        default: return nullptr;
    }
}

}  // namespace

Handler find_integer(const Ins &i) {
    if (Handler h = find_bits(i)) return h;
    return i.ta == Type::U16X2 || i.ta == Type::S16X2 ? paired16_handler(i) : arithmetic_handler(i);
}

}  // namespace warpsight
