// Values that nothing defines: a shuffle from a lane that takes no part in it, a private array read before it is
// written. Having one is no fault: half of a warp's tree sum is made of such values. They are followed through
// registers, shuffles and shared memory, and it is a fault when one is stored to global memory. Not followed: branches
// that depend on one, private memory, matrix operations. Only while checking, and only in blocks that have such a
// value.
#pragma once
#include "machine.hpp"

namespace warpsight {

struct Origin {
    FaultKind kind;
    i32 pc;
    u32 thread, other;  // of a shuffle: who reads, and whose value
    u64 address;
};

struct Undefined {
    struct Mark {
        u32 lanes = 0, origin = 0;
    };
    std::vector<Mark> rows, preds;        // [warp][row or predicate]
    std::unordered_map<u32, u32> shared;  // origin by word of shared memory
    std::vector<Origin> origins;
};

// Lanes of m got such a value in a row.
void mark_undefined(Warp &, Ref row, u32 m, const Origin &);
// Before a plain instruction runs; only when the warp's `follows` is set.
void follow(Warp &, const Ins &, u32 m);
// The results of an instruction are defined.
void forget(Warp &, const Ins &, u32 m);
// After a shuffle: `from` is the lane that each lane of m read.
void follow_shuffle(Warp &, const Ins &, u32 m, const u32 *from);
// A value of all lanes of m became one of each.
void follow_vote(Warp &, const Ins &, u32 m);

}  // namespace warpsight
