"""What a model is told of a tool: its name, what it is for, and the JSON schema of its arguments."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, JsonValue, StringConstraints

from warpsight.nouns.base import Noun

# What all providers accept as the name of a function.
ToolName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_-]{0,63}$")]


class ToolSpec(Noun):
    """One tool as it is shown to a model. `parameters` is a JSON schema of type `object`.

    A tool that is not `listed` is left out of the prompt of local weights: they were trained on it and know it.
    """

    name: ToolName
    description: str
    parameters: dict[str, JsonValue] = Field(default_factory=lambda: {"type": "object", "properties": {}})
    listed: bool = Field(default=True, exclude_if=bool)
