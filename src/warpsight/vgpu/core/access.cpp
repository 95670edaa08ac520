// Counting what one warp access costs. Each rule has a quick way for the usual shapes and a plain way for the rest.
#include "access.hpp"
#include <algorithm>

namespace warpsight {
namespace {

typedef u32 v8 __attribute__((vector_size(32), may_alias));

bool all_zero(const vu32 &v) {
    const v8 *p = (const v8 *)&v;
    const v8 any = (p[0] | p[1]) | (p[2] | p[3]);
    u32 r = 0;
    for (int i = 0; i < 8; i++) r |= any[i];
    return !r;
}

u32 smallest(const vu32 &v) {
    const v8 *p = (const v8 *)&v;
    v8 a = p[0] < p[1] ? p[0] : p[1], b = p[2] < p[3] ? p[2] : p[3];
    a = a < b ? a : b;
    u32 r = a[0];
    for (int i = 1; i < 8; i++) r = std::min(r, (u32)a[i]);
    return r;
}

u32 largest(const vu32 &v) {
    const v8 *p = (const v8 *)&v;
    v8 a = p[0] > p[1] ? p[0] : p[1], b = p[2] > p[3] ? p[2] : p[3];
    a = a > b ? a : b;
    u32 r = a[0];
    for (int i = 1; i < 8; i++) r = std::max(r, (u32)a[i]);
    return r;
}

// Distinct values of (offset + bias) >> shift among the lanes that are on.
u32 count_distinct(const Access &x, u32 bias, u32 shift) {
    u32 v[kLanes], n = 0;
    bool sorted = true;
    for (u32 rest = x.m; rest; rest &= rest - 1) {
        v[n] = (u32)(((u64)x.offset[__builtin_ctz(rest)] + bias) >> shift);
        sorted &= n == 0 || v[n] >= v[n - 1];
        n++;
    }
    if (!n) return 0;
    const u64 range = (((u64)x.reach + bias) >> shift) + 1;
    if (!sorted && range <= 1024) {
        u64 bits[16] = {};
        for (u32 i = 0; i < n; i++) bits[v[i] >> 6] |= 1ull << (v[i] & 63);
        u32 total = 0;
        for (u32 i = 0; i < (range + 63) / 64; i++) total += (u32)__builtin_popcountll(bits[i]);
        return total;
    }
    if (!sorted) std::sort(v, v + n);
    u32 total = 1;
    for (u32 i = 1; i < n; i++) total += v[i] != v[i - 1];
    return total;
}

// Passes of the lanes [first, first + count): the most distinct words that share a bank.
u32 passes(const Access &x, u32 first, u32 count, u32 words) {
    u32 seen[32][4], n[32] = {}, most = 0; // a bank's distinct words; past four they are found by search
    const u32 bias = (u32)(x.base & 127);
    for (u32 lane = first; lane < first + count; lane++) {
        if (!(x.m >> lane & 1)) continue;
        for (u32 k = 0; k < words; k++) {
            u32 word = ((x.offset[lane] + bias) >> 2) + k, bank = word & 31;
            u32 &have = n[bank];
            bool known = false;
            for (u32 i = 0; i < std::min(have, 4u) && !known; i++) known = seen[bank][i] == word;
            if (!known && have > 4)
                for (u32 other = first; other < lane && !known; other++)
                    for (u32 j = 0; j < words && !known; j++) known = (x.m >> other & 1) && ((x.offset[other] + bias) >> 2) + j == word;
            if (known) continue;
            if (have < 4) seen[bank][have] = word;
            most = std::max(most, ++have);
        }
    }
    return most;
}

// Wide accesses pack two registers in a pass when neighbouring lanes agree everywhere.
bool pairs_agree(const Access &x, u32 distance) {
    for (u32 lane = 0; lane < kLanes; lane++) {
        u32 other = lane ^ distance;
        if ((x.m >> lane & 1) && (x.m >> other & 1) && x.offset[lane] != x.offset[other]) return false;
    }
    return true;
}

} // namespace

bool shape_of(const vu32 &low_row, const vu32 *high_row, i64 imm, u32 m, u32 size, Access &out) {
    const u32 first = (u32)__builtin_ctz(m);
    vu32 low = low_row;
    u64 upper = 0;
    out.m = m;
    if (m == kFull) {
        if (high_row) {
            const vu32 &high = *high_row;
            upper = (u64)high[0] << 32;
            if (!all_zero(high ^ (vu32{} + high[0]))) return false;
        }
        u32 start = low[0];
        vu32 delta = low - start;
        if (all_zero(delta ^ ((vu32)lane_index() * size)) && start <= ~0u - 32 * size) {
            out.shape = Shape::contiguous;
            out.base = (upper | start) + (u64)imm;
            out.reach = 31 * size;
            *(vu32 *)out.offset = delta;
            return true;
        }
        if (all_zero(delta)) {
            out.shape = Shape::uniform;
            out.base = (upper | start) + (u64)imm;
            out.reach = 0;
            *(vu32 *)out.offset = delta;
            return true;
        }
    } else {
        const vi32 on = spread(m);
        if (high_row) {
            const vu32 &high = *high_row;
            upper = (u64)high[first] << 32;
            if (!all_zero((high ^ (vu32{} + high[first])) & (vu32)on)) return false;
        }
        low = on ? low : (vu32{} + low[first]);
    }
    u32 start = smallest(low);
    vu32 offset = low - start;
    *(vu32 *)out.offset = offset;
    out.base = (upper | start) + (u64)imm;
    out.reach = largest(offset);
    out.shape = out.reach == 0 ? Shape::uniform : Shape::general;
    return out.reach < 0x7fffffffu;
}

u32 count_sectors(const Access &x, u32 size) {
    const u32 bias = (u32)(x.base & 31);
    if (x.shape == Shape::uniform) return (bias + size - 1) / 32 + 1;
    if (x.shape == Shape::contiguous) return (bias + 32 * size - 1) / 32 + 1;
    return count_distinct(x, bias, 5);
}

u32 count_lines(const Access &x, u32 size) {
    const u32 bias = (u32)(x.base & 127);
    if (x.shape == Shape::uniform) return (bias + size - 1) / 128 + 1;
    if (x.shape == Shape::contiguous) return (bias + 32 * size - 1) / 128 + 1;
    return count_distinct(x, bias, 7);
}

u32 count_words(const Access &x) { return x.shape == Shape::uniform ? 1 : count_distinct(x, (u32)(x.base & 3), 2); }

u32 count_wavefronts(const Access &x, u32 size, u32 *ideal) {
    const u32 words = std::max(1u, size / 4);
    if (x.shape == Shape::uniform) return *ideal = 1;
    if (x.shape == Shape::contiguous) return *ideal = words;
    u32 groups = words;
    if (words > 1 && (pairs_agree(x, 1) || pairs_agree(x, 2))) groups = words / 2;
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
    u32 v[kLanes], n = 0;
    for (u32 rest = x.m; rest; rest &= rest - 1) v[n++] = x.offset[__builtin_ctz(rest)];
    std::sort(v, v + n);
    u32 most = 1, run = 1;
    for (u32 i = 1; i < n; i++) {
        run = v[i] == v[i - 1] ? run + 1 : 1;
        most = std::max(most, run);
    }
    return most;
}

} // namespace warpsight
