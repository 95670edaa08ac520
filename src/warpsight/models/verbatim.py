"""JSON text that must keep its bytes: find a value inside it without parsing it away, and put texts together.

`span(text, path)` gives the characters of one value as they stand; `object_of` and `array_of` build a body from pieces
that are JSON text already. What must stay true: nothing here writes a value that was read, so numbers, escapes, order
and spaces of what a provider sent survive the way back.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import cast

from pydantic import JsonValue

SPACE = " \t\n\r"
_DECODER = json.JSONDecoder()


def parse(text: str, *, unique_keys: bool = False) -> JsonValue:
    """The value of a JSON text. NaN and Infinity, which JSON does not have, are refused, and so is hopeless nesting."""
    hook = _unique if unique_keys else None
    try:
        return cast(JsonValue, json.loads(text, parse_constant=_refuse, object_pairs_hook=hook))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _unique(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def dump(value: object) -> str:
    """A value of ours as compact JSON text."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def object_of(pairs: Iterable[tuple[str, str]]) -> str:
    """An object from names and JSON texts."""
    return "{" + ",".join(f"{dump(name)}:{text}" for name, text in pairs) + "}"


def array_of(texts: Iterable[str]) -> str:
    """An array from JSON texts."""
    return "[" + ",".join(texts) + "]"


def items_of(text: str) -> tuple[str, ...]:
    """The elements of a JSON array, each as it stands."""
    at = _skip(text, 0)
    if text[at : at + 1] != "[":
        raise ValueError("expected a JSON array")
    found: list[str] = []
    at = _skip(text, at + 1)
    while text[at] != "]":
        end = _end_of_value(text, at)
        found.append(text[at:end])
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return tuple(found)


def span(text: str, path: Sequence[str | int]) -> str:
    """The text of the value at a path of keys and indices; the text must be valid JSON (see `parse`).

    Of a key that stands twice the last counts, as for `json.loads`. KeyError or IndexError when there is none.
    """
    for step in path:
        text = items_of(text)[step] if isinstance(step, int) else _member(text, step)
    return text.strip(SPACE)


def _member(text: str, key: str) -> str:
    at = _skip(text, 0)
    if text[at : at + 1] != "{":
        raise KeyError(key)
    found: str | None = None
    at = _skip(text, at + 1)
    while text[at] != "}":
        name, at = cast(tuple[str, int], scanstring(text, at + 1))
        start = _skip(text, _skip(text, at) + 1)
        end = _end_of_value(text, start)
        if name == key:
            found = text[start:end]
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    if found is None:
        raise KeyError(key)
    return found


def _end_of_value(text: str, at: int) -> int:
    return _DECODER.raw_decode(text, at)[1]


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in SPACE:
        at += 1
    return at
