"""What a launch touches of global memory, and so what L2 and DRAM have to serve.

A patch of neighbouring blocks that were traced (up to eight in one direction, two in the others) says how the distinct
sectors grow in each direction: tiles that share rows, columns or a halo count them once. Of a launch that ran whole the
distinct sectors are known, and what DRAM serves is never less than these.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from warpsight.vgpu.gpu import Gpu

if TYPE_CHECKING:
    from warpsight.vgpu._core import Traces

Dim3 = tuple[int, int, int]
Sides = tuple[bool, bool, bool]
BOTH = (True, False)
MOST_IN_ROW, MOST_NEAR = 8, 16
STANDS_STILL = 0.01  # neighbours that add less than this share of what there is touch parts of the same sectors


@dataclass(frozen=True)
class Patch:
    """Neighbouring blocks of a grid, x fastest, then one far away in the same direction, if there is one."""

    grid: Dim3
    extent: Dim3
    blocks: tuple[int, ...]

    @property
    def near(self) -> int:
        """How many of the blocks are neighbours."""
        return math.prod(self.extent)

    def corner(self, size: Dim3) -> list[int]:
        """Places in `blocks` of the sub-box of this size."""
        ex, ey, _ = self.extent
        x, y, z = (range(s) for s in size)
        return [(c * ey + b) * ex + a for c, b, a in itertools.product(z, y, x)]


def patch_at(grid: Dim3, block: int) -> Patch:
    """The patch whose first block is this one, or as near as the grid allows."""
    sides = [g > 1 for g in grid]
    longest = MOST_NEAR // 2 ** max(0, sum(sides) - 1) if sum(sides) > 1 else MOST_IN_ROW
    first = _direction(grid)
    most = [min(longest, MOST_IN_ROW) if at == first else 2 for at in range(3)]
    extent = tuple(min(m, g) for m, g in zip(most, grid, strict=True))
    x, y, z = block % grid[0], block // grid[0] % grid[1], block // grid[0] // grid[1]
    start = [max(0, min(at, g - e)) for at, g, e in zip((x, y, z), grid, extent, strict=True)]

    def number(x: int, y: int, z: int) -> int:
        return (z * grid[1] + y) * grid[0] + x

    box = itertools.product(*(range(s, s + e) for s, e in zip(start[::-1], extent[::-1], strict=True)))
    near = tuple(number(x, y, z) for z, y, x in box)
    away = [(s + g // 2) % g if at == first else s for at, (s, g) in enumerate(zip(start, grid, strict=True))]
    far = number(*away)
    return Patch(grid, (extent[0], extent[1], extent[2]), near if far in near else (*near, far))


def _direction(grid: Dim3) -> int:
    """The direction that is followed furthest: the first in which there are many blocks, else that with most."""
    return next((at for at, size in enumerate(grid) if size >= MOST_IN_ROW), max(range(3), key=lambda at: grid[at]))


def middle(grid: Dim3) -> int:
    """The block in the middle of the grid: those at the edges often have less to do."""
    return (grid[2] // 2 * grid[1] + grid[1] // 2) * grid[0] + grid[0] // 2


@dataclass(frozen=True)
class _Growth:
    """Distinct sectors of a box of blocks: linear in each side, through the boxes that were traced.

    `steps` maps a set of directions to what one more block in each of them adds. Where neighbours `along` the grid add
    nothing to one another and yet a block far away touches other sectors, they write parts of the same sectors (a
    stride of the grid's size): then each further group of neighbours adds the share `fresh` anew.
    """

    extent: Dim3
    there: float
    steps: dict[Sides, float]
    fresh: float
    along: int

    def at(self, box: tuple[float, float, float]) -> float:
        beyond = [n - e for n, e in zip(box, self.extent, strict=True)]
        found = self.there + sum(
            step * math.prod(b for b, used in zip(beyond, which, strict=True) if used)
            for which, step in self.steps.items()
        )
        if self.fresh:
            found *= max(1.0, 1.0 + self.fresh * (box[self.along] / self.extent[self.along] - 1.0))
        return max(0.0, found)


@dataclass(frozen=True)
class Reach:
    """Distinct sectors that blocks touch which follow one another, no more than the launch or its arrays have.

    `stretch` is how much longer blocks are than what was traced of them; `whole` is what the launch loaded and stored,
    where it ran whole; `stores` is what it stores in all, counted.
    """

    most: float
    grid: Dim3
    loads: _Growth
    stores: _Growth
    stretch: float
    stores_in_all: float
    whole: tuple[int, int] | None = None

    @property
    def total_blocks(self) -> int:
        return math.prod(self.grid)

    def loaded(self, n: float) -> float:
        return self._at(n, self.loads, 0)

    def fresh(self, n: float) -> float:
        """What `n` blocks load that the `n` before them did not. Nothing where these two have all there is."""
        both = self.loaded(2 * n)
        return max(0.0, both - self.loaded(n)) if both < self.loaded(self.total_blocks) else 0.0

    def stored(self, n: float) -> float:
        if not self.stores.there and self.stores_in_all and self.whole is None:  # they come after the traced part
            return min(self.most, self.stores_in_all * n / self.total_blocks)
        return self._at(n, self.stores, 1)

    def _at(self, n: float, growth: _Growth, kind: int) -> float:
        if self.whole is not None and n >= self.total_blocks:
            return self.whole[kind]
        most = self.most if self.whole is None else self.whole[kind]
        return min(most, self.stretch * min(self.most, growth.at(self._box(n))))

    def _box(self, n: float) -> tuple[float, float, float]:
        """The box that `n` blocks fill which start one after the other: rows in x, then y, then z."""
        x = min(n, float(self.grid[0]))
        y = min(n / x, float(self.grid[1]))
        return x, y, n / (x * y)


def reach_of(
    traces: Traces,
    patch: Patch,
    table: NDArray[np.uint16],
    *,
    stretch: float,
    array_bytes: int,
    stores: float,
    whole: tuple[int, int] | None = None,
    flat: bool = False,
) -> Reach:
    """From the traced blocks of a patch. `flat` follows x alone, as if the grid had no other direction."""
    grid: Dim3 = (math.prod(patch.grid), 1, 1) if flat else patch.grid
    extent: Dim3 = (patch.extent[0], 1, 1) if flat else patch.extent

    def touched(which: Sides) -> tuple[int, int]:
        x, y, z = (e if w else e - _step(e) for e, w in zip(extent, which, strict=True))
        return traces.chosen(patch.corner((x, y, z))).footprints(table, [x * y * z])[-1]

    every: list[Sides] = [(x, y, z) for x, y, z in itertools.product(BOTH, BOTH, BOTH)]
    corners = {w: touched(w) for w in every if all(a or e > 1 for a, e in zip(w, extent, strict=True))}

    def growth(kind: int) -> _Growth:
        known = {which: float(sectors[kind]) for which, sectors in corners.items()}
        steps = {which: _difference(known, which, extent) for which in _directions(extent)}
        there = known[True, True, True]
        along = _direction(grid)
        row = (along == 0, along == 1, along == 2)
        still = there > 0 and steps.get(row, 0.0) * extent[along] < STANDS_STILL * there
        fresh = _fresh(traces, patch.near, table, kind) if still and extent[along] > 1 else 0.0
        return _Growth(extent, there, steps, fresh, along)

    return Reach(array_bytes / 32, grid, growth(0), growth(1), stretch, stores, whole)


def _step(extent: int) -> int:
    return (extent + 1) // 2 if extent > 1 else 0


def _directions(extent: Dim3) -> list[Sides]:
    some = itertools.product(*((True, False) if e > 1 else (False,) for e in extent))
    return [(x, y, z) for x, y, z in some if x or y or z]


def _difference(known: dict[Sides, float], which: Sides, extent: Dim3) -> float:
    """The mixed difference of the sides in `which`, for one block more in each."""
    total = 0.0
    for lowered in itertools.product(*((False, True) if w else (False,) for w in which)):
        at = tuple(not low for low in lowered)
        total += (-1) ** sum(lowered) * known[at[0], at[1], at[2]]
    return total / math.prod(_step(e) for e, w in zip(extent, which, strict=True) if w)


def _fresh(traces: Traces, near: int, table: NDArray[np.uint16], kind: int) -> float:
    """The share of what a block far away touches that the neighbours do not."""
    if traces.blocks == near:
        return 0.0
    alone = traces.chosen([near]).footprints(table, [1])[-1][kind]
    before, after = (points[kind] for points in traces.footprints(table, [near, near + 1]))
    return (after - before) / alone if alone else 0.0


def dram_share(gpu: Gpu, reach: Reach, misses: float, resident: int) -> float:
    """The share of the launch's `misses` in L1 that DRAM serves: what is touched for the first time.

    Blocks of one wave run together, so that each sector comes once for all of them. Where what a wave touches fits in
    L2, the next wave still finds what it shares with the last, or with all, if all fits; else L2 is cold for it.
    """
    if not misses:
        return 0.0
    total = reach.total_blocks
    wave = min(total, gpu.sms * resident)
    touched, everything = reach.loaded(wave), reach.loaded(total)
    if 32 * (touched + reach.stored(wave)) > gpu.l2_bytes:
        fetched = max(everything, touched * total / wave)
    elif 32 * (everything + reach.stored(total)) > gpu.l2_bytes:  # what was touched long ago is gone
        fetched = max(everything, touched + (total / wave - 1.0) * reach.fresh(wave))
    else:
        fetched = max(everything, touched)
    return min(1.0, fetched / misses)


def local_share(gpu: Gpu, local_bytes: int, threads: int, resident: int) -> tuple[float, float]:
    """The shares of loads from local memory and of stores to it that DRAM serves, as L2 cannot hold all of it.

    Each place for a warp has its own and keeps it for all blocks, so stores come back to it after all other places: a
    least-recently-used cache that is too small has none of it then. Loads mostly follow their stores sooner.
    """
    held = gpu.sms * resident * threads * local_bytes
    return (1.0 - gpu.l2_bytes / held, 1.0) if held > gpu.l2_bytes else (0.0, 0.0)
