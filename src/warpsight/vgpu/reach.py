"""What a launch touches of global memory, and so what DRAM has to serve.

Blocks run in waves: as many as fit on the GPU, then the next. Of a launch that ran whole the distinct sectors of its
waves were counted (`CountedWaves`), and which of them earlier waves had loaded. Of a draft, a patch of neighbouring
blocks that were traced (up to eight in one direction, two in the others) says how the distinct sectors grow in each
direction: tiles that share rows, columns or a halo count them once (`Reach`).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from warpsight.vgpu.gpu import Gpu
from warpsight.vgpu.machine import Wave

if TYPE_CHECKING:
    from warpsight.vgpu._core import Traces

Dim3 = tuple[int, int, int]
Sides = tuple[bool, bool, bool]
BOTH = (True, False)
MOST_IN_ROW, MOST_NEAR = 8, 16
MOST_WAVES, WAVES_IN_ROW = 31, 7  # that are watched, and that follow one another where not all are
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


class Footprint(Protocol):
    """Distinct sectors of a launch: all that it loads and stores, and what its waves have in common."""

    @property
    def loads(self) -> float: ...
    @property
    def stores(self) -> float: ...
    def touched(self, waves: int) -> float:
        """What so many waves touch that follow one another."""
        ...

    def fetched(self, kept: int) -> float:
        """What all waves load that none of the `kept` waves before them did."""
        ...


@dataclass(frozen=True)
class Reach:
    """Foretold: distinct sectors of blocks that follow one another, no more than the arrays have.

    `stretch` is how much longer blocks are than what was traced of them; `stored_in_all` is what it stores, counted.
    """

    most: float
    grid: Dim3
    wave: int
    growth_of_loads: _Growth
    growth_of_stores: _Growth
    stretch: float
    stored_in_all: float

    @property
    def loads(self) -> float:
        return self.loaded(math.prod(self.grid))

    @property
    def stores(self) -> float:
        return self.stored(math.prod(self.grid))

    def touched(self, waves: int) -> float:
        return self.loaded(waves * self.wave) + self.stored(waves * self.wave)

    def fetched(self, kept: int) -> float:
        """As if all but the first waves were alike. Nothing is new where the waves that L2 keeps have all there is."""
        first = self.loaded(self.wave)
        known, both = self.loaded(kept * self.wave), self.loaded((kept + 1) * self.wave)
        fresh = max(0.0, both - known) if both < self.loads or not kept else 0.0
        return max(self.loads, first + (math.prod(self.grid) / self.wave - 1.0) * fresh)

    def loaded(self, n: float) -> float:
        return self._at(n, self.growth_of_loads)

    def stored(self, n: float) -> float:
        if not self.growth_of_stores.there and self.stored_in_all:  # they come after the traced part
            return min(self.most, self.stored_in_all * n / math.prod(self.grid))
        return self._at(n, self.growth_of_stores)

    def _at(self, n: float, growth: _Growth) -> float:
        n = min(n, math.prod(self.grid))
        return min(self.most, self.stretch * min(self.most, growth.at(self._box(n)))) if n else 0.0

    def _box(self, n: float) -> tuple[float, float, float]:
        """The box that `n` blocks fill which start one after the other: rows in x, then y, then z."""
        x = min(n, float(self.grid[0]))
        y = min(n / x, float(self.grid[1]))
        return x, y, n / (x * y)


@dataclass(frozen=True)
class CountedWaves:
    """Counted, in a launch that ran whole, for some or all of its waves."""

    loads: float
    stores: float
    waves: float  # of the launch; the last one may be a part
    watched: tuple[Wave, ...]

    def touched(self, waves: int) -> float:
        stored = sum(one.stored for one in self.watched) / len(self.watched)
        return min(self.loads, sum(self._fresh(k) for k in range(waves))) + min(self.stores, waves * stored)

    def fetched(self, kept: int) -> float:
        return max(self.loads, self.waves * self._fresh(kept))

    def _fresh(self, kept: int) -> float:
        """What a wave loads that the `kept` waves before it did not: the mean of those whose past is known."""
        numbers = {one.number for one in self.watched}
        told = [w for w in self.watched if all(n < 0 or n in numbers for n in range(w.number - kept, w.number))]
        blocks = sum(min(1.0, self.waves - w.number) for w in told)
        return sum(w.loaded[0] + sum(w.loaded[kept + 1 :]) for w in told) / blocks


def watched_waves(waves: int, seed: int) -> list[int]:
    """The waves to tell apart: all, or rows of them at places that the seed says, one in each part of the launch."""
    if waves <= MOST_WAVES:
        return list(range(waves))
    random = np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, 0x77617665])))
    rows = MOST_WAVES // WAVES_IN_ROW
    starts = [waves * at // rows + int(random.integers(waves // rows - WAVES_IN_ROW + 1)) for at in range(rows)]
    return [start + k for start in starts for k in range(WAVES_IN_ROW)]


def reach_of(
    traces: Traces,
    patch: Patch,
    table: NDArray[np.uint16],
    *,
    wave: int,
    stretch: float,
    array_bytes: int,
    stores: float,
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

    return Reach(array_bytes / 32, grid, wave, growth(0), growth(1), stretch, stores)


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


def dram_share(gpu: Gpu, footprint: Footprint, misses: float) -> float:
    """The share of the launch's `misses` in L1 that DRAM serves: what is touched for the first time.

    Blocks of one wave run together, so that each sector comes once for all of them. A wave still finds in L2 what the
    waves before it loaded, as many as fit there together; if all fits, all.
    """
    if not misses:
        return 0.0
    if 32 * (footprint.loads + footprint.stores) <= gpu.l2_bytes:
        return min(1.0, footprint.loads / misses)
    kept = 0
    while kept < WAVES_IN_ROW - 1 and 32 * footprint.touched(kept + 1) <= gpu.l2_bytes:
        kept += 1
    return min(1.0, footprint.fetched(kept) / misses)


def local_share(gpu: Gpu, local_bytes: int, threads: int, resident: int) -> tuple[float, float]:
    """The shares of loads from local memory and of stores to it that DRAM serves, as L2 cannot hold all of it.

    Each place for a warp has its own and keeps it for all blocks, so stores come back to it after all other places: a
    least-recently-used cache that is too small has none of it then. Loads mostly follow their stores sooner.
    """
    held = gpu.sms * resident * threads * local_bytes
    return (1.0 - gpu.l2_bytes / held, 1.0) if held > gpu.l2_bytes else (0.0, 0.0)
