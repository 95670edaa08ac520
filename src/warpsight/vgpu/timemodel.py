"""How long a launch takes on a GPU: traces of a few blocks, a simulation of one SM over the real schedule, then the whole grid.

Everything is simulated and nothing is fitted to a kernel: rates, sizes and latencies come from the GPU's data sheet. The SM is
simulated with as many blocks as fit on it at once; L2 and DRAM are pools whose traffic is estimated from what neighbouring blocks touch.
Not modelled: instruction cache, TLB, power and its effect on the clock (a range over base..boost is given instead).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpsight.vgpu import schedule
from warpsight.vgpu.bytecode import Program
from warpsight.vgpu.gpu import Gpu
from warpsight.vgpu.machine import Launched
from warpsight.vgpu.occupancy import Occupancy, occupancy

LAUNCH_OVERHEAD_US = 3.0
PORT_BYTES = 64
QUEUE_DEPTH = 5
LATENCY_BARRIER = 20
LATENCY_CONSTANT = 30
NEIGHBOURS = 8
STEP_BUDGET = 6_000_000
WAVES = 3
ATOMIC_CYCLES = 1  # one atomic operation on an address each clock, at L2

Tracer = Callable[[Sequence[int], int], Launched]
"""Runs the chosen blocks with tracing on; the second argument is the most steps to keep of a warp."""


@dataclass(frozen=True)
class Prediction:
    """A simulated time and where it goes. Shares are of the busiest time; `bound` names the largest."""

    gpu: str
    cycles: float
    time_us: float
    time_us_base: float
    time_us_boost: float
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
    simulated_blocks: int
    simulated_steps: int
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
    without: Sequence[str] = (),
) -> Prediction:
    """The simulated time of one launch. `without` leaves terms out, for showing what each contributes."""
    table = schedule.step_table(program, gpu)
    fits = occupancy(gpu, threads, registers, shared_bytes)
    per_sm = -(-total_blocks // gpu.sms)
    resident = max(1, min(fits.blocks_per_sm, per_sm))
    notes: list[str] = []

    near = trace(range(min(NEIGHBOURS, total_blocks)), STEP_BUDGET)
    per_block = max(1, near.traces.steps // near.traces.blocks)
    reach = _growth(near.traces.footprints(table, _doublings(near.traces.blocks)), near.traces.blocks)

    wanted = min(per_sm, WAVES * resident)
    distinct = int(max(1, min(wanted, STEP_BUDGET // per_block)))
    ids = [k * gpu.sms for k in range(distinct) if k * gpu.sms < total_blocks] or [0]
    traces = trace(ids, STEP_BUDGET).traces
    if len(ids) < wanted:
        notes.append(f"{len(ids)} blocks traced, the SM runs them again for the other {wanted - len(ids)}")
    numbers = _numbers(gpu, fits, resident, wanted, shared_bytes, without)
    if numbers["max_steps_exceeded"]:
        notes.append("the trace was cut")
    del numbers["max_steps_exceeded"]

    first = _simulate(traces, table, {**numbers, "l2_miss": 0.5})
    misses_per_block = first["l1_misses"] / wanted
    l2_miss = _l2_miss(gpu, reach, misses_per_block, total_blocks, resident)
    run = _simulate(traces, table, {**numbers, "l2_miss": l2_miss})

    sm_cycles = _whole_sm(run["block_end"], resident, wanted, per_sm)
    scale = total_blocks / wanted
    stores, atomics = run["store_sectors"] * scale, run["atomic_sectors"] * scale
    load_misses = run["l1_misses"] * scale
    l2_bytes = 32.0 * (load_misses + stores + atomics)
    dram_bytes = 32.0 * (load_misses * l2_miss + min(stores, reach.stored(total_blocks)))
    if "l2" in without:
        l2_bytes = dram_bytes = 0.0
    clock = gpu.boost_mhz
    pools = {
        "L2 bandwidth": l2_bytes / gpu.l2_bytes_per_clock,
        "DRAM bandwidth": dram_bytes / (gpu.dram_gb_per_s * 1e3 / clock),
    }
    hot = near.traces.hottest_atomic(table) * total_blocks / near.traces.blocks * ATOMIC_CYCLES
    pools["atomics on one address"] = hot
    cycles = max(sm_cycles, *pools.values())
    busy = _busy(run, gpu, wanted, per_sm, sm_cycles)
    shares = {name: value / cycles for name, value in {**{k: v * sm_cycles for k, v in busy.items()}, **pools}.items()}
    bound = max(shares, key=lambda name: shares[name])
    if shares[bound] < 0.6:
        bound = "latency"
    base_cycles = max(sm_cycles, pools["L2 bandwidth"], hot, dram_bytes / (gpu.dram_gb_per_s * 1e3 / gpu.base_mhz))
    stalls = np.asarray(run["stalls"], dtype=np.uint64)
    samples = max(1, int(stalls.sum()))
    return Prediction(
        gpu=gpu.key,
        cycles=cycles,
        time_us=cycles / clock + LAUNCH_OVERHEAD_US,
        time_us_base=base_cycles / gpu.base_mhz + LAUNCH_OVERHEAD_US,
        time_us_boost=cycles / clock + LAUNCH_OVERHEAD_US,
        occupancy=fits,
        bound=bound,
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
        simulated_blocks=wanted,
        simulated_steps=int(traces.steps),
        notes=tuple(notes),
    )


def _simulate(traces: Any, table: NDArray[np.uint16], numbers: dict[str, Any]) -> dict[str, Any]:
    from warpsight.vgpu import _core

    return dict(_core.simulate(traces, table, numbers))


def _numbers(
    gpu: Gpu, fits: Occupancy, resident: int, blocks: int, shared_bytes: int, without: Sequence[str]
) -> dict[str, Any]:
    """What the simulation needs to know of the SM."""
    needed = resident * (shared_bytes + gpu.shared_reserved_bytes) if shared_bytes else 0
    carve_out = next((c for c in gpu.carve_outs_bytes if c >= needed), gpu.shared_per_sm_bytes)
    address = max(1, 32 // gpu.load_store_units)
    flat = "latency" in without
    return {
        "schedulers": gpu.schedulers,
        "fma_units": schedule.fma_units(gpu),
        "queue_depth": QUEUE_DEPTH,
        "address_cycles": 1 if "address" in without else address,
        "shuffle_cycles": address,
        "latency_shared": 4 if flat else gpu.latency_shared,
        "latency_l1": 4 if flat else gpu.latency_l1,
        "latency_l2": 30 if flat else gpu.latency_l2,
        "latency_dram": 30 if flat else gpu.latency_dram,
        "latency_barrier": 1 if "barrier" in without else LATENCY_BARRIER,
        "latency_constant": LATENCY_CONSTANT,
        "port_bytes": PORT_BYTES,
        "l1_bytes": gpu.unified_bytes - carve_out,
        "resident_blocks": resident,
        "blocks": blocks,
        "max_cycles": 1 << 34,
        "max_steps_exceeded": False,
    }


def _doublings(n: int) -> list[int]:
    return sorted({max(1, n // 2), n})


@dataclass(frozen=True)
class _Reach:
    """Distinct sectors that n neighbouring blocks touch, extrapolated by the growth seen in the traced ones."""

    blocks: int
    loaded_there: float
    load_power: float
    stored_there: float
    store_power: float

    def loaded(self, n: float) -> float:
        return self.loaded_there * (n / self.blocks) ** self.load_power

    def stored(self, n: float) -> float:
        return self.stored_there * (n / self.blocks) ** self.store_power


def _growth(points: Sequence[tuple[int, int]], blocks: int) -> _Reach:
    (half_loaded, half_stored), (loaded, stored) = points[0], points[-1]
    factor = blocks / max(1, blocks // 2)

    def power(small: int, large: int) -> float:
        if blocks == 1 or not small:
            return 1.0
        return min(1.0, max(0.0, math.log(large / small) / math.log(factor)))

    return _Reach(blocks, loaded, power(half_loaded, loaded), stored, power(half_stored, stored))


def _l2_miss(gpu: Gpu, reach: _Reach, misses_per_block: float, total_blocks: int, resident: int) -> float:
    """The share of L1 misses that DRAM must serve: what a wave (or, if it all fits, the launch) touches for the first time."""
    if not misses_per_block:
        return 0.0
    everything = reach.loaded(total_blocks) + reach.stored(total_blocks)
    together = total_blocks if everything * 32 <= gpu.l2_bytes else min(total_blocks, gpu.sms * resident)
    return min(1.0, reach.loaded(together) / (misses_per_block * together))


def _whole_sm(ends: Sequence[int], resident: int, simulated: int, per_sm: int) -> float:
    """The time of all of an SM's blocks from those that were simulated: the last wave's pace goes on, then the tail."""
    done = sorted(ends)
    if per_sm <= simulated:
        return float(done[-1])
    pace = (done[-1] - done[simulated - 1 - resident]) / resident
    return done[-1] + pace * (per_sm - simulated)


def _busy(run: dict[str, Any], gpu: Gpu, simulated: int, per_sm: int, sm_cycles: float) -> dict[str, float]:
    """Share of the SM's time that each of its parts was taken."""
    scale = per_sm / simulated / max(1.0, sm_cycles)
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
