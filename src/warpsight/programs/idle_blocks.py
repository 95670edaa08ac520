"""Grids that are larger than the work: which blocks from the first on work, where all after them end at once.

Programs often launch a block for each element and have each do many. The few blocks that a draft of the time runs lie
in the middle of the grid, where nothing is done then. So the blocks that work are found, and timed by themselves.
Covers grids of one dimension whose blocks with work come first; anything else is left as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from warpsight.vgpu.sample import Tracer

IDLE = 3  # an idle block does so many times less than one that works
LEAST_BLOCKS = 512
LOOKS = 12  # blocks on each side that must be as the boundary says


def busy_blocks(run: Tracer, grid: tuple[int, int, int]) -> int:
    """How many blocks from the first on have work; all of them where that is not how the grid is used."""
    total = grid[0]
    if grid[1:] != (1, 1) or total < LEAST_BLOCKS:
        return total * grid[1] * grid[2]
    known: dict[int, int] = {}

    def did(block: int) -> int:
        if block not in known:
            known[block] = int(run([block], 0).warp_instructions)
        return known[block]

    last = did(total - 2)  # the very last may be a partial one
    if did(0) < IDLE * last or last < 1:
        return total
    works, idle = 0, total - 2
    while idle - works > 1:
        middle = (works + idle) // 2
        if did(middle) >= IDLE * last:
            works = middle
        else:
            idle = middle
    if all(did(at) >= IDLE * last for at in _among(0, idle)) and all(
        did(at) < IDLE * last for at in _among(idle, total)
    ):
        return idle
    return total


def _among(start: int, end: int) -> Sequence[int]:
    """Blocks from all parts of a stretch, at uneven steps, so that a pattern of the kernel is not met at one place."""
    size = end - start
    return sorted({start + (size * (2 * i + 1) // (2 * LOOKS) + 7 * i) % size for i in range(LOOKS)})
