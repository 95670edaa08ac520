"""What a call gives back, cut to a size that every client shows: a text page, a short record, addresses of the rest.

Text and record together stay under about 2,000 tokens. What must stay true: a shortened record still fits the tool's
schema, says what was left out, and the whole of it can be read.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, cast

from pydantic import JsonValue

from warpsight.lens import tokens
from warpsight.tools.describe import Schema

RECORD_TOKENS = 1000


@dataclass(frozen=True)
class ServedReply:
    """One finished call. `data` is None where the call was refused."""

    text: str
    data: dict[str, JsonValue] | None = None
    documents: tuple[str, ...] = ()
    cut: tuple[str, ...] = field(default=())

    @property
    def is_error(self) -> bool:
        return self.data is None


def refused(why: str) -> ServedReply:
    """A call that could not be run; the words are for the model."""
    return ServedReply(why if why.startswith("error: ") else f"error: {why}")


def shortened(
    data: dict[str, JsonValue], schema: Schema, budget: int = RECORD_TOKENS
) -> tuple[dict[str, JsonValue], tuple[str, ...]]:
    """The record with its longest lists and tables cut until it fits, and what was cut."""
    properties = cast(dict[str, Any], schema.get("properties") or {})
    short = dict(data)
    while tokens(json.dumps(short)) > budget:
        name = _longest(short, properties)
        if name is None:
            break
        short[name] = _half(short[name])
    cut = tuple(f"{name}: {_size(short[name])} of {_size(data[name])}" for name in data if short[name] != data[name])
    return short, cut


def _longest(data: dict[str, JsonValue], properties: dict[str, Any]) -> str | None:
    """The list or open table that takes most room; a record with named fields must stay whole."""
    open_ones = [
        name
        for name, value in data.items()
        if _size(value) > 0
        and (isinstance(value, list) or "additionalProperties" in cast(dict[str, Any], properties.get(name) or {}))
        and "properties" not in cast(dict[str, Any], properties.get(name) or {})
    ]
    return max(open_ones, key=lambda name: len(json.dumps(data[name])), default=None)


def _size(value: JsonValue) -> int:
    return len(value) if isinstance(value, list | dict) else 0


def _half(value: JsonValue) -> JsonValue:
    keep = _size(value) // 2
    if isinstance(value, dict):
        return dict(list(value.items())[:keep])
    return cast(list[JsonValue], value)[:keep]
