"""Families that change where things go and leave the numbers alone: which indices are equal, how long the rows are.

Uniform indices hit each place a few times, and rows that are cut at random are all of about one length. A kernel that
keeps four of a warp's equal indices, counts in 16 bits, or stops after 512 entries of a row is right on those. So
indices are all equal, follow a power law, are sorted or equal within each warp; rows are one long one, a few long ones,
or mostly empty. Declared bounds hold, row pointers stay row pointers, permutations stay as they are. What must stay
true: a generator in the same state makes the same contents.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from warpsight.nouns import Argument, Task
from warpsight.tasks.inputs import default_fill

CROWDED, SKEWED, RUNS = "crowded", "skewed", "runs"
PLACEMENTS = (CROWDED, SKEWED, RUNS)
PLACED_FILLS = ("index", "integers", "csr_rows")
WARP = 32
BUSY_SHARE = 8  # one row of eight has entries


def placed_arguments(task: Task) -> list[Argument]:
    """The arguments that may say where something goes."""
    given = [a for a in task.arguments if a.role in ("in", "inout")]
    return [a for a in given if (a.fill or default_fill(a)) in PLACED_FILLS]


def placed_indices(family: str, random: np.random.Generator, declared: np.ndarray, low: int, high: int) -> np.ndarray:
    """Indices from `low` to `high`, both included, in the shape of the declared ones."""
    count = high - low + 1
    if family == CROWDED:
        return np.full(declared.shape, int(random.choice([low, high, int(random.integers(low, high + 1))])), np.int64)
    if family == SKEWED:
        rank = _ranks(random, count, declared.size)
        return low + (rank + int(random.integers(count))).reshape(declared.shape) % count
    flat = declared.reshape(-1).astype(np.int64)
    middle = flat.size // 2 // WARP * WARP
    ordered, alike = np.sort(flat[middle:]), np.repeat(flat[:middle:WARP], WARP)
    return np.concatenate((alike, ordered) if middle else (ordered,)).reshape(declared.shape)


def placed_rows(family: str, random: np.random.Generator, declared: np.ndarray) -> np.ndarray | None:
    """Row pointers to as many entries as the declared ones have; None where there is one row, or none."""
    rows, total = declared.size - 1, int(declared[-1]) if declared.size else 0
    if rows < 2 or total == 0:
        return None
    if family == CROWDED:
        lengths = np.bincount(random.integers(0, rows, total - total // 2), minlength=rows)
        lengths[int(random.integers(rows))] += total // 2
    elif family == SKEWED:
        lengths = np.bincount(_ranks(random, rows, total), minlength=rows)[random.permutation(rows)]
    else:
        busy = random.choice(rows, max(1, rows // BUSY_SHARE), replace=False)
        lengths = np.bincount(busy[np.arange(total) % busy.size], minlength=rows)
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))


def longest_sum(task: Task, inputs: Mapping[str, np.ndarray]) -> int:
    """How many terms may meet at one place: the most equal indices, or the longest row."""
    longest = 1
    for argument in placed_arguments(task):
        given = inputs[argument.name]
        if given.size == 0:
            continue
        if argument.fill == "csr_rows":
            longest = max(longest, int(np.diff(given).max(initial=1)))
        else:
            longest = max(longest, int(np.unique(given, return_counts=True)[1].max()))
    return longest


def _ranks(random: np.random.Generator, count: int, size: int) -> np.ndarray:
    """Ranks below `count` that follow a power law: the first is as frequent as the next two together, and so on."""
    return np.minimum(np.floor(float(count) ** random.random(size)).astype(np.int64), count) - 1
