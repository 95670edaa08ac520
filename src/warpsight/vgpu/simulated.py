"""What the simulated blocks of each kind say of the SM with most to do: its clocks, its units, its stalls.

`timemodel.py` decides what is simulated; here the results are put together. Not here: what all SMs share.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpsight.vgpu import schedule
from warpsight.vgpu.gpu import Gpu
from warpsight.vgpu.sample import Grid, LaunchSample, SamplePart


@dataclass(frozen=True)
class Simulated:
    """One kind of blocks on one SM, as simulated over each of its stretches."""

    part: SamplePart
    runs: tuple[dict[str, Any], ...]
    resident: int

    @property
    def blocks(self) -> float:
        """Blocks that a run simulated, on average."""
        return sum(len(run["block_end"]) for run in self.telling) / len(self.telling)

    @property
    def repeats(self) -> float:
        """How often the SM does what was simulated."""
        return self.part.stretch * (1.0 if self.part.exact else self.part.on_sm / self.blocks)

    @property
    def telling(self) -> tuple[dict[str, Any], ...]:
        """The runs that say what the busiest SM does: the first, or all together."""
        return self.runs[:1] if self.part.exact else self.runs

    def mean(self, what: str) -> float:
        return sum(run[what] for run in self.telling) / len(self.telling)

    def in_launch(self, what: str) -> float:
        """Sectors of a sort in the whole launch: their share of those that were simulated."""
        sorts = ("l1_hits", "l1_misses", "store_sectors", "atomic_sectors")
        moved = sum(run[sort] for run in self.runs for sort in sorts)
        return self.part.sectors * sum(run[what] for run in self.runs) / max(1.0, moved)

    def busy(self, gpu: Gpu) -> dict[str, float]:
        """Clocks of each unit of the SM for all of its blocks of this kind."""
        clocks = add_up(_busy_clocks(run, gpu) for run in self.telling)
        return {name: self.repeats * value / len(self.telling) for name, value in clocks.items()}

    def each(self, *, tail: bool) -> list[float]:
        """Clocks of the SM by each run."""
        exact, on_sm = self.part.exact, self.part.on_sm
        ends = [run["block_end"] for run in self.runs]
        return [_whole_sm(end, self.resident, len(end) if exact else on_sm, tail=tail) for end in ends]

    def cycles(self, gpu: Gpu, *, tail: bool) -> float:
        """By itself: the pace of a few blocks can promise more than a unit can do."""
        each = self.each(tail=tail)
        paced = max(each) if self.part.exact else sum(each) / len(each)
        return max(self.part.stretch * paced, *self.busy(gpu).values())

    def added(self, gpu: Gpu, places: int) -> float:
        """Beside blocks of another kind that take longer: the busiest unit's clocks, or its part of the places."""
        held = self.part.stretch * self.part.on_sm
        if self.blocks < 2 * self.resident:
            held *= self.mean("cycles") / math.ceil(self.blocks / self.resident) / places
        else:
            held *= sum(_pace(sorted(run["block_end"]), self.resident) for run in self.runs) / len(self.runs)
        return max(held, *self.busy(gpu).values())


def load_misses(runs: Sequence[Simulated], taken: LaunchSample) -> float:
    """Sectors of loads in the whole launch that L1 does not have: as many as were counted, missed as simulated."""
    hits, missed = (sum(one.in_launch(what) for one in runs) for what in ("l1_hits", "l1_misses"))
    return taken.moved.loads * missed / max(1.0, hits + missed)


def code_sectors(runs: Sequence[Simulated]) -> float:
    """Sectors of instructions that one SM gets from L2."""
    return sum(one.mean("code_sectors") * one.repeats for one in runs)


def local_misses(runs: Sequence[Simulated], taken: LaunchSample) -> float:
    hits, missed = (sum(run[what] for one in runs for run in one.runs) for what in ("local_hits", "local_misses"))
    return taken.moved.local_loads * missed / max(1.0, hits + missed)


