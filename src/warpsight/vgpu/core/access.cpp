// Counting what one warp access costs. Each rule has a quick way for the usual shapes and a plain way for the rest.
// Rows are worked on eight lanes at a time: the compiler keeps those in registers, whole rows it would not.
#include "access.hpp"

#include <algorithm>
#include <numeric>

#include "eight.hpp"

namespace warpsight {
namespace {

WS_INLINE v8u lower8(v8u a, v8u b) { return a < b ? a : b; }
WS_INLINE v8u higher8(v8u a, v8u b) { return a > b ? a : b; }

// Folds eight lanes to one by a function of two groups.
template <class F>
WS_INLINE u32 fold8(v8u v, F f) {
    v = f(v, __builtin_shuffle(v, v8u{4, 5, 6, 7, 0, 1, 2, 3}));
    v = f(v, __builtin_shuffle(v, v8u{2, 3, 0, 1, 6, 7, 4, 5}));
    return f(v, __builtin_shuffle(v, v8u{1, 0, 3, 2, 5, 4, 7, 6}))[0];
}

// A set of up to 128 words with their multiplicity; emptied by counting up, not by clearing.
struct WordSet {
    u32 key[256], age[256] = {}, times[256], now = 0;
    void clear() {
        if (++now == 0) std::memset(age, 0, sizeof age), now = 1;
    }
    // How often the word has now been put in.
    u32 insert(u32 word) {
        for (u32 i = word * 0x9e3779b1u >> 24;; i = (i + 1) & 255) {
            if (age[i] != now) return age[i] = now, key[i] = word, times[i] = 1;
            if (key[i] == word) return ++times[i];
        }
    }
};
thread_local WordSet words_seen;

// Distinct values among values that may come in any order.
u32 count_unsorted(const u32 *v) {
    words_seen.clear();
    u32 total = 0;
    for (int i = 0; i < kLanes; i++) total += words_seen.insert(v[i]) == 1;
    return total;
}

// Distinct values of (offset + bias) >> shift, and of those >> 2. Lanes that are off repeat a lane that is on, so they
// add none.
void count_distinct(const Access &x, u32 bias, u32 shift, u32 *fine, u32 *coarse) {
    alignas(32) u32 values[kLanes];
    u32 steps = 0, jumps = 0;
    v8u falls = all8(0), previous = all8((x.offset[0] + bias) >> shift);
    for (int g = 0; g < kGroups; g++) {
        const v8u v = (load8(x.offset, g) + bias) >> shift,
                  left = __builtin_shuffle(previous, v, v8u{7, 8, 9, 10, 11, 12, 13, 14});
        steps |= signs8((v8u)(v != left)) << (8 * g);
        jumps |= signs8((v8u)((v >> 2) != (left >> 2))) << (8 * g);
        falls |= (v8u)((v8i)v < (v8i)left);
        store8(values, g, v);
        previous = v;
    }
    *fine = (u32)__builtin_popcount(steps) + 1;
    *coarse = (u32)__builtin_popcount(jumps) + 1;
    if (zero8(falls)) return;
    if ((((u64)x.reach + bias) >> shift) < 64) {
        u64 bits = 0;
        for (u32 v : values) bits |= 1ull << v;
        *fine = (u32)__builtin_popcountll(bits);
        bits |= bits >> 1;
        bits |= bits >> 2;
        *coarse = (u32)__builtin_popcountll(bits & 0x1111111111111111ull);
        return;
    }
    *fine = count_unsorted(values);
    for (u32 &v : values) v >>= 2;
    *coarse = count_unsorted(values);
}

// Lanes [first, first + count) in one go: the most distinct words that share a bank. `words` words for each lane, 0
// when no lane is on.
u32 passes(const Access &x, u32 first, u32 count, u32 words) {
    u8 in_bank[32] = {};
    u32 most = 0;
    const u32 bias = (u32)(x.base & 127);
    words_seen.clear();
    for (u32 lane = first; lane < first + count; lane++) {
        if (!(x.m >> lane & 1)) continue;
        const u32 word = (x.offset[lane] + bias) >> 2;
        for (u32 k = 0; k < words; k++)
            if (words_seen.insert(word + k) == 1) most = std::max<u32>(most, ++in_bank[(word + k) & 31]);
    }
    return most;
}

// One word per lane, all lanes on, offsets a * lane: the stride alone tells.
bool strided_passes(const Access &x, u32 *out) {
    if (x.m != kFull || x.offset[0] != 0 || x.offset[1] % 4) return false;
    v8u off = all8(0);
    for (int g = 0; g < kGroups; g++) off |= load8(x.offset, g) ^ (lane8(g) * x.offset[1]);
    if (!zero8(off)) return false;
    *out = std::gcd(x.offset[1] / 4, 32u);
    return true;
}

// Wide accesses pack two registers in a pass when neighbouring lanes agree everywhere.
bool pairs_agree(const Access &x, u32 distance) {
    for (u32 lane = 0; lane < kLanes; lane++) {
        u32 other = lane ^ distance;
        if ((x.m >> lane & 1) && (x.m >> other & 1) && x.offset[lane] != x.offset[other]) return false;
    }
    return true;
}

u8 groups_of(const Access &x, u32 size) {
    u8 groups = 0;
    for (int g = 0; g < kGroups; g++) {
        const v8u from_first = load8(x.offset, g) - all8(x.offset[8 * g]);
        const u8 how = zero8(from_first) ? kSame : zero8(from_first ^ (lane8(0) * size)) ? kInARow : kScattered;
        groups = (u8)(groups | how << 2 * g);
    }
    return groups;
}

}  // namespace

bool shape_of(const u32 *low, const u32 *high, i64 imm, u32 m, u32 size, Access &out) {
    const u32 first = (u32)__builtin_ctz(m), last = 31 - (u32)__builtin_clz(m);
    const v8u start = all8(low[first]), end = all8(low[last]), upper = all8(high ? high[first] : 0);
    v8u uneven = all8(0), differs = all8(0), far = all8(0), least = start, most = start;
    out.m = m;
    for (int g = 0; g < kGroups; g++) {
        v8u v = load8(low, g);
        if (high) {
            v8u apart = load8(high, g) ^ upper;
            far |= m == kFull ? apart : choose8(lanes8(m, g), apart, all8(0));
        }
        if (m != kFull) v = choose8(lanes8(m, g), v, (v8u)((v8i)lane8(g) < (i32)first) ? start : end);
        const v8u delta = v - start;
        uneven |= delta ^ (lane8(g) * size);
        differs |= delta;
        least = lower8(least, v);
        most = higher8(most, v);
        store8(out.offset, g, delta);
    }
    if (!zero8(far)) return false;
    const u64 top = (u64)upper[0] << 32;
    out.low_bits = 0;
    out.groups = 0;
    if (zero8(differs)) {
        out.shape = Shape::uniform;
        out.base = (top | start[0]) + (u64)imm;
        out.reach = 0;
        return true;
    }
    if (m == kFull && zero8(uneven) && start[0] <= ~0u - 32 * size) {
        out.shape = Shape::contiguous;
        out.base = (top | start[0]) + (u64)imm;
        out.reach = 31 * size;
        return true;
    }
    const u32 lowest_word = fold8(least, lower8);
    if (lowest_word != start[0])
        for (int g = 0; g < kGroups; g++) store8(out.offset, g, load8(out.offset, g) + all8(start[0] - lowest_word));
    out.shape = Shape::general;
    out.low_bits = fold8(differs, [](v8u a, v8u b) { return a | b; });
    if (m == kFull) out.groups = groups_of(out, size);
    out.base = (top | lowest_word) + (u64)imm;
    out.reach = fold8(most, higher8) - lowest_word;
    return out.reach < 0x7fffff00u;
}

void count_blocks(const Access &x, u32 size, u32 *sectors, u32 *lines) {
    const u32 bias = (u32)(x.base & 127);
    if (x.shape == Shape::general) return count_distinct(x, bias, 5, sectors, lines);
    const u32 bytes = x.reach + size;
    *sectors = ((bias & 31) + bytes - 1) / 32 + 1;
    *lines = (bias + bytes - 1) / 128 + 1;
}

u32 count_words(const Access &x) {
    u32 words, unused;
    if (x.shape == Shape::uniform) return 1;
    count_distinct(x, (u32)(x.base & 3), 2, &words, &unused);
    return words;
}

u32 count_wavefronts(const Access &x, u32 size, u32 *ideal) {
    const u32 words = std::max(1u, size / 4);
    if (x.shape == Shape::uniform) return *ideal = 1;
    if (x.shape == Shape::contiguous) return *ideal = words;
    if (words == 1) {
        *ideal = 1;
        if ((x.base & 3) + x.reach < 128) return 1;  // 32 neighbouring words lie in different banks
        u32 n;
        return strided_passes(x, &n) ? n : passes(x, 0, kLanes, 1);
    }
    u32 groups = words;
    if (pairs_agree(x, 1) || pairs_agree(x, 2)) groups = words / 2;
    u32 total = 0, needed = 0;
    for (u32 g = 0, lanes = kLanes / groups; g < groups; g++) {
        u32 p = passes(x, g * lanes, lanes, words);
        total += p;
        needed += p > 0;
    }
    *ideal = needed;
    return total;
}

u32 most_at_one_address(const Access &x) {
    if (x.shape == Shape::uniform) return (u32)__builtin_popcount(x.m);
    if (x.shape == Shape::contiguous) return 1;
    u32 most = 0;
    words_seen.clear();
    for (u32 rest = x.m; rest; rest &= rest - 1)
        most = std::max(most, words_seen.insert(x.offset[__builtin_ctz(rest)]));
    return most;
}

}  // namespace warpsight
