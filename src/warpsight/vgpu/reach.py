"""What a launch touches of global memory, and so what L2 and DRAM have to serve.

Neighbouring blocks that were traced say how the sectors they touch grow with their number. Of a launch that ran whole
the distinct sectors are known, and what DRAM serves is never less than these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from warpsight.vgpu.gpu import Gpu

if TYPE_CHECKING:
    from warpsight.vgpu._core import Traces


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
class Reach:
    """Distinct sectors that n neighbouring blocks touch, no more than the launch or its arrays have.

    `stretch` is how much longer blocks are than what was traced of them; `whole` is what the launch loaded and stored,
    where it ran whole.
    """

    most: float
    loads: _Growth
    stores: _Growth
    stretch: float
    total_blocks: int
    whole: tuple[int, int] | None = None

    def loaded(self, n: float) -> float:
        return self._at(n, self.loads, 0)

    def stored(self, n: float) -> float:
        return self._at(n, self.stores, 1)

    def _at(self, n: float, growth: _Growth, kind: int) -> float:
        if self.whole is not None and n >= self.total_blocks:
            return self.whole[kind]
        most = self.most if self.whole is None else self.whole[kind]
        return min(most, self.stretch * min(self.most, growth.at(n)))


def reach_of(
    near: Traces,
    far: Traces,
    table: NDArray[np.uint16],
    *,
    stretch: float,
    array_bytes: int,
    total_blocks: int,
    whole: tuple[int, int] | None = None,
) -> Reach:
    """From neighbours and from blocks that lie apart."""
    half = max(1, near.blocks // 2)
    before, after = _ends(near, table, half)
    one, apart = _ends(far, table, 1)

    def growth(kind: int) -> _Growth:
        slope = (after[kind] - before[kind]) / max(1, near.blocks - half)
        added = (apart[kind] - one[kind]) / max(1, far.blocks - 1)
        return _Growth(near.blocks, after[kind], slope, min(1.0, added / one[kind]) if one[kind] else 0.0)

    return Reach(array_bytes / 32, growth(0), growth(1), stretch, total_blocks, whole)


def _ends(traces: Any, table: NDArray[np.uint16], some: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Sectors (loaded, stored) that `some` of the blocks touch, and that all of them touch."""
    points = traces.footprints(table, sorted({some, traces.blocks}))
    return points[0], points[-1]


def dram_share(gpu: Gpu, reach: Reach, misses: float, resident: int) -> float:
    """The share of the launch's `misses` in L1 that DRAM serves: what is touched for the first time.

    By a wave, where the launch does not fit in L2, since the next wave comes back to a cold one.
    """
    if not misses:
        return 0.0
    total = reach.total_blocks
    everything = min(reach.most, reach.loaded(total) + reach.stored(total))
    together = total if everything * 32 <= gpu.l2_bytes else min(total, gpu.sms * resident)
    share = reach.loaded(together) / (misses / total * together)
    least = 0.0 if reach.whole is None else reach.whole[0] / misses
    return min(1.0, max(share, least))
