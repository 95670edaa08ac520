"""From rows with a simulated and a measured time: the errors of times and of pairs, and how far they can be trusted.

Pure functions. Pairs are of one set, that is one kernel on one card, and told with the slower prediction above, so that
a predicted ratio is at least 1. Sets count alike in a table, whatever their size. `held_out` asks the tables of all
other sets about a set's pairs: that is what an unseen kernel can expect. Kernels differ more from one another than
their own variants do, so `widening` says by how much the tables must be stretched for such intervals to hold.
"""

from __future__ import annotations

import collections
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from warpsight.gate import likely
from warpsight.vgpu.model_error import ANY, QUANTILES, ErrorTable, ErrorTables, binding_of, binding_of_pair, bucket_of

CALLED = (1.02, 1.05, 1.1, 1.2, 1.5, 2.0)
LEVEL = 0.9
SURE = likely.LEVEL  # of the interval by which the gate calls a pair faster


@dataclass(frozen=True)
class Timed:
    """One row: of which set and card, what the model says, what was measured."""

    set: str
    gpu: str
    bound: str
    predicted_us: float
    measured_us: float

    @property
    def error(self) -> float:
        """log2(measured / predicted): what to add to a prediction."""
        return math.log2(self.measured_us / self.predicted_us)


@dataclass(frozen=True)
class Pair:
    """log2 of the predicted ratio (0 or more) and of the measured one, and what binds the slower and the faster."""

    set: str
    bound_slower: str
    bound_faster: str
    predicted: float
    measured: float


def pairs_of(rows: Sequence[Timed]) -> list[Pair]:
    """All pairs of rows of one set."""
    found: list[Pair] = []
    for at, one in enumerate(rows):
        for two in rows[at + 1 :]:
            if one.set == two.set:
                slow, fast = (one, two) if one.predicted_us >= two.predicted_us else (two, one)
                predicted, measured = slow.predicted_us / fast.predicted_us, slow.measured_us / fast.measured_us
                found.append(Pair(one.set, slow.bound, fast.bound, math.log2(predicted), math.log2(measured)))
    return found


def model_error(rows: Sequence[Timed], widen: float = 1.0) -> ErrorTables:
    """The tables that the library asks, their errors stretched about the median."""
    times: dict[str, list[tuple[str, float]]] = {}
    for row in rows:
        for key in (binding_of(row.bound), ANY):
            times.setdefault(key, []).append((row.set, row.error))
    pairs: dict[tuple[str, str], list[tuple[str, float]]] = {}
    for pair in pairs_of(rows):
        both, bucket = binding_of_pair(pair.bound_slower, pair.bound_faster), bucket_of(pair.predicted)
        # Near 1 nothing says which is the slower one: there the error goes both ways.
        near = (-_error(pair),) if bucket == "0" else ()
        for key in ((both, bucket), (ANY, bucket)):
            pairs.setdefault(key, []).extend((pair.set, error) for error in (_error(pair), *near))
        for key in ((both, ANY), (ANY, ANY)):
            pairs.setdefault(key, []).append((pair.set, _error(pair)))
    return ErrorTables(
        {key: _table(values, widen, halves=2 if key[1] == "0" else 1) for key, values in pairs.items()},
        {key: _table(values, widen) for key, values in times.items()},
    )


def _error(pair: Pair) -> float:
    return pair.measured - pair.predicted


