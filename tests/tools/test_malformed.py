"""Arguments that no tool takes: each is refused in words, with the exact form, and stays readable later."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tools.kernels import opened

from warpsight.models.scripted import ScriptedCall, ScriptedModel, ScriptedTurn
from warpsight.reason.calls import read_call, strict_json
from warpsight.reason.job import Job, Opening
from warpsight.reason.loop import run_loop
from warpsight.report.page import report_page
from warpsight.report.story import read_story
from warpsight.runs.atif import arguments_of
from warpsight.runs.sqlite import SqliteStore
from warpsight.tools.box import ToolSpec
from warpsight.tools.edits import EditFailed, whole_kernel
from warpsight.tools.form import form_of
from warpsight.tools.task_box import TaskBox, specs

LONE = "\ud800"
JUNK: tuple[Any, ...] = (None, True, 0, -1, 1.5, "", "junk", LONE, [], [None], {}, {"": None}, [[]], [{"a": [1]}])
BAD_EDITS: tuple[Any, ...] = (
    [{"old": "a", "new": "b"}], [{"search": "a"}], [{"replace": "b"}], [{"search": None, "replace": "b"}],
    [{"search": "a", "replace": 1}], [{"search": ["a"], "replace": "b"}], [["a", "b"]], ["a"], [None], [1], "a", 1,
    True, {"search": "a", "replace": "b"}, [{"search": "a", "replace": "b", "why": "c"}], [{}],
    [{"search": LONE, "replace": ""}],
)  # fmt: skip
NAMES = (
    "kernel",
    "edits",
    "base",
    "against",
    "cause",
    "causes",
    "predicts",
    "workload",
    "threads",
    "handle",
    "page",
    "x",
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just(LONE),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
arguments = st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=6), json_values, max_size=4)


@pytest.mark.parametrize("spec", specs(), ids=[spec.name for spec in specs()])
def test_bad_edits_are_refused_with_the_form(box: TaskBox, spec: ToolSpec) -> None:
    if "edits" not in spec.parameters["properties"]:  # type: ignore[operator]
        pytest.skip("takes no kernel")
    needed: dict[str, Any] = {"cause": "uncoalesced"} if spec.name == "submit" else {}
    for edits in BAD_EDITS:
        found = box.call(spec.name, {**needed, "base": "given", "edits": edits})
        assert found.is_error and found.text.startswith("error: ") and found.evaluation is None
        if LONE not in json.dumps(edits, ensure_ascii=False):
            assert '"search"' in found.text and '"replace"' in found.text, found.text


@pytest.mark.parametrize("spec", specs(), ids=[spec.name for spec in specs()])
def test_junk_in_any_argument_is_a_refusal(box: TaskBox, spec: ToolSpec) -> None:
    required = set(spec.parameters.get("required") or ())  # type: ignore[call-overload]
    for name in (*spec.parameters["properties"], "unknown"):  # type: ignore[union-attr]
        for value in (LONE, [[]], [{"a": [1]}], {"": {"": None}}, -(10**400), float("nan")):
            passed: dict[str, Any] = {**dict.fromkeys(required - {name}, LONE), "kernel": LONE, name: value}
            found = box.call(spec.name, passed)
            assert found.is_error and "\n" not in found.text and found.text.startswith("error: ")
            found.model_dump_json()


@given(arguments)
@settings(max_examples=100, deadline=None)
def test_reading_a_kernel_fails_in_one_way_only(said: dict[str, Any]) -> None:
    kernels = {"current": "text", "best": "text", "given": "text"}
    try:
        found = whole_kernel(said, kernels, specs()[2])
    except EditFailed as told:
        assert str(told)
    else:
        assert isinstance(found["kernel"], str) and found["kernel"].encode()


@given(arguments, st.sampled_from(specs()))
@settings(max_examples=100, deadline=None)
def test_a_call_is_good_or_has_a_problem_that_can_be_written_down(said: dict[str, Any], spec: ToolSpec) -> None:
    from warpsight.models.model import ToolCall

    call = read_call(ToolCall(id="1", name=spec.name, arguments=json.dumps(said)), {spec.name: spec})
    assert (call.arguments is None) == bool(call.problem)
    call.model_dump_json().encode()


@pytest.mark.parametrize(
    "text", ['{"a": 1e999}', '{"a": NaN}', '{"a": "\\ud800"}', "[" * 5000, '{"a":1,"a":2}', "1" * 5000]
)
def test_what_is_no_plain_json_is_told(text: str) -> None:
    with pytest.raises(ValueError) as told:
        strict_json(text)
    assert str(told.value)


def malformed_calls() -> list[ScriptedCall]:
    bad = [ScriptedCall(name="time", arguments=json.dumps({"edits": edits})) for edits in BAD_EDITS]
    bad += [ScriptedCall(name="check", arguments=json.dumps({"kernel": value})) for value in JUNK]
    bad += [
        ScriptedCall(name="profile", arguments=text) for text in ("", "{", "[" * 5000, "null", "1e999", '"\\ud800"')
    ]
    return [
        *bad,
        ScriptedCall(name="no_such_tool", arguments="{}"),
        ScriptedCall(name="submit", arguments='{"cause": []}'),
    ]


def run_of_malformed_calls(store: SqliteStore) -> str:
    calls = malformed_calls()
    turns = [ScriptedTurn(text="trying", calls=tuple(calls[at : at + 8])) for at in range(0, len(calls), 8)]
    box = opened()
    try:
        opening = Opening(system="s", user="u", kernel=box.session.given.source)
        job = Job(
            id="malformed", task="t", model="scripted", device="virtual", opening=opening, tools=box.specs(),
            max_problems=1000,
        )  # fmt: skip
        run = run_loop(job, ScriptedModel([*turns, ScriptedTurn(text="done")]), box, store)
    finally:
        box.close()
    assert all(step.is_error for step in run.steps if step.kind == "result"), "every call was refused"
    return run.id


def test_a_transcript_of_malformed_calls_can_be_shown_everywhere(tmp_path: Path) -> None:
    with SqliteStore(tmp_path) as store:
        run_id = run_of_malformed_calls(store)
        run = store.read(run_id)
        assert sum(step.kind == "call" for step in run.steps) == len(malformed_calls())
        page = report_page(read_story(store, run_id, tmp_path))
        assert page.count('class="step call') == len(malformed_calls()) and page.encode()
        for step in run.steps:
            if step.kind == "call":
                json.dumps(arguments_of(step), ensure_ascii=False).encode()


def test_the_form_is_short_and_exact() -> None:
    known = {spec.name: spec for spec in specs()}
    assert form_of(known["more"].parameters).startswith('{"handle": text')
    shown = form_of(known["time"].parameters)
    assert '"edits"?: [{"search": text, "replace": text}]' in shown and '"kernel"?: text' in shown