def stalls_of(runs: Sequence[Simulated]) -> NDArray[np.uint64]:
    """Samples of several simulations as those of one."""
    each = [(run["stalls"], one.repeats / len(one.telling)) for one in runs for run in one.telling]
    if len(each) == 1:
        return np.asarray(each[0][0], dtype=np.uint64)
    return np.rint(sum(np.asarray(stalls, np.float64) * weight for stalls, weight in each)).astype(np.uint64)


def sm_cycles_of(runs: Sequence[Simulated], grid: Grid, *, tail: bool) -> float:
    """The SM with most to do: the kind that takes longest, and what the others add to it."""
    here = [one for one in runs if one.part.on_sm]
    alone = [one.cycles(grid.gpu, tail=tail) for one in here]
    longest = int(np.argmax(alone))
    return alone[longest] + sum(one.added(grid.gpu, grid.resident) for at, one in enumerate(here) if at != longest)


def spread_of(runs: Sequence[Simulated], *, tail: bool) -> float:
    """Half the distance between what the stretches of the longest kind say, as a share of it.

    Or half of that between the paces of the first and of the second half of its fillings, if that is more.
    """
    sampled = [(one.each(tail=tail), one) for one in runs if one.part.on_sm and not one.part.exact]
    if not sampled:
        return 0.0
    longest, one = max(sampled, key=lambda each: sum(each[0]))
    apart = (max(longest) - min(longest)) / (max(longest) + min(longest))
    return max(apart, *(_unsettled(run["block_end"], one.resident, one.part.on_sm) for run in one.runs))


def _unsettled(ends: Sequence[int], resident: int, per_sm: int) -> float:
    """Half the distance between the paces of both halves of the fillings, as a share; nothing where all ran."""
    full = len(ends) // resident - 1
    if per_sm <= len(ends) or full < 3:
        return 0.0
    done, half = sorted(ends), (1 + full) // 2
    first, middle, last = (done[k * resident - 1] for k in (1, half, full))
    early, late = (middle - first) / (half - 1), (last - middle) / (full - half)
    return abs(early - late) / max(1.0, early + late)


def add_up(parts: Iterable[dict[str, float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for part in parts:
        for name, clocks in part.items():
            total[name] = total.get(name, 0.0) + clocks
    return total


def _whole_sm(ends: Sequence[int], resident: int, per_sm: int, *, tail: bool = True) -> float:
    """The time of all of an SM's blocks from those that were simulated."""
    done, simulated = sorted(ends), len(ends)
    if per_sm <= simulated:
        return float(done[-1]) if tail else done[-1] * per_sm / (resident * -(-per_sm // resident))
    return done[-1] + _pace(done, resident) * (per_sm - simulated)


def _pace(done: Sequence[int], resident: int) -> float:
    """Clocks from block to block, between the first wave and the last.

    The first starts cold, and in the last the blocks that are left have the SM to themselves.
    """
    first, last = resident - 1, max(2, len(done) // resident - 1) * resident - 1
    return (done[last] - done[first]) / (last - first)


def _busy_clocks(run: dict[str, Any], gpu: Gpu) -> dict[str, float]:
    """Clocks that each unit of the SM was taken."""
    pipes = run["pipe_busy"]
    units = schedule.fma_units(gpu)
    p = schedule.Pipe
    return {
        "issue slots": run["issued"] / gpu.schedulers,
        "FP32/IMAD pipe": (pipes[p.FMA] + pipes[p.FMA_HEAVY]) / gpu.schedulers / units,
        "integer pipe": pipes[p.ALU] / gpu.schedulers,
        "special-function pipe": pipes[p.SFU] / gpu.schedulers,
        "FP64 pipe": pipes[p.FP64] / gpu.schedulers,
        "tensor pipe": pipes[p.TENSOR] / gpu.schedulers,
        "load/store unit": run["lsu_busy"],
    }
