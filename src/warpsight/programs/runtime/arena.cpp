// Allocations in device memory. Every new one comes after the last, until the end is reached: so a pointer that is used
// after it was freed finds nothing, for as long as there is room.
#include <sys/mman.h>

#include "state.hpp"

namespace stand_in {
namespace {
struct Piece {
    u64 bytes;
    Kind kind;
};
std::map<u64, Piece> pieces;
u64 used = 0, next = kBase;

bool fits(u64 at, u64 bytes) {
    auto after = pieces.lower_bound(at);
    if (after != pieces.end() && after->first < at + bytes + kGap) return false;
    if (after != pieces.begin() && std::prev(after)->first + std::prev(after)->second.bytes + kGap > at) return false;
    return at + bytes + kGap <= kBase + device().arena_bytes;
}

u64 first_fit(u64 bytes, u64 alignment) {
    if (fits(kBase, bytes)) return kBase;
    for (const auto &[base, piece] : pieces) {
        const u64 at = round_up(base + piece.bytes + kGap, alignment);
        if (fits(at, bytes)) return at;
    }
    return 0;
}
}  // namespace

u64 allocate(u64 bytes, Kind kind, u64 alignment) {
    if (!bytes) bytes = 1;
    if (bytes > device().total_bytes || used + bytes > device().total_bytes) return 0;
    u64 at = round_up(next, alignment);
    if (!fits(at, bytes)) at = first_fit(bytes, alignment);
    if (!at) return 0;
    pieces[at] = {bytes, kind};
    used += bytes;
    next = at + bytes + kGap;
    Message(Op::allocate).add(at).add(bytes).add((u64)kind).post();
    return at;
}

bool allocate_at(u64 at, u64 bytes, Kind kind) {
    if (!fits(at, bytes)) return false;
    pieces[at] = {bytes, kind};
    used += bytes;
    Message(Op::allocate).add(at).add(bytes).add((u64)kind).post();
    return true;
}

bool release(u64 address) {
    auto it = pieces.find(address);
    if (it == pieces.end() || it->second.kind == Kind::variable) return false;
    const u64 low = round_up(address, 4096), high = (address + it->second.bytes) / 4096 * 4096;
    used -= it->second.bytes;
    pieces.erase(it);
    Message(Op::release).add(address).post();
    if (high > low) madvise((void *)low, high - low, MADV_REMOVE);
    return true;
}

bool on_device(const void *p) { return (u64)p >= kBase && (u64)p < kBase + device().arena_bytes; }

bool find_allocation(const void *p, u64 *base, u64 *bytes, Kind *kind) {
    auto it = pieces.upper_bound((u64)p);
    if (it == pieces.begin()) return false;
    --it;
    if ((u64)p - it->first >= it->second.bytes) return false;
    *base = it->first, *bytes = it->second.bytes, *kind = it->second.kind;
    return true;
}

bool whole(const void *p, u64 bytes) {
    if (!on_device(p)) return true;
    u64 base, size;
    Kind kind;
    return find_allocation(p, &base, &size, &kind) && bytes <= size - ((u64)p - base);
}

u64 used_bytes() { return used; }

}  // namespace stand_in
