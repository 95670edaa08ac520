"""JSON text that keeps its bytes, and events out of chunks that are cut anywhere."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpsight.models.sse import ServerEvent, events
from warpsight.models.verbatim import array_of, dump, items_of, object_of, parse, span

TEXT = ' { "a" : [ 1.0 , {"b\\u0063":  "x\\/y" } ,[] ] , "a2":{}, "d": 1, "d" : 2e0 } '


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (("a",), '[ 1.0 , {"b\\u0063":  "x\\/y" } ,[] ]'),
        (("a", 0), "1.0"),
        (("a", 1, "bc"), '"x\\/y"'),
        (("a", 2), "[]"),
        (("a2",), "{}"),
        (("d",), "2e0"),
        ((), TEXT.strip()),
    ],
)
def test_a_value_as_it_stands(path: tuple[str | int, ...], found: str) -> None:
    assert span(TEXT, path) == found


@pytest.mark.parametrize("path", [("x",), ("a", 9), ("a", 0, "b"), ("a2", "y")])
def test_no_value_there(path: tuple[str | int, ...]) -> None:
    with pytest.raises((KeyError, IndexError)):
        span(TEXT, path)


def paths(value: Any, here: tuple[str | int, ...] = ()) -> list[tuple[tuple[str | int, ...], Any]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [(here, value), *(found for key, v in inner for found in paths(v, (*here, key)))]


LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(
    LEAVES, lambda v: st.lists(v, max_size=4) | st.dictionaries(st.text(), v, max_size=4), max_leaves=12
)


@given(VALUES, st.sampled_from([None, 2, "\t"]), st.booleans())
def test_every_value_is_found(value: Any, indent: int | str | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    for path, expected in paths(value):
        assert span(text, path) in text and json.loads(span(text, path)) == expected
    if isinstance(value, list):
        assert [json.loads(item) for item in items_of(text)] == value
        assert json.loads(array_of(items_of(text))) == value


def test_objects_are_put_together_from_texts() -> None:
    assert object_of([("a", " 1.0"), ('"', dump("ü"))]) == '{"a": 1.0,"\\"":"ü"}'


def test_parse_refuses_what_is_not_json() -> None:
    for text in ("NaN", "-Infinity", "", "[" * 300_000):
        with pytest.raises(ValueError):
            parse(text)


STREAM = ': ping\r\n\r\nevent: a\r\ndata: {"x":\r\ndata: 1}\r\n\r\ndata:größer\n\nid: 3\nretry: 5\n\ndata\n\ndata: half'


@given(st.lists(st.integers(0, 200), max_size=20))
def test_chunks_may_be_cut_anywhere(cuts: list[int]) -> None:
    raw = STREAM.encode()
    places = sorted({min(cut, len(raw)) for cut in cuts} | {0, len(raw)})
    chunks = [raw[start:end] for start, end in pairwise(places)]
    assert list(events(chunks)) == [
        ServerEvent("a", '{"x":\n1}'),
        ServerEvent("message", "größer"),
        ServerEvent("message", ""),
    ]


def test_carriage_returns_alone_end_lines() -> None:
    assert list(events([b"data: a\r\rdata: b\r", b"\r"])) == [ServerEvent("message", "a"), ServerEvent("message", "b")]
