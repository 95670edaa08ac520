"""One attempt at a task, step by step."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from warpsight.nouns.base import Count, Noun, Sha256, TaskName, require
from warpsight.nouns.evaluation import Evaluation


class Step(Noun):
    """One entry of a transcript, as the model saw it. Large things are artefacts, by hash."""

    index: Count
    kind: Literal["system", "user", "assistant", "call", "result"]
    content: str
    tool: str | None = None
    call_id: str | None = None
    artefacts: tuple[Sha256, ...] = ()

    @model_validator(mode="after")
    def _calls_name_their_tool(self) -> Self:
        is_call = self.kind in ("call", "result")
        require(
            is_call == (self.tool is not None) and is_call == (self.call_id is not None),
            "calls and results, and only they, have tool and call_id",
        )
        return self


class Run(Noun):
    """One attempt at a task. Steps are only appended; the outcome is set when it ends."""

    id: str
    task: TaskName
    model: str
    device: str
    started_at: str
    steps: tuple[Step, ...] = ()
    outcome: Literal["submitted", "budget_spent", "gave_up", "broken"] | None = None
    submitted: Evaluation | None = None

    @model_validator(mode="after")
    def _steps_in_order_and_outcome_fits(self) -> Self:
        require([s.index for s in self.steps] == list(range(len(self.steps))), "steps are numbered 0, 1, 2, ...")
        if self.submitted is not None:
            require(self.outcome == "submitted", f"an evaluation was submitted, but the outcome is {self.outcome}")
        return self
