"""The box: schemas from type hints, names and edits, results that are kept, cut and refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tools.kernels import GIVEN, PADDED, UNPADDED, call, opened

from warpsight.errors import BrokenMachine
from warpsight.lens import tokens
from warpsight.models.tool_list import tool_lines
from warpsight.nouns import kernel_id
from warpsight.reason.schema import problems, require_known
from warpsight.tools.describe import plain_schema
from warpsight.tools.pages import PAGE_TOKENS, handle_of, page_of, pages
from warpsight.tools.task_box import TaskBox, specs, tools

NAMES = {"compile", "check", "time", "profile", "inspect", "device", "compare", "what_if", "rewrite", "submit", "more"}


def test_every_tool_has_schemas_that_are_held() -> None:
    assert {spec.name for spec in specs()} == NAMES
    for spec in specs():
        require_known(spec.parameters, spec.name)
        assert spec.description and len(spec.description) < 500
        assert problems({"something_else": 1}, spec.parameters) != [], "names that are not known are refused"
        assert "minLength" not in json.dumps(spec.parameters) and "anyOf" not in json.dumps(spec.parameters)
        output = tools()[spec.name].output
        assert output["type"] == "object" and "$ref" not in json.dumps(output)


def test_a_kernel_can_be_left_out_and_edited_and_named() -> None:
    shown: dict[str, Any] = {spec.name: spec.parameters for spec in specs()}
    for name in NAMES - {"more"}:
        assert {"kernel", "edits", "base"} <= set(shown[name]["properties"]), name
        assert "kernel" not in shown[name].get("required", []), name
    assert shown["submit"]["required"] == ["cause"]
    assert shown["time"]["properties"]["against"]["default"] == "best"
    assert problems({"cause": "c", "predicts": {"cycles": "sideways"}}, shown["submit"]) != []
    assert problems({"cause": "c", "predicts": {"cycles": "down"}, "base": "best"}, shown["submit"]) == []


def test_the_list_for_a_small_model_says_nothing_twice_and_loses_nothing() -> None:
    listed = tool_lines(specs())
    assert tokens(listed) < 2030 and listed.count("must occur exactly once") == 1
    *lines, shared = listed.splitlines()
    said: Any = json.loads(shared.partition(": ")[2])
    for line, spec in zip(lines, specs(), strict=True):
        found: Any = json.loads(line)
        properties = found["parameters"]["properties"] | {name: said[name] for name in found.pop("also", [])}
        found["parameters"]["properties"] = properties
        assert found == spec.model_dump(mode="json")


def test_what_is_optional_may_be_null() -> None:
    shown: dict[str, Any] = {spec.name: spec.parameters for spec in specs()}
    assert problems({"threads": None}, shown["device"]) == [] and problems({"threads": 0}, shown["device"]) != []
    assert problems({"cause": "c", "predicts": None}, shown["submit"]) == []


def test_schemas_are_plain() -> None:
    given: Any = {"$defs": {"A": {"title": "A", "const": 1}}, "properties": {"title": {"$ref": "#/$defs/A"}}}
    assert plain_schema(given) == {"properties": {"title": {"enum": [1]}}}


def test_kernels_have_ids_that_later_calls_take(box: TaskBox) -> None:
    first = call(box, "compile", kernel=UNPADDED).data["kernel"]
    assert first == kernel_id(UNPADDED)
    blocks = [{"search": "tile[TILE][TILE];", "replace": "tile[TILE][TILE + 1];"}]
    assert call(box, "compile", edits=blocks).data["kernel"] == kernel_id(PADDED), "the current one is edited"
    assert call(box, "compile", base="given").data["kernel"] == kernel_id(GIVEN)
    assert call(box, "compile", base=first, edits=blocks).data["kernel"] == kernel_id(PADDED)


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("shell", {"command": "id"}, "no tool 'shell'"),
        ("check", {"base": "c000000"}, "no kernel is called 'c000000'"),
        ("check", {"kernel": GIVEN, "base": "given"}, "not both"),
        ("check", {"base": "given", "edits": [{"search": "float", "replace": "int"}]}, "occurs 2 times"),
        ("check", {"kernel": GIVEN, "verdict": "right"}, "verdict: Extra inputs"),
        ("check", {"kernel": 3}, "`kernel`: expected a text, found a number"),
        ("check", {"kernel": "int main() {}"}, "expected a kernel"),
        ("check", {"kernel": GIVEN.replace("// launch", "// nothing")}, "a launch line"),
        ("inspect", {"base": "given", "view": "secrets"}, "view: Input should be"),
        ("device", {"base": "given", "threads": 4096}, "threads: Input should be less"),
        ("more", {"handle": "r0"}, "no result has the handle"),
        ("submit", {"base": "given", "cause": "c", "predicts": {"speed": "up"}}, "no counter is called 'speed'"),
        ("submit", {"base": "given"}, "cause: Field required"),
    ],
)
def test_what_cannot_be_run_is_refused_with_a_reason(
    box: TaskBox, name: str, arguments: dict[str, Any], told: str
) -> None:
    found = box.call(name, arguments)
    assert found.is_error and told in found.text and found.evaluation is None and not found.submitted, found.text


def test_a_broken_machine_is_not_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    box = opened()

    def broken(_kernel: object) -> None:
        raise BrokenMachine("no memory")

    monkeypatch.setattr(box.session, "build", broken)
    with pytest.raises(BrokenMachine):
        box.call("compile", {"base": "given"})


def test_asking_twice_gives_the_same_and_runs_nothing(box: TaskBox, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {"check": {}, "profile": {}, "time": {}, "inspect": {"view": "sass"}, "compare": {}, "device": {}}
    first = {name: call(box, name, kernel=PADDED, **more) for name, more in asked.items()}

    def never(*_: object, **__: object) -> None:
        raise AssertionError("the device was used again")

    monkeypatch.setattr(box.session.device, "profile", never)
    monkeypatch.setattr(box.session.device, "execute", never)
    for name, more in asked.items():
        assert call(box, name, kernel=PADDED, **more) == first[name]


def test_two_boxes_with_one_seed_say_the_same(box: TaskBox) -> None:
    other = opened()
    for name in ("check", "time", "profile", "compare"):
        more = {"against": "given"} if name in ("time", "compare") else {}
        one, two = (call(each, name, kernel=UNPADDED, **more) for each in (box, other))
        assert (one.text, one.data) == (two.text, two.data)


def test_long_results_come_in_pages(box: TaskBox) -> None:
    found = call(box, "inspect", kernel=UNPADDED, view="sass")
    assert tokens(found.text) <= PAGE_TOKENS and "[page 1 of " in found.text
    (whole,) = found.artefacts
    handle = handle_of(whole.decode())
    assert f'more(handle="{handle}", page=2)' in found.text
    count = int(str(call(box, "more", handle=handle, page=1).data["pages"]))
    parts = [call(box, "more", handle=handle, page=n).text for n in range(1, count + 1)]
    assert all(tokens(part) <= PAGE_TOKENS for part in parts)
    assert "\n".join(part.rpartition("\n[page")[0] for part in parts) == whole.decode()


@given(st.text(max_size=3000), st.integers(60, 400))
def test_pages_put_together_are_the_text(text: str, budget: int) -> None:
    found = pages(text, budget)
    assert "".join(found).replace("\n", "") == text.replace("\n", "")
    for number in range(1, len(found) + 1):
        assert tokens(page_of(text, number, budget).text) <= budget
