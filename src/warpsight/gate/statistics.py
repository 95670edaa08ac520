"""From paired samples to a decision. Pure functions: the same samples and seed give the same numbers, on any machine.

A pair is a baseline call and a candidate call side by side, in random order; its log ratio is log(baseline/candidate).
The middle of the log ratios is a 20 % trimmed mean, so a few calls that were interrupted do not matter; its interval is
a percentile bootstrap over 12 blocks of consecutive pairs (a process that is slow now is slow in the next call too, so
neighbours do not count as independent), widened from the normal to Student's quantile because blocks are few.

The interval is placed against a band of 2 % around "equal": wholly above is FASTER, wholly below SLOWER, wholly inside
SAME, anything else AMBIGUOUS. Looking more than once is paid for: the looks are fixed beforehand and their error rates
add up to 1 %, so however the stopping falls out, a candidate that gains 2 % or less is called faster no more often.

Not covered here: what differs between two processes of the same kernel. A second measurement in fresh processes is for
that (see compare_pair).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from warpsight.nouns.timing import Decision, TimingReason

LOOKS = (12, 24, 48, 96, 192)
"""Pairs taken before each look."""
BLOCKS = 12
SPENT = (0.001, 0.001, 0.002, 0.002, 0.004)
"""Error rate of each look; together 1 %, two-sided."""
FORETELLS = 48
MINIMUM_EFFECT = 0.02
TRIMMED = 0.2
RESAMPLES = 10_000
TOTAL_ALPHA = 0.05
CONFIRMED_SHARE = 0.5
"""How much of the time saved by the device's clock must be seen on the parent's."""
HIDDEN_SHARE, HIDDEN_GRAIN_US = 0.5, 100.0
"""Time of a call outside of its device's clock, beyond the baseline's: this share of its own time, and so much more."""
FORGED_SHARE, FORGED_GRAIN_US = 3.0, 2000.0
"""The same, where it is surely no process that was slow to answer, but a clock that leaves the work out."""
LARGE_CLAIM, UNSURE_SHARE = 4.0, 3.0
"""More times faster than this is believed only where the time outside is known to within so many times its own."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """A middle and where it may lie."""

    middle: float
    low: float
    high: float


@dataclass(frozen=True)
class Decided:
    """What the samples say at one look. Ratios, not logs; none where the samples cannot be compared."""

    decision: Decision
    reason: TimingReason = ""
    detail: str = ""
    ratio: float | None = None
    interval: tuple[float, float] | None = None


def trimmed_mean(values: Floats) -> float:
    """The mean of the middle 60 %."""
    cut = int(TRIMMED * len(values))
    return float(np.sort(values)[cut : len(values) - cut].mean())


def bootstrap(values: Floats, alpha: float, seed: int) -> Interval:
    """The trimmed mean of `values`, in the order they were taken, with its two-sided 1 - alpha interval."""
    count = len(values)
    # The raw stream of PCG64 is fixed for ever, the ones of Generator are not: old certificates must stay checkable.
    words = np.random.PCG64(seed).random_raw(RESAMPLES * BLOCKS)
    blocks = ((words >> np.uint64(32)) * np.uint64(BLOCKS)) >> np.uint64(32)
    # Places in the sorted values sort like the values, and bytes sort fastest; so a look has at most 256 pairs.
    place_of = np.argsort(np.argsort(values, kind="stable"), kind="stable").astype(np.uint8).reshape(BLOCKS, -1)
    places = np.sort(place_of[blocks.astype(np.int64)].reshape(RESAMPLES, count), axis=-1, kind="stable")
    cut = int(TRIMMED * count)
    middles = np.sort(np.sort(values)[places[:, cut : count - cut]].mean(axis=-1))
    middle = trimmed_mean(values)
    tail = int(RESAMPLES * alpha / 2)
    widen = _widening(count, alpha)
    low = middle - widen * max(0.0, middle - float(middles[tail]))
    high = middle + widen * max(0.0, float(middles[RESAMPLES - 1 - tail]) - middle)
    return Interval(middle, low, high)


def _widening(count: int, alpha: float) -> float:
    """Student's quantile over the normal one, for the degrees of freedom of the trimmed pairs or of the blocks."""
    free = min(count - 2 * int(TRIMMED * count), BLOCKS) - 1
    z = NormalDist().inv_cdf(1 - alpha / 2)
    terms = (
        (z**3 + z) / (4 * free),
        (5 * z**5 + 16 * z**3 + 3 * z) / (96 * free**2),
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * free**3),
    )
    return (z + sum(terms)) / z * math.sqrt(BLOCKS / (BLOCKS - 1))


def place(low: float, high: float) -> Decision:
    """Where an interval of ratios stands against the band of 2 %."""
    edge = 1 + MINIMUM_EFFECT
    if low > edge:
        return "FASTER"
    if high < 1 / edge:
        return "SLOWER"
    return "SAME" if low >= 1 / edge and high <= edge else "AMBIGUOUS"


@dataclass(frozen=True)
class Pairs:
    """Samples by three clocks, in the order they were taken; totals may be empty."""

    baseline_us: Sequence[float]
    candidate_us: Sequence[float]
    baseline_wall_us: Sequence[float]
    candidate_wall_us: Sequence[float]
    baseline_total_us: Sequence[float] = ()
    candidate_total_us: Sequence[float] = ()

    def first(self, count: int) -> Pairs:
        return Pairs(*(values[:count] for values in vars(self).values()))


