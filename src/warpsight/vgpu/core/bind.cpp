// The Python face of the core: load a program, lay out memory, launch. Arrays are borrowed; the caller keeps them alive
// during a launch.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "machine.hpp"
#include "sm.hpp"
#include "what_if.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace warpsight {
namespace {

constexpr u64 kTurn = 64;  // ticks of a warp, where blocks take turns as they do on a GPU

const char *kFaultNames[] = {"out_of_bounds",
                             "misaligned",
                             "uninitialised_read",
                             "write_to_const",
                             "shared_race",
                             "global_race",
                             "barrier_divergence",
                             "deadlock",
                             "endless_loop",
                             "deadline",
                             "assert_failed",
                             "trap",
                             "stack_overflow",
                             "warp_sync_divergence",
                             "bad_jump",
                             "interrupted",
                             "shuffle_outside_mask",
                             "launch_too_large"};
const char *kWhyNames[] = {"", "skipped", "returned", "elsewhere", "loops", "polls", "used"};

using Bytes = nb::ndarray<u8, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Array = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
std::vector<T> to_vector(const Array<T> &a) {
    return {a.data(), a.data() + a.size()};
}

using PyGuard = std::tuple<i32, bool, std::vector<i32>, std::vector<i32>>;

struct PyMemory {
    Memory memory;
    std::unordered_map<u64, Bytes> keep;  // by where they begin
};

struct PyTraces {
    Traces blocks;
};

struct PyProgram {
    std::unique_ptr<Program> program;
    i32 unsupported;
};

bool signal_pending() {
    nb::gil_scoped_acquire gil;
    return PyErr_CheckSignals() != 0;
}

nb::dict fault_record(const Fault &f) {
    nb::dict d;
    d["kind"] = kFaultNames[(int)f.kind];
    d["pc"] = f.pc;
    d["thread"] = f.thread;
    d["block"] = f.block;
    d["address"] = f.address;
    d["other_pc"] = f.other_pc;
    d["other_thread"] = f.other_thread;
    d["other_block"] = f.other_block;
    d["count"] = f.count;
    d["is_write"] = f.is_write;
    d["size"] = f.size;
    d["text"] = nb::bytes(f.text.data(), f.text.size());
    d["why"] = kWhyNames[(int)f.why];
    d["seen_pc"] = f.seen_pc;
    d["rounds"] = f.rounds;
    return d;
}

// Columns of the table of instructions: pipe, kind, stall, write_bar, read_bar, wait_mask, path, keep_groups,
// latency, interval, three operands, line of code.
constexpr int kColumns = 14;
using StepTable = nb::ndarray<const u16, nb::shape<-1, kColumns>, nb::c_contig, nb::device::cpu>;

std::vector<StaticStep> to_steps(const StepTable &table) {
    std::vector<StaticStep> steps(table.shape(0));
    for (size_t i = 0; i < steps.size(); i++) {
        const u16 *r = table.data() + kColumns * i;
        if (r[0] >= (u16)Pipe::count || r[1] > (u16)StepKind::sleep || r[6] > (u16)Path::read_only)
            throw nb::value_error("unknown pipe, kind or path");
        steps[i] = {
            (Pipe)r[0], (StepKind)r[1],        (u8)r[2], (u8)r[3], (u8)r[4], (u8)r[5], (Path)r[6], (u8)r[7], r[8],
            r[9],       {r[10], r[11], r[12]}, r[13]};
    }
    return steps;
}

nb::dict launch(PyProgram &p, PyMemory &memory, std::tuple<u32, u32, u32> grid, std::tuple<u32, u32, u32> block,
                u32 shared_bytes, u32 dynamic_shared_bytes, u32 local_bytes, nb::bytes params, nb::bytes const_data,
                std::vector<u64> blocks, bool check, bool count, int cores, u64 max_instructions,
                double deadline_seconds, u64 heap_base, u64 heap_bytes, u64 heap_used, u64 max_trace_steps,
                std::vector<u64> traced, std::optional<StepTable> watched, u64 concurrent, u64 round_trip,
                u32 swap_passes, bool last_warp_first, std::vector<u64> waves) {
    Launch l(*p.program, memory.memory);
    LaunchOptions &o = l.options;
    std::tie(o.grid[0], o.grid[1], o.grid[2]) = grid;
    std::tie(o.block[0], o.block[1], o.block[2]) = block;
    u64 threads = (u64)o.block[0] * o.block[1] * o.block[2];
    if (!threads || threads > 1024) throw nb::value_error("a block has 1 to 1024 threads");
    o.shared_bytes = shared_bytes, o.dynamic_shared_bytes = dynamic_shared_bytes, o.local_bytes = local_bytes;
    o.params.assign((const u8 *)params.c_str(), (const u8 *)params.c_str() + params.size());
    o.const_data.assign((const u8 *)const_data.c_str(), (const u8 *)const_data.c_str() + const_data.size());
    if (!o.grid[0] || o.grid[0] > 0x7fffffffu || !o.grid[1] || o.grid[1] > 65535 || !o.grid[2] || o.grid[2] > 65535 ||
        o.block[2] > 64)
        throw nb::value_error("grid or block is outside the limits of CUDA");
    u64 total = (u64)o.grid[0] * o.grid[1] * o.grid[2];
    for (u64 b : blocks)
        if (b >= total) throw nb::value_error("a chosen block lies outside the grid");
    o.blocks = std::move(blocks);
    o.check = check, o.count = count, o.cores = cores, o.max_instructions = max_instructions,
    o.deadline_seconds = deadline_seconds;
    o.heap_base = heap_base, o.heap_bytes = heap_bytes, o.heap_used = std::min(heap_used, heap_bytes);
    o.trace = max_trace_steps > 0, o.max_trace_steps = max_trace_steps;
    o.traced = std::move(traced);
    o.watch = watched.has_value();
    if (o.watch) {
        if (watched->shape(0) != p.program->code.size())
            throw nb::value_error("a watched launch needs the row of every instruction");
        for (const StaticStep &x : to_steps(*watched)) {
            o.pipe_clocks.push_back(x.interval);
            o.held_clocks.push_back(held_clocks(x));
        }
    }
    o.swap_passes = swap_passes, o.round_trip = round_trip, o.last_warp_first = last_warp_first;
    if (concurrent) o.concurrent = concurrent, o.quantum = kTurn;
    if (waves.size() > kMostWaves || !std::is_sorted(waves.begin(), waves.end()))
        throw nb::value_error("at most 31 waves are watched, the first of them first");
    o.waves = std::move(waves);
    LaunchResult r;
    {
        nb::gil_scoped_release free;
        r = run_launch(l, signal_pending);
    }
    if (PyErr_Occurred()) throw nb::python_error();
    nb::dict d;
    auto *raw = new std::vector<Counts>(std::move(r.counts));
    nb::capsule owner(raw, [](void *q) noexcept { delete (std::vector<Counts> *)q; });
    d["counts"] = nb::ndarray<nb::numpy, u64>(raw->data(), {raw->size(), (size_t)kCounters}, owner);
    nb::list faults;
    for (const Fault &f : r.faults) faults.append(fault_record(f));
    d["faults"] = faults;
    d["output"] = nb::bytes(r.output.data(), r.output.size());
    d["blocks_run"] = r.blocks_run;
    d["warp_instructions"] = r.warp_instructions;
    d["heap_used"] = r.heap_used;
    d["cores_used"] = r.cores_used;
    auto *work = new std::vector<BlockWork>(std::move(r.work));
    nb::capsule work_owner(work, [](void *q) noexcept { delete (std::vector<BlockWork> *)q; });
    d["work"] = nb::ndarray<nb::numpy, u64>(work->data(), {work->size(), (size_t)kWorks}, work_owner);
    nb::list by_wave;
    for (const WaveSectors &one : r.waves)
        by_wave.append(nb::make_tuple(std::vector<u64>(one.loaded.begin(), one.loaded.end()), one.stored));
    d["waves"] = by_wave;
    d["loaded_sectors"] = r.loaded_sectors, d["stored_sectors"] = r.stored_sectors;
    d["hottest_atomic"] = r.hottest_atomic, d["failed_polls"] = r.failed_polls;
    d["excused_swaps"] = std::vector<std::pair<i32, u64>>(r.excused_swaps.begin(), r.excused_swaps.end());
    d["traces"] = nb::cast(new PyTraces{std::move(r.traces)}, nb::rv_policy::take_ownership);
    return d;
}

// Runs a straight line of instructions on one warp with given rows: what tests of single operations need.
void run_lanes(PyProgram &p, nb::ndarray<u32, nb::ndim<2>, nb::c_contig, nb::device::cpu> rows_in,
               nb::ndarray<u32, nb::ndim<1>, nb::c_contig, nb::device::cpu> preds, u32 mask) {
    Memory none;
    Launch l(*p.program, none);
    for (int i = 0; i < 3; i++) l.options.grid[i] = l.options.block[i] = 1;
    l.options.block[0] = kLanes;
    l.total_blocks = 1;
    l.end = std::chrono::steady_clock::now() + std::chrono::hours(1);
    std::vector<u32> consts(p.program->consts.size() * kLanes + 64);
    char *aligned = (char *)(((size_t)consts.data() + 127) / 128 * 128);
    for (size_t i = 0; i < p.program->consts.size(); i++)
        for (int k = 0; k < kLanes; k++) ((u32 *)aligned)[i * kLanes + (size_t)k] = p.program->consts[i];
    l.const_rows = aligned;
    if (rows_in.shape(0) != p.program->n_rows || rows_in.shape(1) != (size_t)kLanes ||
        preds.shape(0) != p.program->n_preds)
        throw nb::value_error("rows or predicates of the wrong shape");
    Core core(*p.program);
    std::string text;
    Block b(l, core);
    b.output = &text;
    b.start(0);
    Warp &w = b.warps[0];
    std::memcpy(w.base[0], rows_in.data(), (size_t)p.program->n_rows * kRowBytes);
    std::memcpy(w.preds, preds.data(), preds.shape(0) * 4);
    w.preds[0] = kFull;
    w.alive = mask;
    b.alive = (u32)__builtin_popcount(mask);
    try {
        while (!b.run_turn()) {
        }
    } catch (const Stop &) {
        throw nb::value_error(("fault: " + std::string(kFaultNames[(int)l.faults[0].kind])).c_str());
    }
    std::memcpy(rows_in.data(), w.base[0], (size_t)p.program->n_rows * kRowBytes);
    std::memcpy(preds.data(), w.preds, preds.shape(0) * 4);
}

nb::ndarray<nb::numpy, u32> dispatch_blocks(Array<double> clocks, u32 multiprocessors, u32 resident) {
    if (!multiprocessors || !resident) throw nb::value_error("no place for a block");
    auto *where = new std::vector<u32>(dispatch(clocks.data(), clocks.size(), multiprocessors, resident));
    nb::capsule owner(where, [](void *q) noexcept { delete (std::vector<u32> *)q; });
    return nb::ndarray<nb::numpy, u32>(where->data(), {where->size()}, owner);
}

SmNumbers to_numbers(const nb::dict &d) {
    SmNumbers n;
    auto get = [&](const char *name, auto &slot) { slot = nb::cast<std::remove_reference_t<decltype(slot)>>(d[name]); };
    get("schedulers", n.schedulers), get("fma_units", n.fma_units), get("queue_depth", n.queue_depth),
        get("address_cycles", n.address_cycles);
    get("shuffle_cycles", n.shuffle_cycles), get("latency_shared", n.latency_shared), get("latency_l1", n.latency_l1),
        get("latency_l2", n.latency_l2);
    get("latency_dram", n.latency_dram), get("latency_barrier", n.latency_barrier),
        get("latency_constant", n.latency_constant), get("latency_shuffle", n.latency_shuffle);
    get("latency_async", n.latency_async), get("barrier_cycles", n.barrier_cycles),
        get("partition_cycles", n.partition_cycles);
    get("wavefront_cycles", n.wavefront_cycles), get("register_cycles", n.register_cycles),
        get("l1_bytes_per_clock", n.l1_bytes_per_clock);
    get("port_bytes", n.port_bytes), get("l1_bytes", n.l1_bytes), get("l2_miss", n.l2_miss),
        get("resident_blocks", n.resident_blocks);
    get("constant_l1_bytes", n.constant_l1_bytes), get("constant_l15_bytes", n.constant_l15_bytes),
        get("latency_constant_l15", n.latency_constant_l15);
    get("clocks_per_ns", n.clocks_per_ns);
    get("blocks", n.blocks), get("max_cycles", n.max_cycles), get("least_blocks", n.least_blocks);
    get("store_miss", n.store_miss), get("l2_bytes_per_clock", n.l2_bytes_per_clock),
        get("dram_bytes_per_clock", n.dram_bytes_per_clock), get("local_allocates", n.local_allocates);
    get("bank_window", n.bank_window), get("partial_sectors", n.partial_sectors), get("atomic_clocks", n.atomic_clocks);
    get("read_only_sectors", n.read_only_sectors), get("split_clocks", n.split_clocks);
    get("split_sector_clocks", n.split_sector_clocks);
    get("code_l0_bytes", n.code_l0_bytes), get("code_l1_bytes", n.code_l1_bytes), get("code_ahead", n.code_ahead),
        get("code_line_cycles", n.code_line_cycles);
    get("settle", n.settle), get("move_replayed", n.move_replayed);
    get("free_lsu", n.free_lsu), get("free_tags", n.free_tags), get("free_banks", n.free_banks);
    if (!n.schedulers || n.schedulers > 8 || !n.resident_blocks || !n.blocks || !n.port_bytes || !n.fma_units ||
        n.fma_units > 2)
        throw nb::value_error("numbers of the multiprocessor out of range");
    return n;
}

nb::dict simulate(const PyTraces &t, StepTable table, nb::dict numbers) {
    if (t.blocks.empty()) throw nb::value_error("no traced blocks");
    auto steps = to_steps(table);
    SmNumbers n = to_numbers(numbers);
    SmResult r;
    {
        nb::gil_scoped_release free;
        r = simulate_sm(t.blocks, steps, n);
    }
    nb::dict d;
    d["cycles"] = r.cycles, d["issued"] = r.issued, d["lsu_busy"] = r.lsu_busy, d["samples"] = r.samples;
    d["pipe_busy"] = std::vector<u64>(r.pipe_busy.begin(), r.pipe_busy.end());
    d["l1_hits"] = r.l1_hits, d["l1_misses"] = r.l1_misses, d["load_sectors"] = r.load_sectors;
    d["store_sectors"] = r.store_sectors, d["atomic_sectors"] = r.atomic_sectors;
    d["constant_misses"] = r.constant_misses;
    d["code_sectors"] = r.code_sectors;
    d["local_hits"] = r.local_hits, d["local_misses"] = r.local_misses;
    d["block_end"] = r.block_end;
    auto *raw = new std::vector<std::array<u64, kStalls>>(std::move(r.stalls));
    nb::capsule owner(raw, [](void *q) noexcept { delete (std::vector<std::array<u64, kStalls>> *)q; });
    d["stalls"] = nb::ndarray<nb::numpy, u64>(raw->data(), {raw->size(), (size_t)kStalls}, owner);
    return d;
}

}  // namespace

