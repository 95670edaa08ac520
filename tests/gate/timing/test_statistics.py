"""The decision, on samples whose truth is known: false improvements, power, forged clocks, outliers, drift."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from warpsight.gate import statistics
from warpsight.gate.statistics import LOOKS, SPENT, Decided, Pairs, bootstrap, can_still_decide, decide, place

NOISE = ("normal", "heavy", "skewed", "interrupted")


def noise(random: np.random.Generator, kind: str, count: int) -> np.ndarray:
    if kind == "normal":
        return random.normal(0, 0.03, count)
    if kind == "heavy":
        return 0.02 * random.standard_t(2, count)
    if kind == "skewed":
        return random.exponential(0.05, count)
    return random.normal(0, 0.01, count) + (random.random(count) < 0.1) * random.exponential(1, count)


def samples(random: np.random.Generator, kind: str, gain: float, overhead_us: float = 300) -> Pairs:
    """Pairs under drift, with a candidate that is `gain` times as fast."""
    count = LOOKS[-1]
    drift = np.cumsum(random.normal(0, 0.01, count))
    theirs = 1000 * np.exp(drift + noise(random, kind, count))
    mine = 1000 * np.exp(drift + noise(random, kind, count)) / gain
    walls = [x + overhead_us + random.normal(0, 20, count) for x in (theirs, mine)]
    return Pairs(theirs.tolist(), mine.tolist(), walls[0].tolist(), walls[1].tolist())


def run_looks(pairs: Pairs, seed: int = 7) -> Decided:
    for count in LOOKS:
        found = decide(pairs.first(count), seed)
        if not can_still_decide(found, count):
            return found
    raise AssertionError("the last look ends it")


def test_the_looks_share_one_percent() -> None:
    assert len(SPENT) == len(LOOKS) and math.isclose(sum(SPENT), 0.01)


@pytest.mark.parametrize("kind", NOISE)
def test_equal_kernels_are_not_called_faster(kind: str) -> None:
    random = np.random.default_rng(11)
    found = [run_looks(samples(random, kind, 1.0)).decision for _ in range(20)]
    assert found.count("FASTER") == 0 and found.count("SLOWER") == 0 and found.count("SAME") > 0


@pytest.mark.parametrize("kind", NOISE)
def test_a_gain_of_five_percent_is_seen_or_left_open(kind: str) -> None:
    random = np.random.default_rng(12)
    found = [run_looks(samples(random, kind, 1.05)) for _ in range(10)]
    assert {f.decision for f in found} <= {"FASTER", "AMBIGUOUS"}
    assert sum(f.decision == "FASTER" for f in found) >= 5
    lost = [run_looks(samples(random, kind, 1 / 1.05)).decision for _ in range(10)]
    assert set(lost) <= {"SLOWER", "AMBIGUOUS"}


def test_a_gain_within_the_band_is_not_an_improvement() -> None:
    random = np.random.default_rng(13)
    assert "FASTER" not in {run_looks(samples(random, "normal", 1.015)).decision for _ in range(20)}


def test_a_large_gain_needs_few_pairs() -> None:
    pairs = samples(np.random.default_rng(14), "normal", 1.5)
    assert decide(pairs.first(LOOKS[0]), 1).decision == "FASTER"


def test_interrupted_calls_of_one_side_do_not_decide() -> None:
    pairs = samples(np.random.default_rng(15), "normal", 1.0)
    hit = [t * (50 if i % 10 == 3 else 1) for i, t in enumerate(pairs.baseline_us)]
    found = run_looks(Pairs(hit, pairs.candidate_us, pairs.baseline_wall_us, pairs.candidate_wall_us))
    assert found.decision in ("SAME", "AMBIGUOUS") and found.ratio is not None and found.ratio < 1.02


def test_a_process_that_is_slow_for_a_while_does_not_decide() -> None:
    """Equal kernels, but from some call on one of the processes is slower: neighbours say the same thing twice."""
    random = np.random.default_rng(19)
    called: list[str] = []
    for _ in range(20):
        pairs = samples(random, "normal", 1.0)
        start, factor = int(random.integers(20, LOOKS[-1])), 1 + random.exponential(0.1)
        slowed = [t * (factor if i >= start else 1) for i, t in enumerate(pairs.baseline_us)]
        walls = [t + 300 for t in slowed]
        called.append(run_looks(Pairs(slowed, pairs.candidate_us, walls, pairs.candidate_wall_us)).decision)
    assert called.count("FASTER") <= 2


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (1.021, 1.5, "FASTER"),
        (1.019, 1.5, "AMBIGUOUS"),
        (0.99, 1.01, "SAME"),
        (0.99, 1.03, "AMBIGUOUS"),
        (0.5, 0.97, "SLOWER"),
        (0.5, 0.99, "AMBIGUOUS"),
    ],
)
def test_place(low: float, high: float, expected: str) -> None:
    assert place(low, high) == expected


def test_a_forged_clock_is_rejected() -> None:
    pairs = samples(np.random.default_rng(16), "normal", 1.0)
    forged = Pairs(
        pairs.baseline_us, [t / 2 for t in pairs.candidate_us], pairs.baseline_wall_us, pairs.candidate_wall_us
    )
    found = run_looks(forged)
    assert (found.decision, found.reason) == ("REJECTED", "clock_disagrees") and "by the parent's" in found.detail


def test_work_after_done_is_rejected() -> None:
    pairs = samples(np.random.default_rng(17), "normal", 2.0)
    totals = [t + 5000 for t in pairs.baseline_wall_us], [t + 5500 for t in pairs.candidate_wall_us]
    late = replace(pairs, baseline_total_us=totals[0], candidate_total_us=totals[1])
    found = run_looks(late)
    assert (found.decision, found.reason) == ("REJECTED", "clock_disagrees") and "whole call" in found.detail


def test_a_gain_that_the_wall_clock_cannot_see_is_left_open() -> None:
    random = np.random.default_rng(18)
    pairs = samples(random, "normal", 1.08)
    blurred = [[t + random.normal(0, 3000) for t in side] for side in (pairs.baseline_wall_us, pairs.candidate_wall_us)]
    found = run_looks(Pairs(pairs.baseline_us, pairs.candidate_us, *blurred))
    assert (found.decision, found.reason) == ("AMBIGUOUS", "wall_unconfirmed")


def test_the_bootstrap_is_the_same_for_ever() -> None:
    """The numbers of old certificates are recomputed: this stream must not change with NumPy."""
    found = bootstrap(np.linspace(0, 1, 24), 0.001, 42)
    assert found == bootstrap(np.linspace(0, 1, 24), 0.001, 42)
    assert found.middle == pytest.approx(0.5, abs=1e-12)
    assert (found.low, found.high) == (pytest.approx(PINNED[0], abs=1e-12), pytest.approx(PINNED[1], abs=1e-12))


PINNED = (0.04519340406454536, 0.9548065959354546)


def test_a_look_that_was_not_planned_is_refused() -> None:
    with pytest.raises(ValueError, match="one of"):
        decide(Pairs([1.0] * 13, [1.0] * 13, [2.0] * 13, [2.0] * 13), 1)


def test_more_samples_only_while_they_can_decide() -> None:
    edge = Decided("AMBIGUOUS", "interval_too_wide", "", 1.02, (1.0, 1.04))
    assert not can_still_decide(edge, 96) and can_still_decide(edge, 12)
    assert not can_still_decide(Decided("SAME", "", "", 1.0, (0.99, 1.01)), 12)
    assert can_still_decide(Decided("AMBIGUOUS", "interval_too_wide", "", 1.05, (1.015, 1.09)), 96)
    assert not can_still_decide(edge, LOOKS[-1])


def test_faster_only_beside_the_candidate() -> None:
    assert statistics.faster_alone([100.0] * 24, [50.0] * 24, 2.0)[0]
    holds, told = statistics.faster_alone([52.0] * 24, [50.0] * 24, 2.0)
    assert not holds and "without it" in told
