// The simulation of one multiprocessor; sm.hpp says what it covers.
#include "sm.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "sm_memory.hpp"

namespace warpsight {
namespace {

constexpr u32 kSampleEvery = 32;

struct Sm : MemorySide {
    const Traces &traces;
    const std::vector<StaticStep> &program;
    std::vector<SimWarp> warps;
    std::vector<SimBlock> blocks;
    std::vector<Scheduler> schedulers;
    std::vector<Seat> seats;
    u64 now = 0, lsu_free = 0, barrier_free = 0;
    u32 local_each;
    u32 lsu_turn = 0, started = 0, finished = 0, wanted, warps_per_block;
    OwnSectors own;
    CodeCache code;
    u32 code_lines = 0;
    u64 code_free = 0;

    Sm(const Traces &t, const std::vector<StaticStep> &p, const SmNumbers &numbers)
        : MemorySide(numbers),
          traces(t),
          program(p),
          wanted(numbers.blocks),
          warps_per_block((u32)t[0]->warps.size()),
          own(numbers.move_replayed && numbers.blocks > t.size() ? own_sectors(t) : OwnSectors{}),
          code(numbers.code_l1_bytes) {
        local_each = local_sectors(traces);
        warps.resize((size_t)n.resident_blocks * warps_per_block);
        blocks.resize(n.resident_blocks);
        schedulers.resize(n.schedulers);
        for (const StaticStep &x : program) code_lines = std::max<u32>(code_lines, x.line + 1u);
        for (u32 k = 0; k < code_lines; k++) code.insert(k, 0, true);  // a launch finds what the last one left
        for (Scheduler &s : schedulers) s.code = CodeCache(n.code_l0_bytes);
        result.stalls.resize(program.size());
        for (u32 w = 0; w < warps.size(); w++) {
            schedulers[w % n.schedulers].warps.push_back(w);
            schedulers[w % n.schedulers].wakes.push_back(kNever);
            schedulers[w % n.schedulers].pipes.push_back(Pipe::none);
            seats.push_back({w % n.schedulers, w / n.schedulers});
        }
        for (u32 b = 0; b < n.resident_blocks; b++) start_block(b);
    }

    void start_block(u32 slot) {
        SimBlock &b = blocks[slot];
        b = SimBlock{};
        b.first_warp = slot * warps_per_block;
        b.warps = b.alive = warps_per_block;
        b.active = started < wanted;
        if (!b.active) return;
        const u32 round = started / (u32)traces.size();
        const BlockTrace &t = *traces[started++ % traces.size()];
        for (u32 i = 0; i < warps_per_block; i++) {
            SimWarp &w = warps[b.first_warp + i];
            w = SimWarp{};
            w.trace = &t.warps[i];
            w.local = (b.first_warp + i) * local_each;
            if (round && !own.empty()) w.own = &own.at(w.trace), w.apart = round * kApart;
            w.block = slot;
            w.next = now;
            w.done = t.warps[i].steps.empty();
            b.alive -= w.done;
            if (!w.done) fetch(b.first_warp + i);
            set_wake(b.first_warp + i);
        }
        if (!b.alive) end_block(slot);
    }

    void end_block(u32 slot) {
        blocks[slot].active = false;
        result.block_end.push_back(std::max(now, blocks[slot].drained));
        finished++;
        if (wanted == n.blocks && settled()) wanted = started;  // what is under way ends, as the launch would
        start_block(slot);
    }

    // Whether the pace of the first half of the fillings and that of the second agree; the first filling starts cold.
    bool settled() const {
        const u32 full = finished / n.resident_blocks, half = (1 + full) / 2;
        if (finished < n.least_blocks || full < 3 || finished % n.resident_blocks) return false;
        const auto end = [&](u32 filling) { return (double)result.block_end[filling * n.resident_blocks - 1]; };
        const double early = (end(half) - end(1)) / (half - 1), late = (end(full) - end(half)) / (full - half);
        return std::abs(early - late) <= n.settle * (early + late) / 2;
    }

    void arrive(SimWarp &w, SimBlock &b, BarrierStep at) {
        barrier_free = std::max(barrier_free, now) + n.barrier_cycles;  // one unit for all blocks of the SM
        b.arrived[at.id]++;
        b.meet[at.id] = (u16)at.warps;
        if (!at.arrives) w.at_barrier = true, w.barrier = (u8)at.id, b.waiting++;
        release_barriers(b);
    }

