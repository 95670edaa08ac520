"""How long a launch takes on a GPU: traces of a few blocks, a simulation of one SM over the real schedule, the grid.

Everything is simulated and no constant is fitted: rates, sizes and latencies come from the GPU's data sheet, what all
GPUs share from `constants.py`. The SM is simulated with as many blocks as fit on it at once; L2 and DRAM are pools
whose traffic is estimated from what neighbouring blocks touch. Not modelled: instruction cache, TLB, power and its
effect on the clock (the time at the base clock is given as well).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpsight.errors import DeviceError
from warpsight.vgpu import schedule
from warpsight.vgpu.bytecode import Program
from warpsight.vgpu.constants import PUBLISHED, Constants
from warpsight.vgpu.gpu import Gpu
from warpsight.vgpu.machine import Launched
from warpsight.vgpu.occupancy import Occupancy, occupancy

LAUNCH_OVERHEAD_US = PUBLISHED.launch_us
NEIGHBOURS = 8
FAR_BLOCKS = 4  # enough to tell whether blocks that lie apart share what they touch
STEP_BUDGET = 1_500_000
WAVES = 3
TERMS = (
    "load/store cycles",
    "tag passes",
    "bank conflicts",
    "address cycles",
    "memory latency",
    "stall counts",
    "barriers",
    "register occupancy",
    "L2 and DRAM bandwidth",
    "tail",
)
"""What `predict` can leave out."""

Tracer = Callable[[Sequence[int], int], Launched]
"""Runs the chosen blocks with tracing on; the second argument is the most steps to keep of a warp."""


@dataclass(frozen=True)
class Prediction:
    """A simulated time (at the boost clock, and at the base clock) and where it goes.

    `shares` says how much of the time each resource was taken; `bound` names the busiest, or latency when none is busy.
    `totals` is the work of the whole launch as the traced blocks foretell it: to be held against what it really does.
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
    totals: dict[str, float]
    notes: tuple[str, ...] = ()


