// The memory side of the simulated multiprocessor: what an access costs the load/store unit, and when its bytes are
// there. L1, constant caches, the port to L2, and this SM's part of L2 and DRAM. sm.cpp says who asks, and when.
#pragma once
#include "constant_cache.hpp"
#include "l1.hpp"
#include "sm_state.hpp"

namespace warpsight {

constexpr u64 kNever = ~0ull;

struct MemorySide {
    const SmNumbers &n;
    SmResult result;
    L1 l1;
    ConstantCache constants;
    u64 read_port_free = 0, write_port_free = 0, constant_port_free = 0;
    double dram_debt = 0;
    Share l2, dram;

    explicit MemorySide(const SmNumbers &numbers)
        : n(numbers),
          l1(numbers.l1_bytes),
          constants(numbers.constant_l1_bytes, numbers.constant_l15_bytes),
          l2{numbers.l2_bytes_per_clock, (double)numbers.latency_l2, 0},
          dram{numbers.dram_bytes_per_clock, (double)numbers.latency_dram, 0} {}

    static u32 placed(const SimWarp &w, const MemoryStep &m, u32 i) {
        const u32 at = m.first_sector + i, sector = w.trace->sectors[at];
        if (m.space == kLocal) return sector + w.local;
        return w.own && (*w.own)[at] ? sector + w.apart : sector;
    }

    static u32 registers_of(const Request &q) { return std::max(1u, q.memory.bytes_per_lane / 4u); }

    u32 cost_of(Request q) const {
        const u32 registers = registers_of(q);
        if (n.free_lsu) return 0;
        if (n.free_tags) q.memory.tag_passes = 1;
        if (n.free_banks) q.memory.wavefronts = std::min<u16>(q.memory.wavefronts, (u16)registers);
        switch (q.kind) {
            case StepKind::shuffle: return n.shuffle_cycles;
            case StepKind::shared_load:
            case StepKind::shared_store:
                return std::max<u32>(n.address_cycles, n.wavefront_cycles * q.memory.wavefronts);
            case StepKind::shared_atomic:
                return std::max<u32>({n.address_cycles, n.wavefront_cycles * q.memory.wavefronts, q.memory.passes});
            case StepKind::constant_load: return std::max<u32>(1, q.memory.wavefronts);
            case StepKind::async_copy:
                return std::max<u32>({n.address_cycles, q.memory.tag_passes, n.wavefront_cycles * q.memory.wavefronts});
            default:  // registers go back one after the other
                return std::max<u32>(
                           {n.address_cycles, n.register_cycles * registers, read_cycles(q), q.memory.tag_passes}) +
                       n.wavefront_cycles * q.memory.wavefronts;
        }
    }

    // Clocks in which L1 reads what a load wants. Bytes that several lanes share are read once; the read-only path
    // moves the sectors they lie in.
    u32 read_cycles(const Request &q) const {
        const u32 least = q.memory.bytes_per_lane, sectors = q.memory.sectors;
        const bool read_only = q.what->path == Path::read_only, load = q.kind == StepKind::global_load;
        const u32 bytes = 32u * (read_only && n.read_only_sectors ? sectors : std::min(sectors, least));
        const u32 read = n.l1_bytes_per_clock ? (bytes + n.l1_bytes_per_clock - 1) / n.l1_bytes_per_clock : 0;
        const bool split = load && sectors <= least + 1 && q.memory.lines == (least + 3) / 4 + 1;
        return split ? std::max({read, n.split_clocks, read_only ? n.split_sector_clocks * sectors : 0}) : read;
    }

    u32 port_cycles(u32 sectors) const { return (sectors * 32u + n.port_bytes - 1) / n.port_bytes; }

    // Bytes over the port from L2; the time at which they are there. Latencies are those of a single sector.
    u64 transfer(u64 start, u32 sectors, bool from_dram) {
        read_port_free = std::max(read_port_free, start) + port_cycles(sectors);
        return read_port_free - port_cycles(1) + (from_dram ? n.latency_dram : n.latency_l2);
    }

    // What atomics take of L2: at least what storing parts of the same sectors takes.
    double atomic_sectors(const MemoryStep &m) const {
        return std::max(n.atomic_clocks * m.sectors, m.sectors + (n.partial_sectors - 1) * m.partial);
    }

    void send(u64 start, u32 cycles) { write_port_free = std::max(write_port_free, start) + cycles; }

    bool goes_to_dram(u32 missed) {
        dram_debt += missed ? n.l2_miss : 0;
        if (dram_debt < 1) return false;
        dram_debt -= 1;
        return true;
    }

    // `start` is one clock before the request was taken: its issue, had it not waited.
    u64 load_done(const Request &q, const SimWarp &w, u64 start, u32 latency) {
        u32 missed = 0;
        u64 ready = start + latency;
        for (u32 i = 0; i < q.memory.sectors; i++) {
            u64 there = q.what->path == Path::past_l1 ? kNever : l1.find(placed(w, q.memory, i));
            if (there == kNever)
                missed++;
            else
                ready = std::max(ready, there);
        }
        result.load_sectors += q.memory.sectors;
        result.l1_hits += q.memory.sectors - missed;
        result.l1_misses += missed;
        if (q.memory.space == kLocal) result.local_hits += q.memory.sectors - missed, result.local_misses += missed;
        if (!missed) return ready;
        send(start, 1);
        const bool from_dram = goes_to_dram(missed);
        const u64 late = std::max(l2.wait(start, 32.0 * missed), dram.wait(start, from_dram ? 32.0 * missed : 0));
        ready = std::max(ready, transfer(start, missed, from_dram) + late);
        if (q.what->path != Path::past_l1)
            for (u32 i = 0; i < q.memory.sectors; i++) l1.insert(placed(w, q.memory, i), ready);
        return ready;
    }

    // Lines that the small cache does not have come one after the other: from the larger one, or over the port of L2.
    u64 constant_done(const Request &q, const SimWarp &w, u64 start, u32 replays) {
        u64 ready = start + n.latency_constant + replays;
        if (!n.constant_l1_bytes) return ready;
        for (u32 i = 0; i < q.memory.constant_lines; i++) {
            const u32 line = w.trace->sectors[q.memory.first_sector + i];
            u64 there = constants.small.find(line);
            if (there == kNever) {
                result.constant_misses++;
                there = from_larger(line, start);
                constants.small.insert(line, there);
            }
            ready = std::max(ready, there + replays);
        }
        return ready;
    }

    u64 from_larger(u32 line, u64 start) {
        constexpr u32 bytes = ConstantCache::kSmallLine, each = ConstantCache::kLargeLine / bytes;
        constant_port_free = std::max(constant_port_free, start) + (bytes + n.port_bytes - 1) / n.port_bytes;
        const u64 late = constant_port_free - start - 1;
        const u64 known = constants.large.find(line / each);
        if (known != kNever) return std::max(known, start + n.latency_constant_l15 + late);
        send(start, 1);
        const u64 shared = l2.wait(start, (double)ConstantCache::kLargeLine);
        const u64 there = std::max(transfer(start, ConstantCache::kLargeLine / 32, false) + shared,
                                   start + n.latency_constant_l15 + late);
        constants.large.insert(line / each, there);
        return there;
    }
};

}  // namespace warpsight
