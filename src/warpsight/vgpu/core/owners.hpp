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

// Zeros of the system that take no room until they are touched. In large pages where there is much of it: a launch
// touches most of it once, and small pages would cost more than the work on them.
class LazyBytes {
  public:
    explicit LazyBytes(u64 bytes);
    ~LazyBytes();
    LazyBytes(const LazyBytes &) = delete;
    LazyBytes &operator=(const LazyBytes &) = delete;
    char *data() const { return data_; }
    u32 *words() const { return (u32 *)data_; }

  private:
    char *mapped_ = nullptr, *data_ = nullptr;
    u64 bytes_ = 0;
};

struct Owners {
    struct Cells {
        std::unique_ptr<LazyBytes> words;  // null: nobody may write the allocation
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
