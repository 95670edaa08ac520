"""Order, size and choice, on small lists whose answers are known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from benchmarks.measured.statistics import agreement, kendall, pick, quantiles, ranks, spearman


def test_perfect_predictions() -> None:
    times = [1.0, 2.0, 4.0, 8.0]
    found = agreement(times, times)
    assert (found.n, found.tau, found.median, found.mape, found.bias) == (4, 1.0, 0.0, 0.0, 0.0)
    assert found.spearman == pytest.approx(1.0)
    assert (found.pick1, found.pick5) == (1.0, 1.0)


def test_twice_too_slow_everywhere_keeps_the_order() -> None:
    found = agreement([2.0, 4.0, 8.0], [1.0, 2.0, 4.0])
    assert (found.tau, found.median, found.ninety, found.bias, found.mape) == (1.0, 1.0, 1.0, 1.0, 1.0)


def test_pairs_less_than_5_percent_apart_are_ties() -> None:
    ours, theirs = np.array([3.0, 2.0, 10.0]), np.array([1.0, 1.04, 2.0])
    assert kendall(ours, theirs) == 1.0  # the first two are in the wrong order, and nobody can say so
    assert math.isnan(kendall(ours[:2], theirs[:2]))


def test_an_equal_prediction_is_neither_right_nor_wrong() -> None:
    assert kendall(np.array([1.0, 1.0, 2.0]), np.array([1.0, 2.0, 3.0])) == pytest.approx(2 / 3)


def test_ranks_share_places() -> None:
    assert ranks(np.array([5.0, 1.0, 5.0, 9.0])).tolist() == [1.5, 0.0, 1.5, 3.0]
    assert spearman(np.array([1.0, 2.0, 3.0]), np.array([3.0, 2.0, 1.0])) == pytest.approx(-1.0)
    assert math.isnan(spearman(np.array([1.0, 1.0]), np.array([1.0, 2.0])))


def test_picks() -> None:
    ours, theirs = np.array([1.0, 2.0, 3.0]), np.array([4.0, 2.0, 1.0])
    assert [pick(ours, theirs, few) for few in (1, 2, 3)] == [0.25, 0.5, 1.0]


def test_of_nothing_nothing_is_said() -> None:
    found = agreement([], [])
    assert found.n == 0
    assert math.isnan(found.tau)


def test_quantiles() -> None:
    assert quantiles([float(i) for i in range(11)]) == (1.0, 5.0, 9.0)
