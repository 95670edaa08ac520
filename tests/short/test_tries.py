"""Several causes in one call: each tried by itself, then together; what is said of it, and what is handed out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pydantic import JsonValue, TypeAdapter
from tests.learn.rows import small_row

from warpsight.corpus.specs import plain_of, task_of
from warpsight.lens.findings import WORTH_SAYING
from warpsight.nouns import kernel_id
from warpsight.reason.schema import problems
from warpsight.rewrite import CAUSES
from warpsight.session.feedback import Feedback
from warpsight.short.box import SmallBox, steps_of, store
from warpsight.short.prompting import ANY, ANY_KERNEL, SUITES, causes_of
from warpsight.short.words import best_cause, profile_words, tries_words
from warpsight.tools.box import ToolResult
from warpsight.tools.profile import Found, Profiled
from warpsight.tools.rewrite import Rewritten, Try
from warpsight.tools.task_box import TaskBox

BASE = "k-0000000000000000"
SOME = (Try(rewrite="one", kernel=BASE, outcome="not faster, not checked"),)


def found(cause: str, ratio: float, in_all: float | None = None) -> Rewritten:
    return Rewritten(
        cause=cause, base=BASE, found=True, ratio=ratio, ratio_to_given=in_all or ratio, source="simulated", tried=SOME
    )


def box_of(feedback: Feedback) -> SmallBox:
    row = small_row(0, "softmax", ("accidental_double", "block_too_large"))
    return SmallBox(task_of(row.spec), "optimize", feedback, listed=False)


def each_alone(result: ToolResult) -> list[Rewritten]:
    return TypeAdapter(list[Rewritten]).validate_json(json.dumps(result.data["alone"]))


def rewrite(box: SmallBox, *causes: str) -> ToolResult:
    return box.call("rewrite", {"causes": list(causes)})


def test_the_words_name_what_gave_most_then_the_others_then_all_together() -> None:
    unknown, vain = Rewritten(cause="divergence", base=BASE, found=False), found("spills", 1.02)
    alone = (found("reloads", 1.2), found("uncoalesced", 2.0), unknown, vain)
    steps = (found("uncoalesced", 2.0), found("reloads", 1.1, 2.2), found("slow_math", 1.05, 2.31))
    told = ["best: uncoalesced 2.00x", "also: reloads 1.20x", "no rewrite is known: divergence"]
    assert tries_words(alone, steps).splitlines() == [*told, "2.31x in all with reloads, slow_math (simulated)"]
    assert tries_words(alone, steps[:1]).splitlines() == [*told, "2.00x in all (simulated)"]
    assert tries_words((unknown, vain), ()).splitlines() == ["nothing helps", "no rewrite is known: divergence"]


def test_of_equal_gains_the_first_named_is_the_best() -> None:
    assert best_cause({"missing_unroll": 1.300, "spills": 1.305, "reloads": 1.1}) == "missing_unroll"
    assert best_cause({"missing_unroll": 1.28, "spills": 1.305}) == "spills"
    assert best_cause({}) == ""


@pytest.mark.slow
def test_what_helps_is_put_together_and_is_no_slower_than_the_best_alone() -> None:
    result = rewrite(box_of("curated"), "accidental_double", "block_too_large", "divergence", "accidental_double")
    alone = each_alone(result)
    assert [one.cause for one in alone] == ["accidental_double", "block_too_large", "divergence"]
    gains = [one.ratio for one in alone if one.ratio is not None]
    together = steps_of(result)[-1]
    assert result.made is not None and result.evaluation is not None and result.evaluation.timing is not None
    assert gains and together.ratio_to_given is not None and together.ratio_to_given >= max(gains)
    assert result.evaluation.timing.ratio == together.ratio_to_given
    assert result.text.startswith("best: ") and f"{together.ratio_to_given:.2f}x in all" in result.text


def test_what_was_not_named_is_put_on_top_of_what_was_and_helps() -> None:
    box = box_of("curated")
    result = rewrite(box, "block_too_large")
    steps = steps_of(result)
    assert [one.cause for one in each_alone(result)] == ["block_too_large"]
    assert steps[0].cause == "block_too_large"
    assert "accidental_double" in [step.cause for step in steps], "planted, and not named"
    assert [step.base for step in steps[1:]] == [step.kernel for step in steps[:-1]]
    assert result.made is not None and kernel_id(result.made) == steps[-1].kernel
    assert all(box.typed(result.made, cause).made is None for cause in CAUSES), "nothing known helps any more"


def test_where_nothing_named_helps_nothing_else_is_tried() -> None:
    result = rewrite(box_of("curated"), "divergence")
    assert result.made is None and steps_of(result) == []


def test_a_second_call_goes_on_from_the_faster_kernel() -> None:
    box = box_of("curated")
    first = rewrite(box, "block_too_large")
    assert first.made is not None
    second = box.call("rewrite", {"causes": ["accidental_double"], "kernel": first.made})
    assert each_alone(second)[0].base == kernel_id(first.made) != each_alone(first)[0].base


def test_without_times_the_first_that_can_be_rewritten_is_handed_out_and_no_number_told() -> None:
    result = rewrite(box_of("none"), "divergence", "accidental_double", "block_too_large")
    assert result.made is not None and result.text == "accidental_double: right"
    assert [one.cause for one in each_alone(result)] == ["divergence", "accidental_double"]


def test_a_finding_stands_for_the_causes_that_it_points_at_and_any_for_what_may_help_any_kernel() -> None:
    assert causes_of(["low_occupancy", "spills"]) == ["block_too_small", "block_too_large", "shared_hog", "spills"]
    assert causes_of(["block_too_large", ANY]) == [
        "block_too_large",
        *(c for c in ANY_KERNEL if c != "block_too_large"),
    ]
    assert causes_of(["launch_overhead"]) == ["launch_overhead"], "what is no cause is told to be unknown"
    result = rewrite(box_of("curated"), "cosmic_rays")
    assert result.made is None and result.text.splitlines() == ["nothing helps", "no rewrite is known: cosmic_rays"]


@pytest.mark.parametrize("said", [[], "spills", [1], ["spills"] * 9])
def test_what_is_no_list_of_names_is_refused_by_the_schema(said: JsonValue) -> None:
    schema = next(spec.parameters for spec in box_of("none").specs() if spec.name == "rewrite")
    assert problems({"causes": said}, schema) and not problems({"causes": ["spills"]}, schema)


def test_what_several_conversations_ask_at_once_is_done_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = small_row(0, "saxpy", ("block_too_small",))
    monkeypatch.setenv("WARPSIGHT_CACHE", str(tmp_path))
    store.cache_clear()
    done: list[str] = []
    really = TaskBox.call

    def counted(box: TaskBox, name: str, arguments: Mapping[str, JsonValue]) -> ToolResult:
        done.append(name)
        return really(box, name, arguments)

    monkeypatch.setattr(TaskBox, "call", counted)
    try:
        with ThreadPoolExecutor(4) as pool:
            boxes = [SmallBox(task_of(row.spec), "optimize") for _ in range(4)]
            found = list(pool.map(lambda box: box.typed(box.task.kernel, "block_too_small"), boxes))
    finally:
        store.cache_clear()
    assert done == ["rewrite"] and len({result.text for result in found}) == 1


def test_where_all_that_is_named_is_tried_small_findings_are_named_after_the_large() -> None:
    def one(name: str, gain: float) -> Found:
        return Found(
            name=name, message=f"{name} it is: so", estimated_gain=gain, line=None, suggestion="", should_move={}
        )

    large, small = [one("tail", 1.5), one("spills", 1.2)], [one(f"small_{n}", 1.02) for n in range(5)]
    shown = Profiled(kernel=BASE, profiled=True, bound="latency", findings=tuple(large), smaller=tuple(small))
    tried = profile_words(shown, "", smaller=True).splitlines()
    assert [line.split()[0] for line in tried[1:]] == ["tail", "spills", "small_0", "small_1", "small_2"]
    assert tried[3] == "small_0 1.02x: small_0 it is"
    assert profile_words(shown, "").splitlines() == tried[:3]


def test_a_model_of_the_first_words_reads_them_in_the_order_of_that_time() -> None:
    def one(name: str, gain: float) -> Found:
        return Found(name=name, message="so", estimated_gain=gain, line=None, suggestion="", should_move={})

    large = (one("shared_hog", 1.2), one("uncoalesced", 1.1), one("launch_overhead", 3.0))
    shown = Profiled(kernel=BASE, profiled=True, findings=large, smaller=(one("at_roofline", 1.0), one("spills", 1.01)))
    names = [line.split()[0] for line in profile_words(shown, "", smaller=True, first_words=True).splitlines()[1:]]
    assert names == ["launch_overhead", "low_occupancy", "uncoalesced_access", "at_roofline", "spills"]


def test_what_is_too_small_to_say_is_kept_apart_and_shown_in_the_suite_that_tries() -> None:
    row = small_row(0, "points", ("uncoalesced",))
    results = [SmallBox(task_of(row.spec), suite, plain=plain_of(row.spec)).call("profile", {}) for suite in SUITES]
    found = Profiled.model_validate_json(json.dumps(results[0].data))
    said = {f.name for f in found.findings}
    assert found.smaller and not said & {f.name for f in found.smaller}
    assert all((f.estimated_gain or 0.0) < WORTH_SAYING for f in found.smaller)
    first = SmallBox(task_of(row.spec), "optimize", plain=plain_of(row.spec), first_words=True).call("profile", {})
    told = [line.split()[0] for line in first.text.splitlines()]
    assert "uncoalesced_access" in told and "uncoalesced" not in told, "for a model trained before the dictionary"
    names = [[line.split()[0] for line in result.text.splitlines()] for result in results]
    assert "uncoalesced" not in names[0] and "uncoalesced" in names[1]
