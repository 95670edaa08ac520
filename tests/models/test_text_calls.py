"""Calls written inside text: read strictly, as they stand, or told why not."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpsight.models.model import ToolCall
from warpsight.models.text_calls import read_calls


def test_calls_in_their_order_with_the_text_they_were_written_in() -> None:
    text = (
        'First <tool_call>{"name": "profile", "arguments": {"n":  1.0}}</tool_call> and then\n'
        '<tool_call>\n{"arguments": {}, "name": "device"}\n</tool_call> done'
    )
    calls, malformed = read_calls(text, "c")
    assert malformed == ()
    assert calls == (
        ToolCall(id="c0", name="profile", arguments='{"n":  1.0}'),
        ToolCall(id="c1", name="device", arguments="{}"),
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("<tool_call>profile(x)</tool_call>", "not JSON"),
        ("<tool_call></tool_call>", "not JSON"),
        ("<tool_call>{'name': 'a', 'arguments': {}}</tool_call>", "not JSON"),
        ('<tool_call>{"name": "a", "arguments": {}}', "without </tool_call> after"),
        ('{"name": "a", "arguments": {}}</tool_call>', "without <tool_call> before"),
        ('<tool_call>{"name": "a"}</tool_call>', "found name"),
        ('<tool_call>{"name": "a", "arguments": {}, "id": 3}</tool_call>', "found arguments, id, name"),
        ('<tool_call>{"name": 3, "arguments": {}}</tool_call>', "a text as `name`"),
        ('<tool_call>{"name": "", "arguments": {}}</tool_call>', "a text as `name`"),
        ('<tool_call>{"name": "a", "arguments": "{}"}</tool_call>', "an object as `arguments`"),
        ('<tool_call>[{"name": "a", "arguments": {}}]</tool_call>', "one JSON object"),
        ('<tool_call>{"name": "a", "arguments": {}} {"name": "b", "arguments": {}}</tool_call>', "not JSON"),
        ('<tool_call>{"name": "a", "name": "b", "arguments": {}}</tool_call>', "twice"),
        ('<tool_call>{"name": "a", "arguments": {"x": NaN}}</tool_call>', "NaN"),
        ("<tool_call>" + "[" * 100_000 + "</tool_call>", "not JSON"),
    ],
)
def test_what_is_near_a_call_is_told_and_never_guessed(text: str, reason: str) -> None:
    calls, malformed = read_calls(text)
    assert calls == () and len(malformed) == 1 and reason in malformed[0].reason


def test_an_opening_tag_inside_a_block_begins_a_new_one() -> None:
    calls, malformed = read_calls('<tool_call>oh <tool_call>{"name": "a", "arguments": {}}</tool_call>')
    assert [c.name for c in calls] == ["a"] and [m.text for m in malformed] == ["oh "]


def test_text_without_tags_has_no_calls() -> None:
    assert read_calls('{"name": "a", "arguments": {}}') == ((), ())


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), VALUES, max_size=4), st.text(min_size=1), st.sampled_from([None, 1, "\t"]))
def test_every_call_that_is_written_is_read(arguments: dict[str, object], name: str, indent: int | str | None) -> None:
    inside = json.dumps({"name": name, "arguments": arguments}, indent=indent)
    calls, malformed = read_calls(f"so <tool_call>{inside}</tool_call>")
    if "tool_call>" in inside:
        return  # the tags themselves inside a text: read_calls sees other blocks
    assert malformed == () and calls[0].name == name and json.loads(calls[0].arguments) == arguments


@given(st.text(alphabet='<>/tol_ca{}":name,arguments0 \n'))
def test_any_text_is_read_without_a_fall(text: str) -> None:
    calls, malformed = read_calls(text + "<tool_call>" + text + "</tool_call>" + text)
    assert len(calls) + len(malformed) >= 1
