"""The parts of the loop one by one: edits, schemas, budgets, predictions, what is best."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue
from tests.model_errors import likely_faster
from tests.reason.small_box import KERNEL, SPECS, evaluate

from warpsight.errors import UsageError
from warpsight.nouns.run import Spent
from warpsight.reason.budget import Budget, add_spent, exhausted, left_line, parse_budget, remaining, share
from warpsight.reason.opening import opening_of
from warpsight.reason.predictions import accuracy, score, submission_of
from warpsight.reason.progress import best_of, better, roofline_left
from warpsight.reason.schema import problems, require_known
from warpsight.tasks import read_task
from warpsight.tools.edits import EditBlock, EditFailed, apply_edits, offer_edits, whole_kernel

TEXT = "int a = 1;\nint b = 2;\n  int b = 2;\n"


def test_edits_are_applied_in_order_each_on_what_came_before() -> None:
    edits = (EditBlock("int a = 1;", "int a = 3;\nint c = 4;"), EditBlock("int c = 4;\n", ""))
    assert apply_edits(TEXT, edits) == TEXT.replace("a = 1", "a = 3")


@pytest.mark.parametrize(
    ("search", "said"),
    [
        ("int b = 2;", r"occurs 2 times \(lines 2, 3\)"),
        ("int a  = 1;", "nearest line is 1: 'int a = 1;'"),
        ("something else entirely", "copy the lines exactly"),
        ("", "`search` is empty"),
        ("int a = 1;\r\n", "does not occur"),
    ],
)
def test_an_edit_that_does_not_match_once_is_told(search: str, said: str) -> None:
    with pytest.raises(EditFailed, match=said):
        apply_edits(TEXT, (EditBlock(search, "x"),))


def test_places_that_overlap_are_not_one() -> None:
    with pytest.raises(EditFailed, match="occurs 2 times"):
        apply_edits("aaa", (EditBlock("aa", "b"),))


@given(st.text(), st.text(min_size=1), st.text(), st.text())
def test_an_edit_changes_its_place_and_nothing_else(before: str, search: str, replace: str, after: str) -> None:
    text = before + search + after
    places = sum(text.startswith(search, at) for at in range(len(text)))
    if places == 1:
        assert apply_edits(text, (EditBlock(search, replace),)) == before + replace + after
    else:
        with pytest.raises(EditFailed, match=f"occurs {places} times"):
            apply_edits(text, (EditBlock(search, replace),))


def test_only_tools_that_take_a_kernel_are_offered_edits() -> None:
    shown: dict[str, dict[str, Any]] = {spec.name: offer_edits(spec).parameters for spec in SPECS}
    assert set(shown["check"]["properties"]) == {"kernel", "edits", "base"} and "required" not in shown["check"]
    assert shown["submit"]["required"] == ["cause"] and set(shown["wait"]["properties"]) == {"milliseconds"}
    for parameters in shown.values():
        require_known(parameters, "tool")


def test_a_kernel_is_whole_before_a_tool_sees_it() -> None:
    kernels: Any = {"current": "one two", "best": "three", "original": "four"}
    assert whole_kernel({"cause": "c"}, kernels) == {"cause": "c", "kernel": "one two"}
    assert whole_kernel({"base": "best"}, kernels) == {"kernel": "three"}
    edits: JsonValue = [{"search": "two", "replace": "2"}]
    assert whole_kernel({"edits": edits}, kernels) == {"kernel": "one 2"}
    assert whole_kernel({"kernel": "new"}, kernels) == {"kernel": "new"}
    with pytest.raises(EditFailed, match="not both"):
        whole_kernel({"kernel": "new", "base": "best"}, kernels)


SCHEMA: dict[str, JsonValue] = {
    "type": "object",
    "properties": {
        "n": {"type": ["integer", "null"], "minimum": 1},
        "lines": {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 2},
        "either": {"anyOf": [{"type": "string", "maxLength": 3}, {"type": "boolean"}]},
        "free": {"type": "object", "additionalProperties": {"type": "number"}},
    },
    "required": ["n"],
}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"n": 1, "lines": [1], "either": True, "free": {"x": 1.5}}, ""),
        ({"n": None}, ""),
        ({}, "n: required, and not given"),
        ({"n": 0}, "n: expected at least 1, found 0"),
        ({"n": 1.0}, "n: expected integer or null, found 1.0"),
        ({"n": 1, "lines": []}, "lines: expected at least 1 items, found 0"),
        ({"n": 1, "lines": [1, "2"]}, 'lines[1]: expected integer, found "2"'),
        (
            {"n": 1, "either": "long"},
            "either: fits none of the 2 forms: either: expected at most 3 characters, found 4",
        ),
        ({"n": 1, "free": {"x": "y"}}, 'free.x: expected number, found "y"'),
        ({"n": 1, "m": 2}, "m: not known here; known are n, lines, either, free"),
        ([], "the arguments: expected object, found an array"),
    ],
)
def test_values_against_a_schema(value: JsonValue, said: str) -> None:
    assert problems(value, SCHEMA) == ([said] if said else [])


def test_a_rule_that_would_not_be_held_is_refused() -> None:
    require_known(SCHEMA, "tool x")
    with pytest.raises(UsageError, match=r"tool x.n: .*found pattern"):
        require_known({"properties": {"n": {"pattern": "a"}}}, "tool x")


def test_a_budget_is_read_shared_and_runs_out() -> None:
    budget = parse_budget("calls=8, tokens=1000,cost=0.5")
    assert budget == Budget(tool_calls=8, tokens=1000, cost_usd=0.5)
    spent = Spent(tool_calls=7, input_tokens=300, output_tokens=100, seconds=3, cost_usd=0.1)
    assert left_line(budget, spent) == "[budget left: 1 tool call, 600 tokens, $0.40]"
    assert exhausted(budget, spent) is None and left_line(Budget(tool_calls=None), spent) == ""
    assert remaining(budget, spent) == Budget(tool_calls=1, tokens=600, cost_usd=0.4)
    assert remaining(budget, add_spent(spent, Spent(tool_calls=1))) is None
    assert exhausted(budget, add_spent(spent, Spent(output_tokens=600))) == "1000 of 1000 tokens are spent"
    assert share(budget, 4) == Budget(tool_calls=2, tokens=250, cost_usd=0.125)
    assert add_spent(spent, Spent(cost_usd=None)).cost_usd is None
    with pytest.raises(UsageError, match="cannot be shared"):
        share(budget, 9)


@pytest.mark.parametrize("text", ["calls", "calls=x", "calls=0", "calls=1,calls=2", "money=3", "seconds=-1"])
def test_a_budget_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="budget"):
        parse_budget(text)


def kernel(stride: int) -> str:
    return KERNEL.replace("stride = 32", f"stride = {stride}")


def test_predictions_are_scored_by_what_was_measured() -> None:
    slow, fast = evaluate(kernel(32)).profile, evaluate(kernel(1)).profile
    assert slow is not None and fast is not None

    def verdict(counter: str, way: Any, before: Any = slow, after: Any = fast) -> str:
        return score(counter, way, before, after).verdict

    assert (verdict("sectors_per_request", "down"), verdict("sectors_per_request", "up")) == ("right", "wrong")
    assert verdict("duration_us", "down", slow, slow) == "unmoved"
    assert (verdict("occupancy", "up"), verdict("duration_us", "down", None)) == ("unknown", "unknown")
    measured = slow.model_copy(update={"source": "measured"})
    assert verdict("duration_us", "down", measured) == "unknown", "two sources are not compared"
    said = {"cause": "c", "predicts": {"sectors_per_request": "down", "duration_us": "up", "occupancy": "up"}}
    found = submission_of(said, "0" * 64, slow, fast)  # type: ignore[arg-type]
    assert accuracy([found, found]) == (2, 4) and accuracy([found]).share == 0.5
    assert accuracy([None]).share is None


def test_the_best_is_right_and_faster_and_of_one_source() -> None:
    same, fast, faster, wrong = (evaluate(text) for text in (kernel(32), kernel(4), kernel(1), "nothing"))
    assert best_of([wrong, same, fast, faster, None]) == faster and best_of([wrong, same]) is None
    assert better(fast, None) and not better(same, None) and not better(fast, faster)
    assert best_of([fast, likely_faster(faster)]) == likely_faster(faster), "by its ratio, as if it were sure"
    assert faster.timing is not None
    measured = faster.model_copy(update={"timing": faster.timing.model_copy(update={"source": "measured"})})
    with pytest.raises(UsageError, match="measured and simulated"):
        better(measured, fast)


def test_what_the_roofline_leaves() -> None:
    assert roofline_left(evaluate(kernel(1))) == 1.0
    assert roofline_left(evaluate(kernel(4))) is None and roofline_left(None) is None
    fast = evaluate(kernel(4))
    assert fast.timing is not None
    roof = {"floor_us": 4.0, "compulsory_bytes": 1, "launch_us": 1.0, "source": "data sheet"}
    timing = type(fast.timing).model_validate({**fast.timing.model_dump(), "roof": roof})
    assert roofline_left(fast.model_copy(update={"timing": timing})) == 1.25, "5 us taken, 4 us at least"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"gpu": "t4", "gpu_arch": "sm_75"}, "on t4 (sm_75)."),
        ({"gpu": "this machine's processor, through OpenCL C"}, "on this machine's processor, through OpenCL C."),
    ],
)
def test_the_architecture_is_told_of_a_known_gpu_alone(changes: dict[str, str], told: str) -> None:
    task = read_task(Path(__file__).parents[2] / "tasks" / "saxpy").model_copy(update=changes)
    assert told in opening_of(task, ()).user
