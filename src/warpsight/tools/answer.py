"""What a tool's function gives back, and how it becomes a ToolResult: words for the reader, a record for programs.

The record's type is the tool's output schema. Both may be shown to a model, so neither holds anything of a hidden
workload or of a mode that is off; what only the loop and the store may see is in `evaluation`, `baseline`, `profiled`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Generic, TypeVar

from pydantic import Field

from warpsight.nouns import Evaluation, Noun, Profile
from warpsight.session.search import KernelId
from warpsight.tools.box import ToolResult

__all__ = ["Answer", "Kernel", "KernelId", "against", "result_of"]

Out = TypeVar("Out", bound=Noun, covariant=True)
KERNEL_HELP = "the whole file with its `// launch:`"
Kernel = Annotated[str, Field(description=KERNEL_HELP, min_length=1)]


def against(what: str) -> str:
    """The words for a parameter `against`: the kernel to compare with."""
    return f"{what}, named as in `base`"


@dataclass(frozen=True)
class Answer(Generic[Out]):
    """One answer. `artefacts` are whole documents for the store, such as a full profile."""

    text: str
    data: Out
    evaluation: Evaluation | None = None
    baseline: Evaluation | None = None
    profiled: Mapping[str, Profile] = field(default_factory=dict[str, Profile])
    artefacts: tuple[bytes, ...] = ()
    submitted: bool = False
    made: str | None = None


def result_of(answer: Answer[Noun], text: str, more: tuple[bytes, ...] = ()) -> ToolResult:
    """The answer as it goes through a door, with its text as it was cut to size."""
    return ToolResult(
        text=text,
        data=json.loads(answer.data.model_dump_json()),
        artefacts=answer.artefacts + more,
        evaluation=answer.evaluation,
        baseline=answer.baseline,
        profiled=dict(answer.profiled),
        submitted=answer.submitted,
        made=answer.made,
    )
