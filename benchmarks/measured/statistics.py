"""How well one list of times foretells another: order, size and choice. Pure functions.

Pairs that were measured less than 5 % apart are ties and say nothing of an order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

TIE = 1.05
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Agreement:
    """Of n pairs of times. Errors are log2(predicted / measured); picks are measured speed over the best there is."""

    n: int
    tau: float
    spearman: float
    median: float
    ninety: float
    mape: float
    bias: float
    pick1: float
    pick5: float


def agreement(predicted: Sequence[float], measured: Sequence[float]) -> Agreement:
    """All of it; of fewer than two rows the order is not a number."""
    ours, theirs = np.asarray(predicted, float), np.asarray(measured, float)
    if len(ours) == 0:
        return Agreement(0, *[math.nan] * 8)
    errors = np.log2(ours / theirs)
    return Agreement(
        n=len(ours),
        tau=kendall(ours, theirs),
        spearman=spearman(ours, theirs),
        median=float(np.median(np.abs(errors))),
        ninety=float(np.quantile(np.abs(errors), 0.9)),
        mape=float(np.mean(np.abs(ours / theirs - 1.0))),
        bias=float(np.median(errors)),
        pick1=pick(ours, theirs, 1),
        pick5=pick(ours, theirs, 5),
    )


def kendall(ours: Floats, theirs: Floats) -> float:
    """Pairs in the measured order less pairs in the other, of those that are no ties; equal predictions count as 0."""
    first, second = np.triu_indices(len(ours), 1)
    a, b = theirs[first], theirs[second]
    apart = np.maximum(a, b) / np.minimum(a, b) >= TIE
    if not apart.any():
        return math.nan
    agree = np.sign(ours[first] - ours[second]) * np.sign(a - b)
    return float(agree[apart].mean())


def spearman(ours: Floats, theirs: Floats) -> float:
    if len(ours) < 2:
        return math.nan
    a, b = ranks(ours), ranks(theirs)
    spread = float(a.std() * b.std())
    return float(((a - a.mean()) * (b - b.mean())).mean() / spread) if spread else math.nan


def ranks(values: Floats) -> Floats:
    """Places from 0; equal values share the mean of theirs."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return (last - (count + 1) / 2)[place]


def pick(ours: Floats, theirs: Floats, few: int) -> float:
    """Measured speed of the best of our `few` first choices, over that of the best row."""
    chosen = np.argsort(ours, kind="stable")[:few]
    return float(theirs.min() / theirs[chosen].min())


def quantiles(ratios: Sequence[float]) -> tuple[float, float, float]:
    """At 10, 50 and 90 %."""
    low, middle, high = np.quantile(np.asarray(ratios, float), (0.1, 0.5, 0.9))
    return float(low), float(middle), float(high)
