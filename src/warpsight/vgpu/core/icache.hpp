// Where a warp's next instructions are: a small cache for each scheduler, which asks for lines ahead, one cache for the
// multiprocessor, then L2. Lines of 128 bytes are eight instructions.
// Not covered: the way from the multiprocessor's cache to a scheduler's (taken as hidden), a line that is thrown out
// while a warp is in it, instructions that L2 does not have, and caches that several multiprocessors share.
#pragma once
#include <algorithm>
#include <vector>

#include "lanes.hpp"

namespace warpsight {

constexpr u32 kCodeLineBytes = 128;

// Lines of code, four ways, least recently used goes first. Published runs of straight code over each size slow down
// little by little until a quarter more than fits: one line too many in each set of four.
class CodeCache {
  public:
    explicit CodeCache(u32 bytes = 0)
        : sets_(std::max(1u, bytes / kCodeLineBytes / kWays)), lines_((size_t)sets_ * kWays) {}

    struct Line {
        u32 line = ~0u;
        bool used_once = false;
        u64 used = 0, ready = 0;  // when it is (or will be) there
    };

    bool has(u32 line) const {
        const Line *set = &lines_[(size_t)(line % sets_) * kWays];
        return set[0].line == line || set[1].line == line || set[2].line == line || set[3].line == line;
    }

    Line *find(u32 line) {
        Line *set = set_of(line);
        for (u32 i = 0; i < kWays; i++)
            if (set[i].line == line) return set[i].used = ++clock_, &set[i];
        return nullptr;
    }

    void insert(u32 line, u64 ready, bool used_once) {
        Line *set = set_of(line), *oldest = set;
        for (u32 i = 1; i < kWays; i++)
            if (set[i].used < oldest->used) oldest = &set[i];
        *oldest = {line, used_once, ++clock_, ready};
    }

  private:
    static constexpr u32 kWays = 4;
    Line *set_of(u32 line) { return &lines_[(size_t)(line % sets_) * kWays]; }
    u32 sets_;
    u64 clock_ = 0;
    std::vector<Line> lines_;
};

}  // namespace warpsight