def decide(pairs: Pairs, seed: int) -> Decided:
    """The decision of one look: as many pairs as LOOKS says."""
    count = len(pairs.candidate_us)
    if count not in LOOKS:
        raise ValueError(f"expected a look at one of {LOOKS} pairs, found {count}")
    alpha = SPENT[LOOKS.index(count)]
    logs = bootstrap(np.log(_array(pairs.baseline_us) / _array(pairs.candidate_us)), alpha, seed)
    ratio, interval = math.exp(logs.middle), (math.exp(logs.low), math.exp(logs.high))
    decision = place(*interval)
    if decision == "AMBIGUOUS":
        return Decided(decision, "interval_too_wide", "", ratio, interval)
    if decision != "FASTER":
        return Decided(decision, "", "", ratio, interval)
    decision, reason, detail = borne_out(pairs, alpha, seed)
    return Decided(decision, reason, detail, ratio, interval)


def borne_out(pairs: Pairs, alpha: float, seed: int) -> tuple[Decision, TimingReason, str]:
    """A gain by the device's clock, held to the parent's: half of the time saved must surely be seen there.

    The same is asked of the total, from sending the contents to having the arrays: a kernel that works on after it said
    it was done saves nothing there. It is a rougher clock, so 95 % will do, as it is asked twice of a winner.
    Surely about nothing saved is a forgery. Surely a loss is not: a process can be slow to answer on a busy machine.
    Nor may a call have more time outside of its device's clock than the baseline's has, by more than half of what it
    claims: a kernel that is twice as fast could otherwise claim to be a hundred times as fast. By a multiple of what it
    claims, it is a forgery. Where the machine is so busy that this cannot be told, a large claim is not confirmed.
    """
    claimed = trimmed_mean(_array(pairs.baseline_us) - _array(pairs.candidate_us))
    half, own_us = CONFIRMED_SHARE * claimed, trimmed_mean(_array(pairs.candidate_us))
    clocks = [("by the parent's", pairs.baseline_wall_us, pairs.candidate_wall_us, alpha, seed + 1)]
    if pairs.candidate_total_us:
        clocks.append(("of the whole call", pairs.baseline_total_us, pairs.candidate_total_us, TOTAL_ALPHA, seed + 2))
    worst: tuple[Decision, TimingReason, str] = ("FASTER", "", "")
    for name, theirs, mine, level, at in clocks:
        saved = bootstrap(_array(theirs) - _array(mine), level, at)
        told = f"{claimed:.1f} us saved by the device's clock, {saved.low:.1f} to {saved.high:.1f} us {name}"
        if -half < saved.low and saved.high < half:
            return "REJECTED", "clock_disagrees", told
        if saved.low < half:
            worst = "AMBIGUOUS", "wall_unconfirmed", told
        outside = _array(mine) - _array(pairs.candidate_us) - (_array(theirs) - _array(pairs.baseline_us))
        hidden = bootstrap(outside, level, at + 2)
        told = (
            f"{hidden.low:.1f} to {hidden.high:.1f} us {name} are outside of the candidate's own, beyond the baseline's"
        )
        if hidden.low > FORGED_SHARE * own_us + FORGED_GRAIN_US:
            return "REJECTED", "clock_disagrees", told
        # On a busy machine the middle drowns in waiting; what is least waited for is what the call costs.
        least = _least(_array(mine) - _array(pairs.candidate_us)) - _least(_array(theirs) - _array(pairs.baseline_us))
        # The whole call is too rough for that: there it must be sure.
        beyond = max(hidden.middle, least) if mine is pairs.candidate_wall_us else hidden.low
        if beyond > HIDDEN_SHARE * own_us + HIDDEN_GRAIN_US:
            worst = "AMBIGUOUS", "wall_unconfirmed", told
        unsure = mine is pairs.candidate_wall_us and hidden.high > UNSURE_SHARE * own_us + HIDDEN_GRAIN_US
        if unsure and claimed > (LARGE_CLAIM - 1) * own_us:
            worst = "AMBIGUOUS", "wall_unconfirmed", told
    return worst


def _least(values: Floats) -> float:
    """What a tenth of the values are below: the smallest, but for luck."""
    return float(np.quantile(values, 0.1))


def _array(values: Sequence[float]) -> Floats:
    return np.array(values, np.float64)


def can_still_decide(found: Decided, pairs: int) -> bool:
    """Whether the looks that are left could settle it: the interval shrinks with the root of the pairs, at best.

    Twice that is allowed for luck, and the first looks are too rough to foretell anything. Only ever stops early as
    AMBIGUOUS, so it cannot make an improvement.
    """
    if found.decision != "AMBIGUOUS" or pairs >= LOOKS[-1]:
        return False
    if pairs < FORETELLS or found.interval is None or found.ratio is None or found.reason != "interval_too_wide":
        return True
    low, middle, high = (math.log(x) for x in (found.interval[0], found.ratio, found.interval[1]))
    shrunk = math.sqrt(pairs / LOOKS[-1]) / 2
    best = middle - (middle - low) * shrunk, middle + (high - middle) * shrunk
    return place(math.exp(best[0]), math.exp(best[1])) != "AMBIGUOUS"


def faster_alone(alone_us: Sequence[float], candidate_us: Sequence[float], ratio: float) -> tuple[bool, str]:
    """Is at least half of the gain there against the baseline alone, with the candidate's process gone?

    A candidate whose process keeps the machine busy while the baseline runs gains only beside it.
    """
    alone = math.log(trimmed_mean(_array(alone_us)) / trimmed_mean(_array(candidate_us)))
    told = f"{ratio:.3f} times beside the candidate's process, {math.exp(alone):.3f} times without it"
    return alone >= CONFIRMED_SHARE * math.log(ratio), told
