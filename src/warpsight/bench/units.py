"""One unit of a benchmark: a task put to a model with one kind of feedback, and what came of it, as plain records.

What must stay true: an Outcome is a pure function of the run and of the task's measured truth, and everything that is
reported is a pure function of Outcomes.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from warpsight.bench.tasks import BenchTask
from warpsight.causes import canonical, cause_in
from warpsight.nouns import Evaluation
from warpsight.nouns.base import Count, Noun
from warpsight.nouns.run import Run
from warpsight.nouns.timing import IMPROVEMENTS, Timing
from warpsight.reason.predictions import accuracy
from warpsight.session.feedback import Feedback
from warpsight.short.prompting import Suite

BoxName = Literal["short", "full"]
BOXES: tuple[BoxName, ...] = ("short", "full")


class BenchUnit(Noun):
    """What is asked. `model` is a name as `--model` takes it, or a rival's; `box` which tools it has: the few short
    ones of small models, or all ten."""

    suite: Suite
    model: str
    feedback: Feedback
    row: int
    seed: Count = 0
    box: BoxName = Field(default="short", exclude_if=lambda box: box == "short")
    tries: Count = Field(default=0, exclude_if=lambda tries: not tries)  # suite budget: changes that may be tried

    @property
    def key(self) -> str:
        return f"{self.condition}|{self.label}|{self.feedback}|{self.row}|{self.seed}"

    @property
    def condition(self) -> str:
        """The suite; each budget is a condition of its own."""
        return f"{self.suite}-{self.tries}" if self.tries else self.suite

    @property
    def label(self) -> str:
        """What tables call the model: with the ten tools it is another condition."""
        return self.model if self.box == "short" else f"{self.model} (ten tools)"


class BenchOutcome(Noun):
    """What came. `ratio` is to the given kernel and 1 where nothing faster was handed in; `source` says what kind of
    time it is. `roofline_share` is the gate's floor, with the gate's margin, over the time of the final kernel: 1 is
    the fastest that the gate believes."""

    unit: BenchUnit
    task: str
    asked: str = ""  # what else it depends on, as a digest: the adapter, the rounds, the temperature
    trained_on: bool = False  # of a family that models are trained on: no result
    answer: str | None = None
    right_answers: tuple[str, ...]  # none where no defect of the task is known: answers are not scored
    diagnosed: bool = False
    verdict: str = ""
    decision: str = ""
    ratio: float | None = None
    source: Literal["simulated", "measured", "replayed", ""] = ""
    roofline_share: float | None = None
    predictions_right: Count = 0
    predictions_scored: Count = 0
    tool_calls: Count = 0
    input_tokens: Count = 0
    output_tokens: Count = 0
    seconds: float = 0.0
    ended: str = ""
    tries: Count = Field(default=0, exclude_if=lambda tries: not tries)
    measured: Count = Field(default=0, exclude_if=lambda measured: not measured)  # tries that no table knew
    best_ratio: float | None = Field(default=None, exclude_if=lambda ratio: ratio is None)  # of the known kernels
    within: bool | None = Field(default=None, exclude_if=lambda within: within is None)  # 10 % of the best change
    table: str = Field(default="", exclude_if=lambda table: not table)  # the version of the table of outcomes

    @property
    def is_right(self) -> bool:
        """Whether a kernel was handed in and the gate found it right."""
        return self.verdict == "right"

    @property
    def speed(self) -> float:
        """What the user gets: the speed-up of a FASTER or LIKELY_FASTER kernel, else 1: the given kernel stays."""
        accepted = self.is_right and self.decision in IMPROVEMENTS and self.ratio is not None
        return self.ratio if accepted and self.ratio is not None else 1.0


def outcome_of(
    unit: BenchUnit, task: BenchTask, run: Run, asked: str = "", final: Evaluation | None = None
) -> BenchOutcome:
    """The record of a run; `final` is the kernel it ends with, by default the submitted one."""
    found, said = final or run.submitted, run.submission
    timing = found.timing if found is not None else None
    guessed = accuracy([said])
    answer = canonical(cause_in(said.cause) if unit.box == "full" else said.cause) if said is not None else None
    return BenchOutcome(
        unit=unit,
        task=task.key,
        asked=asked,
        trained_on=task.trained_on,
        answer=answer,
        right_answers=task.right,
        diagnosed=answer in task.right,
        verdict=found.check.verdict if found is not None else "",
        decision=(timing.decision or "") if timing is not None else "",
        ratio=timing.ratio if timing is not None else None,
        source=timing.source if timing is not None else "",
        roofline_share=share_of_roof(timing),
        predictions_right=guessed.right,
        predictions_scored=guessed.scored,
        tool_calls=run.spent.tool_calls,
        input_tokens=run.spent.input_tokens,
        output_tokens=run.spent.output_tokens,
        seconds=run.spent.seconds,
        ended=run.outcome or "",
    )


def share_of_roof(timing: Timing | None) -> float | None:
    """The least time that the gate believes, over the time that was found."""
    if timing is None or timing.roof is None or not timing.samples_us:
        return None
    return min(1.0, timing.roof.floor_us / timing.samples_us[0])
