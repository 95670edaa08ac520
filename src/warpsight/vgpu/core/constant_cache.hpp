// The two constant caches of one multiprocessor: a small one with lines of 64 bytes, and behind it a larger one with
// lines of 256 bytes. Both start empty; in each set the line that was not used for longest goes first. What the larger
// one shares with instructions is not modelled here, nor are constant operands of arithmetic.
#pragma once
#include <algorithm>
#include <vector>

#include "lanes.hpp"

namespace warpsight {

class ConstantLines {
  public:
    ConstantLines(u64 lines, u32 ways) : ways_(ways), sets_(std::max<u32>(1, (u32)(lines / ways))) {
        lines_.resize((size_t)ways_ * sets_);
    }

    // When the line is (or will be) there; ~0 when it is not.
    u64 find(u32 line) {
        for (Line *l = first(line), *end = l + ways_; l < end; l++)
            if (l->tag == line) {
                l->used = ++clock_;
                return l->ready;
            }
        return ~0ull;
    }

    void insert(u32 line, u64 ready) {
        Line *l = first(line);
        *std::min_element(l, l + ways_, [](const Line &a, const Line &b) { return a.used < b.used; }) = {line, ++clock_,
                                                                                                         ready};
    }

  private:
    struct Line {
        u32 tag = ~0u;
        u64 used = 0, ready = 0;
    };
    Line *first(u32 line) { return &lines_[(size_t)(line % sets_) * ways_]; }
    u32 ways_, sets_;
    u64 clock_ = 0;
    std::vector<Line> lines_;
};

struct ConstantCache {
    static constexpr u32 kSmallLine = 64, kLargeLine = 256, kWays = 4;
    ConstantLines small, large;
    ConstantCache(u64 small_bytes, u64 large_bytes)
        : small(small_bytes / kSmallLine, kWays), large(large_bytes / kLargeLine, kWays) {}
};

}  // namespace warpsight
