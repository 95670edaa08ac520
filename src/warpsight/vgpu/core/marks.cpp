// A table of allocations that lives from launch to launch: allocations come and go, copies mark what they write, and a
// digest tells whether an allocation still holds what it held.
#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "machine.hpp"

namespace warpsight {
namespace {

auto first_after(Memory &m, u64 address) {
    return std::upper_bound(m.allocations.begin(), m.allocations.end(), address,
                            [](u64 a, const Allocation &x) { return a < x.base; });
}

// The part of [address, address + bytes) that lies in the allocation which holds its first byte.
Allocation *part_of(Memory &m, u64 address, u64 *offset, u64 *bytes) {
    Allocation *a = m.find(address);
    if (!a) return nullptr;
    *offset = address - a->base;
    *bytes = std::min(*bytes, a->size - *offset);
    return a;
}

void set_bits(std::vector<u64> &bits, u64 from, u64 count) {
    for (u64 i = from, end = from + count; i < end;) {
        const u64 bit = i & 63, run = std::min<u64>(64 - bit, end - i);
        bits[i >> 6] |= (run == 64 ? ~0ull : (1ull << run) - 1) << bit;
        i += run;
    }
}

void set_bit(std::vector<u64> &bits, u64 i, bool on) {
    const u64 one = 1ull << (i & 63);
    bits[i >> 6] = on ? bits[i >> 6] | one : bits[i >> 6] & ~one;
}

u64 turned(u64 v, int by) { return v << by | v >> (64 - by); }

}  // namespace

Allocation *Memory::at_base(u64 base) {
    Allocation *a = find(base);
    return a && a->base == base ? a : nullptr;
}

void insert_allocation(Memory &m, Allocation a) {
    const auto after = first_after(m, a.base);
    const bool meets_next = after != m.allocations.end() && after->base - a.base <= a.size;
    const bool meets_last = after != m.allocations.begin() && a.base - std::prev(after)->base <= std::prev(after)->size;
    if (!a.size || a.base + a.size < a.base || meets_next || meets_last)
        throw std::invalid_argument("an allocation is empty, or meets another");
    m.allocations.insert(after, std::move(a));
}

void remove_allocation(Memory &m, u64 base) {
    Allocation *a = m.at_base(base);
    if (!a) throw std::invalid_argument("no allocation begins there");
    m.allocations.erase(m.allocations.begin() + (a - m.allocations.data()));
}

void mark_written(Memory &m, u64 address, u64 bytes) {
    u64 offset;
    Allocation *a = part_of(m, address, &offset, &bytes);
    if (a && !a->initialised.empty()) set_bits(a->initialised, offset, bytes);
}

void copy_marks(Memory &m, u64 to, u64 from, u64 bytes) {
    u64 at, source_at;
    Allocation *a = part_of(m, to, &at, &bytes), *source = a ? part_of(m, from, &source_at, &bytes) : nullptr;
    if (!source || a->initialised.empty()) return;
    if (source->initialised.empty()) return set_bits(a->initialised, at, bytes);
    const std::vector<u64> before = source->initialised;  // the two may be one
    for (u64 i = 0; i < bytes; i++)
        set_bit(a->initialised, at + i, before[(source_at + i) >> 6] >> ((source_at + i) & 63) & 1);
}

std::array<u64, 8> digest(const Memory &m, u64 base, u64 bytes) {
    const Allocation *a = const_cast<Memory &>(m).at_base(base);
    if (!a || bytes > a->size) throw std::invalid_argument("no allocation of so many bytes begins there");
    std::array<u64, 8> sum = {1, 2, 3, 4, 5, 6, 7, 8};
    constexpr u64 kOdd = 0x9e3779b97f4a7c15ull;
    u64 i = 0;
    for (; i + 64 <= bytes; i += 64) {  // every step can be undone, so one changed word changes its sum
        u64 words[8];
        std::memcpy(words, a->host + i, 64);
        for (int k = 0; k < 8; k++) sum[(size_t)k] = turned((sum[(size_t)k] ^ words[k]) * kOdd, 29);
    }
    u64 words[8] = {};
    std::memcpy(words, a->host + i, bytes - i);
    for (int k = 0; k < 8; k++) sum[(size_t)k] = turned((sum[(size_t)k] ^ words[k]) * kOdd, 29) + bytes;
    return sum;
}

}  // namespace warpsight
