"""The trained model that comes with the package, if one does, and a job that asks it as it was trained.

The folder `embedded` here holds an adapter for the embedded weights (`adapter_config.json`) or whole weights
(`config.json`); without it there is no trained model. Such a model knows one prompt and a few short tools: `ask_small`
turns a job of `warpsight optimize` into one with these, and `open_small` puts the short tools before the real ones. So
verdicts, certificates and budgets are those of every other run.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from warpsight.nouns import Task
from warpsight.reason.budget import Budget
from warpsight.reason.job import Job, Opening
from warpsight.reason.optimize import SMALL_BOX, as_asked, asked_of
from warpsight.reason.resume import OpenedBox
from warpsight.short.box import SmallBox
from warpsight.short.prompting import Suite, job_for
from warpsight.short.trained import knows_first_words, must_list_tools, suite_to_optimize
from warpsight.tools.task_box import TaskBox

PLACE = Path(__file__).parent / "embedded"
LISTED, SUITE, FIRST_WORDS = "tools_listed", "suite", "first_words"


class Shipped(NamedTuple):
    """A trained model: `adapter` goes on the embedded weights, `weights` stand alone. One of the two."""

    adapter: Path | None
    weights: Path | None
    listed: bool
    suite: Suite
    first_words: bool = False  # trained on the names that findings had before there was one dictionary

    @property
    def model(self) -> str:
        """Its name, as `--model` takes it."""
        return "local" if self.weights is None else f"local:{self.weights}"


def find_shipped(place: Path | None = None) -> Shipped | None:
    """The trained model of this package, or None."""
    folder = PLACE if place is None else place
    if (folder / "adapter_config.json").is_file():
        return Shipped(folder, None, must_list_tools(folder), suite_to_optimize(folder), knows_first_words(folder))
    if (folder / "config.json").is_file():
        return Shipped(None, folder, must_list_tools(folder), suite_to_optimize(folder), knows_first_words(folder))
    return None


def ask_small(
    job: Job, task: Task, shipped: Shipped, *, budget: Budget | None = None, max_tokens: int | None = None
) -> Job:
    """The job with the prompt, the tools and the limits that the model was trained with; limits may be given."""
    listed, suite = shipped.listed, shipped.suite
    small = _question(job, task, job.opening.kernel, suite, listed=listed)
    changes = {
        "opening": small.opening,
        "tools": small.tools,
        "budget": budget or small.budget,
        "max_tokens": max_tokens or small.max_tokens,
        "max_problems": small.max_problems,
        "enough_gain": small.enough_gain,
        "settings": {**job.settings, "box": SMALL_BOX, LISTED: listed, SUITE: suite, FIRST_WORDS: shipped.first_words},
    }
    return Job.model_validate({**dict(job), **changes})


def open_small(job: Job, box: TaskBox) -> OpenedBox:
    """The short tools over the real ones, and how a conversation about another kernel begins."""
    task, listed = box.session.task, job.settings.get(LISTED) is not False
    suite: Suite = "apply" if job.settings.get(SUITE) == "apply" else "optimize"

    def open_with(kernel: str, _note: str) -> Opening:
        return _question(job, task, kernel, suite, listed=listed).opening

    first_words = job.settings.get(FIRST_WORDS, True) is True  # runs that began before there was one dictionary
    short = _Short(as_asked(task, asked_of(job)), box, suite, listed=listed, first_words=first_words)
    return OpenedBox(short, open_with)


class _Short(SmallBox):
    """The short tools of a box that is open already: with the run's own seed and its ledger."""

    def __init__(self, task: Task, opened: TaskBox, suite: Suite, *, listed: bool, first_words: bool) -> None:
        super().__init__(task, suite, opened.session.feedback, listed=listed, first_words=first_words)
        self._opened = opened

    @functools.cached_property
    def box(self) -> TaskBox:
        return self._opened

    def _gate_key(self, name: str, arguments: Mapping[str, JsonValue]) -> str | None:
        return None  # a person's run is judged by itself


def _question(job: Job, task: Task, kernel: str, suite: Suite, *, listed: bool) -> Job:
    """The job as training would have put it: the kernel, on the GPU that was asked for."""
    shown = as_asked(task, asked_of(job)).model_copy(update={"kernel": kernel})
    return job_for(shown, suite, run_id=job.id, model=job.model, listed=listed)
