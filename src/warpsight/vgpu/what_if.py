"""The same launch with a cause removed: what the time model then says.

A change names terms of the model to leave out, instructions to leave out or to do less often, accesses to take as if
lanes lay side by side, work to split over more blocks, arithmetic to do in single precision, or blocks to have at once.
The traces of the real launch are changed and simulated again. What must stay true: nothing here is told as the time of
a kernel that exists; and a change that says nothing changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from warpsight.vgpu.gpu import Gpu
from warpsight.vgpu.sample import Grid, LaunchSample, Moved, Near, SamplePart
from warpsight.vgpu.schedule import WARP, Pipe, StepKind

if TYPE_CHECKING:
    from warpsight.vgpu._core import Traces

FP32_CLOCKS = 4  # that a dependent FP32 instruction waits
_PIPE, _LATENCY, _INTERVAL = 0, 8, 9  # columns of a step table


@dataclass(frozen=True)
class WhatIf:
    """What to change. `keep`: of an instruction, by its index, one execution in so many (0: none). `ideal`: the sectors
    that an access touches where lanes lie side by side. `split`: as many blocks as this do the work of one."""

    without: tuple[str, ...] = ()  # terms of the time model
    keep: Mapping[int, int] = field(default_factory=dict[int, int])
    ideal: Mapping[int, int] = field(default_factory=dict[int, int])
    split: int = 1
    single_precision: bool = False
    full_occupancy: bool = False

    @property
    def changes_traces(self) -> bool:
        return bool(self.keep or self.ideal or self.split > 1)

    def resident(self, fits: int, threads: int, gpu: Gpu) -> int:
        """Blocks that an SM holds at once: as many as its warps allow, where nothing else shall limit them."""
        return max(fits, gpu.warps_per_sm // -(-threads // WARP)) if self.full_occupancy else fits

    def table(self, table: NDArray[np.uint16], gpu: Gpu) -> NDArray[np.uint16]:
        """The schedule, with double precision done as fast as single."""
        if not self.single_precision:
            return table
        changed = table.copy()
        double = changed[:, _PIPE] == Pipe.FP64
        changed[double, _PIPE] = Pipe.FMA
        changed[double, _INTERVAL] = max(1, WARP * gpu.schedulers // gpu.fp32_lanes)
        changed[double, _LATENCY] = FP32_CLOCKS
        return changed

    def applied(self, taken: LaunchSample, grid: Grid, table: NDArray[np.uint16]) -> tuple[LaunchSample, Grid]:
        """The sample and the grid as they would be."""
        if not self.changes_traces:
            return taken, grid
        wide = replace(grid, shape=(grid.shape[0] * self.split, grid.shape[1], grid.shape[2]))
        wide = replace(wide, resident=max(1, min(grid.resident, wide.per_sm)) if self.split == 1 else _more(grid, wide))
        parts = tuple(self._part(part, grid, wide, table) for part in taken.parts)
        moved = _scaled(taken.moved, taken.parts, parts, table)
        near = taken.near
        if near is not None:
            near = Near(self._traces(near.traces, table, 1), near.patch, near.stretch)
        return replace(taken, parts=parts, moved=moved, near=near), wide

    def _traces(self, traces: Traces, table: NDArray[np.uint16], split: int) -> Traces:
        keep, ideal = [1] * len(table), [0] * len(table)
        for index, count in self.keep.items():
            keep[index] = count
        for index, count in self.ideal.items():
            ideal[index] = count
        return traces.changed(keep, ideal, split)

    def _part(self, part: SamplePart, grid: Grid, wide: Grid, table: NDArray[np.uint16]) -> SamplePart:
        stretches = tuple(self._traces(traces, table, self.split) for traces in part.stretches)
        before, after = (sum(sum(one.moved(table)) for one in some) for some in (part.stretches, stretches))
        on_sm = max(1, round(part.on_sm * wide.per_sm / grid.per_sm)) if part.on_sm else 0
        exact = part.exact and all(traces.blocks == on_sm for traces in stretches)
        return replace(
            part, stretches=stretches, on_sm=on_sm, sectors=part.sectors * after / max(1, before), exact=exact
        )


def _more(grid: Grid, wide: Grid) -> int:
    """Blocks at once where there are more of them: what fits, which a small launch did not show, is not asked again."""
    most = max(grid.resident, grid.gpu.warps_per_sm // max(1, grid.warps))
    return max(1, min(most, wide.per_sm))


def _scaled(
    moved: Moved, before: tuple[SamplePart, ...], after: tuple[SamplePart, ...], table: NDArray[np.uint16]
) -> Moved:
    """What the launch moves, as much less as the traced blocks do."""
    then, now = (
        np.array([one.moved(table) for part in parts for one in part.stretches], np.float64).sum(axis=0).tolist()
        for parts in (before, after)
    )

    def ratio(*kinds: StepKind) -> float:
        old = float(sum(then[kind] for kind in kinds))
        return float(sum(now[kind] for kind in kinds)) / old if old else 1.0

    loads = ratio(StepKind.GLOBAL_LOAD, StepKind.LOCAL_LOAD, StepKind.ASYNC_COPY)
    stores, atomics = ratio(StepKind.GLOBAL_STORE, StepKind.LOCAL_STORE), ratio(StepKind.GLOBAL_ATOMIC)
    plain = ratio(StepKind.GLOBAL_STORE)
    return Moved(
        moved.loads * loads,
        moved.stores * stores,
        moved.atomics * atomics,
        moved.local_loads * ratio(StepKind.LOCAL_LOAD),
        moved.local_stores * ratio(StepKind.LOCAL_STORE),
        moved.partial * (plain if plain == 1.0 else 0.0),
        moved.atomic_partial * atomics,
    )
