// Race and initialisation checks. Time in a block advances at every synchronisation; an access is stamped with the time
// it happened at, and `synced` holds, for each pair of warps, the time before which the other's accesses are known to
// come first. See shadow.hpp for what is covered.
#include "shadow.hpp"

#include <algorithm>

namespace warpsight {
namespace {

constexpr size_t kMostUnwritten = 4096;
constexpr u32 kForSure = 1u << 31;  // of a cell in the list of reads: whatever was written there later

}  // namespace

SharedShadow::SharedShadow(u32 bytes, u8 granule, u32 warps)
    : granule_(granule),
      warps_(warps),
      cells_((bytes + granule - 1) / granule),
      synced_((size_t)warps * warps),
      arrivals_((size_t)kBarriers * warps) {}

void SharedShadow::settle(Launch &launch) {
    for (auto &[cell, fault] : unwritten_)
        if (cell & kForSure || !cells_[cell].write_time) launch.record(std::move(fault));
    unwritten_.clear();
}

void SharedShadow::reset() {
    unwritten_.clear();
    std::fill(cells_.begin(), cells_.end(), Cell{});
    std::fill(synced_.begin(), synced_.end(), 0u);
    std::fill(arrivals_.begin(), arrivals_.end(), 0u);
}

void SharedShadow::arrive(u32 warp, u32 barrier, u32 time) { arrivals_[(size_t)barrier * warps_ + warp] = time; }

// The warps of `met` waited together at `barrier`; `time` is the new time. What any of them, or an earlier arrival,
// knew, all of them know.
void SharedShadow::meet(u32 met, u32 barrier, u32 time) {
    std::vector<u32> known(warps_, 0);
    for (u32 w = 0; w < warps_; w++) {
        u32 &arrived = arrivals_[(size_t)barrier * warps_ + w];
        bool here = met >> w & 1;
        if (!here && !arrived) continue;
        for (u32 o = 0; o < warps_; o++) known[o] = std::max(known[o], synced_[(size_t)w * warps_ + o]);
        known[w] = std::max(known[w], here ? time : arrived + 1);
        arrived = 0;
    }
    for (u32 w = 0; w < warps_; w++)
        if (met >> w & 1)
            for (u32 o = 0; o < warps_; o++)
                synced_[(size_t)w * warps_ + o] = std::max(synced_[(size_t)w * warps_ + o], known[o]);
}

// Is an access by `thread` at `time` ordered before what this warp does now?
bool SharedShadow::ordered(const Warp &w, u32 thread, u32 time, u32 fence) const {
    u32 other = thread / kLanes;
    if (w.acquired && w.block->warps[other].fences > fence) return true;  // handed over by a flag or a lock
    if (other == w.id) return time < std::max(w.last_sync, synced_[(size_t)w.id * warps_ + other]);
    return time < synced_[(size_t)w.id * warps_ + other];
}

// The warps whose reads of a cell may still run beside what this warp does now.
u32 SharedShadow::unordered_readers(const Warp &w, const Cell &c) const {
    u32 open = 0;
    for (u32 rest = c.readers & ~(1u << w.id); rest; rest &= rest - 1)
        open |= (u32)!ordered(w, lowest(rest) * kLanes, c.read_time, c.read_fence) << lowest(rest);
    return open;
}

void SharedShadow::race(Warp &w, u32 lane, u32 offset, u32 size, bool is_write, u32 other_thread, i32 other_pc) {
    Fault f{FaultKind::shared_race, w.now, w.id * kLanes + lane, w.block->id, kSharedWindow + offset};
    f.other_pc = other_pc;
    f.other_thread = other_thread;
    f.other_block = w.block->id;
    f.is_write = is_write;
    f.size = (u8)size;
    const Warp &other = w.block->warps[other_thread / kLanes];
    const bool ended = !(other.alive >> other_thread % kLanes & 1);
    w.block->launch->record(ended ? w.block->blamed_on_return(std::move(f)) : std::move(f));
}

void SharedShadow::read(Warp &w, u32 lane, u32 offset, u32 size, Kind kind) {
    const u32 me = w.id * kLanes + lane, now = w.block->time;
    for (u32 i = offset / granule_; i <= (offset + size - 1) / granule_; i++) {
        Cell &c = cells_[i];
        if (c.copy_pc >= 0) {
            Fault f{FaultKind::uninitialised_read, w.now, me, w.block->id, kSharedWindow + offset};
            f.size = (u8)size;
            f.text = "an asynchronous copy to it was started and not waited for";
            if (unwritten_.size() < kMostUnwritten) unwritten_.emplace_back(i | kForSure, std::move(f));
        } else if (!c.write_time) {
            Fault f{FaultKind::uninitialised_read, w.now, me, w.block->id, kSharedWindow + offset};
            f.size = (u8)size;
            if (unwritten_.size() < kMostUnwritten) unwritten_.emplace_back(i, w.block->blamed_on_return(std::move(f)));
        } else if (c.writer != me && (c.write_kind == Kind::plain || kind == Kind::plain) &&
                   !ordered(w, c.writer, c.write_time, c.write_fence)) {
            race(w, lane, offset, size, false, c.writer, c.write_pc);
        }
        if (kind == Kind::atomic) continue;  // its write stands for it
        if (c.read_time != now) c.readers &= unordered_readers(w, c);
        if (!c.readers)
            c.read_time =
                now;  // else the oldest read that is not ordered before this one: a later stamp could accuse wrongly
        c.readers |= 1u << w.id;
        c.reader = (u16)me;
        c.read_fence = w.fences;
        c.read_pc = w.now;
        c.read_kind = kind;
    }
}

void SharedShadow::write(Warp &w, u32 lane, u32 offset, u32 size, Kind kind, bool changes) {
    const u32 me = w.id * kLanes + lane;
    for (u32 i = offset / granule_; i <= (offset + size - 1) / granule_; i++) {
        Cell &c = cells_[i];
        if (!c.write_time && kind == Kind::atomic && unwritten_.size() < kMostUnwritten) {
            Fault f{FaultKind::uninitialised_read, w.now, me, w.block->id, kSharedWindow + offset};
            f.size = (u8)size;
            unwritten_.emplace_back(i | kForSure, std::move(f));
        }
        bool both_special = c.write_kind != Kind::plain && kind != Kind::plain;
        if (changes && c.write_time && c.writer != me && !both_special &&
            !ordered(w, c.writer, c.write_time, c.write_fence))
            race(w, lane, offset, size, true, c.writer, c.write_pc);
        bool reads_special = c.read_kind != Kind::plain && kind != Kind::plain;
        if (c.read_time && !reads_special) {
            u32 others = c.readers & ~(1u << w.id);
            for (u32 rest = others; rest; rest &= rest - 1)
                if (!ordered(w, lowest(rest) * kLanes, c.read_time, c.read_fence)) {
                    race(w, lane, offset, size, true,
                         c.reader / kLanes == lowest(rest) ? c.reader : lowest(rest) * kLanes, c.read_pc);
                    break;
                }
            if (!others && c.reader != me && c.reader / kLanes == w.id && c.read_pc != w.now &&
                !ordered(w, c.reader, c.read_time, c.read_fence))
                race(w, lane, offset, size, true, c.reader, c.read_pc);
        }
        c.write_time = w.block->time;
        c.writer = (u16)me;
        c.write_fence = w.fences;
        c.write_pc = w.now;
        c.write_kind = kind;
        c.copy_pc = -1;
        c.readers = 0;
        c.read_time = 0;
    }
}

void SharedShadow::copying(const AsyncCopy &copy) {
    for (u32 i = copy.shared / granule_; i <= (copy.shared + copy.bytes - 1) / granule_; i++) cells_[i].copy_pc = copy.pc;
}

namespace {

// Another block's access counts as ordered when that block fenced after it and this block has since read through an
// atomic or a volatile load.
bool handed_over(const Warp &w, const GlobalShadow::Cell &c) {
    if (!w.block->acquired) return false;
    const auto &counts = w.block->launch->fence_counts;
    const auto found = counts.find(c.writer - 1);
    return found != counts.end() && found->second > c.write_fence;
}

void global_race(Warp &w, u32 lane, const Allocation &a, u64 offset, u32 size, bool is_write, u64 block, u32 thread,
                 i32 pc) {
    Fault f{FaultKind::global_race, w.now, w.id * kLanes + lane, w.block->id, a.base + offset};
    f.other_pc = pc;
    f.other_thread = thread;
    f.other_block = block;
    f.is_write = is_write;
    f.size = (u8)size;
    w.block->launch->record(std::move(f));
}

}  // namespace

void note_global_read(Warp &w, u32 lane, Allocation &a, u64 offset, u32 size, Kind kind) {
    Launch &l = *w.block->launch;
    if (!a.initialised.empty())
        for (u64 i = offset; i < offset + size; i++)
            if (!(a.initialised[i >> 6] >> (i & 63) & 1)) {
                Fault f{FaultKind::uninitialised_read, w.now, w.id * kLanes + lane, w.block->id, a.base + i};
                f.size = (u8)size;
                l.record(std::move(f));
                break;
            }
    if (!a.shadow) return;
    GlobalShadow &s = *a.shadow;
    const u32 me = (u32)w.block->id + 1;
    for (u64 i = offset / s.granule; i <= (offset + size - 1) / s.granule; i++) {
        GlobalShadow::Cell &c = s.cells[i];
        // A plain look at what others change by atomics (before a compare-and-swap, or to spare one) sees an old value
        // or a new one: an answer that depends on which is wrong when blocks run in another order.
        bool spared = c.write_kind == Kind::atomic || (kind != Kind::plain && c.write_kind != Kind::plain);
        if (c.writer && c.writer != me && !spared && !handed_over(w, c))
            global_race(w, lane, a, offset, size, false, c.writer - 1, c.write_thread, c.write_pc);
        if (kind != Kind::plain) continue;
        c.many_readers |= c.reader && c.reader != me;
        c.reader = me;
        c.read_pc = w.now;
        c.read_thread = (u16)(w.id * kLanes + lane);
    }
}

void note_global_write(Warp &w, u32 lane, Allocation &a, u64 offset, u32 size, Kind kind, bool changes) {
    if (a.writers.empty() || a.writers.back() != w.now) {
        if (std::find(a.writers.begin(), a.writers.end(), w.now) == a.writers.end()) a.writers.push_back(w.now);
    }
    if (!a.initialised.empty())
        for (u64 i = offset; i < offset + size; i++) a.initialised[i >> 6] |= 1ull << (i & 63);
    if (!a.shadow) return;
    GlobalShadow &s = *a.shadow;
    const u32 me = (u32)w.block->id + 1;
    for (u64 i = offset / s.granule; i <= (offset + size - 1) / s.granule; i++) {
        GlobalShadow::Cell &c = s.cells[i];
        bool both_special = kind != Kind::plain && c.write_kind != Kind::plain;
        if (changes && c.writer && c.writer != me && !both_special && !handed_over(w, c))
            global_race(w, lane, a, offset, size, true, c.writer - 1, c.write_thread, c.write_pc);
        else if (changes && kind != Kind::atomic && c.reader && (c.reader != me || c.many_readers) &&
                 !w.block->acquired)
            global_race(w, lane, a, offset, size, true, c.reader - 1, c.read_thread, c.read_pc);
        // A plain write stays in sight behind an atomic of the same block, until the block fences.
        if (c.writer == me && c.write_kind == Kind::plain && kind != Kind::plain && c.write_fence == w.block->fences)
            continue;
        c.writer = me;
        c.write_fence = w.block->fences;
        c.write_pc = w.now;
        c.write_thread = (u16)(w.id * kLanes + lane);
        c.write_kind = kind;
    }
}

}  // namespace warpsight
