"""What goes over the wire: a tool call, what the tool said, and where the episode stands."""

from __future__ import annotations

from typing import Literal

from openenv.core.env_server.types import Action, Observation, State
from pydantic import Field

Tool = Literal["profile", "check", "time", "inspect", "compare", "compile", "device", "what_if", "rewrite", "submit"]


class KernelAction(Action):
    """One call of a tool. Without a `kernel` it is of the given one; an id that a result named stands for its text."""

    tool: Tool
    kernel: str | None = None
    cause: str | None = Field(default=None, description="of `rewrite`, `what_if` and `submit`")
    view: str | None = Field(default=None, description="of `inspect`: hot, sass or ptx")


class KernelObservation(Observation):
    """What the tool said. At the end `parts` has the reward in its parts."""

    text: str = ""
    task: str = ""
    parts: dict[str, float] = Field(default_factory=dict)


class KernelState(State):
    """`task` is the name of the task; `step_count` counts calls."""

    task: str = ""
