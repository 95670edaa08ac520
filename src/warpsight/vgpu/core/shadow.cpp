// Race and initialisation checks. Time in a block advances at every synchronisation; an access is stamped with the time
// it happened at, and `synced` holds, for each pair of warps, the time before which the other's accesses are known to
// come first. See shadow.hpp for what is covered.
#include "shadow.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "eight.hpp"

namespace warpsight {
namespace {

constexpr size_t kMostUnwritten = 4096;
constexpr u32 kForSure = 1u << 31;  // of a cell in the list of reads: whatever was written there later

}  // namespace

SharedShadow::SharedShadow(u32 bytes, u8 granule, u32 warps)
    : shift_((u32)__builtin_ctz(granule)),
      warps_(warps),
      count_(((bytes + granule - 1) / granule + 7) / 8 * 8),
      cells_((size_t)count_ * kFields),
      floor_(warps),
      synced_((size_t)warps * warps),
      arrivals_((size_t)kBarriers * warps) {}

void SharedShadow::settle(Launch &launch) {
    for (auto &[cell, fault] : unwritten_)
        if (cell & kForSure || !at(kWriteTime, cell)) launch.record(std::move(fault));
    unwritten_.clear();
}

void SharedShadow::reset() {
    unwritten_.clear();
    copying_.clear();
    std::fill(cells_.begin(), cells_.begin() + 3 * (ptrdiff_t)count_, 0u);  // times and readers; the rest follows them
    std::fill(floor_.begin(), floor_.end(), 0u);
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
        if (met >> w & 1) {
            u32 *row = synced_.data() + (size_t)w * warps_;
            for (u32 o = 0; o < warps_; o++) row[o] = std::max(row[o], known[o]);
            floor_[w] = *std::min_element(row, row + warps_);
        }
}

// Is an access by `thread` at `time` ordered before what this warp does now?
bool SharedShadow::ordered(const Warp &w, u32 thread, u32 time, u32 fence) const {
    u32 other = thread / kLanes;
    if (w.acquired && w.block->warps[other].fences > fence) return true;  // handed over by a flag or a lock
    if (other == w.id) return time < std::max(w.last_sync, synced_[(size_t)w.id * warps_ + other]);
    return time < synced_[(size_t)w.id * warps_ + other];
}

// The warps whose reads of a cell may still run beside what this warp does now.
u32 SharedShadow::unordered_readers(const Warp &w, u32 cell) const {
    u32 open = 0;
    for (u32 rest = at(kReaders, cell) & ~(1u << w.id); rest; rest &= rest - 1)
        open |= (u32)!ordered(w, lowest(rest) * kLanes, at(kReadTime, cell), at(kReadFence, cell)) << lowest(rest);
    return open;
}

void SharedShadow::stamp_read(const Warp &w, u32 thread, u32 cell, Kind kind) {
    at(kReaders, cell) |= 1u << w.id;
    at(kReader, cell) = thread | (u32)kind << kKindShift;
    at(kReadFence, cell) = w.fences;
    at(kReadPc, cell) = (u32)w.now;
}

void SharedShadow::stamp_write(const Warp &w, u32 thread, u32 cell, Kind kind) {
    if (!copying_.empty()) copying_[cell] = 0;
    at(kWriteTime, cell) = w.block->time;
    at(kWriter, cell) = thread | (u32)kind << kKindShift;
    at(kWriteFence, cell) = w.fences;
    at(kWritePc, cell) = (u32)w.now;
    at(kReaders, cell) = 0;
    at(kReadTime, cell) = 0;
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
    for (u32 i = offset >> shift_; i <= (offset + size - 1) >> shift_; i++) {
        const u32 writer = at(kWriter, i) & 0xffff, write_time = at(kWriteTime, i);
        const Kind write_kind = (Kind)(at(kWriter, i) >> kKindShift);
        if (!copying_.empty() && copying_[i]) {
            Fault f{FaultKind::uninitialised_read, w.now, me, w.block->id, kSharedWindow + offset};
            f.size = (u8)size;
            f.text = "an asynchronous copy to it was started and not waited for";
            if (unwritten_.size() < kMostUnwritten) unwritten_.emplace_back(i | kForSure, std::move(f));
        } else if (!write_time) {
            Fault f{FaultKind::uninitialised_read, w.now, me, w.block->id, kSharedWindow + offset};
            f.size = (u8)size;
            if (unwritten_.size() < kMostUnwritten) unwritten_.emplace_back(i, w.block->blamed_on_return(std::move(f)));
        } else if (writer != me && (write_kind == Kind::plain || kind == Kind::plain) &&
                   !ordered(w, writer, write_time, at(kWriteFence, i))) {
            race(w, lane, offset, size, false, writer, (i32)at(kWritePc, i));
        }
        if (kind == Kind::atomic) continue;  // its write stands for it
        if (at(kReadTime, i) != now) at(kReaders, i) &= unordered_readers(w, i);
        if (!at(kReaders, i))
            at(kReadTime, i) =
                now;  // else the oldest read that is not ordered before this one: a later stamp could accuse wrongly
        stamp_read(w, me, i, kind);
    }
}

void SharedShadow::write(Warp &w, u32 lane, u32 offset, u32 size, Kind kind, bool changes) {
    const u32 me = w.id * kLanes + lane;
    for (u32 i = offset >> shift_; i <= (offset + size - 1) >> shift_; i++) {
        const u32 writer = at(kWriter, i) & 0xffff, write_time = at(kWriteTime, i), read_time = at(kReadTime, i);
        const u32 reader = at(kReader, i) & 0xffff, read_fence = at(kReadFence, i);
        const i32 read_pc = (i32)at(kReadPc, i);
        if (!write_time && kind == Kind::atomic && unwritten_.size() < kMostUnwritten) {
            Fault f{FaultKind::uninitialised_read, w.now, me, w.block->id, kSharedWindow + offset};
            f.size = (u8)size;
            unwritten_.emplace_back(i | kForSure, std::move(f));
        }
        bool both_special = (Kind)(at(kWriter, i) >> kKindShift) != Kind::plain && kind != Kind::plain;
        if (changes && write_time && writer != me && !both_special &&
            !ordered(w, writer, write_time, at(kWriteFence, i)))
            race(w, lane, offset, size, true, writer, (i32)at(kWritePc, i));
        bool reads_special = (Kind)(at(kReader, i) >> kKindShift) != Kind::plain && kind != Kind::plain;
        if (read_time && !reads_special) {
            u32 others = at(kReaders, i) & ~(1u << w.id);
            for (u32 rest = others; rest; rest &= rest - 1)
                if (!ordered(w, lowest(rest) * kLanes, read_time, read_fence)) {
                    race(w, lane, offset, size, true, reader / kLanes == lowest(rest) ? reader : lowest(rest) * kLanes,
                         read_pc);
                    break;
                }
            if (!others && reader != me && reader / kLanes == w.id && read_pc != w.now &&
                !ordered(w, reader, read_time, read_fence))
                race(w, lane, offset, size, true, reader, read_pc);
        }
        stamp_write(w, me, i, kind);
    }
}

// The time of the last write is forgotten, so that reads go the long way.
void SharedShadow::copying(const AsyncCopy &copy) {
    if (copying_.empty()) copying_.resize(count_);
    for (u32 i = copy.shared >> shift_; i <= (copy.shared + copy.bytes - 1) >> shift_; i++)
        copying_[i] = 1, at(kWriteTime, i) = 0;
}

// The quick ways. An access before the warp's floor is ordered before what it does now, whoever made it: the ends of
// `read` and `write` are then all there is to do.

bool SharedShadow::read_quickly(const Warp &w, u32 thread, u32 offset, u32 size, bool alone) {
    const u32 now = w.block->time, floor = floor_[w.id], first = offset >> shift_, last = (offset + size - 1) >> shift_;
    for (u32 i = first; i <= last; i++) {
        const u32 written = at(kWriteTime, i), read = at(kReadTime, i);
        if (!written || (written >= floor && (!alone || (at(kWriter, i) & 0xffff) != thread))) return false;
        if (read != now && read >= floor && (at(kReaders, i) & ~(1u << w.id))) return false;
    }
    for (u32 i = first; i <= last; i++) {
        if (at(kReadTime, i) != now) at(kReaders, i) = 0, at(kReadTime, i) = now;
        stamp_read(w, thread, i, Kind::plain);
    }
    return true;
}

// Eight lanes read a cell each, side by side.
bool SharedShadow::read_eight(const Warp &w, u32 thread, u32 cell) {
    const v8u now = all8(w.block->time), floor = all8(floor_[w.id]);
    const v8u written = load8(field(kWriteTime) + cell, 0), read = load8(field(kReadTime) + cell, 0),
              readers = load8(field(kReaders) + cell, 0);
    const v8u fresh = (v8u)(read == now);
    const v8u late = (v8u)(written == 0) | (v8u)(written >= floor) |
                     (~fresh & (v8u)(read >= floor) & (v8u)((readers & ~all8(1u << w.id)) != 0));
    if (!zero8(late)) return false;
    store8(field(kReadTime) + cell, 0, now);
    store8(field(kReaders) + cell, 0, (readers & fresh) | all8(1u << w.id));
    store8(field(kReader) + cell, 0, all8(thread) + v8u{0, 1, 2, 3, 4, 5, 6, 7});
    store8(field(kReadFence) + cell, 0, all8(w.fences));
    store8(field(kReadPc) + cell, 0, all8((u32)w.now));
    return true;
}

void SharedShadow::read_row(Warp &w, const Access &x, u32 base, u32 size, Kind kind) {
    const u32 thread = w.id * kLanes;
    auto lane_by_lane = [&](u32 m) {
        for (; m; m &= m - 1) {
            const u32 lane = lowest(m), offset = base + x.offset[lane];
            if (kind != Kind::plain || !read_quickly(w, thread + lane, offset, size, true))
                read(w, lane, offset, size, kind);
        }
    };
    if (kind != Kind::plain) return lane_by_lane(x.m);
    // Lanes that read one cell: if the last one is in order the others are, and its stamp is the one that stays.
    auto together = [&](u32 m) {
        const u32 last = 31 - (u32)__builtin_clz(m), offset = base + x.offset[last];
        if (!read_quickly(w, thread + last, offset, size, m == 1u << last)) lane_by_lane(m);
    };
    if (x.shape == Shape::uniform) return together(x.m);
    if (x.m != kFull) return lane_by_lane(x.m);
    for (u32 g = 0; g < (u32)kGroups; g++) {
        const u8 how = x.shape == Shape::contiguous ? (u8)kInARow : group_of(x, (int)g);
        const u32 offset = base + x.offset[8 * g];
        u32 m = 0xffu << 8 * g;
        if (how == kSame) {
            for (; g + 1 < (u32)kGroups && group_of(x, (int)g + 1) == kSame && x.offset[8 * g + 8] == x.offset[8 * g];
                 g++)
                m |= 0xffu << (8 * g + 8);
            together(m);
        }
        if (how != kSame &&
            (how != kInARow || size != 1u << shift_ || !read_eight(w, thread + 8 * g, offset >> shift_)))
            lane_by_lane(m);
    }
}

bool SharedShadow::write_quickly(const Warp &w, u32 lane, u32 offset, u32 size, Kind kind) {
    if (kind != Kind::plain) return false;
    const u32 floor = floor_[w.id], thread = w.id * kLanes + lane;
    const u32 first = offset >> shift_, last = (offset + size - 1) >> shift_;
    for (u32 i = first; i <= last; i++) {
        if (at(kWriteTime, i) >= floor && at(kWriteTime, i) && (at(kWriter, i) & 0xffff) != thread) return false;
        if (at(kReadTime, i) >= floor && at(kReadTime, i) &&
            (at(kReaders, i) != 1u << w.id || (at(kReader, i) & 0xffff) != thread))
            return false;
    }
    for (u32 i = first; i <= last; i++) stamp_write(w, thread, i, kind);
    return true;
}

bool SharedShadow::write_row(const Warp &w, const Access &x, u32 base, u32 size, Kind kind) {
    if (kind != Kind::plain || size != 1u << shift_ || !copying_.empty()) return false;
    const u32 cell = (base + x.offset[0]) >> shift_;
    const v8u floor = all8(floor_[w.id]), lanes = v8u{0, 1, 2, 3, 4, 5, 6, 7} + all8(w.id * kLanes);
    v8u late = all8(0);
    for (int g = 0; g < kGroups; g++) {
        const v8u written = load8(field(kWriteTime) + cell, g), read = load8(field(kReadTime) + cell, g);
        const v8u me = lanes + all8((u32)(8 * g)), low = all8(0xffff);
        const v8u other_writer = (v8u)((load8(field(kWriter) + cell, g) & low) != me);
        const v8u other_reader = (v8u)(load8(field(kReaders) + cell, g) != all8(1u << w.id)) |
                                 (v8u)((load8(field(kReader) + cell, g) & low) != me);
        late |= (v8u)(written != 0) & (v8u)(written >= floor) & other_writer;
        late |= (v8u)(read != 0) & (v8u)(read >= floor) & other_reader;
    }
    if (!zero8(late)) return false;
    for (int g = 0; g < kGroups; g++) {
        store8(field(kWriteTime) + cell, g, all8(w.block->time));
        store8(field(kWriter) + cell, g, lanes + all8((u32)(8 * g)));
        store8(field(kWriteFence) + cell, g, all8(w.fences));
        store8(field(kWritePc) + cell, g, all8((u32)w.now));
        store8(field(kReaders) + cell, g, all8(0));
        store8(field(kReadTime) + cell, g, all8(0));
    }
    return true;
}

GlobalShadow::GlobalShadow(u64 bytes, u8 grain)
    : granule(grain), cells((Cell *)std::calloc((bytes + grain - 1) / grain, sizeof(Cell)), std::free) {
    if (!cells) throw std::bad_alloc();
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
