// The L1 cache of one multiprocessor: 128-byte lines of four sectors, 64 sets, least recently used goes first.
#pragma once
#include <vector>

#include "lanes.hpp"

namespace warpsight {

class L1 {
  public:
    explicit L1(u64 bytes) : ways_((u32)(bytes / 128 / kSets)), lines_((size_t)ways_ * kSets) {}

    // When the sector is (or will be) there; ~0 when it is not.
    u64 find(u32 sector) {
        Line *l = line_of(sector / 4);
        if (!l || !(l->valid >> (sector & 3) & 1)) return ~0ull;
        l->used = ++clock_;
        return l->ready;
    }

    void insert(u32 sector, u64 ready) {
        if (!ways_) return;
        const u32 tag = sector / 4;
        Line *l = line_of(tag);
        if (!l) {
            Line *set = &lines_[(size_t)set_of(tag) * ways_];
            l = set;
            for (u32 i = 1; i < ways_; i++)
                if (set[i].used < l->used) l = &set[i];
            *l = Line{tag, 0, 0, 0};
        }
        if (!(l->valid >> (sector & 3) & 1)) l->ready = ready > l->ready ? ready : l->ready;
        l->valid |= (u8)(1u << (sector & 3));
        l->used = ++clock_;
    }

  private:
    static constexpr u32 kSets = 64;
    struct Line {
        u32 tag = ~0u;
        u8 valid = 0;
        u64 used = 0, ready = 0;
    };
    static u32 set_of(u32 tag) { return (tag ^ tag >> 6 ^ tag >> 12) & (kSets - 1); }
    Line *line_of(u32 tag) {
        Line *set = ways_ ? &lines_[(size_t)set_of(tag) * ways_] : nullptr;
        for (u32 i = 0; i < ways_; i++)
            if (set[i].tag == tag) return &set[i];
        return nullptr;
    }
    u32 ways_;
    u64 clock_ = 0;
    std::vector<Line> lines_;
};

}  // namespace warpsight
