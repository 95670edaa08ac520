"""A function as a tool: its name, its docstring for a description, and JSON schemas from its type hints.

The first parameter is the session and is not part of the tool. Schemas are made plain: no references, no titles, so
that every provider takes them and every rule in them is held by the loop's own checker. Those of arguments are short
too, since a model reads them in every conversation: what is left out of them is still held when a call comes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast, get_args, get_type_hints

from pydantic import BaseModel, ConfigDict, JsonValue, create_model

from warpsight.nouns import Noun
from warpsight.tools.answer import Answer
from warpsight.tools.box import ToolSpec

Schema = dict[str, JsonValue]


@dataclass(frozen=True)
class Described:
    """A tool's function with what callers are told of it. `arguments` reads what came, by the same type hints."""

    function: Callable[..., Answer[Noun]]
    spec: ToolSpec
    output: Schema
    arguments: type[BaseModel]

    @property
    def name(self) -> str:
        return self.spec.name


def describe(function: Callable[..., Answer[Noun]]) -> Described:
    """The tool that a function is."""
    hints = get_type_hints(function, include_extras=True)
    output = get_args(hints.pop("return"))[0]
    fields: dict[str, Any] = {}
    for name, parameter in list(inspect.signature(function).parameters.items())[1:]:
        default = ... if parameter.default is inspect.Parameter.empty else parameter.default
        fields[name] = (hints[name], default)
    arguments = create_model(function.__name__, __config__=ConfigDict(extra="forbid", strict=True), **fields)
    description = " ".join((function.__doc__ or "").split())
    parameters = short_schema(plain_schema(arguments.model_json_schema()))
    spec = ToolSpec(name=function.__name__, description=description, parameters=parameters)
    return Described(function, spec, plain_schema(output.model_json_schema(mode="serialization")), arguments)


def plain_schema(schema: dict[str, Any]) -> Schema:
    """A pydantic schema without references, titles and other words that forbid nothing."""
    return cast(Schema, _plain(schema, schema.get("$defs", {})))


def short_schema(schema: Schema) -> Schema:
    """A plain schema without what goes without saying: no other names, no empty texts, null for what is left out."""
    made = {name: _short_part(part) for name, part in cast(dict[str, Schema], schema["properties"]).items()}
    required = {"required": schema["required"]} if schema.get("required") else {}
    return {"type": "object", "properties": cast(JsonValue, made), **required}


def _short_part(part: Schema) -> Schema:
    choices = cast(list[Schema], part.get("anyOf") or [])
    if len(choices) == 2 and choices[1] == {"type": "null"}:
        part = {**choices[0], **part, "type": [choices[0]["type"], "null"]}
    silent = ("anyOf", "minLength", "maxLength")
    return {key: value for key, value in part.items() if key not in silent and (key != "default" or value is not None)}


def _plain(part: Any, known: dict[str, Any]) -> Any:
    if isinstance(part, list):
        return [_plain(one, known) for one in cast(list[Any], part)]
    if not isinstance(part, dict):
        return part
    node = cast(dict[str, Any], part)
    if "$ref" in node:
        rest = {key: value for key, value in node.items() if key != "$ref"}
        return _plain({**known[str(node["$ref"]).rpartition("/")[2]], **rest}, known)
    if "const" in node:
        node = {**{key: value for key, value in node.items() if key != "const"}, "enum": [node["const"]]}
    made: dict[str, Any] = {}
    for key, value in node.items():
        if key == "properties":
            made[key] = {name: _plain(one, known) for name, one in cast(dict[str, Any], value).items()}
        elif key not in ("title", "$defs", "pattern", "propertyNames"):
            made[key] = value if key in ("default", "enum", "required") else _plain(value, known)
    return made
