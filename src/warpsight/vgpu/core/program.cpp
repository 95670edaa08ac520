// Loading a program: fields become row references, each instruction gets the function that does it, and what nobody can
// do is named.
#include <algorithm>
#include <stdexcept>

#include "machine.hpp"

namespace warpsight {
namespace {

// The record the front ends write (bytecode.INSTRUCTION).
struct __attribute__((packed)) Packed {
    u16 op;
    u8 sub, ta, tb, mod, width, vec;
    u16 flags, pad;
    i32 guard, d0, d1, a, b, c, e, list, target;
    i64 imm;
};
static_assert(sizeof(Packed) == 56);

const char *kSignatures[] = {
#define OP(name, mix, signature, meaning) signature,
#include "ops.def"
#undef OP
};

constexpr i32 kNone = INT32_MIN;

struct Loader {
    Program &p;

    Ref row(i32 r, bool destination) const {
        const Ref sink = p.n_rows * kRowBytes;
        if (r == kNone) return destination ? sink : 1;  // constant row 0 is zero
        if (r >= 0) {
            if ((u32)r >= p.n_rows)
                throw std::invalid_argument("row " + std::to_string(r) + " is past the program's rows");
            return (Ref)r * kRowBytes;
        }
        if (destination || (u32)~r >= p.consts.size())
            throw std::invalid_argument("bad constant row " + std::to_string(~r));
        return (Ref)~r * kRowBytes | 1;
    }
    u32 source_predicate(i32 v) const {
        if (v == kNone) return 0;
        if (v < 0 || (u32)v / 2 >= p.n_preds) throw std::invalid_argument("bad predicate operand " + std::to_string(v));
        return (u32)v;
    }
    i32 target_predicate(i32 v) const {
        if (v == kNone || v == 0) return (i32)p.n_preds;  // a sink
        if (v < 0 || (u32)v >= p.n_preds) throw std::invalid_argument("bad predicate " + std::to_string(v));
        return v;
    }
    void sources(const Packed &in, Ins &x, const char *sig) const {
        const i32 given[4] = {in.a, in.b, in.c, in.e};
        Ref *slots[4] = {&x.a, &x.b, &x.c, &x.e};
        int k = 0;
        for (const char *s = sig; *s; s++) {
            if (*s == 'L' || *s == '-') continue;
            *slots[k] = *s == 'P' ? source_predicate(given[k]) : row(given[k], false);
            k++;
        }
        if (x.op == Op::MMA) x.e = (u32)in.e;  // type of B
        if (x.op == Op::ADD3) {                // a second carry in and out
            x.target = (i32)source_predicate(in.target);
            if (x.vec >= p.n_preds) throw std::invalid_argument("bad predicate " + std::to_string(x.vec));
        }
    }
};

// How many list rows an instruction names.
size_t list_length(const Ins &x) {
    switch (x.op) {
        case Op::LD:
        case Op::ST:
        case Op::LDMATRIX:
        case Op::WMMALD:
        case Op::WMMAST: return x.vec;
        case Op::PUSH:
        case Op::POP: return (size_t)x.target;
        case Op::ASSERTFAIL: return 5;
        case Op::MMA: return x.vec;
        default: return 0;
    }
}

bool needs_loop(Op op) {
    switch (op) {
        case Op::NOP:
        case Op::PREFETCH:
        case Op::BRA:
        case Op::BRX:
        case Op::CALL:
        case Op::CALLX:
        case Op::RET:
        case Op::EXIT:
        case Op::TRAP:
        case Op::BAR:
        case Op::FENCE:
        case Op::WARPBAR:
        case Op::PUSH:
        case Op::POP:
        case Op::LEAFP:
        case Op::ACTIVEMASK:
        case Op::NANOSLEEP:
        case Op::PRINTF:
        case Op::ASSERTFAIL:
        case Op::MALLOC:
        case Op::FREE: return true;
        default: return false;
    }
}

bool waits_for_members(Op op) {
    return op == Op::SHFL || op == Op::VOTE || op == Op::MATCH || op == Op::REDUX || op == Op::ELECT ||
           op == Op::WARPBAR;
}

// Does it change a frame, a group of asynchronous copies or a clock of its lanes?
bool keeps_state(const Ins &x) {
    const bool is_clock = x.op == Op::CLOCK || (x.op == Op::S2R && x.sub >= 25 && x.sub <= 28);
    return is_clock || x.op == Op::CALL || x.op == Op::CALLX || x.op == Op::RET || x.op == Op::CPCOMMIT;
}

Handler find_handler(const Ins &x) {
    for (auto find : {find_integer, find_float, find_half, find_special, find_convert, find_tensor, find_warp,
                      find_memory, find_atomic, find_machine_code})
        if (Handler h = find(x)) return h;
    return nullptr;
}

void note_granule(Program &p, const Ins &x) {
    if (x.op != Op::LD && x.op != Op::ST) return;
    if (x.sub == kShared || x.sub == kGeneric) p.shared_granule = std::min(p.shared_granule, x.width);
    if (x.sub == kGlobal || x.sub == kGeneric) p.global_granule = std::min(p.global_granule, x.width);
}

}  // namespace

std::unique_ptr<Program> load_program(const u8 *code, size_t n, std::vector<i32> lists, std::vector<i32> tables,
                                      std::vector<u32> consts, std::vector<i32> functions, u32 n_rows, u32 n_preds,
                                      bool order_sensitive, i32 *unsupported) {
    auto p = std::make_unique<Program>();
    p->n_rows = n_rows;
    p->n_preds = std::max(1u, n_preds);
    p->consts = std::move(consts);
    if (p->consts.empty()) p->consts.push_back(0);
    p->tables = std::move(tables);
    p->functions = std::move(functions);
    p->order_sensitive = order_sensitive;
    p->code.resize(n);
    p->lists.reserve(lists.size() * 2 + 8);  // must not move: instructions point into it
    const Loader loader{*p};
    const Packed *packed = (const Packed *)code;
    *unsupported = -1;
    std::vector<u32> lengths;
    auto jump_ok = [&](i32 t) { return t >= 0 && (size_t)t < n; };
    for (i32 t : p->tables)
        if (!jump_ok(t)) throw std::invalid_argument("bad jump table");
    for (i32 t : p->functions)
        if (!jump_ok(t)) throw std::invalid_argument("bad function entry");
    for (size_t i = 0; i < n; i++) {
        const Packed &in = packed[i];
        Ins &x = p->code[i];
        if (in.op >= (u16)Op::COUNT) throw std::invalid_argument("unknown operation number " + std::to_string(in.op));
        x.op = (Op)in.op;
        x.sub = in.sub, x.ta = (Type)in.ta, x.tb = (Type)in.tb, x.mod = in.mod, x.width = in.width, x.vec = in.vec,
        x.flags = in.flags;
        x.guard = (i32)loader.source_predicate(in.guard);
        x.target = in.target, x.imm = in.imm;
        const char *sig = kSignatures[in.op];
        x.d0 = sig[0] == 'P' ? (Ref)loader.target_predicate(in.d0) : loader.row(in.d0, true);
        x.d1 = loader.target_predicate(in.d1);
        loader.sources(in, x, std::strchr(sig, '=') + 1);
        const size_t length = list_length(x);
        x.list = p->lists.data() + p->lists.size();
        if (length && (in.list < 0 || (size_t)in.list + length > lists.size())) throw std::invalid_argument("bad list");
        const bool stores = x.op == Op::ST || x.op == Op::WMMAST || x.op == Op::PUSH || x.op == Op::ASSERTFAIL;
        const bool as_words = (x.op == Op::LD || x.op == Op::ST) && x.width == 8;
        for (size_t k = 0; k < length; k++) {
            i32 r = lists[(size_t)in.list + k];
            // A fragment's rows are both: the list of an MMA starts with its results, which may be discarded.
            Ref ref = x.op == Op::MMA && r != kNone ? loader.row(r, false) : loader.row(r, !stores);
            p->lists.push_back(ref);
            if (as_words) p->lists.push_back(Row::high(ref));
        }
        if (x.op == Op::BRA || x.op == Op::CALL)
            if (!jump_ok(x.target)) throw std::invalid_argument("bad jump target");
        if (x.op == Op::BRX && (x.imm < 0 || x.target < 0 || (size_t)(x.imm + x.target) > p->tables.size()))
            throw std::invalid_argument("bad jump table");
        lengths.push_back((u32)(p->lists.data() + p->lists.size() - x.list));
        x.plain = !needs_loop(x.op) && !waits_for_members(x.op);
        x.run = needs_loop(x.op) ? nullptr : find_handler(x);
        if (!x.run && !needs_loop(x.op) && *unsupported < 0) *unsupported = (i32)i;
        note_granule(*p, x);
        p->keeps_state |= keeps_state(x);
        p->prints |= x.op == Op::PRINTF;
        if (x.op == Op::LD || x.op == Op::ST || x.op == Op::ATOM) x.memory = p->n_memory++;
    }
    if (!n || (p->code[n - 1].op != Op::EXIT && p->code[n - 1].op != Op::BRA && p->code[n - 1].op != Op::RET &&
               p->code[n - 1].op != Op::TRAP))
        throw std::invalid_argument("the program does not end with an exit");
    for (size_t i = n; i-- > 0;) p->code[i].run_end = p->code[i].plain ? p->code[i + 1].run_end : (i32)i;
    find_first_reads(*p, lengths);
    return p;
}

}  // namespace warpsight
