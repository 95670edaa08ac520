// Memory operations of whole warps: ldmatrix, asynchronous copies to shared memory, and wmma fragments.
// An asynchronous copy reads when issued and writes when waited for, so that a missing wait shows as stale or
// uninitialised data.
#include <algorithm>

#include "memory.hpp"
#include "shadow.hpp"

namespace warpsight {
namespace {

void load_matrices(Warp &w, const Ins &x, u32 m) {
    if (m != kFull) w.block->fail(w, FaultKind::warp_sync_divergence, lowest(m), 0, 0, "ldmatrix needs all 32 lanes");
    const LaunchOptions &o = w.block->launch->options;
    const u32 *address = Row::at(w, x.a);
    for (int k = 0; k < x.vec; k++) {
        Access a{};
        const u32 first = 8 * (u32)k;  // the lanes whose addresses are this matrix's rows
        a.m = 0xffu << first;
        a.shape = Shape::general;
        u32 row_at[8];
        for (u32 i = 0; i < 8; i++) row_at[i] = address[first + i] + (u32)x.imm;
        // Rows that name different arrays: one of them is wrong, and is found by itself.
        if (std::any_of(row_at, row_at + 8, [&](u32 r) { return r >> kSlotShift != row_at[0] >> kSlotShift; }))
            for (u32 i = 0; i < 8; i++) locate_one(w, first + i, row_at[i], kShared, 16, false);
        a.base = *std::min_element(row_at, row_at + 8);
        a.reach = *std::max_element(row_at, row_at + 8) - (u32)a.base;
        a.low_bits = 0;
        for (u32 i = 0; i < kLanes; i++) a.low_bits |= a.offset[i] = row_at[i & 7] - (u32)a.base;
        Place p = locate(w, a, kShared, 16, 16, false);
        if (o.count) count_access(w, a, p, 16);
        if (o.check) note_access(w, a, p, 16, false, (u8)Kind::plain, 0);
        u16 tile[8][8];
        for (u32 i = 0; i < 8; i++) std::memcpy(tile[i], p.host + a.offset[first + i], 16);
        u32 *row = Row::at(w, x.list[k]);
        for (u32 lane = 0; lane < kLanes; lane++) {
            u32 i = lane / 4, j = 2 * (lane % 4);
            row[lane] =
                x.sub ? (u32)tile[j][i] | (u32)tile[j + 1][i] << 16 : (u32)tile[i][j] | (u32)tile[i][j + 1] << 16;
        }
    }
    if (o.count) counts_of(w)[k_requests] -= x.vec - 1;
}

void copy_async(Warp &w, const Ins &x, u32 m) {
    const LaunchOptions &o = w.block->launch->options;
    Access from, to;
    const bool together = gather_addresses(w, x.b, x.imm, kGlobal, false, m, x.width, from) &&
                          gather_addresses(w, x.a, x.target, kShared, true, m, x.width, to);
    if (!together) return part_by_part(w, x.b, x.imm, kGlobal, false, m, [&](u32 part) { copy_async(w, x, part); });
    Place target = locate(w, to, kShared, x.width, x.width, true);
    const u32 *wanted = Row::at(w, x.c);
    u32 reads = 0;  // lanes that read anything: the others may hold any address
    for (u32 rest = m; rest; rest &= rest - 1)
        if (wanted[lowest(rest)]) reads |= 1u << lowest(rest);
    Place source{};
    if (reads) {
        gather_addresses(w, x.b, x.imm, kGlobal, false, reads, x.width, from);
        source = locate(w, from, kGlobal, x.width, x.width, false);
        if (o.count) count_access(w, from, source, x.width);
        if (o.check) note_access(w, from, source, x.width, false, (u8)Kind::plain, 0);
    }
    if (o.count) {
        u32 ideal;
        const u32 wavefronts = count_wavefronts(to, x.width, &ideal);
        counts_of(w)[k_wavefronts] += wavefronts;
        counts_of(w)[k_wavefronts_ideal] += ideal;
        trace_wavefronts(w, wavefronts);
    }
    for (u32 rest = m; rest; rest &= rest - 1) {
        u32 lane = lowest(rest);
        AsyncCopy c{lane, w.group[lane], (u32)(target.host - w.block->shared) + to.offset[lane], x.width, w.now, {}};
        if (wanted[lane]) std::memcpy(c.data, source.host + from.offset[lane], std::min<u32>(wanted[lane], x.width));
        if (w.block->shadow) w.block->shadow->copying(c);
        w.pending.push_back(c);
    }
}

void commit_copies(Warp &w, const Ins &, u32 m) {
    for (; m; m &= m - 1) w.group[lowest(m)]++;
}

void wait_copies(Warp &w, const Ins &x, u32 m) { settle_async(w, m, x.imm); }

// ---- wmma: element j of lane l is element (l * n + j) mod E of the row-major fragment matrix

struct Dims {
    u32 m, n, k;
};

Dims dims_of(i32 shape) {
    switch (shape) {
        case 7: return {32, 8, 16};
        case 8: return {8, 32, 16};
        case 9: return {16, 16, 8};
        case 10: return {8, 8, 4};
        default: return {16, 16, 16};
    }
}

u32 element_bytes(Type t) {
    switch (t) {
        case Type::S8:
        case Type::U8: return 1;
        case Type::F16:
        case Type::BF16: return 2;
        case Type::F64: return 8;
        default: return 4;
    }
}

template <bool kWrite>
void move_fragment(Warp &w, const Ins &x, u32 m) {
    if (m != kFull) w.block->fail(w, FaultKind::warp_sync_divergence, lowest(m), 0, 0, "wmma needs all 32 lanes");
    const Dims d = dims_of(x.target);
    const u32 height = x.sub == 1 ? d.k : d.m, width = x.sub == 0 ? d.k : d.n, total = height * width;
    const u32 bytes = element_bytes(x.ta), per_row = 4 / std::min(4u, bytes), n = bytes == 8 ? x.vec : x.vec * per_row;
    const LaunchOptions &o = w.block->launch->options;
    std::vector<u64> sectors;
    Place p{};
    for (u32 lane = 0; lane < kLanes; lane++) {
        const u64 base = (Row::at(w, x.a)[lane] | (u64)Row::at(w, Row::high(x.a))[lane] << 32);
        const u64 stride = Row::at(w, x.b)[lane];
        for (u32 j = 0; j < n; j++) {
            const u32 q = (lane * n + j) % total, r = q / width, c = q % width;
            const u64 at = base + ((x.imm & 1) ? c * stride + r : r * stride + c) * bytes;
            char *host = locate_one(w, lane, at, x.width, bytes, kWrite, &p);
            char *slot = (char *)(Row::at(w, x.list[bytes == 8 ? j : j / per_row]) + lane) +
                         (bytes == 8 ? 0 : (j % per_row) * bytes);
            if (p.space == kGlobal) sectors.push_back(at / 32);
            if (o.check) {
                Access one{at, 0, Shape::uniform, 1u << lane, {}};
                const bool same = bytes < 8 && std::memcmp(host, slot, bytes) == 0;
                note_access(w, one, p, bytes, kWrite, (u8)Kind::plain, (u32)same << lane);
            }
            if (bytes == 8) {
                u32 *high = Row::at(w, Row::high(x.list[j])) + lane;
                if (kWrite)
                    std::memcpy(host, slot, 4), std::memcpy(host + 4, high, 4);
                else
                    std::memcpy(slot, host, 4), std::memcpy(high, host + 4, 4);
            } else if (kWrite)
                std::memcpy(host, slot, bytes);
            else
                std::memcpy(slot, host, bytes);
        }
    }
    if (!o.count) return;
    Counts &count = counts_of(w);
    std::sort(sectors.begin(), sectors.end());
    auto end = std::unique(sectors.begin(), sectors.end());
    count[k_requests]++;
    count[k_bytes] += total * bytes;
    count[k_sectors] += (u64)(end - sectors.begin());
    count[k_sectors_ideal] += sectors.empty() ? 0 : (total * bytes + 31) / 32;
    for (auto &s : sectors) s /= 4;
    if (!sectors.empty()) count[k_lines] += (u64)(std::unique(sectors.begin(), end) - sectors.begin());
    if (sectors.empty()) {  // shared memory: counted as free of conflicts, since the hardware's own layout is not
                            // published
        count[k_wavefronts] += (total * bytes + 127) / 128;
        count[k_wavefronts_ideal] += (total * bytes + 127) / 128;
    }
}

}  // namespace

void settle_async(Warp &w, u32 m, i64 keep) {
    auto done = [&](const AsyncCopy &c) {
        return (m >> c.lane & 1) && (keep < 0 || (i64)c.group + keep < (i64)w.group[c.lane]);
    };
    const i32 now = w.now;
    for (const AsyncCopy &c : w.pending) {
        if (!done(c)) continue;
        char *to = w.block->shared + c.shared;
        w.now = c.pc;
        if (w.block->shadow)
            w.block->shadow->write(w, c.lane, c.shared, c.bytes, Kind::plain, std::memcmp(to, c.data, c.bytes) != 0);
        std::memcpy(to, c.data, c.bytes);
    }
    w.now = now;
    w.pending.erase(std::remove_if(w.pending.begin(), w.pending.end(), done), w.pending.end());
}

Handler find_matrix(const Ins &x) {
    switch (x.op) {
        case Op::LDMATRIX: return load_matrices;
        case Op::CPASYNC: return x.width == 4 || x.width == 8 || x.width == 16 ? copy_async : nullptr;
        case Op::CPCOMMIT: return commit_copies;
        case Op::CPWAIT: return wait_copies;
        case Op::WMMALD: return move_fragment<false>;
        case Op::WMMAST: return move_fragment<true>;
        default: return nullptr;
    }
}

}  // namespace warpsight