def _table(values: Sequence[tuple[str, float]], widen: float, halves: int = 1) -> ErrorTable:
    """Quantiles in which every set has the same weight."""
    centre, *quantiles = _weighted(values, (0.5, *QUANTILES))
    stretched = tuple(round(centre + widen * (quantile - centre), 4) for quantile in quantiles)
    return ErrorTable(len(values) // halves, stretched)


def _weighted(values: Sequence[tuple[str, float]], shares: Sequence[float]) -> list[float]:
    """Quantiles of numbers with the name of their set; every set has the same weight."""
    count = collections.Counter(name for name, _ in values)
    numbers = np.array([number for _, number in values])
    order = np.argsort(numbers, kind="stable")
    weights = np.array([1.0 / count[name] for name, _ in values])[order]
    reached = np.cumsum(weights)
    return [float(q) for q in np.interp(shares, (reached - weights / 2) / reached[-1], numbers[order])]


def spread_by_size(pairs: Sequence[Pair]) -> dict[tuple[str, str], tuple[int, float, float, float]]:
    """By what binds the two and bucket of the predicted ratio: n, and the error at 10, 50 and 90 %."""
    found: dict[tuple[str, str], list[float]] = {}
    for pair in pairs:
        both, bucket = binding_of_pair(pair.bound_slower, pair.bound_faster), bucket_of(pair.predicted)
        for key in ((ANY, bucket), (both, ANY)):
            found.setdefault(key, []).append(_error(pair))
    return {key: (len(errors), *_ends(errors)) for key, errors in sorted(found.items())}


def errors_by(rows: Sequence[Timed], what: str) -> Mapping[str, tuple[int, float, float, float]]:
    """By `bound`, `gpu` or `set`: n, and log2(measured / predicted) at 10, 50 and 90 %."""
    found: dict[str, list[float]] = {}
    for row in rows:
        found.setdefault(str(getattr(row, what)), []).append(row.error)
    return {key: (len(errors), *_ends(errors)) for key, errors in sorted(found.items())}


def _ends(errors: Sequence[float]) -> tuple[float, float, float]:
    low, middle, high = np.quantile(np.asarray(errors), (0.1, 0.5, 0.9))
    return float(low), float(middle), float(high)


@dataclass(frozen=True)
class Called:
    """Of n pairs predicted at least this far apart: the share measured in that order, and at least 0.95 of a tie."""

    ratio: float
    n: int
    faster: float
    not_slower: float


def reliability(pairs: Sequence[Pair], thresholds: Sequence[float] = CALLED) -> list[Called]:
    found: list[Called] = []
    for ratio in thresholds:
        measured = np.array([pair.measured for pair in pairs if pair.predicted >= np.log2(ratio)])
        if len(measured):
            found.append(
                Called(ratio, len(measured), float((measured > 0).mean()), float((measured > np.log2(0.95)).mean()))
            )
    return found


@dataclass(frozen=True)
class HeldOut:
    """What tables of the other sets say of a set: coverage of pairs and times, and of the pairs that they call faster.

    `called` is how many of its pairs have an interval of level SURE above 1, `right` the share of those that was.
    """

    set: str
    pairs: int
    covered: float
    times_covered: float
    called: int
    right: float
    brier: float


def widening(rows: Sequence[Timed], level: float = LEVEL) -> float:
    """The least stretch, 1 or more, with which the sets, judged by the others, are covered at this level on average."""
    needed: list[tuple[str, float]] = []
    for own, others in _each_left_out(rows):
        tables = model_error(others)
        needed += [(pair.set, _needed(pair, tables, level)) for pair in pairs_of(own)]
    return max(1.0, math.ceil(100 * _weighted(needed, [level])[0]) / 100) if needed else 1.0


def _needed(pair: Pair, tables: ErrorTables, level: float) -> float:
    """The stretch that takes the interval of a pair just to what was measured."""
    table = tables.pair_table(pair.predicted, pair.bound_slower, pair.bound_faster)
    off, rest = _error(pair) - table.at(0.5), (1.0 - level) / 2.0
    side = table.at(1.0 - rest if off > 0 else rest) - table.at(0.5)
    return off / side if side else 0.0


def _each_left_out(rows: Sequence[Timed]) -> Iterator[tuple[list[Timed], list[Timed]]]:
    """Each set, and all the others."""
    for name in sorted({row.set for row in rows}):
        own, others = [r for r in rows if r.set == name], [r for r in rows if r.set != name]
        if len(own) > 1 and others:
            yield own, others


def held_out(rows: Sequence[Timed], level: float = LEVEL, widen: float = 1.0) -> list[HeldOut]:
    """Each set judged by the others; needs two sets or more."""
    found: list[HeldOut] = []
    for own, others in _each_left_out(rows):
        name, pairs = own[0].set, pairs_of(own)
        tables, inside, called, right, squares = model_error(others, widen), 0, 0, 0, 0.0
        for pair in pairs:
            asked = 2.0**pair.predicted, pair.bound_slower, pair.bound_faster
            low, high, probability = tables.ratio_interval(*asked, level)
            faster = pair.measured > 0
            inside += low <= 2.0**pair.measured <= high
            squares += (probability - faster) ** 2
            if tables.ratio_interval(*asked, SURE).low > 1.0:
                called, right = called + 1, right + faster
        ranges = ((row, tables.time_interval(row.predicted_us, row.bound, level)) for row in own)
        times = [low <= row.measured_us <= high for row, (low, high) in ranges]
        share = right / called if called else float("nan")
        n = len(pairs)
        found.append(HeldOut(name, n, inside / n, float(np.mean(times)), called, share, squares / n))
    return found
