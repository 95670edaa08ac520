// A granule's word: block + 1 in the upper bits, below them what was done. Blocks that only read share a granule.
#include "owners.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "eight.hpp"

namespace warpsight {
namespace {

enum : u32 { kUntouched = 0, kRead = 1, kWritten = 2, kAtomic = 3, kDone = 3 };
constexpr u32 kManyRead = ~0u << 2 | kRead, kChanged = ~0u << 2 | kAtomic;

constexpr u64 kPage = 4096, kLargePage = 2 << 20;
constexpr u64 kMostLarge = 256 << 20;  // of more, a launch may touch little here and there

u32 word_of(u32 block, u32 done) { return (block + 1) << 2 | done; }

// Are all bytes of a span known? One bit a byte.
bool all_set(const std::vector<u64> &bits, u64 first, u64 count) {
    for (u64 i = first, end = first + count; i < end;) {
        const u64 upto = std::min(end, (i | 63) + 1), mask = (~0ull >> (64 - (upto - i))) << (i & 63);
        if ((bits[i >> 6] & mask) != mask) return false;
        i = upto;
    }
    return true;
}

void set_all(std::vector<u64> &bits, u64 first, u64 count) {
    for (u64 i = first, end = first + count; i < end;) {
        const u64 upto = std::min(end, (i | 63) + 1);
        bits[i >> 6] |= (~0ull >> (64 - (upto - i))) << (i & 63);
        i = upto;
    }
}

// A block writes n granules that are untouched, or that only it has touched.
bool take(u32 *cells, u64 n, u32 block) {
    const u32 mine = word_of(block, kWritten), read = word_of(block, kRead);
    u64 i = 0;
    for (; i + 8 <= n; i += 8) {
        const v8u was = load8(cells + i, 0);
        if (!zero8((v8u)(was != all8(0)) & (v8u)(was != all8(mine)) & (v8u)(was != all8(read)))) return false;
        store8(cells + i, 0, all8(mine));
    }
    for (; i < n; i++) {
        if (cells[i] && cells[i] != mine && cells[i] != read) return false;
        cells[i] = mine;
    }
    return true;
}

// A block reads n granules that no other changes. `own`: it has written all of them itself.
bool look(u32 *cells, u64 n, u32 block, bool *own) {
    const u32 mine = word_of(block, kWritten), read = word_of(block, kRead);
    bool all_own = true;
    auto are = [&](u64 i, u32 word) { return zero8(load8(cells + i, 0) ^ all8(word)); };
    for (u64 i = 0; i < n; i++) {
        const u32 was = cells[i];
        if (i + 8 <= n && are(i, was) && (was == mine || was == read || was == kManyRead || !was)) {
            all_own &= was == mine;
            if (!was) store8(cells + i, 0, all8(read));
            i += 7;
            continue;
        }
        if (was == mine) continue;
        all_own = false;
        if (was == read || was == kManyRead) continue;
        if (was && (was & kDone) != kRead) return false;
        cells[i] = was ? kManyRead : read;
    }
    *own = all_own;
    return true;
}

bool change(u32 *cells, u64 n) {
    for (u64 i = 0; i < n; i++) {
        if (cells[i] && cells[i] != kChanged) return false;
        cells[i] = kChanged;
    }
    return true;
}

// What two cores did to a granule, taken together; false where one of them changed what the other touched.
bool join(u32 &a, u32 b) {
    if (!b) return true;
    if (!a)
        a = b;
    else if ((a & kDone) == kRead && (b & kDone) == kRead)
        a = kManyRead;
    else if (a != kChanged || b != kChanged)
        return false;
    return true;
}

}  // namespace

LazyBytes::LazyBytes(u64 bytes) : bytes_((bytes + kPage - 1) / kPage * kPage + kPage) {
    const bool large = bytes >= 2 * kLargePage && bytes <= kMostLarge;
    if (large) bytes_ += kLargePage;
    void *at = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    mapped_ = data_ = (char *)at;
    if (!large) return;
    data_ = (char *)(((u64)at + kLargePage - 1) / kLargePage * kLargePage);
    madvise(data_, bytes / kLargePage * kLargePage, MADV_HUGEPAGE);  // where the system refuses, small ones do
}

LazyBytes::~LazyBytes() { munmap(mapped_, bytes_); }

Owners::Owners(const Memory &memory, u32 granule)
    : shift((u32)__builtin_ctz(granule)), first(memory.allocations.data()), of(memory.allocations.size()) {
    for (size_t i = 0; i < of.size(); i++) {
        if (!memory.allocations[i].writable) continue;
        of[i].count = (memory.allocations[i].size + granule - 1) / granule;
        of[i].words = std::make_unique<LazyBytes>(4 * of[i].count);
    }
}

bool Owners::note_span(const Allocation &a, Cells &c, u32 block, u64 offset, u64 bytes, bool write, Kind kind) {
    const u64 at = offset >> shift, end = ((offset + bytes - 1) >> shift) + 1, part = (1u << shift) - 1;
    c.low = std::min(c.low, at);
    c.high = std::max(c.high, end);
    u32 *cells = c.words->words() + at;
    if (kind == Kind::atomic) {
        if (!a.initialised.empty() && !all_set(a.initialised, offset, bytes)) return false;
        return change(cells, end - at);
    }
    if (write) return !((offset | bytes) & part) && take(cells, end - at, block);
    bool own;
    if (!look(cells, end - at, block, &own)) return false;
    return own || a.initialised.empty() || all_set(a.initialised, offset, bytes);
}

bool Owners::note(const Warp &w, const Access &x, const Place &p, u32 size, bool write, Kind kind) {
    const Allocation &a = *p.allocation;
    Cells &c = of[(size_t)(&a - first)];
    if (!c.words && a.initialised.empty()) return true;
    if (write && (c.writers.empty() || c.writers.back() != w.now) &&
        std::find(c.writers.begin(), c.writers.end(), w.now) == c.writers.end())
        c.writers.push_back(w.now);
    const u64 start = (u64)(p.host - a.host);
    auto span = [&](u64 offset, u64 bytes) {
        if (!c.words) return all_set(a.initialised, offset, bytes);
        return note_span(a, c, (u32)w.block->id, offset, bytes, write, kind);
    };
    if (x.shape != Shape::general) return span(start, (u64)x.reach + size);
    for (int g = 0; x.groups && g < kGroups; g++) {
        const u32 *offset = x.offset + 8 * g;
        const u8 how = group_of(x, g);
        for (int i = 0; how == kScattered && i < 8; i++)
            if (!span(start + offset[i], size)) return false;
        if (how != kScattered && !span(start + offset[0], how == kSame ? size : 8ull * size)) return false;
    }
    for (u32 rest = x.groups ? 0 : x.m; rest; rest &= rest - 1)
        if (!span(start + x.offset[lowest(rest)], size)) return false;
    return true;
}

bool settle_owners(Memory &memory, const std::vector<const Owners *> &cores) {
    const Owners &all = *cores[0];
    for (size_t i = 0; i < all.of.size(); i++)
        for (size_t c = 1; c < cores.size(); c++) {
            const Owners::Cells &other = cores[c]->of[i];
            for (u64 k = other.low; other.words && k < other.high; k++)
                if (!join(all.of[i].words->words()[k], other.words->words()[k])) return false;
        }
    for (size_t i = 0; i < all.of.size(); i++) {
        Allocation &a = memory.allocations[i];
        u64 low = ~0ull, high = 0;
        for (const Owners *core : cores) {
            const Owners::Cells &c = core->of[i];
            low = std::min(low, c.low), high = std::max(high, c.high);
            for (i32 pc : c.writers)
                if (std::find(a.writers.begin(), a.writers.end(), pc) == a.writers.end()) a.writers.push_back(pc);
        }
        const u32 *words = all.of[i].words ? all.of[i].words->words() : nullptr;
        for (u64 k = low; words && !a.initialised.empty() && k < high; k++) {
            const u64 from = k;
            while (k < high && (words[k] & kDone) == kWritten) k++;
            const u64 start = from << all.shift, end = std::min(a.size, k << all.shift);
            if (end > start) set_all(a.initialised, start, end - start);
        }
    }
    return true;
}

}  // namespace warpsight