def predict(
    program: Program,
    gpu: Gpu,
    trace: Tracer,
    *,
    total_blocks: int,
    threads: int,
    registers: int,
    shared_bytes: int,
    array_bytes: int,
    step_budget: int = STEP_BUDGET,
    without: Sequence[str] = (),
    constants: Constants = PUBLISHED,
) -> Prediction:
    """The simulated time of one launch. `without` leaves terms out (see TERMS), to show what each contributes."""
    table = schedule.step_table(program, gpu, constants, without=without)
    fits = occupancy(gpu, threads, 0 if "register occupancy" in without else registers, shared_bytes)
    per_sm = -(-total_blocks // gpu.sms)
    resident = max(1, min(fits.blocks_per_sm, per_sm))
    wanted = min(per_sm, WAVES * resident)

    near = _traced(trace, range(min(NEIGHBOURS, total_blocks)), step_budget, threads)
    # Blocks that are on the SM together are all traced, shorter if need be: what they share decides what L1 holds.
    distinct = min(wanted, max(resident, step_budget // max(1, near.steps // near.blocks)))
    sparse = [k * gpu.sms for k in range(distinct) if k * gpu.sms < total_blocks]
    chosen = list(range(distinct)) if program.order_sensitive else sparse
    own = near if chosen == list(range(near.blocks)) else _traced(trace, chosen, step_budget, threads)
    far = own if own.blocks >= FAR_BLOCKS and own is not near else _far(trace, near, total_blocks, step_budget, threads)
    reach = _reach(near, far, table, array_bytes / 32)

    numbers = _numbers(gpu, constants, resident, shared_bytes, without)
    first = simulate(own.traces, table, numbers | {"blocks": resident, "l2_miss": 0.5})
    misses_per_block = own.stretch * first["l1_misses"] / resident
    l2_miss = _l2_miss(gpu, reach, near.stretch, misses_per_block, total_blocks, resident)
    run = simulate(own.traces, table, numbers | {"blocks": wanted, "l2_miss": l2_miss})

    sm_cycles = own.stretch * _whole_sm(run["block_end"], resident, wanted, per_sm, tail="tail" not in without)
    # The pace of a few blocks can promise more than a pipe can do: no part is busy for longer than the SM.
    sm_cycles *= max(1.0, *_busy(run, gpu, own.stretch * per_sm / wanted / max(1.0, sm_cycles)).values())
    scale = own.stretch * total_blocks / wanted
    load_misses, stores = run["l1_misses"] * scale, run["store_sectors"] * scale
    l2_bytes = 32.0 * (load_misses + stores + run["atomic_sectors"] * scale)
    dram_bytes = 32.0 * (load_misses * l2_miss + min(stores, near.stretch * reach.stored(total_blocks)))
    meeting = near.stretch * near.traces.hottest_atomic(table) * total_blocks / near.blocks
    hot = meeting * schedule.atomic_clocks(program, constants)
    pools = {"L2 bandwidth": l2_bytes / gpu.l2_bytes_per_clock, "atomics on one address": hot}
    if "L2 and DRAM bandwidth" in without:
        pools, dram_bytes = dict.fromkeys(pools, 0.0), 0.0

    def at(mhz: float) -> tuple[float, dict[str, float]]:
        """Cycles at a core clock (DRAM keeps its own), and the time each pool needs."""
        needed = pools | {"DRAM bandwidth": dram_bytes / (gpu.dram_gb_per_s * 1e3 / mhz)}
        return max(sm_cycles, *needed.values()), needed

    cycles, needed = at(gpu.boost_mhz)
    busy = _busy(run, gpu, own.stretch * per_sm / wanted / max(1.0, sm_cycles))
    shares = {name: share * sm_cycles / cycles for name, share in busy.items()}
    shares |= {name: value / cycles for name, value in needed.items()}
    bound = max(shares, key=lambda name: shares[name])
    stalls = np.asarray(run["stalls"], dtype=np.uint64)
    samples = max(1, int(stalls.sum()))
    return Prediction(
        gpu=gpu.key,
        cycles=cycles,
        time_us=cycles / gpu.boost_mhz + constants.launch_us,
        time_us_base=at(gpu.base_mhz)[0] / gpu.base_mhz + constants.launch_us,
        occupancy=fits,
        bound=bound if shares[bound] >= constants.bound_share else "latency",
        shares={k: round(v, 4) for k, v in sorted(shares.items(), key=lambda item: -item[1])},
        sm_cycles=sm_cycles,
        l1_hit_rate=run["l1_hits"] / max(1, run["l1_hits"] + run["l1_misses"]),
        l2_miss_share=l2_miss,
        l2_bytes=l2_bytes,
        dram_bytes=dram_bytes,
        waves=per_sm / resident,
        issued_per_cycle=run["issued"] / max(1, run["cycles"]),
        stalls=stalls,
        stall_share={name: round(float(stalls[:, i].sum()) / samples, 4) for i, name in enumerate(schedule.STALLS)},
        simulated_cycles=int(run["cycles"]),
        totals=_totals(run, scale),
        notes=_notes(own, wanted),
    )


@dataclass(frozen=True)
class _Traced:
    """Blocks that were traced; `stretch` is how much longer a block is than what was kept of it."""

    traces: Any
    blocks: int
    steps: int
    stretch: float


def _traced(trace: Tracer, blocks: Sequence[int], budget: int, threads: int) -> _Traced:
    warps = -(-threads // schedule.WARP)
    done = trace(blocks, max(256, budget // (warps * len(blocks))))
    if done.faults:
        raise DeviceError(f"the kernel faulted while it was traced: {done.faults[0].message}")
    visible = int(done.counts[:, 0].sum())
    return _Traced(done.traces, len(blocks), visible, max(1.0, visible / max(1, done.traces.steps)))


def _notes(own: _Traced, wanted: int) -> tuple[str, ...]:
    notes: list[str] = []
    if own.blocks < wanted:
        notes.append(
            f"{own.blocks} blocks were traced; the SM runs them again in place of {wanted - own.blocks} others"
        )
    if own.stretch > 1.001:
        notes.append(f"only the first 1/{own.stretch:.1f} of each block was simulated; its pace is taken for the rest")
    return tuple(notes)


def simulate(traces: Any, table: NDArray[np.uint16], numbers: dict[str, Any]) -> dict[str, Any]:
    """One SM over the traces; the numbers are those of core/sm.hpp (SmNumbers)."""
    from warpsight.vgpu import _core

    return dict(_core.simulate(traces, table, numbers))


def _numbers(
    gpu: Gpu, constants: Constants, resident: int, shared_bytes: int, without: Sequence[str]
) -> dict[str, Any]:
    """What the simulation needs to know of the SM."""
    needed = resident * (shared_bytes + gpu.shared_reserved_bytes) if shared_bytes else 0
    carve_out = next((c for c in gpu.carve_outs_bytes if c >= needed), gpu.shared_per_sm_bytes)
    address = max(1, schedule.WARP // gpu.load_store_units)
    flat = "memory latency" in without
    return {
        "schedulers": gpu.schedulers,
        "fma_units": schedule.fma_units(gpu),
        "queue_depth": constants.queue_depth,
        "address_cycles": 1 if "address cycles" in without else address,
        # One in four clocks from a scheduler where the SM takes one in two: Huerta et al. (MICRO 2025), table 1.
        "partition_cycles": 1 if "address cycles" in without else 2 * address,
        "shuffle_cycles": address,
        "latency_shared": 4 if flat else gpu.latency_shared,
        "latency_l1": 4 if flat else gpu.latency_l1,
        "latency_l2": 30 if flat else gpu.latency_l2,
        "latency_dram": 30 if flat else gpu.latency_dram,
        "latency_async": min(gpu.latency_l1, 4) if flat else constants.async_copy_clocks,
        "latency_barrier": 1 if "barriers" in without else constants.barrier_clocks,
        "barrier_cycles": 0 if "barriers" in without else constants.barrier_warp_clocks,
        "latency_constant": constants.constant_clocks,
        "latency_shuffle": constants.shuffle_clocks,
        "port_bytes": gpu.l2_port_bytes,
        "l1_bytes": gpu.unified_bytes - carve_out,
        "resident_blocks": resident,
        "max_cycles": 1 << 34,
        "free_lsu": "load/store cycles" in without,
        "free_tags": "tag passes" in without,
        "free_banks": "bank conflicts" in without,
    }


@dataclass(frozen=True)
class _Growth:
    """Distinct sectors that `blocks` neighbours touch, and two ways to go on from there; the larger counts.

    Neighbours that share one part and each add their own: `slope` sectors a block. Neighbours that write parts of the
    same sectors (a stride of the grid's size) add nothing to one another, and yet the launch touches everything: of
    what a group touches, the next group touches the share `fresh` anew, as blocks that lie apart say.
    """

    blocks: int
    there: float
    slope: float
    fresh: float

    def at(self, n: float) -> float:
        more = max(self.slope * (n - self.blocks), self.there * self.fresh * (n / self.blocks - 1.0))
        return max(0.0, self.there + more)


@dataclass(frozen=True)
class _Reach:
    """Distinct sectors that n neighbouring blocks touch, no more than the arrays have: `most` sectors."""

    most: float
    loads: _Growth
    stores: _Growth

    def loaded(self, n: float) -> float:
        return min(self.most, self.loads.at(n))

    def stored(self, n: float) -> float:
        return min(self.most, self.stores.at(n))


def _reach(near: _Traced, far: _Traced, table: NDArray[np.uint16], most: float) -> _Reach:
    half = max(1, near.blocks // 2)
    before, after = _ends(near, table, half)
    one, apart = _ends(far, table, 1)

    def growth(kind: int) -> _Growth:
        slope = (after[kind] - before[kind]) / max(1, near.blocks - half)
        added = (apart[kind] - one[kind]) / max(1, far.blocks - 1)
        return _Growth(near.blocks, after[kind], slope, min(1.0, added / one[kind]) if one[kind] else 0.0)

    return _Reach(most, growth(0), growth(1))


def _ends(traced: _Traced, table: NDArray[np.uint16], some: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Sectors (loaded, stored) that `some` of the blocks touch, and that all of them touch."""
    points = traced.traces.footprints(table, sorted({some, traced.blocks}))
    return points[0], points[-1]


def _far(trace: Tracer, near: _Traced, total_blocks: int, step_budget: int, threads: int) -> _Traced:
    """A few blocks spread over the launch, where that is more than the neighbours."""
    if total_blocks <= near.blocks:
        return near
    apart = (total_blocks - 1) // (FAR_BLOCKS - 1)
    return _traced(trace, [k * apart for k in range(FAR_BLOCKS)], step_budget, threads)


def _l2_miss(
    gpu: Gpu, reach: _Reach, stretch: float, misses_per_block: float, total_blocks: int, resident: int
) -> float:
    """The share of L1 misses that DRAM serves: what a wave (the launch, if it all fits) touches for the first time."""
    if not misses_per_block:
        return 0.0
    everything = min(reach.most, stretch * (reach.loaded(total_blocks) + reach.stored(total_blocks)))
    together = total_blocks if everything * 32 <= gpu.l2_bytes else min(total_blocks, gpu.sms * resident)
    touched = min(reach.most, stretch * reach.loaded(together))
    return min(1.0, touched / (misses_per_block * together))


def _whole_sm(ends: Sequence[int], resident: int, simulated: int, per_sm: int, *, tail: bool = True) -> float:
    """The time of all of an SM's blocks from those that were simulated.

    The pace is that of the second wave: the first starts cold, and in the last the blocks that are left have the SM to
    themselves.
    """
    done = sorted(ends)
    if per_sm <= simulated:
        return float(done[-1]) if tail else done[-1] * per_sm / (resident * -(-per_sm // resident))
    pace = (done[2 * resident - 1] - done[resident - 1]) / resident
    return done[-1] + pace * (per_sm - simulated)


def _totals(run: dict[str, Any], scale: float) -> dict[str, float]:
    """Warp instructions, sectors of global and local memory, and clocks of each pipe."""
    sectors = run["l1_hits"] + run["l1_misses"] + run["store_sectors"] + run["atomic_sectors"]
    p = schedule.Pipe
    pipes = {pipe.name.lower(): run["pipe_busy"][pipe] for pipe in p if pipe not in (p.NONE, p.MEMORY)}
    return {name: scale * value for name, value in {"instructions": run["issued"], "sectors": sectors, **pipes}.items()}


def _busy(run: dict[str, Any], gpu: Gpu, scale: float) -> dict[str, float]:
    """Share of the SM's time that each of its parts was taken; `scale` takes the simulated blocks to all of them."""
    pipes = run["pipe_busy"]
    units = schedule.fma_units(gpu)
    p = schedule.Pipe
    return {
        "issue slots": run["issued"] * scale / gpu.schedulers,
        "FP32/IMAD pipe": (pipes[p.FMA] + pipes[p.FMA_HEAVY]) * scale / gpu.schedulers / units,
        "integer pipe": pipes[p.ALU] * scale / gpu.schedulers,
        "special-function pipe": pipes[p.SFU] * scale / gpu.schedulers,
        "FP64 pipe": pipes[p.FP64] * scale / gpu.schedulers,
        "tensor pipe": pipes[p.TENSOR] * scale / gpu.schedulers,
        "load/store unit": run["lsu_busy"] * scale,
    }