    // Lets go who waits at a barrier that is complete. Warps whose trace has ended count as arrived, and where all that
    // are left wait, some trace was cut before it came to the barrier.
    void release_barriers(SimBlock &b) {
        const bool stuck = b.waiting && b.waiting >= b.alive;
        for (u32 id = 0; id < b.arrived.size(); id++) {
            if (!b.arrived[id] || (!stuck && b.arrived[id] < (b.meet[id] ? b.meet[id] : b.alive))) continue;
            b.arrived[id] = 0;
            for (u32 i = 0; i < b.warps; i++) {
                SimWarp &w = warps[b.first_warp + i];
                if (!w.at_barrier || w.barrier != id) continue;
                w.at_barrier = false, b.waiting--;
                w.next = std::max(w.next, barrier_free + n.latency_barrier);
                set_wake(b.first_warp + i);
            }
        }
    }

    // The first cycle at which `blocked` has nothing more to say of the warp itself; what it says of units comes on
    // top. Never where that hangs on what is not known yet: a request in a queue, a barrier.
    u64 wake_of(const SimWarp &w) const {
        if (w.done || w.at_barrier || w.step >= w.trace->steps.size()) return kNever;
        const StaticStep &x = program[w.trace->steps[w.step] & ~kTouchesMemory];
        u64 t = std::max(w.next, w.fenced);
        for (u32 waits = x.wait_mask & 63u; waits; waits &= waits - 1) {
            const int k = std::countr_zero(waits);
            if (w.queued[k]) return kNever;
            t = std::max(t, w.ready[k]);
        }
        if (x.kind != StepKind::async_wait) return t;
        if (w.async_queued) return kNever;
        for (size_t i = 0; i + x.keep_groups + 1 < w.groups.size(); i++) t = std::max(t, w.groups[i]);
        return t;
    }

    // To be called whenever a warp has changed, so that nobody looks at warps that only wait.
    void set_wake(u32 index) {
        const Seat seat = seats[index];
        Scheduler &s = schedulers[seat.scheduler];
        const SimWarp &w = warps[index];
        const u64 t = wake_of(w);
        s.wakes[seat.at] = t;
        s.soonest = std::min(s.soonest, t);
        if (t != kNever) s.pipes[seat.at] = program[w.trace->steps[w.step] & ~kTouchesMemory].pipe;
    }

    // What keeps a warp from issuing its next instruction now; Stall::selected when nothing does.
    Stall blocked(const SimWarp &w, const Scheduler &s) const {
        if (w.at_barrier) return Stall::barrier;
        const StaticStep &x = program[w.trace->steps[w.step] & ~kTouchesMemory];
        if (w.fenced > now) return Stall::membar;
        if (w.next > now && w.fetched >= w.next) return Stall::no_instruction;
        if (w.next > now) return x.kind == StepKind::branch ? Stall::branch : Stall::wait;
        for (int k = 0; k < 6; k++)
            if ((x.wait_mask >> k & 1) && (w.queued[k] || w.ready[k] > now))
                return w.is_long[k] ? Stall::long_scoreboard : Stall::short_scoreboard;
        if (x.kind == StepKind::async_wait && (w.async_queued || !groups_done(w, x.keep_groups)))
            return Stall::long_scoreboard;
        if (x.pipe == Pipe::memory) {
            if (!s.full(n.queue_depth)) return Stall::selected;
            return x.kind == StepKind::global_load || x.kind == StepKind::global_store ||
                           x.kind == StepKind::global_atomic
                       ? Stall::lg_throttle
                       : Stall::mio_throttle;
        }
        return free_unit(x.pipe, s) < 0 ? Stall::math_pipe_throttle : Stall::selected;
    }

    bool groups_done(const SimWarp &w, u32 keep) const {
        const size_t committed = w.groups.size() - 1;
        for (size_t i = 0; i + keep < committed; i++)
            if (w.groups[i] > now) return false;
        return true;
    }

    // FP32 may go to either unit of a partition, integer multiply-adds only to the first.
    int free_unit(Pipe asked, const Scheduler &s) const {
        if (asked == Pipe::none) return 0;
        if (asked == Pipe::fma) {
            for (int u = (int)n.fma_units - 1; u >= 0; u--)
                if (s.pipe_free[(int)Pipe::fma][(size_t)u] <= now) return u;
            return -1;
        }
        const int pipe = asked == Pipe::fma_heavy ? (int)Pipe::fma : (int)asked;
        return s.pipe_free[(size_t)pipe][0] <= now ? 0 : -1;
    }

