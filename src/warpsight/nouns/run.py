"""One attempt at a task, step by step: what was asked, what was said, how it ended.

A step holds what the model saw or wrote and nothing else: no clock, no machine. So the steps of a run that was broken
off and resumed are those of one that was not.
"""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, JsonValue, model_validator

from warpsight.nouns.base import Count, Noun, Sha256, TaskName, require
from warpsight.nouns.evaluation import Evaluation

# `stopped` is the one that is not an end: interrupted, or the model could not be had; it can be resumed.
Outcome = Literal["submitted", "at_roofline", "budget_spent", "gave_up", "broken", "stopped"]
Way = Literal["up", "down"]


class Step(Noun):
    """One entry of a transcript, as the model saw it. Large things are artefacts, by hash.

    `assistant` and `call` were written by the model, all else was put in. A `call` repeats, in parts, what its
    `assistant` step says: `content` is the JSON text of its arguments. `raw` is the provider's message, verbatim.
    """

    index: Count
    kind: Literal["system", "user", "assistant", "call", "result"]
    content: str
    reasoning: str = ""
    raw: str | None = None
    tool: str | None = None
    call_id: str | None = None
    is_error: bool = False
    artefacts: tuple[Sha256, ...] = ()

    @model_validator(mode="after")
    def _calls_name_their_tool(self) -> Self:
        is_call = self.kind in ("call", "result")
        require(
            is_call == (self.tool is not None) and is_call == (self.call_id is not None),
            "calls and results, and only they, have tool and call_id",
        )
        if self.kind != "assistant":
            require(self.raw is None and self.reasoning == "", "only assistant steps have reasoning and raw")
        return self


class Spent(Noun):
    """What a run, or a part of it, has used. A cost of None is unknown, which is not nothing."""

    tool_calls: Count = 0
    input_tokens: Count = 0
    output_tokens: Count = 0
    seconds: float = Field(default=0.0, ge=0)
    cost_usd: float | None = Field(default=0.0, ge=0)


class Prediction(Noun):
    """That a counter would move one way, and what it did. `unknown`: one of the two profiles does not have it."""

    counter: str
    way: Way
    before: float | None
    after: float | None
    verdict: Literal["right", "wrong", "unmoved", "unknown"]

    @model_validator(mode="after")
    def _known_has_both_values(self) -> Self:
        both = self.before is not None and self.after is not None
        require(both == (self.verdict != "unknown"), "a verdict needs both values, and unknown lacks one")
        return self


class Submission(Noun):
    """What the model handed in: the kernel (an artefact), the cause it claims, and its predictions, scored."""

    kernel_sha256: Sha256
    cause: str
    predictions: tuple[Prediction, ...] = ()


class Run(Noun):
    """One attempt at a task. Steps are only appended; the outcome is set when it ends.

    `job` is what it was asked to do, as the loop wrote it: enough to start it again. `best` is the fastest right
    kernel that was seen, also where nothing was submitted.
    """

    id: str
    task: TaskName
    model: str
    device: str
    started_at: str
    parent: str | None = None
    job: dict[str, JsonValue] = Field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    outcome: Outcome | None = None
    reason: str = ""
    spent: Spent = Spent()
    submission: Submission | None = None
    submitted: Evaluation | None = None
    best: Evaluation | None = None

    @model_validator(mode="after")
    def _steps_in_order_and_outcome_fits(self) -> Self:
        require([s.index for s in self.steps] == list(range(len(self.steps))), "steps are numbered 0, 1, 2, ...")
        if self.submitted is not None:
            require(self.outcome == "submitted", f"an evaluation was submitted, but the outcome is {self.outcome}")
        return self
