"""Boosted trees learn what is there to learn; a ranker sees a look, and no task of the family it is asked about."""

from __future__ import annotations

import numpy as np
import pytest

from warpsight.causes import NOTHING
from warpsight.corpus.outcomes import LookTaken, OutcomeLine
from warpsight.errors import UsageError
from warpsight.learn.boosting import Boosting, fit
from warpsight.learn.ranker import features_of, train_ranker
from warpsight.session.tries import TriedRewrite


def line(number: int, family: str, helps: str, counter: float) -> OutcomeLine:
    """A task where one of two changes makes it twice as fast, and a counter says which."""
    tries = tuple(
        TriedRewrite(
            cause=cause, number=0, rewrite="r", kernel=f"c{number}", verdict="right",
            decision="FASTER" if cause == helps else "SAME", ratio=2.0 if cause == helps else 1.0, by="gate",
        )
        for cause in ("uncoalesced", "missing_unroll")
    )  # fmt: skip
    look = LookTaken(bound="latency", counters={"busy_dram": counter, "blocks": 7.0}, findings=(("tail", 1.2),))
    return OutcomeLine(
        row=number, task=f"{family}|{number}|||a100", split="train", family=family, version={}, look=look, tries=tries
    )


def some_lines() -> list[OutcomeLine]:
    draw = np.random.default_rng(0)
    found: list[OutcomeLine] = []
    for number in range(60):
        scattered = bool(draw.integers(2))
        busy = float(draw.uniform(60, 90) if scattered else draw.uniform(5, 30))
        found.append(line(number, "abcd"[number % 4], "uncoalesced" if scattered else "missing_unroll", busy))
    return found


def test_trees_fit_a_step_in_two_features_and_more_of_them_fit_better() -> None:
    draw = np.random.default_rng(1)
    rows = draw.uniform(0, 1, (300, 4))
    targets = np.stack([(rows[:, 0] > 0.5) * 2.0 - rows[:, 1], rows[:, 1] ** 2], axis=1)
    errors = [
        float(((fit(rows, targets, Boosting(trees=trees, share=1.0)).predict(rows) - targets) ** 2).mean())
        for trees in (0, 5, 100)
    ]
    assert errors[0] > errors[1] > errors[2] and errors[2] < 0.02 * errors[0]
    same = [fit(rows, targets, Boosting(trees=5, seed=3)).predict(rows[:3]) for _ in range(2)]
    assert np.array_equal(same[0], same[1])


def test_trees_of_features_that_never_differ_say_the_mean() -> None:
    found = fit(np.ones((10, 3)), np.arange(10.0)[:, None]).predict(np.ones((2, 3)))
    assert found == pytest.approx(np.full((2, 1), 4.5))


def test_a_ranker_orders_by_what_the_counters_say_in_a_family_it_never_saw() -> None:
    lines = some_lines()
    ranker = train_ranker(lines, without="a")
    assert ranker.tasks == 45
    asked = [one for one in lines if one.family == "a"]
    right = [ranker.order(one)[0] == max(one.tries, key=lambda t: t.speed).cause for one in asked]
    assert sum(right) / len(right) > 0.9
    assert NOTHING in ranker.order(asked[0]) and ranker.gains(asked[0])[NOTHING] == 1.0


def test_a_ranker_sees_a_look_and_which_rewrites_exist_but_not_what_came_of_them() -> None:
    one = line(0, "a", "uncoalesced", 80.0)
    other = one.model_copy(update={"tries": tuple(t.model_copy(update={"ratio": 9.0}) for t in one.tries)})
    assert features_of(one) == features_of(other)
    assert {"counter busy_dram", "finding tail", "known uncoalesced", "bound latency"} <= set(features_of(one))
    with pytest.raises(UsageError, match="other families"):
        train_ranker([line(n, "a", "uncoalesced", 1.0) for n in range(5)], without="a")
