"""How long a launch takes on a GPU: traces of some blocks, a simulation of one SM over the real schedule, the grid.

Everything is simulated and no constant is fitted: rates, sizes and latencies come from the GPU's data sheet, what all
GPUs share from `constants.py`. `sample.py` says which blocks stand for the launch, and how many of each kind the SM
with most to do has; each kind is simulated with as many blocks as fit on an SM at once. L2 and DRAM are pools whose
traffic `reach.py` estimates. Not modelled: TLB, power and its effect on the clock (the time at the base
clock is given as well).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpsight.vgpu import sample, schedule
from warpsight.vgpu.bytecode import Program
from warpsight.vgpu.constants import PUBLISHED, Constants
from warpsight.vgpu.gpu import Gpu
from warpsight.vgpu.machine import Dim3
from warpsight.vgpu.occupancy import Occupancy, occupancy
from warpsight.vgpu.reach import CountedWaves, dram_share, local_share, reach_of
from warpsight.vgpu.sample import Grid, LaunchSample, Tracer
from warpsight.vgpu.simulated import (
    Simulated,
    add_up,
    code_sectors,
    load_misses,
    local_misses,
    sm_cycles_of,
    spread_of,
    stalls_of,
)
from warpsight.vgpu.what_if import WhatIf

LAUNCH_OVERHEAD_US = PUBLISHED.launch_us
STEP_BUDGET = 1_500_000
WHOLE_STEP_BUDGET = 4_000_000
WAVEFRONT_BYTES = 128
MOST_FILLINGS = 4  # times the fillings that are simulated at least, until the pace has settled
SETTLE_STEPS = 2_000_000  # simulated for that, at most
SETTLED = 0.01
MOST_SPREAD = 0.99
NEVER = (1 << 32) - 1
TERMS = (
    "load/store cycles",
    "tag passes",
    "bank conflicts",
    "address cycles",
    "shared and L1 bandwidth",
    "memory latency",
    "stall counts",
    "barriers",
    "register occupancy",
    "L2 and DRAM bandwidth",
    "tail",
    "settled pace",
    "ends of traces",
    "footprints in two directions",
    "bandwidth in the SM",
    "DRAM efficiency",
    "local memory",
    "register banks",
    "partial sectors",
    "read-only path",
    "split loads",
    "atomics by slice",
    "constant caches",
    "instruction cache",
)
"""What `predict` can leave out."""


@dataclass(frozen=True)
class PredictedTime:
    """A simulated time (at the boost clock, and at the base clock) and where it goes.

    `spread` is how far the samples of the launch are apart, as a share of the time: zero says that there was one.
    `failed_polls` counts how often a warp saw again what it waits for: what blocks wait for one another is not timed.
    `shares` says how much of the time each resource was taken; `bound` names the busiest, or latency when none is busy.
    """

    gpu: str
    cycles: float
    time_us: float
    time_us_base: float
    occupancy: Occupancy
    bound: str
    shares: dict[str, float]
    sm_cycles: float
    l1_hit_rate: float
    l2_miss_share: float
    l2_bytes: float
    dram_bytes: float
    waves: float
    issued_per_cycle: float
    stalls: NDArray[np.uint64]
    stall_share: dict[str, float]
    simulated_cycles: int
    spread: float
    failed_polls: int = 0
    notes: tuple[str, ...] = ()


def predict(
    program: Program,
    gpu: Gpu,
    run: Tracer,
    *,
    blocks: Dim3,
    threads: int,
    registers: int,
    shared_bytes: int,
    array_bytes: int,
    step_budget: int = STEP_BUDGET,
    without: Sequence[str] = (),
    constants: Constants = PUBLISHED,
    whole_seed: int | None = None,
    what_if: WhatIf | None = None,
) -> PredictedTime:
    """The simulated time of one launch. `without` leaves terms out (see TERMS), to show what each contributes.

    With `whole_seed`, `run` executes and watches the whole launch, and the seed says which blocks are traced; without,
    it executes the chosen blocks alone, and the time is a draft. `what_if` changes what was traced.
    """
    total_blocks = math.prod(blocks)
    changed = what_if or WhatIf()
    without = (*without, *changed.without)
    table = schedule.step_table(program, gpu, constants, without=without)
    fits = occupancy(gpu, threads, 0 if "register occupancy" in without else registers, shared_bytes)
    resident = max(1, min(changed.resident(fits.blocks_per_sm, threads, gpu), -(-total_blocks // gpu.sms)))
    grid = Grid(gpu, blocks, resident, -(-threads // schedule.WARP), step_budget, table)
    if whole_seed is None:
        taken = sample.draft(run, grid, in_order=program.order_sensitive)
    else:
        taken = sample.whole(run, grid, whole_seed)
    atomics = taken.moved.atomics
    taken, grid = changed.applied(taken, grid, table)
    table = changed.table(table, gpu)  # not before: what was traced is weighed as the launch was
    total_blocks, resident = grid.total, grid.resident
    done = taken.whole
    wave = min(total_blocks, gpu.sms * resident)
    if done is not None:
        footprint = CountedWaves(done.loaded_sectors, done.stored_sectors, total_blocks / wave, done.waves)
    else:
        assert taken.near is not None
        footprint = reach_of(
            taken.near.traces, taken.near.patch, table,
            wave=wave, stretch=taken.near.stretch, array_bytes=array_bytes, stores=taken.moved.stores,
            flat="footprints in two directions" in without,
        )  # fmt: skip

    settles = "settled pace" not in without

    atomic_clocks = schedule.atomic_clocks(program, constants)
    none = (0.0, 0.0)
    reloaded, spilled = none if "local memory" in without else local_share(gpu, program.local_bytes, threads, resident)
    stores = taken.moved.stores - taken.moved.local_stores
    written = min(stores, footprint.stores) + spilled * taken.moved.local_stores
    active = total_blocks / grid.per_sm  # an SM with more blocks than others has their part when they are done

    def simulated(l2_miss: float, waves: int) -> list[Simulated]:
        found: list[Simulated] = []
        for part in taken.parts:
            resident = max(1, min(grid.resident, part.on_sm))
            numbers = _numbers(gpu, constants, resident, shared_bytes, active, without)
            numbers |= {"l2_miss": l2_miss, "store_miss": min(1.0, written / max(1.0, taken.moved.stores))}
            numbers["atomic_clocks"] = 1.0 if "atomics by slice" in without else atomic_clocks
            least = max(1, min(part.on_sm, waves * resident))
            affordable = int(SETTLE_STEPS * sum(t.blocks for t in part.stretches) / max(1, part.steps))
            most = min(part.on_sm, MOST_FILLINGS * least, affordable) if settles and waves > 1 else least
            sizes = {"least_blocks": least if most > least else NEVER, "blocks": max(least, most)}
            done = tuple(
                simulate(traces, table, numbers | (sizes | {"blocks": traces.blocks} if part.exact else sizes))
                for traces in part.stretches
            )
            found.append(Simulated(part, done, resident))
        return found

    first = simulated(0.5, 1)
    misses, local = load_misses(first, taken), local_misses(first, taken)
    fetched = dram_share(gpu, footprint, misses - local) * (misses - local) + reloaded * local
    l2_miss = min(1.0, fetched / max(1.0, misses))
    runs = simulated(l2_miss, grid.waves)
    sm_cycles = taken.missed * sm_cycles_of(runs, grid, tail="tail" not in without)
    missed_sectors = load_misses(runs, taken)
    code = active * code_sectors(runs)
    l2_bytes = 32.0 * (missed_sectors + taken.moved.stores + taken.moved.atomics + code)
    dram_bytes = 32.0 * (missed_sectors * l2_miss + written)
    if done is not None:  # what is touched at all comes from DRAM once, or goes there
        dram_bytes = max(dram_bytes, 32.0 * (done.loaded_sectors + done.stored_sectors))
    hot = _hottest(taken, table, total_blocks) * atomic_clocks * (taken.moved.atomics / atomics if atomics else 1.0)
    whole_sectors = 1.0 if "partial sectors" in without else constants.partial_sectors
    l2_taken = l2_bytes + 32.0 * (whole_sectors - 1.0) * taken.moved.partial
    if "atomics by slice" not in without:  # at least what storing parts of the same sectors takes
        as_stores = (whole_sectors - 1.0) * taken.moved.atomic_partial
        in_turn = (atomic_clocks - 1.0) * taken.moved.atomics
        l2_taken += 32.0 * max(as_stores, in_turn)
    pools = {"L2 bandwidth": l2_taken / gpu.l2_bytes_per_clock, "atomics on one address": hot}
    if "L2 and DRAM bandwidth" in without:
        pools, dram_bytes = dict.fromkeys(pools, 0.0), 0.0

    def at(mhz: float) -> tuple[float, dict[str, float]]:
        """Cycles at a core clock (DRAM keeps its own), and the time each pool needs."""
        needed = pools | {"DRAM bandwidth": dram_bytes / (_dram_bytes_per_clock(gpu, mhz, without))}
        return max(sm_cycles, *needed.values()), needed

    cycles, needed = at(gpu.boost_mhz)
    busy = add_up(one.busy(gpu) for one in runs)
    shares = {name: taken.missed * clocks / cycles for name, clocks in busy.items()}
    shares |= {name: value / cycles for name, value in needed.items()}
    bound = max(shares, key=lambda name: shares[name])
    stalls = stalls_of(runs)
    samples = max(1, int(stalls.sum()))
    hits, missed = (sum(one.in_launch(what) for one in runs) for what in ("l1_hits", "l1_misses"))
    issued, spent = (sum(one.mean(what) * one.repeats for one in runs) for what in ("issued", "cycles"))
    return PredictedTime(
        gpu=gpu.key,
        cycles=cycles,
        time_us=cycles / gpu.boost_mhz + constants.launch_us,
        time_us_base=at(gpu.base_mhz)[0] / gpu.base_mhz + constants.launch_us,
        occupancy=fits,
        bound=bound if shares[bound] >= constants.bound_share else "latency",
        shares={k: round(v, 4) for k, v in sorted(shares.items(), key=lambda item: -item[1])},
        sm_cycles=sm_cycles,
        l1_hit_rate=hits / max(1, hits + missed),
        l2_miss_share=l2_miss,
        l2_bytes=l2_bytes,
        dram_bytes=dram_bytes,
        waves=grid.per_sm / resident,
        issued_per_cycle=issued / max(1, spent),
        stalls=stalls,
        stall_share={name: round(float(stalls[:, i].sum()) / samples, 4) for i, name in enumerate(schedule.STALLS)},
        simulated_cycles=sum(int(run["cycles"]) for one in runs for run in one.runs),
        spread=min(MOST_SPREAD, max(spread_of(runs, tail="tail" not in without), taken.drift)),
        failed_polls=0 if done is None else done.failed_polls,
        notes=taken.notes,
    )


def _dram_bytes_per_clock(gpu: Gpu, mhz: float, without: Sequence[str]) -> float:
    """What DRAM moves in a core clock: less than its data sheet says, as no copy reaches that."""
    return gpu.dram_bytes_per_clock(mhz) * (1.0 if "DRAM efficiency" in without else gpu.dram_efficiency)


def _hottest(taken: LaunchSample, table: NDArray[np.uint16], total_blocks: int) -> float:
    """Atomic passes at the sector that gets most: counted, or as the neighbours foretell."""
    if taken.whole is not None:
        return taken.whole.hottest_atomic
    assert taken.near is not None
    near = taken.near.traces
    return taken.near.stretch * near.hottest_atomic(table) * total_blocks / near.blocks


def simulate(traces: Any, table: NDArray[np.uint16], numbers: dict[str, Any]) -> dict[str, Any]:
    """One SM over the traces; the numbers are those of core/sm.hpp (SmNumbers)."""
    from warpsight.vgpu import _core

    return dict(_core.simulate(traces, table, numbers))


def _numbers(
    gpu: Gpu, constants: Constants, resident: int, shared_bytes: int, active: float, without: Sequence[str]
) -> dict[str, Any]:
    """What the simulation needs to know of the SM."""
    needed = resident * (shared_bytes + gpu.shared_reserved_bytes) if shared_bytes else 0
    carve_out = next((c for c in gpu.carve_outs_bytes if c >= needed), gpu.shared_per_sm_bytes)
    address = max(1, schedule.WARP // gpu.load_store_units)
    shared = not {"bandwidth in the SM", "L2 and DRAM bandwidth"} & set(without)
    flat, wide = "memory latency" in without, "shared and L1 bandwidth" in without
    return {
        "schedulers": gpu.schedulers,
        "fma_units": schedule.fma_units(gpu),
        "queue_depth": constants.queue_depth,
        "address_cycles": 1 if "address cycles" in without else address,
        # One in four clocks from a scheduler where the SM takes one in two: Huerta et al. (MICRO 2025), table 1.
        "partition_cycles": 1 if "address cycles" in without else 2 * address,
        "shuffle_cycles": address,
        # A pass moves 32 banks of 4 bytes; where the sheet has half of that per clock, it takes two.
        "wavefront_cycles": 1 if wide else max(1, WAVEFRONT_BYTES // gpu.shared_bytes_per_clock),
        "register_cycles": 1 if wide else max(1, WAVEFRONT_BYTES // (gpu.load_store_units * gpu.load_store_unit_bytes)),
        "l1_bytes_per_clock": 0 if wide else gpu.l1_bytes_per_clock,
        "latency_shared": 4 if flat else gpu.latency_shared,
        "latency_l1": 4 if flat else gpu.latency_l1,
        "latency_l2": 30 if flat else gpu.latency_l2,
        "latency_dram": 30 if flat else gpu.latency_dram,
        "latency_async": min(gpu.latency_l1, 4) if flat else constants.async_copy_clocks,
        "latency_barrier": 1 if "barriers" in without else constants.barrier_clocks,
        "barrier_cycles": 0 if "barriers" in without else constants.barrier_warp_clocks,
        "latency_constant": constants.constant_clocks,
        "latency_constant_l15": constants.constant_l15_clocks,
        "constant_l1_bytes": 0 if "constant caches" in without else constants.constant_l1_bytes,
        "constant_l15_bytes": gpu.constant_l15_bytes,
        "clocks_per_ns": gpu.boost_mhz / 1e3,
        "latency_shuffle": constants.shuffle_clocks,
        "port_bytes": gpu.l2_port_bytes,
        "l1_bytes": gpu.unified_bytes - carve_out,
        "resident_blocks": resident,
        "max_cycles": 1 << 34,
        "l2_bytes_per_clock": gpu.l2_bytes_per_clock / active if shared else 0.0,
        "dram_bytes_per_clock": _dram_bytes_per_clock(gpu, gpu.boost_mhz, without) / active if shared else 0.0,
        "bank_window": 0 if "register banks" in without else constants.bank_window_clocks,
        "partial_sectors": 1.0 if "partial sectors" in without else constants.partial_sectors,
        "read_only_sectors": "read-only path" not in without,
        "split_clocks": 0 if "split loads" in without else gpu.split_clocks,
        "split_sector_clocks": 0 if "read-only path" in without else gpu.split_sector_clocks,
        "code_l0_bytes": 0 if "instruction cache" in without or not gpu.code_l1_bytes else gpu.code_l0_bytes,
        "code_l1_bytes": gpu.code_l1_bytes,
        "code_ahead": constants.code_lines_ahead,
        "code_line_cycles": constants.code_line_clocks,
        "local_allocates": "local memory" not in without,
        "least_blocks": NEVER,
        "settle": SETTLED,
        "move_replayed": "ends of traces" not in without,
        "free_lsu": "load/store cycles" in without,
        "free_tags": "tag passes" in without,
        "free_banks": "bank conflicts" in without,
    }
