"""The seam between the loop and the tools: what a tool is, what a box of them offers, what a call gives back.

A box names its tools with JSON schemas and runs one call at a time. `text` is what the model reads; `data`,
`evaluation` and `baseline` are for the loop, the store and reports, and are never shown. What must stay true: a bad
kernel is a result (`is_error` says that the call itself was refused), a broken machine is an exception, and verdicts
come from `evaluation` alone, never from a text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from pydantic import Field, JsonValue

from warpsight.nouns import Evaluation, Noun, Profile, Sha256
from warpsight.nouns.tool import ToolSpec
from warpsight.session.until import OutOfTime

__all__ = ["SUBMIT", "Tool", "ToolBox", "ToolResult", "ToolSpec", "cut_result", "spec_of", "was_cut"]

CUT = "out_of_time"  # marks the result of a call that the end of the run cut off
SUBMIT = "submit"  # the tool that ends a run: it is not charged, and it is still there when the tool calls are spent


class ToolResult(Noun):
    """What one call gave. `baseline` is the evaluation of the kernel it is compared with, where the tool has one.

    `profiled` are profiles that were made on the way, by the hash of their kernel. `made` is the text of a kernel that
    the tool itself made: `evaluation` is then that kernel's, and callers may name it from now on.
    """

    text: str
    data: dict[str, JsonValue] = Field(default_factory=dict)
    artefacts: tuple[bytes, ...] = ()
    is_error: bool = False
    evaluation: Evaluation | None = None
    baseline: Evaluation | None = None
    profiled: dict[Sha256, Profile] = Field(default_factory=dict)
    submitted: bool = False
    made: str | None = None


class Tool(Protocol):
    """One function with its name, its description (written for a model) and the JSON schema of its arguments."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def parameters(self) -> dict[str, JsonValue]: ...

    def __call__(self, arguments: Mapping[str, JsonValue]) -> ToolResult: ...


class ToolBox(Protocol):
    """The tools of one run. A tool that takes a `kernel` gets its whole text: edits are applied before."""

    def specs(self) -> tuple[ToolSpec, ...]: ...

    def call(self, name: str, arguments: Mapping[str, JsonValue]) -> ToolResult: ...


def spec_of(tool: Tool) -> ToolSpec:
    """The specification of a tool."""
    return ToolSpec(name=tool.name, description=tool.description, parameters=tool.parameters)


def cut_result(problem: OutOfTime) -> ToolResult:
    """What a call that was cut gave: the words, and a mark for the loop."""
    return ToolResult(text=f"error: {problem.message}", data={CUT: True}, is_error=True)


def was_cut(result: ToolResult) -> bool:
    return result.is_error and result.data.get(CUT) is True