NB_MODULE(_core, m) {
    nb::class_<PyProgram>(m, "Program")
        .def_ro("unsupported", &PyProgram::unsupported,
                "index of the first instruction that the core cannot run, or -1")
        .def_prop_ro("n_instructions", [](const PyProgram &p) { return p.program->code.size(); });
    nb::class_<PyMemory>(m, "Memory")
        .def(nb::init<>())
        .def(
            "add",
            [](PyMemory &self, u64 base, Bytes data, bool writable, bool initialised) {
                auto &all = self.memory.allocations;
                if (!all.empty() && base < all.back().base + all.back().size)
                    throw nb::value_error("allocations must be added in ascending order");
                Allocation a{base, data.size(), (char *)data.data(), writable, {}, {}};
                if (!initialised) a.initialised.assign((data.size() + 63) / 64, 0);
                all.push_back(std::move(a));
                self.keep.insert({base, data});
            },
            "base"_a, "data"_a, "writable"_a = true, "initialised"_a = true)
        .def("unwritten",
             [](const PyMemory &self, size_t i) {
                 const Allocation &a = self.memory.allocations.at(i);
                 u64 count = 0, first = 0;
                 for (size_t word = 0; word < a.initialised.size(); word++) {
                     const u64 left = a.size - 64 * word, all = left >= 64 ? ~0ull : (1ull << left) - 1;
                     const u64 missing = all & ~a.initialised[word];
                     if (missing && !count) first = 64 * word + (u64)__builtin_ctzll(missing);
                     count += (u64)__builtin_popcountll(missing);
                 }
                 return std::make_tuple(count, first);
             })
        .def(
            "insert",
            [](PyMemory &self, u64 base, Bytes data, bool writable, bool initialised) {
                Allocation a{base, data.size(), (char *)data.data(), writable, {}, {}};
                if (!initialised) a.initialised.assign((data.size() + 63) / 64, 0);
                insert_allocation(self.memory, std::move(a));
                self.keep.insert({base, data});
            },
            "base"_a, "data"_a, "writable"_a = true, "initialised"_a = true)
        .def("remove",
             [](PyMemory &self, u64 base) {
                 remove_allocation(self.memory, base);
                 self.keep.erase(base);
             })
        .def("mark", [](PyMemory &self, u64 address, u64 bytes) { mark_written(self.memory, address, bytes); })
        .def("copy_marks",
             [](PyMemory &self, u64 to, u64 from, u64 bytes) { copy_marks(self.memory, to, from, bytes); })
        .def("digest",
             [](const PyMemory &self, u64 base, u64 bytes) {
                 std::array<u64, 8> found;
                 {
                     nb::gil_scoped_release free;
                     found = digest(self.memory, base, bytes);
                 }
                 return nb::bytes((const char *)found.data(), sizeof found);
             })
        .def("touched",
             [](PyMemory &self) {
                 std::vector<std::pair<u64, bool>> found;
                 for (Allocation &a : self.memory.allocations) {
                     if (a.was_read || a.was_written) found.emplace_back(a.base, a.was_written);
                     a.was_read = a.was_written = 0;
                 }
                 return found;
             })
        .def("writers", [](const PyMemory &self, size_t i) { return self.memory.allocations.at(i).writers; });
    m.def(
        "load",
        [](nb::bytes code, Array<i32> lists, Array<i32> tables, Array<u32> consts, Array<i32> functions, u32 n_rows,
           u32 n_preds, bool order_sensitive, Array<u32> slots, std::vector<PyGuard> guards,
           const std::vector<std::pair<i32, i32>> &facing) {
            auto p = std::make_unique<PyProgram>();
            try {
                p->program = load_program((const u8 *)code.c_str(), code.size() / 56, to_vector(lists),
                                          to_vector(tables), to_vector(consts), to_vector(functions), n_rows, n_preds,
                                          order_sensitive, &p->unsupported);
                for (size_t i = 0; i + 1 < slots.size(); i += 2)
                    p->program->slots.push_back({slots.data()[i], slots.data()[i + 1]});
                p->program->facing.insert(facing.begin(), facing.end());
                for (auto &[pc, rejoins, toward, barriers] : guards) {
                    p->program->guards.push_back({pc, rejoins, std::move(toward), std::move(barriers)});
                    p->program->code.at((size_t)pc).watch = (u32)p->program->guards.size();
                }
            } catch (const std::invalid_argument &e) {
                throw nb::value_error(e.what());
            }
            return p;
        },
        "code"_a, "lists"_a, "tables"_a, "consts"_a, "functions"_a, "n_rows"_a, "n_preds"_a, "order_sensitive"_a,
        "slots"_a, "guards"_a, "facing"_a);
    m.def("launch", &launch, "program"_a, "memory"_a, "grid"_a, "block"_a, "shared_bytes"_a, "dynamic_shared_bytes"_a,
          "local_bytes"_a, "params"_a, "const_data"_a, "blocks"_a, "check"_a, "count"_a, "cores"_a,
          "max_instructions"_a, "deadline_seconds"_a, "heap_base"_a = 0, "heap_bytes"_a = 0, "heap_used"_a = 0,
          "max_trace_steps"_a = 0, "traced"_a = std::vector<u64>(), "watched"_a = nb::none(), "concurrent"_a = 0,
          "round_trip"_a = 64, "swap_passes"_a = 1, "last_warp_first"_a = false, "waves"_a = std::vector<u64>());
    nb::class_<PyTraces>(m, "Traces")
        .def_prop_ro("steps",
                     [](const PyTraces &t) {
                         u64 n = 0;
                         for (const auto &b : t.blocks)
                             for (const WarpTrace &w : b->warps) n += w.steps.size();
                         return n;
                     })
        .def_prop_ro("blocks", [](const PyTraces &t) { return t.blocks.size(); })
        .def("chosen",
             [](const PyTraces &t, const std::vector<size_t> &which) {
                 auto some = std::make_unique<PyTraces>();
                 for (size_t i : which) some->blocks.push_back(t.blocks.at(i));
                 return some;
             })
        .def("changed",
             [](const PyTraces &t, std::vector<u16> keep, std::vector<u16> ideal, u32 split) {
                 if (!split || keep.size() != ideal.size()) throw nb::value_error("change of traces out of range");
                 for (const auto &b : t.blocks)
                     for (const WarpTrace &w : b->warps)
                         for (u32 step : w.steps)
                             if ((step & ~kTouchesMemory) >= keep.size())
                                 throw nb::value_error("a step of another program");
                 auto some = std::make_unique<PyTraces>();
                 some->blocks = changed_traces(t.blocks, {std::move(keep), std::move(ideal), split});
                 return some;
             })
        .def("moved", [](const PyTraces &t, StepTable table) { return moved_by_kind(t.blocks, to_steps(table)); })
        .def("work",
             [](const PyTraces &t, StepTable table) {
                 const BlockWork sum = work_of(t.blocks, to_steps(table));
                 return std::vector<u64>(sum.begin(), sum.end());
             })
        .def("local_shares",
             [](const PyTraces &t, size_t instructions) { return local_shares(t.blocks, instructions); })
        .def("hottest_atomic",
             [](const PyTraces &t, StepTable table) { return hottest_atomic(t.blocks, to_steps(table)); })
        .def("footprints", [](const PyTraces &t, StepTable table, std::vector<u32> counts) {
            std::vector<std::tuple<u64, u64>> out;
            for (const Footprint &f : footprints(t.blocks, to_steps(table), counts))
                out.emplace_back(f.loaded, f.stored);
            return out;
        });
    m.def("end_launch", &end_launch);
    m.def("progress", [] {
        const Progress p = progress();
        return std::make_pair(p.begun, p.blocks);
    });
    m.def("dispatch", &dispatch_blocks, "clocks"_a, "multiprocessors"_a, "resident"_a);
    m.attr("STALLS") = kStalls;
    m.def("simulate", &simulate, "traces"_a, "table"_a, "numbers"_a);
    m.def("run_lanes", &run_lanes, "program"_a, "rows"_a, "preds"_a, "mask"_a);
    nb::list ops, counters;
#define OP(name, mix, signature, meaning) ops.append(#name);
#include "ops.def"
#undef OP
#define COUNTER(name, unit, meaning) counters.append(#name);
#include "counters.def"
#undef COUNTER
    m.attr("OPS") = ops;
    m.attr("COUNTERS") = counters;
}

}  // namespace warpsight
