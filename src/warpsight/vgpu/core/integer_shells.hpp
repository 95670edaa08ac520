// Shells around the integer operations: one handler per shape (eight lanes, eight pairs, one lane at a time) and number
// of operands, and the choice among them by type. The common types never leave the vector forms.
#pragma once
#include "integer_ops.hpp"

namespace warpsight {

// Moves, predicates, comparisons and bit operations (bits.cpp); nullptr for arithmetic.
Handler find_bits(const Ins &);

inline bool is_signed_type(Type t) {
    return t == Type::S8 || t == Type::S16 || t == Type::S32 || t == Type::S64 || t == Type::S16X2;
}

// ---- eight lanes of 32 bits

template <class F>
void rows1(Warp &w, const Ins &i, u32 m) {
    const u32 *a = Row::at(w, i.a);
    write8(w, i.d0, m, [&](int g) { return F::run(load8(a, g)); });
}

template <class F>
void rows2(Warp &w, const Ins &i, u32 m) {
    const u32 *a = Row::at(w, i.a), *b = Row::at(w, i.b);
    write8(w, i.d0, m, [&](int g) { return F::run(load8(a, g), load8(b, g)); });
}

template <class F>
void rows3(Warp &w, const Ins &i, u32 m) {
    const u32 *a = Row::at(w, i.a), *b = Row::at(w, i.b), *c = Row::at(w, i.c);
    write8(w, i.d0, m, [&](int g) { return F::run(load8(a, g), load8(b, g), load8(c, g)); });
}

// ---- eight lanes of 64 bits

template <class F>
void pairs1(Warp &w, const Ins &i, u32 m) {
    const u32 *a = Row::at(w, i.a);
    write_pair8(w, i.d0, m, [&](int g) { return F::run(load_pair8(a, g)); });
}

template <class F>
void pairs2(Warp &w, const Ins &i, u32 m) {
    const u32 *a = Row::at(w, i.a), *b = Row::at(w, i.b);
    write_pair8(w, i.d0, m, [&](int g) { return F::run(load_pair8(a, g), load_pair8(b, g)); });
}

template <class F>
void pairs3(Warp &w, const Ins &i, u32 m) {
    const u32 *a = Row::at(w, i.a), *b = Row::at(w, i.b), *c = Row::at(w, i.c);
    write_pair8(w, i.d0, m, [&](int g) { return F::run(load_pair8(a, g), load_pair8(b, g), load_pair8(c, g)); });
}

template <class F>
Handler handler1(Type t) {
    return with_integer(t, []<class T>() -> Handler {
        if constexpr (sizeof(T) == 8)
            return pairs1<F>;
        else if constexpr (sizeof(T) == 4)
            return rows1<F>;
        else
            return lanes1<T, F>;
    });
}

template <class F>
Handler handler2(Type t) {
    return with_integer(t, []<class T>() -> Handler {
        if constexpr (sizeof(T) == 8)
            return pairs2<F>;
        else if constexpr (sizeof(T) == 4)
            return rows2<F>;
        else
            return lanes2<T, F>;
    });
}

template <class F>
Handler handler3(Type t) {
    return with_integer(t, []<class T>() -> Handler {
        if constexpr (sizeof(T) == 8)
            return pairs3<F>;
        else if constexpr (sizeof(T) == 4)
            return rows3<F>;
        else
            return lanes3<T, F>;
    });
}

template <class F>
Handler scalar1(Type t) {
    return with_integer(t, []<class T>() -> Handler { return lanes1<T, F>; });
}
template <class F>
Handler scalar2(Type t) {
    return with_integer(t, []<class T>() -> Handler { return lanes2<T, F>; });
}
template <class F>
Handler scalar3(Type t) {
    return with_integer(t, []<class T>() -> Handler { return lanes3<T, F>; });
}

}  // namespace warpsight
