"""One question put to a model through the loop, with the short tools: training and benches ask through this."""

from __future__ import annotations

from typing import ClassVar

from pydantic import JsonValue

from warpsight.errors import WarpsightError
from warpsight.models.model import Model
from warpsight.nouns.run import Run
from warpsight.reason.job import Job, Opening
from warpsight.reason.loop import run_loop
from warpsight.reason.progress import best_of
from warpsight.reason.strategies import largest_step, run_strategy
from warpsight.runs.memory import MemoryStore
from warpsight.runs.store import RESUMABLE
from warpsight.short.box import SmallBox
from warpsight.short.prompting import in_rounds, job_for, opening_for


class NotAnswered(WarpsightError):
    """The model could not be had, or the machine failed: no answer, which is not a wrong one."""

    exit_code: ClassVar[int] = 6


def ask(
    box: SmallBox,
    model: Model,
    *,
    run_id: str,
    temperature: float | None = None,
    seed: int | None = None,
    reply_tokens: int = 0,
    rounds: int = 1,
    settings: dict[str, JsonValue] | None = None,
) -> Run:
    """One question put to a model, through the loop. A reply may have as many tokens as the suite says, or fewer.

    With `rounds` it is asked again about the faster kernel, while it gains; what it said of the largest step counts.
    Where the model cannot be had or the machine fails there is no run: that would count as an answer.
    """
    job = job_for(
        box.task, box.suite, run_id=run_id, model=model.name, listed=box.listed, temperature=temperature, seed=seed,
        reply_tokens=reply_tokens, tries=box.tries, can_try=box.can_try,
        settings={**(settings or {}), "feedback": box.feedback},
    )  # fmt: skip
    store = MemoryStore()
    if rounds == 1:
        return require_answered(run_loop(job, model, box, store))

    def one_round(child: Job) -> Run:
        return require_answered(run_loop(child.model_copy(update={"budget": job.budget}), model, box, store))

    def open_with(kernel: str, _note: str) -> Opening:
        return opening_for(box.task, box.suite, kernel)

    refined = run_strategy(in_rounds(job, rounds), one_round, open_with, store)
    played = [store.read(one.id) for one in reversed(store.list_runs(parent=job.id))]
    told, best = largest_step(played), best_of([run.submitted for run in played])
    found = {"submission": told.submission, "steps": told.steps, "submitted": best or played[0].submitted}
    return refined.model_copy(update=found)


def require_answered(run: Run) -> Run:
    if run.reason == "interrupted" and run.outcome in RESUMABLE:
        raise KeyboardInterrupt
    if run.outcome in RESUMABLE or run.outcome == "broken":
        raise NotAnswered(f"{run.id}: {run.reason}", hint="what was finished is kept: the same command goes on")
    return run
