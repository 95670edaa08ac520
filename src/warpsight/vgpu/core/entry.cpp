// Which rows a thread may read before it has written them: only those are cleared when a block starts. A row whose
// lanes read one another's, or that an operation keeps its own state in, counts as read from the start. Programs with
// calls are not followed: all their rows are cleared.
#include <algorithm>

#include "machine.hpp"

namespace warpsight {
namespace {

struct OpFacts {
    const char *mix, *signature;
};
const OpFacts kOps[] = {
#define OP(name, mix, signature, meaning) {#mix, signature},
#include "ops.def"
#undef OP
};

using Rows = std::vector<u64>;  // a bit for each row

// What an instruction does to rows: at most these are read, at least these are written.
struct Effects {
    Rows reads, writes;
};

// Does each lane read its own rows alone, and write its results whatever they are?
bool is_lane_by_lane(const Ins &x) {
    if (x.op == Op::LD || x.op == Op::ST || x.op == Op::ATOM) return true;
    for (const char *mix : {"move", "int", "float", "special", "predicate", "convert"})
        if (x.plain && !std::strcmp(kOps[(int)x.op].mix, mix)) return true;
    return false;
}

u32 rows_of_type(Type t) {
    if (t == Type::B128) return 4;
    return t == Type::B64 || t == Type::U64 || t == Type::S64 || t == Type::F64 ? 2 : 1;
}

u32 rows_of(char letter, const Ins &x) {
    return letter == 'D' ? 2 : letter == 'R' ? rows_of_type(x.ta) : letter == 'S' ? rows_of_type(x.tb) : 1;
}

void set(Rows &rows, u32 n_rows, Ref ref, u32 count) {
    if (ref & 1) return;
    for (u32 r = ref / kRowBytes; r < std::min(n_rows, ref / kRowBytes + count); r++) rows[r >> 6] |= 1ull << (r & 63);
}

struct Finder {
    const Program &p;
    const std::vector<u32> &lengths;  // rows in the list of each instruction
    size_t words;
    Rows always;  // rows that count as read from the start

    Effects effects_of(size_t i) {
        const Ins &x = p.code[i];
        const char *given = kOps[(int)x.op].signature, *from = std::strchr(given, '=') + 1;
        Effects e{Rows(words), Rows(words)};
        const Ref refs[4] = {x.a, x.b, x.c, x.e};
        int k = 0;
        for (const char *s = from; *s && k < 4; s++) {
            if (*s == 'L' || *s == '-') continue;
            const bool is_type = x.op == Op::MMA && k == 3;
            if (*s != 'P' && !is_type) set(e.reads, p.n_rows, refs[k], rows_of(*s, x));
            k++;
        }
        const bool exact = is_lane_by_lane(x);
        for (u32 n = 0; n < lengths[i]; n++)
            set(exact && x.op == Op::LD ? e.writes : e.reads, p.n_rows, x.list[n], x.op == Op::LD ? 1 : 2);
        if (std::strchr("RUSD", given[0])) {
            const bool whole = exact && x.op != Op::WMAD && x.op != Op::ATOM;
            set(exact ? e.writes : e.reads, p.n_rows, x.d0, whole || !exact ? rows_of(given[0], x) : 1);
            if (x.op == Op::ATOM && (x.flags & kUnusedResult)) std::fill(e.writes.begin(), e.writes.end(), 0);
        }
        if (!exact)
            for (size_t n = 0; n < words; n++) always[n] |= e.reads[n];
        if (x.guard) std::fill(e.writes.begin(), e.writes.end(), 0);
        return e;
    }

    void successors(size_t i, std::vector<size_t> &out) const {
        const Ins &x = p.code[i];
        out.clear();
        if (x.op == Op::BRA) out.push_back((size_t)x.target);
        for (i32 n = 0; x.op == Op::BRX && n < x.target; n++)
            out.push_back((size_t)p.tables[(size_t)x.imm + (size_t)n]);
        const bool goes_on = x.guard || (x.op != Op::BRA && x.op != Op::BRX && x.op != Op::EXIT);
        if (goes_on && i + 1 < p.code.size()) out.push_back(i + 1);
    }
};

}  // namespace

void find_first_reads(Program &p, const std::vector<u32> &lengths) {
    const size_t words = (p.n_rows + 63) / 64;
    bool calls = false;
    for (const Ins &x : p.code) calls |= x.op == Op::CALL || x.op == Op::CALLX || x.op == Op::RET;
    Rows read(words, ~0ull);
    if (!calls) {
        Finder finder{p, lengths, words, Rows(words)};
        std::vector<Effects> effects;
        for (size_t i = 0; i < p.code.size(); i++) effects.push_back(finder.effects_of(i));
        std::vector<Rows> before(p.code.size(), Rows(words));
        std::vector<size_t> next;
        for (bool changed = true; changed;) {
            changed = false;
            for (size_t i = p.code.size(); i-- > 0;) {
                Rows live(words);
                finder.successors(i, next);
                for (size_t s : next)
                    for (size_t n = 0; n < words; n++) live[n] |= before[s][n];
                for (size_t n = 0; n < words; n++) live[n] = (live[n] & ~effects[i].writes[n]) | effects[i].reads[n];
                if (live != before[i]) before[i] = std::move(live), changed = true;
            }
        }
        read = before[0];
        for (size_t n = 0; n < words; n++) read[n] |= finder.always[n];
    }
    for (u32 r = 0; r < p.n_rows; r++) {
        if (!(read[r >> 6] >> (r & 63) & 1)) continue;
        if (!p.cleared.empty() && p.cleared.back().first + p.cleared.back().count == r)
            p.cleared.back().count++;
        else
            p.cleared.push_back({r, 1});
    }
}

}  // namespace warpsight
