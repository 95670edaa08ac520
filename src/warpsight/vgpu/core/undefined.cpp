// How undefined values spread: the destination of an operation is as undefined, lane by lane, as what it reads. See
// undefined.hpp.
#include "undefined.hpp"

#include "memory.hpp"

namespace warpsight {
namespace {

using Mark = Undefined::Mark;

const char *kSignatures[] = {
#define OP(name, mix, signature, meaning) signature,
#include "ops.def"
#undef OP
};

bool is_wide(Type t) { return t == Type::B64 || t == Type::U64 || t == Type::S64 || t == Type::F64; }

// Rows of an operand by its letter in the signature.
u32 rows_of(char letter, const Ins &x) {
    return letter == 'D' || (letter == 'R' && is_wide(x.ta)) || (letter == 'S' && is_wide(x.tb)) ? 2 : 1;
}

struct Book {
    Undefined &u;
    const Warp &w;
    const Program &p;
    explicit Book(Warp &warp) : u(*warp.block->undefined), w(warp), p(warp.block->launch->program) {}

    Mark &row(Ref r) { return u.rows[(size_t)w.id * (p.n_rows + 2) + r / kRowBytes]; }
    Mark &pred(u32 i) { return u.preds[(size_t)w.id * (p.n_preds + 1) + i]; }
    static void add(Mark &to, const Mark &from, u32 m) {
        if (!(from.lanes & m)) return;
        to.lanes |= from.lanes & m;
        to.origin = from.origin;
    }
    Mark read(Ref r, u32 count, u32 m) {
        Mark found;
        for (u32 i = 0; !(r & 1) && i < count; i++) add(found, row(r + i * kRowBytes), m);
        return found;
    }
    static void put(Mark &to, const Mark &from, u32 m) {
        to.lanes &= ~m;
        add(to, from, m);
    }
    void write(Ref r, u32 count, const Mark &from, u32 m) {
        for (u32 i = 0; i < count; i++) put(row(r + i * kRowBytes), from, m);
    }
    void write_results(const Ins &x, const Mark &from, u32 m) {
        const char *s = kSignatures[(int)x.op];
        for (u32 i = 0; s[0] == 'L' && i < x.vec; i++)
            if (!(x.list[i] & 1)) put(row(x.list[i]), Mark{}, m);
        if (s[0] == 'P') put(pred(x.d0), from, m);
        if (std::strchr("RUSD", s[0])) write(x.d0, rows_of(s[0], x), from, m);
        if (s[0] != '=' && s[1] == 'P') put(pred((u32)x.d1), from, m);
    }
};

// What the sources hold. A choice takes only what it chooses.
Mark sources(Book &b, const Ins &x, u32 m) {
    const char *s = std::strchr(kSignatures[(int)x.op], '=') + 1;
    Mark found;
    if (x.op == Op::SEL) {
        const u32 yes = predicate(b.w.preds, x.c);
        b.add(found, b.read(x.a, rows_of('R', x), m & yes), m);
        b.add(found, b.read(x.b, rows_of('R', x), m & ~yes), m);
        b.add(found, b.pred(x.c >> 1), m);
        return found;
    }
    const Ref refs[4] = {x.a, x.b, x.c, x.e};
    for (int k = 0; *s && k < 4; s++) {
        if (*s == 'L' || *s == '-') continue;
        b.add(found, *s == 'P' ? b.pred(refs[k] >> 1) : b.read(refs[k], rows_of(*s, x), m), m);
        k++;
    }
    return found;
}

u64 address_of(const Warp &w, const Ins &x, u32 lane) {
    const u64 high = is_narrow(x) || x.sub == kShared ? 0 : Row::at(w, Row::high(x.a))[lane];
    return (Row::at(w, x.a)[lane] | high << 32) + (u64)x.imm;
}

// The place in shared memory that a lane's access touches, or -1.
i64 shared_word(const Warp &w, const Ins &x, u32 lane) {
    const u64 a = address_of(w, x, lane);
    if (x.sub != kShared && (x.sub != kGeneric || a >> 40 != 0x70)) return -1;
    return (i64)((a & ((1u << kSlotShift) - 1)) / 4);
}

bool is_global(const Warp &w, const Ins &x, u32 lane) {
    const u64 top = address_of(w, x, lane) >> 40;
    return x.sub == kGlobal || (x.sub == kGeneric && (top < 0x70 || top > 0x74));
}

void report(Warp &w, const Origin &o) {
    Fault f{o.kind, o.pc, o.thread, w.block->id, o.address};
    f.other_thread = o.other;
    f.other_block = w.block->id;
    f.seen_pc = w.now;
    f.why = Why::used;
    w.block->launch->record(std::move(f));
}

// The words of one lane that a load, store or atomic moves.
u32 words_of(const Ins &x) { return std::max(1u, (u32)x.width * std::max<u32>(1, x.vec) / 4); }

void store(Warp &w, Book &b, const Ins &x, const Mark &value, u32 m) {
    for (u32 rest = m; rest; rest &= rest - 1) {
        const u32 lane = lowest(rest);
        const bool is_undefined = value.lanes >> lane & 1;
        const i64 word = shared_word(w, x, lane);
        for (u32 i = 0; word >= 0 && i < words_of(x); i++) {
            if (is_undefined)
                b.u.shared[(u32)word + i] = value.origin;
            else
                b.u.shared.erase((u32)word + i);
        }
        if (is_undefined && is_global(w, x, lane)) report(w, b.u.origins[value.origin]);
    }
}

Mark loaded(Warp &w, Book &b, const Ins &x, u32 m) {
    Mark found = sources(b, x, m);
    for (u32 rest = b.u.shared.empty() ? 0 : m; rest; rest &= rest - 1) {
        const i64 word = shared_word(w, x, lowest(rest));
        for (u32 i = 0; word >= 0 && i < words_of(x); i++)
            if (auto it = b.u.shared.find((u32)word + i); it != b.u.shared.end())
                b.add(found, {1u << lowest(rest), it->second}, m);
    }
    return found;
}

u32 list_rows(const Ins &x) { return x.vec * (x.width == 8 ? 2 : 1); }

}  // namespace

void mark_undefined(Warp &w, Ref row, u32 m, const Origin &o) {
    Block &block = *w.block;
    const Program &p = block.launch->program;
    if (!block.undefined) {
        block.undefined = std::make_unique<Undefined>();
        block.undefined->rows.resize(block.warps.size() * (p.n_rows + 2));
        block.undefined->preds.resize(block.warps.size() * (p.n_preds + 1));
        for (Warp &each : block.warps) each.follows = true;
    }
    Book b(w);
    u32 number = 0;
    while (number < b.u.origins.size() && b.u.origins[number].pc != o.pc) number++;
    if (number == b.u.origins.size()) b.u.origins.push_back(o);
    b.row(row).lanes |= m;
    b.row(row).origin = number;
}

void follow(Warp &w, const Ins &x, u32 m) {
    Book b(w);
    if (x.op == Op::ST || x.op == Op::ATOM) {
        Mark value = x.op == Op::ATOM ? sources(b, x, m) : Mark{};
        for (u32 i = 0; x.op == Op::ST && i < list_rows(x); i++) b.add(value, b.read(x.list[i], 1, m), m);
        store(w, b, x, value, m);
        if (x.op == Op::ATOM && !(x.flags & kUnusedResult)) b.write(x.d0, rows_of('R', x), value, m);
        return;
    }
    if (x.op == Op::LD) {
        const Mark found = loaded(w, b, x, m);
        for (u32 i = 0; i < list_rows(x); i++) b.write(x.list[i], x.flags & kWide64 ? 2 : 1, found, m);
        return;
    }
    b.write_results(x, sources(b, x, m), m);
}

void forget(Warp &w, const Ins &x, u32 m) { Book(w).write_results(x, Mark{}, m); }

void follow_shuffle(Warp &w, const Ins &x, u32 m, const u32 *from) {
    Book b(w);
    const Mark given = b.read(x.a, 1, kFull);
    Mark found{0, given.origin};
    for (u32 rest = m; rest; rest &= rest - 1) found.lanes |= (given.lanes >> from[lowest(rest)] & 1) << lowest(rest);
    b.put(b.row(x.d0), found, m);
    b.put(b.pred((u32)x.d1), Mark{}, m);
}

void follow_vote(Warp &w, const Ins &x, u32 m) {
    Book b(w);
    Mark found = sources(b, x, m);
    if (found.lanes) found.lanes = m;
    if (x.op == Op::WARPBAR) return;
    b.put(b.row(x.d0), found, m);
    b.put(b.pred((u32)x.d1), found, m);
}

}  // namespace warpsight