    void issue(u32 index, Scheduler &s) {
        SimWarp &w = warps[index];
        SimBlock &b = blocks[w.block];
        const u32 step = w.trace->steps[w.step++];
        const StaticStep &x = program[step & ~kTouchesMemory];
        result.issued++;
        w.next = now + std::max<u32>(1, x.stall);
        if (x.pipe == Pipe::memory)
            enqueue(index, s, x, step & kTouchesMemory);
        else {
            if (x.pipe != Pipe::none) {
                const int pipe = x.pipe == Pipe::fma_heavy ? (int)Pipe::fma : (int)x.pipe;
                s.pipe_free[(size_t)pipe][(size_t)free_unit(x.pipe, s)] = now + x.interval;
                result.pipe_busy[(size_t)x.pipe] += x.interval;
            }
            if (n.bank_window) s.banks.take(index, x, now);
            if (x.write_bar < 6) set_ready(w, x.write_bar, now + x.latency, false);
            if (x.read_bar < 6) set_ready(w, x.read_bar, now + kReleaseArithmetic, false);
        }
        if (step & kTouchesMemory && x.pipe != Pipe::memory && x.kind == StepKind::plain) read_beside(index, x);
        if (x.kind == StepKind::async_commit) w.groups.push_back(0);
        if (x.kind == StepKind::fence) w.fenced = now + x.latency, w.next = std::max(w.next, w.fenced);
        if (x.kind == StepKind::sleep && (step & kTouchesMemory))
            w.next = now + (u64)(w.trace->memory[w.memory++].first_sector * n.clocks_per_ns) + 1;
        if (x.kind == StepKind::barrier && (step & kTouchesMemory))
            arrive(w, b, BarrierStep::of(w.trace->memory[w.memory++].first_sector));
        if (w.step < w.trace->steps.size()) {
            fetch(index);
            return set_wake(index);
        }
        w.done = true;
        set_wake(index);
        b.alive--;
        if (b.alive)
            release_barriers(b);
        else if (!b.outstanding)
            end_block(w.block);
    }

    // A read that does not go through the load/store unit (ULDC): what its cache lacks is waited for.
    void read_beside(u32 index, const StaticStep &x) {
        SimWarp &w = warps[index];
        const MemoryStep &m = w.trace->memory[w.memory++];
        const u64 done = constant_done({index, &x, m, 0, x.kind}, w, now, 0), known = now + n.latency_constant;
        if (done <= known) return;
        if (x.write_bar < 6)
            set_ready(w, x.write_bar, done, false);
        else
            w.next = std::max(w.next, now + x.stall + (done - known));
    }

    // A warp that goes on to another line of code waits until its scheduler has it.
    void fetch(u32 index) {
        SimWarp &w = warps[index];
        const u32 line = program[w.trace->steps[w.step] & ~kTouchesMemory].line;
        if (line == w.line || !n.code_l0_bytes) return;
        w.line = line;
        w.fetched = line_ready(schedulers[seats[index].scheduler], line);
        w.next = std::max(w.next, w.fetched);
    }

    // When a scheduler has a line. The first use of one asks for those behind it.
    u64 line_ready(Scheduler &s, u32 line) {
        CodeCache::Line *found = s.code.find(line);
        if (found && found->used_once) return found->ready;
        const u64 ready = found ? found->ready : ask_for_line(line);
        if (found)
            found->used_once = true;
        else
            s.code.insert(line, ready, true);
        const u32 last = std::min<u32>(line + 1 + n.code_ahead, code_lines);
        for (u32 k = line + 1; k < last; k++)
            if (!s.code.has(k)) s.code.insert(k, ask_for_line(k), false);
        return ready;
    }

    // From the SM's own cache, or from L2 through it.
    u64 ask_for_line(u32 line) {
        const CodeCache::Line *found = code.find(line);
        u64 there = found ? found->ready : 0;
        if (!found) {
            constexpr u32 sectors = kCodeLineBytes / 32;
            result.code_sectors += sectors;
            const u64 late = l2.wait(now, 32.0 * sectors);
            code_free = std::max(code_free, now) + n.code_line_cycles;
            there = std::max(transfer(now, sectors, false) + late, code_free - n.code_line_cycles + n.latency_l2);
            code.insert(line, there, true);
        }
        return std::max(there, now);
    }

    static void set_ready(SimWarp &w, u32 bar, u64 when, bool is_long) {
        w.ready[bar] = std::max(w.ready[bar], when);
        w.is_long[bar] = is_long;
    }

