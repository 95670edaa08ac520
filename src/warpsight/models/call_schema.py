"""The JSON schema of one call of a tool, for servers and engines that can hold a model to a schema."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from warpsight.nouns.tool import ToolSpec


def call_schema(tools: Sequence[ToolSpec]) -> dict[str, Any]:
    """`{"name": ..., "arguments": {...}}` of one of these tools, and nothing else."""
    return {"anyOf": [_call(spec) for spec in tools]} if len(tools) > 1 else _call(tools[0])


def shown_spec(spec: ToolSpec) -> dict[str, Any]:
    """A tool as a provider is told of it: whether our own prompts list it is no business of theirs."""
    return spec.model_dump(mode="json", exclude={"listed"})


def _call(spec: ToolSpec) -> dict[str, Any]:
    arguments: dict[str, Any] = spec.model_dump(mode="json")["parameters"]
    named = bool(arguments.get("properties"))  # a tool that names none takes any
    properties = {
        "name": {"type": "string", "enum": [spec.name]},
        "arguments": {**arguments, **({"additionalProperties": False} if named else {})},
    }
    return {
        "type": "object",
        "properties": properties,
        "required": ["name", "arguments"],
        "additionalProperties": False,
    }
