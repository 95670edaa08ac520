"""Tools as a text, for models whose prompt we write ourselves: one JSON object a line.

Parameters that several tools describe in the same words, or leave to the one that describes them, are said once, below;
each of these tools names them under `also`. What must stay true: nothing of a schema is lost, and tools that share no
described parameter look as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, cast

from warpsight.models.verbatim import dump
from warpsight.nouns.tool import ToolSpec


def tool_lines(tools: Sequence[ToolSpec]) -> str:
    """The list; empty without tools."""
    told = {name for tool in tools for name, part in _properties(tool).items() if "description" in part}
    seen = Counter((name, dump(part)) for tool in tools for name, part in _properties(tool).items() if name in told)
    shared = {name: text for (name, text), count in seen.items() if count > 1}
    lines = [_line(tool, shared) for tool in tools]
    if shared:
        said = ", ".join(f"{dump(name)}: {text}" for name, text in shared.items())
        lines.append(f'parameters that a tool names under "also": {{{said}}}')
    return "\n".join(lines)


def _line(tool: ToolSpec, shared: dict[str, str]) -> str:
    whole = tool.model_dump(mode="json")
    also = [name for name, part in _properties(tool).items() if shared.get(name) == dump(part)]
    if not also:
        return dump(whole)
    parameters = cast(dict[str, Any], whole["parameters"])
    rest = {name: part for name, part in parameters["properties"].items() if name not in also}
    return dump({**whole, "parameters": {**parameters, "properties": rest}, "also": also})


def _properties(tool: ToolSpec) -> dict[str, Any]:
    return cast(dict[str, Any], tool.parameters.get("properties") or {})