    void enqueue(u32 index, Scheduler &s, const StaticStep &x, bool touches) {
        SimWarp &w = warps[index];
        if (!touches && x.kind != StepKind::shuffle) {  // every lane was off: nothing to do
            if (x.write_bar < 6) set_ready(w, x.write_bar, now + kReleaseArithmetic, false);
            if (x.read_bar < 6) set_ready(w, x.read_bar, now + kReleaseArithmetic, false);
            return;
        }
        const MemoryStep memory = touches ? w.trace->memory[w.memory++] : MemoryStep{};
        const StepKind kind = kind_of(x.kind, memory);
        s.queue.push_back({index, &x, memory, w.groups.size() - 1, kind});
        blocks[w.block].outstanding++;
        if (x.write_bar < 6) w.queued[x.write_bar]++, w.is_long[x.write_bar] = is_far(kind);
        if (x.read_bar < 6) w.queued[x.read_bar]++, w.is_long[x.read_bar] = false;
        if (kind == StepKind::async_copy) w.async_queued++;
    }

    static bool is_far(StepKind kind) {
        return kind == StepKind::global_load || kind == StepKind::local_load || kind == StepKind::global_atomic;
    }

    void accept(Request q) {
        SimWarp &w = warps[q.warp];
        const StaticStep &x = *q.what;
        const u32 cost = cost_of(q), registers = registers_of(q);
        lsu_free = now + cost;
        result.lsu_busy += cost;
        // A request is taken one clock after its issue at the earliest. Passes beyond the first are waited for; of a
        // load from L1 each register after the first needs two clocks to come back (Huerta et al., table 2).
        const u64 issued = now - 1;
        const u32 waited = cost > n.address_cycles ? cost - n.address_cycles : 0;
        const u32 passes =
            cost > std::max(n.address_cycles, registers) ? cost - std::max(n.address_cycles, registers) : 0;
        u64 done = issued + n.latency_shared + waited;
        switch (q.kind) {
            case StepKind::global_load:
            case StepKind::local_load:
                done = load_done(q, w, issued + passes + 2 * (registers - 1), n.latency_l1);
                break;
            case StepKind::async_copy: done = load_done(q, w, issued + waited, n.latency_async); break;
            case StepKind::global_atomic:
                result.atomic_sectors += q.memory.sectors;
                send(issued + passes, port_cycles(q.memory.sectors));
                done = transfer(issued + passes, q.memory.sectors, false) + q.memory.passes +
                       l2.wait(now, 32.0 * atomic_sectors(q.memory));
                blocks[w.block].drained = std::max(blocks[w.block].drained, done);
                break;
            case StepKind::global_store:
            case StepKind::local_store: {
                result.store_sectors += q.memory.sectors;
                send(now + cost, port_cycles(q.memory.sectors));
                const double taken = q.memory.sectors + (n.partial_sectors - 1) * q.memory.partial;
                const u64 late =
                    std::max(l2.wait(now, 32.0 * taken), dram.wait(now, 32.0 * q.memory.sectors * n.store_miss));
                blocks[w.block].drained = std::max(blocks[w.block].drained, write_port_free + late);
                done = now + cost;
                if (q.kind == StepKind::local_store && n.local_allocates)
                    for (u32 i = 0; i < q.memory.sectors; i++) l1.insert(placed(w, q.memory, i), done);
                break;
            }
            case StepKind::shared_atomic:
                for (u32 i = 0; i < q.memory.swaps; i++) done = std::max(done, swap_done(q, w, i, issued));
                break;
            case StepKind::constant_load: done = constant_done(q, w, issued, cost ? cost - 1 : 0); break;
            case StepKind::shuffle: done = issued + n.latency_shuffle; break;
            default: break;
        }
        if (x.write_bar < 6) set_ready(w, x.write_bar, done, is_far(q.kind)), w.queued[x.write_bar]--;
        if (x.read_bar < 6)
            set_ready(w, x.read_bar, issued + release_of(q.kind, registers), false), w.queued[x.read_bar]--;
        if (q.kind == StepKind::async_copy) {
            w.groups[q.group] = std::max(w.groups[q.group], done);
            w.async_queued--;
        }
        set_wake(q.warp);
        SimBlock &b = blocks[w.block];
        if (--b.outstanding == 0 && b.alive == 0 && b.active) end_block(w.block);
    }

    // Who exchanges on condition must have seen what the last one left: one after the other at each word.
    u64 swap_done(const Request &q, const SimWarp &w, u32 i, u64 issued) {
        u64 &last = blocks[w.block].swapped[w.trace->sectors[q.memory.first_sector + i]];
        return last = std::max(last, issued) + n.latency_shared;
    }

    bool run_lsu() {
        if (lsu_free > now) return false;
        for (u32 i = 0; i < n.schedulers; i++) {
            Scheduler &s = schedulers[(lsu_turn + i) % n.schedulers];
            if (s.queue.empty() || s.address_free > now) continue;
            Request q = s.queue.front();
            s.queue.pop_front();
            s.leaving.push_back(now - 1 + kLeaves);
            s.address_free = now + n.partition_cycles;
            lsu_turn = (lsu_turn + i + 1) % n.schedulers;
            accept(q);
            return true;
        }
        return false;
    }

