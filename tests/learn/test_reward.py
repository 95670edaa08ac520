"""The order of rewards: wrong, right, faster; looking costs less than being right brings."""

from __future__ import annotations

from typing import Literal

from hypothesis import given
from hypothesis import strategies as st
from tests.model_errors import likely_faster

from warpsight.learn.reward import reward
from warpsight.nouns import Check, Evaluation, Timing, WorkloadResult
from warpsight.nouns.run import Prediction, Submission
from warpsight.short.prompting import MOST_CALLS

SHA = "0" * 64
MOST = max(MOST_CALLS.values())
calls = st.integers(0, MOST)
ratios = st.floats(1.03, 16.0)


def evaluated(verdict: Literal["right", "wrong"], ratio: float | None = None) -> Evaluation:
    timing = None
    if ratio is not None:
        decision = "FASTER" if ratio > 1.02 else "SAME"
        timing = Timing(
            source="simulated", device="a100", method="model", samples_us=(10 / ratio,), baseline_us=(10.0,),
            ratio=ratio, interval=(ratio, ratio), decision=decision,
        )  # fmt: skip
    ran = (WorkloadResult(workload="small", hidden=False, seed=0, ok=True, total_elements=1),)
    if verdict == "right":
        return Evaluation(candidate_sha256=SHA, check=Check(verdict="right", reason="", workloads=ran), timing=timing)
    bad = (WorkloadResult(workload="small", hidden=False, seed=0, ok=False, reason="wrong_values", total_elements=1),)
    found = Check(verdict="wrong", reason="an element differs", named="wrong_values", workloads=bad)
    return Evaluation(candidate_sha256=SHA, check=found)


def said(cause: str, verdict: str | None = None) -> Submission:
    known = verdict != "unknown"
    made = () if verdict is None else (
        Prediction(counter="sectors", way="down", before=2.0 if known else None, after=1.0 if known else None,
                   verdict=verdict),  # type: ignore[arg-type]
    )  # fmt: skip
    return Submission(kernel_sha256=SHA, cause=cause, predictions=made)


@given(few=calls, many=calls)
def test_wrong_is_worst_then_no_answer_then_right_whatever_was_called(few: int, many: int) -> None:
    wrong = reward(said("spills", "right"), evaluated("wrong"), ("spills",), few)
    right = reward(said("tail"), evaluated("right", 1.0), ("spills",), many)
    assert wrong < reward(None, None, ("spills",), many)
    assert reward(None, None, ("spills",), few) < right


@given(ratio=ratios, few=calls)
def test_likely_faster_earns_as_much_as_faster(ratio: float, few: int) -> None:
    sure = evaluated("right", ratio)
    assert reward(said("tail"), likely_faster(sure), (), few) == reward(said("tail"), sure, (), few)


@given(ratio=ratios, few=calls)
def test_faster_is_better_than_right(ratio: float, few: int) -> None:
    slow = reward(said("tail"), evaluated("right", 1.0), ("spills",), few)
    fast = reward(said("tail"), evaluated("right", ratio), ("spills",), few)
    assert fast > slow


@given(one=ratios, other=ratios)
def test_the_faster_the_better_on_a_log_scale(one: float, other: float) -> None:
    low, high = sorted((one, other))
    rewards = [reward(said("x"), evaluated("right", ratio), (), 1) for ratio in (low, high)]
    assert rewards[0] <= rewards[1]


def test_a_doubling_is_worth_the_same_everywhere() -> None:
    found = [reward(said("x"), evaluated("right", ratio), (), 0) for ratio in (2.0, 4.0, 8.0)]
    assert abs((found[2] - found[1]) - (found[1] - found[0])) < 1e-9


def test_a_right_recommendation_and_prediction_add_and_a_call_costs() -> None:
    plain = reward(said("tail"), evaluated("right", 1.5), ("spills",), 1)
    assert reward(said("spills"), evaluated("right", 1.5), ("spills",), 1) > plain
    assert reward(said("tail", "right"), evaluated("right", 1.5), ("spills",), 1) > plain
    assert reward(said("tail", "wrong"), evaluated("right", 1.5), ("spills",), 1) == plain
    assert reward(said("tail"), evaluated("right", 1.5), ("spills",), 2) < plain


def test_an_answer_alone_is_scored_by_the_answer() -> None:
    good, bad = (reward(said(cause), None, ("spills",), 1) for cause in ("spills", "tail"))
    assert good > bad > reward(None, None, ("spills",), 0)
