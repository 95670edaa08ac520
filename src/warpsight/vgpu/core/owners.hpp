// Who touched each granule of writable global memory, in the quick pass of a checked launch: four bytes a granule,
// mapped when first touched. Each core has its own, so that nobody waits for anybody; they are compared when all blocks
// have run. What is not plainly in order (a granule that one block writes and another touches, or that is changed by
// atomics and touched otherwise, bytes that nobody has written) is not judged here: the launch runs again with the
// stamps of shadow.hpp, which say what it was. Covers every fault that those find between blocks: blocks that share
// nothing do what they do alone, in whatever order they run.
#pragma once
#include <memory>
#include <vector>

#include "memory.hpp"
#include "shadow.hpp"

namespace warpsight {

// Zeros of the system that take no room until they are touched.
class LazyWords {
  public:
    explicit LazyWords(u64 count);
    ~LazyWords();
    LazyWords(const LazyWords &) = delete;
    LazyWords &operator=(const LazyWords &) = delete;
    u32 *data() const { return data_; }

  private:
    u32 *data_ = nullptr;
    u64 bytes_ = 0;
};

struct Owners {
    struct Cells {
        std::unique_ptr<LazyWords> words;  // null: nobody may write the allocation
        u64 count = 0;
        u64 low = ~0ull, high = 0;  // cells that were touched lie in [low, high)
        std::vector<i32> writers;   // instructions that wrote
    };
    Owners(const Memory &, u32 granule);
    // False: only the exact pass can tell.
    bool note(const Warp &, const Access &, const Place &, u32 size, bool write, Kind);

    u32 shift;
    const Allocation *first;
    std::vector<Cells> of;  // by allocation

  private:
    bool note_span(const Allocation &, Cells &, u32 block, u64 offset, u64 bytes, bool write, Kind);
};

// After the last block: false if two cores met at a granule, else what the launch wrote is noted in the allocations.
bool settle_owners(Memory &, const std::vector<const Owners *> &);

}  // namespace warpsight
