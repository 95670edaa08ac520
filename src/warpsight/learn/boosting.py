"""Boosted regression trees on tables of numbers, several targets at once: small, in NumPy, the same for the same seed.

Each tree splits on the features' bins and gives a vector, so that all targets share what was learned of the features.
Made for some thousand rows and some hundred features; for more there are libraries. Missing values are zeros.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

BINS = 16
Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Boosting:
    """How it is trained."""

    trees: int = 120
    depth: int = 3
    rate: float = 0.1
    least_rows: int = 4
    share: float = 0.5  # of the features, that each tree may split on
    seed: int = 0


@dataclass(frozen=True)
class Split:
    """Left where the feature is at most `most`; a leaf has a value and no sides."""

    value: Numbers
    feature: int = -1
    most: float = 0.0
    left: Split | None = None
    right: Split | None = None


@dataclass
class BoostedTrees:
    """What was learned."""

    start: Numbers
    rate: float
    trees: list[Split] = field(default_factory=list[Split])

    def predict(self, rows: Numbers) -> Numbers:
        """A row of targets for each row of features."""
        found = np.tile(self.start, (len(rows), 1))
        for tree in self.trees:
            _add(tree, rows, np.arange(len(rows)), found, self.rate)
        return found


def fit(rows: Numbers, targets: Numbers, how: Boosting | None = None) -> BoostedTrees:
    """Trees for these rows, by squared error."""
    how = how or Boosting()
    edges, below = _binned(rows)
    learned = BoostedTrees(start=targets.mean(axis=0), rate=how.rate)
    left = targets - learned.start
    draw = np.random.default_rng(how.seed)
    owner: NDArray[np.int64] = np.array([feature for feature, _ in edges], dtype=np.int64)
    for _ in range(how.trees if edges else 0):
        drawn: Numbers = draw.random(int(rows.shape[1]))
        chosen: Flags = drawn < how.share
        tree = _grow(np.arange(len(rows)), left, below, edges, chosen[owner], how, how.depth)
        learned.trees.append(tree)
        gained = np.zeros_like(left)
        _add(tree, rows, np.arange(len(rows)), gained, how.rate)
        left = left - gained
    return learned


def _binned(rows: Numbers) -> tuple[list[tuple[int, float]], Flags]:
    """Where each feature may be split, and of every row whether it lies below; all splits side by side."""
    edges: list[tuple[int, float]] = []
    below: list[Flags] = []
    for feature in range(rows.shape[1]):
        column = rows[:, feature]
        values = np.unique(column)
        if len(values) > BINS:
            values = np.unique(np.quantile(column, np.linspace(0, 1, BINS + 1), method="lower"))
        for most in values[:-1].tolist() if len(values) > 1 else ():
            edges.append((feature, float(most)))
            below.append(column <= most)
        if len(values) > BINS and values[-1] < column.max():
            edges.append((feature, float(values[-1])))
            below.append(column <= values[-1])
    flags = np.stack(below, axis=1) if below else np.zeros((len(rows), 0), dtype=np.bool_)
    return edges, flags


def _grow(
    here: NDArray[Any],
    left: Numbers,
    below: Flags,
    edges: list[tuple[int, float]],
    allowed: Flags,
    how: Boosting,
    depth: int,
) -> Split:
    """The split that takes most error away, and so on below it."""
    own = left[here]
    value = own.mean(axis=0)
    if depth == 0 or len(here) < 2 * how.least_rows:
        return Split(value)
    flags = below[here]
    count = flags.sum(axis=0).astype(np.float64)
    other = len(here) - count
    total = own.sum(axis=0)
    sums = flags.T.astype(np.float64) @ own
    fits = allowed & (count >= how.least_rows) & (other >= how.least_rows)
    if not fits.any():
        return Split(value)
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = (sums**2).sum(axis=1) / count + ((total - sums) ** 2).sum(axis=1) / other
    gain = np.where(fits, gain, -np.inf)
    best = int(gain.argmax())
    if gain[best] <= (total**2).sum() / len(here) + 1e-12:
        return Split(value)
    side = flags[:, best]
    feature, most = edges[best]
    return Split(
        value,
        feature,
        most,
        _grow(here[side], left, below, edges, allowed, how, depth - 1),
        _grow(here[~side], left, below, edges, allowed, how, depth - 1),
    )


def _add(tree: Split, rows: Numbers, here: NDArray[Any], found: Numbers, rate: float) -> None:
    """Add the tree's values to those rows."""
    if tree.left is None or tree.right is None:
        found[here] += rate * tree.value
        return
    side = rows[here, tree.feature] <= tree.most
    _add(tree.left, rows, here[side], found, rate)
    _add(tree.right, rows, here[~side], found, rate)
