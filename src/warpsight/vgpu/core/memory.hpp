// Finding memory for an access: every address is checked against its allocation before it becomes a host pointer.
#pragma once
#include "access.hpp"
#include "machine.hpp"

namespace warpsight {

struct Place {
    char *host;              // of Access::base; for local memory, of the lane's base
    Allocation *allocation;  // global memory only
    u8 space;
};

// The lanes' addresses of instruction operand `row` + imm in `space`. False: they do not lie in one allocation or
// space; go part by part. `narrow`: the address is one 32-bit row.
bool gather_addresses(Warp &, Ref row, i64 imm, u8 space, bool narrow, u32 m, u32 size, Access &out);
// The same for a memory instruction, whose last shape is known, and where its lanes' memory is, as `locate` finds it;
// null instead of false.
Known *find_place(Warp &, const Ins &, u32 m, u32 size, bool write, struct Place &out);
inline bool is_narrow(const Ins &x) { return x.sub == kShared || (x.flags & kAddress32); }

// The lanes of `m` in the same allocation or space as the lowest one.
u32 lanes_together(Warp &, Ref row, i64 imm, u8 space, bool narrow, u32 m);

// Resolves the whole access; faults (out of bounds, misaligned, read-only) end the launch. Local memory is resolved per
// lane (local_at).
Place locate(Warp &, const Access &, u8 space, u32 size, u32 alignment, bool write);
char *local_at(Warp &, u32 lane, u64 offset, u32 size, u32 alignment);

// One lane, one address, any space; for printf, matrix loads and other slow paths.
char *locate_one(Warp &, u32 lane, u64 address, u8 space, u32 size, bool write, Place *out = nullptr);

void trace_wavefronts(Warp &, u32 wavefronts);
void trace_passes(Warp &, u32 passes);
void trace_swap(Warp &, u32 word);
void trace_sleep(Warp &, const Ins &, u32 m);  // how long the warp sleeps
void trace_barrier(Warp &, u32 id, u32 threads, bool arrives);
void watch_access(Warp &, const Access &, const Place &, u32 size, const Cost &);
void watch_atomic(Warp &, const Access &, const Place &, u32 passes);
void watch_swap(Warp &, u32 lane, bool made);
void count_access(Warp &, const Access &, const Place &, u32 size, Known * = nullptr);
// While checking: lanes read, or lanes write and only those outside `unchanged` leave other bytes than they found.
void note_access(Warp &, const Access &, const Place &, u32 size, bool write, u8 kind, u32 unchanged);

void settle_known(std::vector<Counts> &, Known &);  // moves the accesses that it has to the counters

// Lanes in different arrays: each array is an access of its own, but all are one request.
template <class F>
void part_by_part(Warp &w, Ref row, i64 imm, u8 space, bool narrow, u32 m, F &&access) {
    auto requests = [&]() -> u64 & {
        for (Known &known : w.block->core->known)
            if (known.pc == w.now) settle_known(*w.block->counts, known);
        return counts_of(w)[k_requests];
    };
    const u64 before = requests();
    for (u32 rest = m; rest;) {
        u32 part = lanes_together(w, row, imm, space, narrow, rest);
        if (part == m)
            part = 1u << lowest(part);  // one array, and still not to be had at once: a lane is out of bounds
        access(part);
        rest &= ~part;
    }
    if (w.block->launch->options.count) requests() = before + 1;
}

}  // namespace warpsight
