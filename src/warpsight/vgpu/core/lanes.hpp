// Rows of 32 lanes and the resolved instruction: what every handler works on.
// A handler does one operation for the lanes in `m` and nothing else: it neither counts, nor jumps, nor checks.
// Must stay true: a handler never writes a lane outside `m`, and gives the bits that docs/bytecode.md defines.
#pragma once
#include <cstdint>
#include <cstring>

namespace warpsight {

using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using i8 = int8_t;
using i16 = int16_t;
using i32 = int32_t;
using i64 = int64_t;

constexpr int kLanes = 32;
constexpr u32 kFull = 0xffffffffu;
constexpr int kRowBytes = kLanes * 4;

template <class T>
struct VectorOf {
    typedef T type __attribute__((vector_size(kLanes * sizeof(T)), aligned(32), may_alias));
};
using vu32 = VectorOf<u32>::type;
using vi32 = VectorOf<i32>::type;
using vf32 = VectorOf<float>::type;
using vu64 = VectorOf<u64>::type;
using vi64 = VectorOf<i64>::type;
using vf64 = VectorOf<double>::type;

enum class Op : u16 {
#define OP(name, mix, signature, meaning) name,
#include "ops.def"
#undef OP
    COUNT
};

enum class Type : u8 {
    B8,
    U8,
    S8,
    B16,
    U16,
    S16,
    B32,
    U32,
    S32,
    B64,
    U64,
    S64,
    F16,
    BF16,
    F32,
    F64,
    F16X2,
    BF16X2,
    TF32,
    B128,
    B1,
    S4,
    U4,
    PRED,
    E4M3X2,
    E5M2X2,
    U16X2,
    S16X2
};

enum : u8 { kRound = 7, kFtz = 8, kSat = 16, kRelu = 32 };   // bits of `mod`
enum : u8 { kRN = 0, kRZ = 1, kRM = 2, kRP = 3, kRNA = 4 };  // mod & kRound
enum : u16 {
    kHidden = 1,
    kVolatile = 2,
    kUnusedResult = 4,
    kWide32 = 8,
    kWide64 = 16,
    kAddress32 = 32
};  // bits of `flags`
enum : u8 { kGeneric = 0, kGlobal = 1, kShared = 2, kLocal = 3, kConst = 4, kParam = 5 };  // spaces

// Where a row lives: byte offset | 1 for constant rows. Resolved once, when a program is loaded.
using Ref = u32;

struct Warp;
struct Ins;
using Handler = void (*)(Warp &, const Ins &, u32 m);

struct Ins {
    Handler run;
    bool plain;  // `run` is all there is to it: no waiting, no jump
    Op op;
    u8 sub;
    Type ta, tb;
    u8 mod, width, vec;
    u16 flags;
    i32 guard;       // predicate operand: 2 * index + negated; 0 is "always"
    Ref d0;          // row (a sink row when discarded), or predicate index where the signature says P
    i32 d1;          // predicate index (a sink when discarded)
    Ref a, b, c, e;  // rows, or predicate operands where the signature says P
    const Ref *list;
    i32 target;
    i64 imm;
    u32 watch = 0;    // number of the guard that a branch is, counted from 1
    u32 memory = 0;   // number of the memory instruction that it is
    i32 run_end = 0;  // where the plain instructions that it begins end; itself where it is not plain
};

// The part of a warp that handlers see. base[1] is the constant rows' address minus one, so that base[r & 1] + r is the
// row.
struct WarpRows {
    char *base[2];
    u32 *preds;
};
static_assert(sizeof(char) == 1);

inline u32 predicate(const u32 *preds, u32 operand) { return preds[operand >> 1] ^ (0u - (operand & 1u)); }

inline vi32 lane_index() {
    return vi32{0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
}

// All ones in the lanes of m, zero elsewhere.
inline vi32 spread(u32 m) { return (((vi32{} + (i32)m) >> lane_index()) & 1) != 0; }

// One bit per lane: the top bit of each 32-bit lane.
u32 gather_bits(const vi32 &v);

struct Row {
    static u32 *at(const WarpRows &w, Ref r) { return (u32 *)(w.base[r & 1] + r); }
    static const vu32 &u(const WarpRows &w, Ref r) { return *(const vu32 *)at(w, r); }
    static const vi32 &s(const WarpRows &w, Ref r) { return *(const vi32 *)at(w, r); }
    static const vf32 &f(const WarpRows &w, Ref r) { return *(const vf32 *)at(w, r); }
    static Ref high(Ref r) { return r + kRowBytes; }
    static vu64 u64s(const WarpRows &w, Ref r) {
        return __builtin_convertvector(u(w, r), vu64) | (__builtin_convertvector(u(w, high(r)), vu64) << 32);
    }
    static void put(const WarpRows &w, Ref r, const vu32 &v, u32 m) {
        vu32 &d = *(vu32 *)at(w, r);
        if (m == kFull)
            d = v;
        else
            d = spread(m) ? v : d;
    }
    static void put64(const WarpRows &w, Ref r, const vu64 &v, u32 m) {
        put(w, r, __builtin_convertvector(v, vu32), m);
        put(w, high(r), __builtin_convertvector(v >> 32, vu32), m);
    }
};

inline void put_predicate(u32 *preds, i32 index, u32 value, u32 m) { preds[index] = (preds[index] & ~m) | (value & m); }

// Each family returns nullptr for an instruction that is not its own; a null result of find_handler is refused by name
// when a program is loaded.
Handler find_integer(const Ins &);  // integer.cpp: moves, integer arithmetic, bit operations, predicates
Handler find_float(const Ins &);    // float.cpp: F32 and F64 arithmetic in every rounding mode, comparisons, min/max
Handler find_half(const Ins &);     // half.cpp: F16, BF16 and their pairs
Handler find_special(const Ins &);  // special.cpp: approximate functions
Handler find_convert(const Ins &);  // convert.cpp: CVT, CVT2
Handler find_tensor(const Ins &);   // tensor.cpp: MMA
Handler find_warp(const Ins &);     // warp.cpp: shuffles, votes (members have arrived), special registers
Handler find_memory(const Ins &);   // memory.cpp: loads, stores, matrix and asynchronous copies
Handler find_matrix(const Ins &);   // matrix.cpp: ldmatrix, cp.async, wmma loads and stores
Handler find_atomic(const Ins &);   // atomic.cpp
Handler find_machine_code(const Ins &);  // machine_code.cpp: what only machine code has

}  // namespace warpsight
