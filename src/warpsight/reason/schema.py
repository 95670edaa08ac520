"""Values against a JSON schema: the part of the standard that tool arguments need, and nothing silently left out.

A schema with a keyword that is not known here is refused when the run starts, so no rule is ever skipped. Booleans are
not numbers, 3.0 is not an integer: what came is not made to fit.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import cast

from pydantic import JsonValue

from warpsight.errors import UsageError

Schema = Mapping[str, JsonValue]
_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
_BOUNDS = {"minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"}
_SAID = {"description", "title", "default", "examples", "$schema"}  # for the reader; they forbid nothing
_KNOWN = {"type", "enum", "properties", "required", "additionalProperties", "items", "anyOf"} | _BOUNDS | _SAID


def require_known(schema: Schema, where: str) -> None:
    """Refuse a schema with rules that would not be held."""
    unknown = sorted(set(schema) - _KNOWN)
    if unknown:
        raise UsageError(f"{where}: expected the keywords {', '.join(sorted(_KNOWN))}, found {', '.join(unknown)}")
    for name, part in _properties(schema).items():
        require_known(part, f"{where}.{name}")
    for key in ("items", "additionalProperties"):
        part = schema.get(key)
        if isinstance(part, dict):
            require_known(part, f"{where}.{key}")
    for index, part in enumerate(_choices(schema)):
        require_known(part, f"{where}.anyOf[{index}]")


def problems(value: JsonValue, schema: Schema, where: str = "") -> list[str]:
    """What is wrong with a value, each with its place; empty when nothing is."""
    place = where or "the arguments"
    kinds = schema.get("type")
    names = [kinds] if isinstance(kinds, str) else cast(list[str], kinds or [])
    if names and not any(_is_a(value, name) for name in names):
        return [f"{place}: expected {' or '.join(names)}, found {shown(value)}"]
    choices = schema.get("enum")
    if isinstance(choices, list) and value not in choices:
        return [f"{place}: expected one of {', '.join(map(shown, choices))}, found {shown(value)}"]
    options = _choices(schema)
    if options and all(problems(value, option, where) for option in options):
        return [f"{place}: fits none of the {len(options)} forms: {problems(value, options[0], where)[0]}"]
    found = _out_of_bounds(value, schema, place)
    if isinstance(value, dict):
        found += _object_problems(value, schema, where)
    items = schema.get("items")
    if isinstance(value, list) and isinstance(items, dict):
        found += [p for index, item in enumerate(value) for p in problems(item, items, f"{where}[{index}]")]
    return found


def shown(value: JsonValue) -> str:
    """A value in a message, not longer than it needs to be."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "an array"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _object_problems(value: dict[str, JsonValue], schema: Schema, where: str) -> list[str]:
    known = _properties(schema)
    prefix = f"{where}." if where else ""
    required = cast(list[str], schema.get("required") or [])
    found = [f"{prefix}{name}: required, and not given" for name in required if name not in value]
    rest = schema.get("additionalProperties", not known)  # stricter than the standard: a misspelt name is told
    for name, item in value.items():
        if name in known:
            found += problems(item, known[name], prefix + name)
        elif isinstance(rest, dict):
            found += problems(item, rest, prefix + name)
        elif rest is False:
            found.append(f"{prefix}{name}: not known here; known are {', '.join(known) or 'none'}")
    return found


def _out_of_bounds(value: JsonValue, schema: Schema, place: str) -> list[str]:
    size: float | None = None
    low, high, unit = "minimum", "maximum", ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        size = value
    elif isinstance(value, str):
        size, low, high, unit = len(value), "minLength", "maxLength", " characters"
    elif isinstance(value, list):
        size, low, high, unit = len(value), "minItems", "maxItems", " items"
    least, most = schema.get(low), schema.get(high)
    found: list[str] = []
    if size is not None and isinstance(least, int | float) and size < least:
        found.append(f"{place}: expected at least {least}{unit}, found {size}")
    if size is not None and isinstance(most, int | float) and size > most:
        found.append(f"{place}: expected at most {most}{unit}, found {size}")
    return found


def _is_a(value: JsonValue, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, _TYPES.get(name, ()))


def _properties(schema: Schema) -> dict[str, Schema]:
    return cast(dict[str, Schema], schema.get("properties") or {})


def _choices(schema: Schema) -> list[Schema]:
    return cast(list[Schema], schema.get("anyOf") or [])
