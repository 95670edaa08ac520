"""How far simulated times are from measured ones, and what that says of a ratio of two simulated times.

`model_error.toml` is written by the bench `measured` from published measurements: errors of pairs of launches of one
kernel on one card, sorted by what binds the two and by how far apart they are said to be. Errors of two launches of one
kernel have much in common and cancel in part, so pairs are judged by pairs. What must stay true: the errors are those
of rows that were drawn at random, with all that went wrong in them; nothing in the time model is fitted to them.
Not covered: kernels, cards and compilers unlike those of the bench, where errors may be larger.
"""

from __future__ import annotations

import functools
import hashlib
import math
import tomllib
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

BUILT_IN = Path(__file__).with_name("model_error.toml")
QUANTILES = (
    0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5,
    0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.975, 0.99, 0.995,
)  # fmt: skip
BUCKETS = (0.0, 0.1, 0.25, 0.5, 1.0)
"""|log2| of a predicted ratio: a pair belongs to the last of these that it reaches."""
LEAST_PAIRS, LEAST_TIMES = 200, 20
"""A table of fewer is not asked; the next wider one is."""
ANY = "any"
OUTSIDE_THE_SM = ("L2 bandwidth", "DRAM bandwidth", "atomics on one address")


class RatioInterval(NamedTuple):
    """What a predicted ratio of two times means: the measured one lies between, at the level that was asked for."""

    low: float
    high: float
    probability_faster: float


@dataclass(frozen=True)
class ErrorTable:
    """log2(measured / predicted) of n times, or of n ratios above 1, at QUANTILES."""

    n: int
    quantiles: tuple[float, ...]

    def at(self, share: float) -> float:
        """The error below which this share lies; beyond the table its ends stand."""
        return _between(QUANTILES, self.quantiles, share)

    def below(self, error: float) -> float:
        """The share with a smaller error."""
        return _between(self.quantiles, QUANTILES, error)


@dataclass(frozen=True)
class ErrorTables:
    """Tables of pairs by what binds the two and bucket of the predicted ratio, of times by what binds; or "any"."""

    pairs: Mapping[tuple[str, str], ErrorTable]
    times: Mapping[str, ErrorTable]

    @functools.cached_property
    def id(self) -> str:
        """Names these tables by what they hold: 16 hex digits."""
        told = repr((sorted(self.pairs.items(), key=str), sorted(self.times.items(), key=str)))
        return hashlib.sha256(told.encode()).hexdigest()[:16]

    def pair_table(self, log2_ratio: float, bound_a: str, bound_b: str) -> ErrorTable:
        """The narrowest table with enough pairs."""
        both, bucket = binding_of_pair(bound_a, bound_b), bucket_of(log2_ratio)
        wanted = ((both, bucket), (ANY, bucket), (both, ANY), (ANY, ANY))
        found = (self.pairs[key] for key in wanted if key in self.pairs)
        return next((table for table in found if table.n >= LEAST_PAIRS), self.pairs[ANY, ANY])

    def ratio_interval(self, ratio: float, bound_a: str, bound_b: str, level: float = 0.9) -> RatioInterval:
        """See the function of this name."""
        if ratio <= 0.0 or not math.isfinite(ratio):
            raise ValueError(f"expected a ratio above 0, found {ratio}")
        if not 0.0 < level < 1.0:
            raise ValueError(f"expected a level between 0 and 1, found {level}")
        sign = 1.0 if ratio >= 1.0 else -1.0
        size = abs(math.log2(ratio))
        table = self.pair_table(size, bound_a, bound_b)
        rest = (1.0 - level) / 2.0
        ends = (size + table.at(rest), size + table.at(1.0 - rest))
        larger = 1.0 - table.below(-size)  # the share that was measured on the predicted side of 1
        low, high = sorted(2.0 ** (sign * end) for end in ends)
        return RatioInterval(low, high, larger if sign > 0 else 1.0 - larger)

    def time_interval(self, time_us: float, bound: str, level: float = 0.9) -> tuple[float, float]:
        """See the function of this name."""
        own = self.times.get(binding_of(bound))
        table = own if own is not None and own.n >= LEAST_TIMES else self.times[ANY]
        rest = (1.0 - level) / 2.0
        return time_us * 2.0 ** table.at(rest), time_us * 2.0 ** table.at(1.0 - rest)


def ratio_interval(predicted_ratio: float, bound_a: str, bound_b: str, level: float = 0.9) -> RatioInterval:
    """The interval of a measured speedup where `predicted_ratio` = time of A over time of B is simulated.

    `bound_a` and `bound_b` are what `Prediction.bound` says. `probability_faster` is that of B being faster than A on
    the card, judged by how often pairs of this sort were. Both kernels must do the same task on the same card.
    """
    return built_in().ratio_interval(predicted_ratio, bound_a, bound_b, level)


def time_interval(time_us: float, bound: str, level: float = 0.9) -> tuple[float, float]:
    """Where the measured time of a launch lies, at this level, whose simulated time at the same clock is `time_us`."""
    return built_in().time_interval(time_us, bound, level)


def binding_of(bound: str) -> str:
    """What binds, in three sorts: memory outside the SM, a unit of the SM, or nothing but latency."""
    return "memory" if bound in OUTSIDE_THE_SM else "latency" if bound == "latency" else "unit"


def binding_of_pair(bound_a: str, bound_b: str) -> str:
    return "+".join(sorted((binding_of(bound_a), binding_of(bound_b))))


def bucket_of(log2_ratio: float) -> str:
    return f"{BUCKETS[bisect_right(BUCKETS, abs(log2_ratio)) - 1]:g}"


@functools.cache
def built_in() -> ErrorTables:
    return parse(tomllib.loads(BUILT_IN.read_text(encoding="utf-8")))


def parse(document: Mapping[str, Any]) -> ErrorTables:
    """The tables of a file as the bench writes it."""

    def table(entry: Mapping[str, Any]) -> ErrorTable:
        quantiles = tuple(float(value) for value in entry["quantiles"])
        if len(quantiles) != len(QUANTILES) or list(quantiles) != sorted(quantiles):
            raise ValueError(f"expected {len(QUANTILES)} rising quantiles, found {quantiles}")
        return ErrorTable(int(entry["n"]), quantiles)

    pairs = {(str(entry["binding"]), str(entry["bucket"])): table(entry) for entry in document["pairs"]}
    times = {str(entry["binding"]): table(entry) for entry in document["times"]}
    if (ANY, ANY) not in pairs or ANY not in times:
        raise ValueError("expected a table of all pairs and one of all times")
    return ErrorTables(pairs, times)


def _between(xs: Sequence[float], ys: Sequence[float], x: float) -> float:
    """Linear between the points; equal xs are passed to the last of them."""
    at = bisect_right(xs, x)
    if at == 0:
        return ys[0]
    if at == len(xs):
        return ys[-1]
    share = (x - xs[at - 1]) / (xs[at] - xs[at - 1])
    return ys[at - 1] + share * (ys[at] - ys[at - 1])