    // Greedy, then the youngest warp that can go.
    i64 choose(Scheduler &s) {
        if (s.soonest > now) return -1;
        const u32 open = open_pipes(s);
        const auto can_go = [&](size_t at) { return s.wakes[at] <= now && (open >> (u32)s.pipes[at] & 1u); };
        if (s.last >= 0 && can_go(seats[(size_t)s.last].at)) return s.last;
        u64 soonest = kNever;
        for (size_t i = s.warps.size(); i-- > 0;) {
            if (can_go(i)) return s.warps[i];
            soonest = std::min(soonest, s.wakes[i]);
        }
        s.soonest = soonest;
        return -1;
    }

    // An instruction that does not get its registers in time holds up all that come after it, those of other warps too.
    i64 pick(Scheduler &s) {
        const i64 chosen = choose(s);
        if (chosen < 0 || !n.bank_window) return chosen;
        const SimWarp &w = warps[(size_t)chosen];
        const StaticStep &x = program[w.trace->steps[w.step] & ~kTouchesMemory];
        return s.banks.late((u32)chosen, x, now, n.bank_window) ? -1 : chosen;
    }

    // A bit for each pipe that takes an instruction now.
    u32 open_pipes(const Scheduler &s) const {
        u32 open = 1u << (u32)Pipe::none;
        for (const Pipe pipe : {Pipe::fma, Pipe::fma_heavy, Pipe::alu, Pipe::sfu, Pipe::fp64, Pipe::tensor})
            if (free_unit(pipe, s) >= 0) open |= 1u << (u32)pipe;
        return s.full(n.queue_depth) ? open : open | 1u << (u32)Pipe::memory;
    }

    void sample(const std::array<i64, 8> &picked) {
        for (u32 k = 0; k < n.schedulers; k++)
            for (u32 index : schedulers[k].warps) {
                const SimWarp &w = warps[index];
                if (w.done || !blocks[w.block].active) continue;
                Stall why = picked[k] == (i64)index ? Stall::selected : blocked(w, schedulers[k]);
                if (why == Stall::selected && picked[k] != (i64)index) why = Stall::not_selected;
                result.stalls[w.trace->steps[w.step] & ~kTouchesMemory][(size_t)why]++;
                result.samples++;
            }
    }

    // The next cycle at which something can change that anybody waits for.
    u64 next_event() const {
        u64 t = kNever;
        auto consider = [&](u64 when) {
            if (when > now) t = std::min(t, when);
        };
        for (const Scheduler &s : schedulers) {
            if (!s.leaving.empty()) consider(s.leaving.front());
            if (!s.queue.empty()) consider(std::max({lsu_free, s.address_free, now + 1}));
            for (const auto &pipe : s.pipe_free)
                for (u64 when : pipe) consider(when);
            if (std::max(s.banks.free[0], s.banks.free[1]) > now) consider(now + 1);
            if (s.soonest > now)
                consider(s.soonest);
            else
                for (u64 when : s.wakes) consider(when);
        }
        return t == kNever ? now + 1 : t;
    }

    SmResult run() {
        u64 next_sample = 0;
        while (finished < wanted && now < n.max_cycles) {
            for (Scheduler &s : schedulers)
                while (!s.leaving.empty() && s.leaving.front() <= now) s.leaving.pop_front();
            bool moved = run_lsu();
            std::array<i64, 8> picked;
            picked.fill(-1);
            for (u32 k = 0; k < n.schedulers; k++) picked[k] = pick(schedulers[k]);
            if (now >= next_sample) {
                sample(picked);
                next_sample = now + kSampleEvery;
            }
            for (u32 k = 0; k < n.schedulers; k++)
                if (picked[k] >= 0) {
                    issue((u32)picked[k], schedulers[k]);
                    schedulers[k].last = picked[k];
                    moved = true;
                }
            if (moved)
                now++;
            else {
                u64 t = next_event();
                if (next_sample < t) t = std::max(now + 1, next_sample);  // idle cycles are sampled too
                now = t;
            }
        }
        result.cycles = now;
        for (u64 end : result.block_end) result.cycles = std::max(result.cycles, end);
        return std::move(result);
    }
};

}  // namespace

SmResult simulate_sm(const Traces &traces, const std::vector<StaticStep> &program, const SmNumbers &numbers) {
    return Sm(traces, program, numbers).run();
}

}  // namespace warpsight
