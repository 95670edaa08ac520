"""What is put on top of the best, how far the gate follows, and what is left where it does not follow at all."""

from __future__ import annotations

import json
from collections.abc import Collection

from tests.model_errors import likely_faster

from warpsight.nouns import Check, Evaluation, Timing, WorkloadResult, kernel_id
from warpsight.rewrite import CAUSES
from warpsight.short.climb import LAST, MOST_ROUNDS, Climbed, climb
from warpsight.tools.box import ToolResult
from warpsight.tools.rewrite import Rewritten

GIVEN = "given"  # here a text is the causes that were put on top of one another
OK = WorkloadResult(workload="w", hidden=False, seed=1, ok=True, total_elements=1)


def drafted(kernel: str, cause: str, ratio: float | None) -> ToolResult:
    made = None if ratio is None else f"{kernel} {cause}"
    record = Rewritten(
        cause=cause, base=kernel_id(kernel), found=made is not None, kernel=kernel_id(made or ""), ratio=ratio
    )
    return ToolResult(text="", data=json.loads(record.model_dump_json()), made=made)


def judged(kernel: str, *, faster: bool, ratio: float = 9.0) -> Evaluation:
    sha = "0" * 64
    if not faster:
        return Evaluation(candidate_sha256=sha, check=Check(verdict="refused", reason="not believed"))
    timing = Timing(
        source="simulated", device="virtual:a100", method="simulated", decision="FASTER", ratio=ratio,
        samples_us=(1.0,), baseline_us=(ratio,), workload="w", interval=(1.0, 9999.0),
    )  # fmt: skip
    return Evaluation(candidate_sha256=sha, check=Check(verdict="right", reason="", workloads=(OK,)), timing=timing)


def test_a_likely_step_is_climbed() -> None:
    alone = {"spills": drafted(GIVEN, "spills", 1.2)}

    def judge(kernel: str) -> Evaluation:
        return likely_faster(judged(kernel, faster=True))

    found = climb(alone, lambda kernel, cause: drafted(kernel, cause, None), judge)
    assert found.made is not None and found.steps[-1].decision == "LIKELY_FASTER" and not found.refused


def climbed(
    gains: dict[str, float | None], more: Collection[str], refused: Collection[str]
) -> tuple[Climbed, list[str]]:
    """From these gains alone; `more` help on top, each once; the gate refuses these texts."""
    asked: list[str] = []

    def draft(kernel: str, cause: str) -> ToolResult:
        return drafted(kernel, cause, 1.1 if cause in more and cause not in kernel.split() else None)

    def judge(kernel: str) -> Evaluation:
        asked.append(kernel)
        return judged(kernel, faster=kernel not in refused)

    return climb({cause: drafted(GIVEN, cause, gain) for cause, gain in gains.items()}, draft, judge), asked


def test_all_that_helps_stands_on_the_best_and_the_gate_is_asked_once() -> None:
    found, asked = climbed({"spills": 1.2, "reloads": 1.5, "divergence": None}, {"spills", "slow_math"}, ())
    assert [step.cause for step in found.steps] == ["reloads", "spills", "slow_math"]
    assert asked == [found.made] == ["given reloads spills slow_math"]
    assert found.evaluation is not None and found.evaluation.timing is not None
    assert found.steps[-1].ratio_to_given == found.evaluation.timing.ratio
    assert not found.refused


def test_where_the_gate_refuses_the_last_step_the_one_before_is_handed_out() -> None:
    top = "given reloads spills slow_math"
    found, asked = climbed({"reloads": 1.5}, {"spills", "slow_math"}, {top, "given reloads spills"})
    assert asked == [top, "given reloads spills", "given reloads"]
    assert found.made == "given reloads" and [step.cause for step in found.steps] == ["reloads"]


def test_where_the_gate_charges_the_last_step_with_more_time_the_one_before_is_handed_out() -> None:
    steps = {"given reloads": 1.5, "given reloads spills": 2.0}

    def draft(kernel: str, cause: str) -> ToolResult:
        more = drafted(kernel, cause, 1.1 if cause == "spills" and "spills" not in kernel else None)
        return more.model_copy(update={"data": {**more.data, "ratio_to_given": steps.get(more.made or "")}})

    def judge(kernel: str) -> Evaluation:
        return judged(kernel, faster=True, ratio=1.2 if "spills" in kernel else steps[kernel])

    first = drafted(GIVEN, "reloads", 1.5)
    found = climb({"reloads": first.model_copy(update={"data": {**first.data, "ratio_to_given": 1.5}})}, draft, judge)
    assert found.made == "given reloads" and found.steps[-1].ratio_to_given == 1.5


def test_where_the_gate_refuses_even_the_best_it_is_no_gain_and_the_next_is_taken() -> None:
    found, _ = climbed({"reloads": 1.5, "spills": 1.2}, (), {"given reloads"})
    assert found.refused == {"reloads"} and found.made == "given spills"


def test_where_nothing_helps_nothing_is_tried_on_top_and_nothing_judged() -> None:
    found, asked = climbed({"reloads": 1.02, "divergence": None}, tuple(CAUSES), ())
    assert found == Climbed([], None, None, frozenset()) and not asked


def test_it_ends_though_every_rewrite_helps_again_and_again() -> None:
    def draft(kernel: str, cause: str) -> ToolResult:
        return drafted(kernel, cause, 1.1)

    found = climb({"spills": drafted(GIVEN, "spills", 1.5)}, draft, lambda kernel: judged(kernel, faster=True))
    assert found.made is not None and len(found.steps) == 1 + MOST_ROUNDS * (2 * len(CAUSES) - len(LAST))


def test_what_leaves_a_text_that_other_rules_hardly_know_again_comes_last() -> None:
    found, _ = climbed({"spills": 1.2}, (*LAST, "reloads", "slow_math"), ())
    assert [step.cause for step in found.steps] == ["spills", "slow_math", "reloads", *LAST]
