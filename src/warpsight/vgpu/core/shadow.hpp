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
    SharedShadow(u32 bytes, u8 granule, u32 warps);
    void reset();
    void settle(Launch &);  // reads of words that are still unwritten are faults; those written since were races and
                            // are reported as such
    void arrive(u32 warp, u32 barrier, u32 time);
    void meet(u32 warps, u32 barrier, u32 time);
    void read(Warp &, u32 lane, u32 offset, u32 size, Kind);
    void write(Warp &, u32 lane, u32 offset, u32 size, Kind, bool changes);
    void read_row(Warp &, const Access &, u32 base, u32 size, Kind);
    // True: nothing there can be out of order with the write, whatever it changes, and it is noted. Else nothing is
    // done.
    bool write_quickly(const Warp &, u32 lane, u32 offset, u32 size, Kind);
    bool write_row(const Warp &, const Access &, u32 base, u32 size, Kind);  // the same for lanes side by side
    void copying(const AsyncCopy &);  // it is written when its thread waits; until then a read finds anything

  private:
    // The fields of cells, each in an array of its own, so that a row of cells can be looked at together.
    enum Field : u8 {
        kWriteTime,  // 0: never
        kReadTime,
        kReaders,  // warps that read at the read time
        kWriter,   // thread, and the kind of its access above kKindShift
        kReader,
        kWriteFence,  // fences of the writer's and the last reader's warp when they did
        kReadFence,
        kWritePc,
        kReadPc,
        kFields
    };
    static constexpr u32 kKindShift = 16;
    u32 *field(Field f) { return cells_.data() + (size_t)f * count_; }
    u32 &at(Field f, u32 cell) { return cells_[(size_t)f * count_ + cell]; }
    u32 at(Field f, u32 cell) const { return cells_[(size_t)f * count_ + cell]; }
    void stamp_read(const Warp &, u32 thread, u32 cell, Kind);
    void stamp_write(const Warp &, u32 thread, u32 cell, Kind);
    bool read_quickly(const Warp &, u32 thread, u32 offset, u32 size, bool alone);  // or for others of its warp too
    bool read_eight(const Warp &, u32 thread, u32 cell);
    bool ordered(const Warp &, u32 thread, u32 time, u32 fence) const;
    u32 unordered_readers(const Warp &, u32 cell) const;
    void race(Warp &, u32 lane, u32 offset, u32 size, bool is_write, u32 other_thread, i32 other_pc);
    u32 shift_, warps_, count_;
    std::vector<u32> cells_;
    std::vector<u8> copying_;  // [cell]: an asynchronous copy to it is under way; empty before the first one
    std::vector<u32> floor_;   // [warp]: accesses of anybody before this time come before anything it does now
    std::vector<std::pair<u32, Fault>> unwritten_;  // reads, since the last barrier, of cells that nothing had written
    std::vector<u32>
        synced_;  // [warp][other]: accesses of `other` before this time come before anything `warp` does now
    std::vector<u32> arrivals_;  // [barrier][warp]: time of a pending bar.arrive, 0: none
};

// Stamps of one writable allocation. Used by one core at a time.
struct GlobalShadow {
    struct Cell {
        u32 writer, reader;  // block + 1; 0: nobody
        u32 write_fence;     // the writer's fence count when it wrote
        i32 write_pc, read_pc;
        u16 write_thread, read_thread;
        Kind write_kind;
        bool many_readers;
    };
    GlobalShadow(u64 bytes, u8 grain);
    u32 granule;
    std::unique_ptr<Cell[], void (*)(void *)> cells;  // of the system: zeros that take no room until they are touched
};

void note_global_read(Warp &, u32 lane, Allocation &, u64 offset, u32 size, Kind);
void note_global_write(Warp &, u32 lane, Allocation &, u64 offset, u32 size, Kind, bool changes);

}  // namespace warpsight
