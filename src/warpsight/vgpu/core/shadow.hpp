// What the checker remembers beside memory: who wrote and read each granule, and what is ordered before what.
// Covers: races in shared memory between barriers (other warps, and lanes of one warp without a warp barrier), races in
// global memory between blocks without atomics, reads of shared or output memory that nothing wrote, reads of shared
// memory before an asynchronous copy to it was waited for. Data handed over
// by a flag or a lock counts as ordered when its writer fenced after it and the reader has used an atomic or volatile
// access. A write that leaves the same bytes there (a flag set to 1 by many threads) is not called a race with another
// write. Does not cover: races between warps of one block in global memory; a reader that a later, unordered reader
// replaced (missed, never a false alarm).
#pragma once
#include "machine.hpp"

namespace warpsight {

enum class Kind : u8 { plain, is_volatile, atomic };

struct SharedShadow {
    struct Cell {
        u32 write_time = 0, read_time = 0;    // 0: never
        u32 readers = 0;                      // warps that read at read_time
        u32 write_fence = 0, read_fence = 0;  // fences of the writer's and the last reader's warp when they did
        u16 writer = 0, reader = 0;           // threads
        i32 write_pc = -1, read_pc = -1;
        i32 copy_pc = -1;  // an asynchronous copy to it that nobody has waited for
        Kind write_kind = Kind::plain, read_kind = Kind::plain;
    };
    SharedShadow(u32 bytes, u8 granule, u32 warps);
    void reset();
    void settle(Launch &);  // reads of words that are still unwritten are faults; those written since were races and
                            // are reported as such
    void arrive(u32 warp, u32 barrier, u32 time);
    void meet(u32 warps, u32 barrier, u32 time);
    void read(Warp &, u32 lane, u32 offset, u32 size, Kind);
    void write(Warp &, u32 lane, u32 offset, u32 size, Kind, bool changes);
    void copying(const AsyncCopy &);  // it is written when its thread waits; until then a read finds anything

  private:
    bool ordered(const Warp &, u32 thread, u32 time, u32 fence) const;
    u32 unordered_readers(const Warp &, const Cell &) const;
    void race(Warp &, u32 lane, u32 offset, u32 size, bool is_write, u32 other_thread, i32 other_pc);
    u32 granule_, warps_;
    std::vector<Cell> cells_;
    std::vector<std::pair<u32, Fault>> unwritten_;  // reads, since the last barrier, of cells that nothing had written
    std::vector<u32>
        synced_;  // [warp][other]: accesses of `other` before this time come before anything `warp` does now
    std::vector<u32> arrivals_;  // [barrier][warp]: time of a pending bar.arrive, 0: none
};

// Stamps of one writable allocation. Used by one core at a time.
struct GlobalShadow {
    struct Cell {
        u32 writer = 0, reader = 0;  // block + 1; 0: nobody
        u32 write_fence = 0;         // the writer's fence count when it wrote
        i32 write_pc = -1, read_pc = -1;
        u16 write_thread = 0, read_thread = 0;
        Kind write_kind = Kind::plain;
        bool many_readers = false;
    };
    GlobalShadow(u64 bytes, u8 grain) : granule(grain), cells((bytes + grain - 1) / grain) {}
    u32 granule;
    std::vector<Cell> cells;
};

void note_global_read(Warp &, u32 lane, Allocation &, u64 offset, u32 size, Kind);
void note_global_write(Warp &, u32 lane, Allocation &, u64 offset, u32 size, Kind, bool changes);

}  // namespace warpsight
