"""The exact form of a tool's arguments, in one line, for a caller who got it wrong. Reads schemas, checks nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from pydantic import JsonValue

_WORDS = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false", "null": "null"}
_MOST_CHOICES = 8
_BRIEF = {"edits": '[{"search": text, "replace": text}]'}  # shown without its items where another tool has them


def form_of(schema: Mapping[str, JsonValue]) -> str:
    """`{"kernel"?: text, "edits"?: [{"search": text, "replace": text}]}`; with ? for what may be left out."""
    choices = schema.get("enum")
    if isinstance(choices, list):
        shown = " or ".join(f'"{one}"' if isinstance(one, str) else str(one) for one in choices[:_MOST_CHOICES])
        return shown + (" or ..." if len(choices) > _MOST_CHOICES else "")
    if isinstance(options := schema.get("anyOf"), list):
        return " or ".join(form_of(cast(Mapping[str, JsonValue], one)) for one in options)
    kind = schema.get("type")
    if kind == "array":
        return f"[{form_of(cast(Mapping[str, JsonValue], schema.get('items') or {}))}]"
    if kind == "object":
        return _object(schema)
    return _WORDS.get(str(kind), "anything")


def _object(schema: Mapping[str, JsonValue]) -> str:
    known = cast(Mapping[str, Mapping[str, JsonValue]], schema.get("properties") or {})
    required = cast(list[str], schema.get("required") or [])
    forms = {name: _BRIEF.get(name) or form_of(part) for name, part in known.items()}
    parts = [f'"{name}"{"" if name in required else "?"}: {form}' for name, form in forms.items()]
    rest = schema.get("additionalProperties")
    if isinstance(rest, dict):
        parts.append(f'"NAME": {form_of(rest)}')
    return "{" + ", ".join(parts) + "}"
