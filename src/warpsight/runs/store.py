"""The Store seam: what keeps runs, and the records that only a store needs.

A run is written in three kinds: its steps (what the model saw and wrote), its records (what came from outside: replies
of the model, results of tools, each under a key made of all that led to it) and artefacts (bytes by sha256). What must
stay true: when a call here returns, what it was given is durable; steps and records are added and never changed; a
thing that was recorded under a key is what that key gives, for good.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Literal, Protocol

from warpsight.errors import UsageError, WarpsightError
from warpsight.nouns.base import Count, Noun, Sha256, TaskName
from warpsight.nouns.evaluation import Evaluation
from warpsight.nouns.run import Outcome, Run, Spent, Step, Submission

RESUMABLE: tuple[Outcome | None, ...] = (None, "stopped")


class Record(Noun):
    """Something that came from outside, and what it cost. `step` is the index of the first step made of it."""

    key: Sha256
    kind: Literal["reply", "bad_reply", "result"]
    step: Count
    body: str
    spent: Spent = Spent()


class Ending(Noun):
    """How a run ended. `stopped` can be replaced by a later ending, the others cannot."""

    outcome: Outcome
    reason: str = ""
    spent: Spent = Spent()
    submission: Submission | None = None
    submitted: Evaluation | None = None
    best: Evaluation | None = None


class RunSummary(Noun):
    """One line of a list of runs."""

    id: str
    task: TaskName
    model: str
    device: str
    started_at: str
    parent: str | None
    outcome: Outcome | None
    reason: str
    steps: Count
    spent: Spent
    best_ratio: float | None
    best_source: str | None
    decision: str | None = None


class StoreConflict(WarpsightError):
    """Something else stands where this should be written: the run was made another way, or by another version."""

    exit_code = 5


class RunBusy(UsageError):
    """Another process works on this run."""


class NoSuchRun(UsageError):
    """No run has this id."""


class Store(Protocol):
    """Where runs are kept. One object per thread; several processes may share the place behind it."""

    def create_run(self, run: Run) -> None:
        """Add a run without steps. The same again is fine; another one under the same id is a StoreConflict."""
        ...

    def hold(self, run_id: str) -> AbstractContextManager[None]:
        """Be the only one that works on this run; RunBusy if another is. Ends with the process, however it ends."""
        ...

    def write(self, run_id: str, entries: Sequence[Step | Record]) -> None:
        """Add steps and records, all or none. The same again is fine; a gap in the steps, or anything else where
        something stands already, is a StoreConflict."""
        ...

    def recorded(self, run_id: str, key: Sha256) -> Record | None: ...

    def records(self, run_id: str) -> tuple[Record, ...]:
        """All of them, in the order of their steps."""
        ...

    def finish(self, run_id: str, ending: Ending) -> None: ...

    def read(self, run_id: str) -> Run: ...

    def list_runs(
        self,
        *,
        task: str | None = None,
        model: str | None = None,
        outcome: str | None = None,
        parent: str | None = None,
        limit: int | None = None,
    ) -> tuple[RunSummary, ...]:
        """The newest first. An outcome of "open" means those that have not ended."""
        ...

    def put(self, content: bytes) -> Sha256: ...

    def get(self, sha256: Sha256) -> bytes: ...


def summary_of(run: Run, steps: int) -> RunSummary:
    """The line for a run; its own steps need not have been read."""
    timing = run.best.timing if run.best else None
    return RunSummary(
        id=run.id,
        task=run.task,
        model=run.model,
        device=run.device,
        started_at=run.started_at,
        parent=run.parent,
        outcome=run.outcome,
        reason=run.reason,
        steps=steps,
        spent=run.spent,
        best_ratio=timing.ratio if timing else None,
        best_source=timing.source if timing else None,
        decision=timing.decision if timing else None,
    )


def ended(run: Run, ending: Ending) -> Run:
    """The run with its ending filled in; a run that has ended for good does not end again in another way."""
    if run.outcome not in RESUMABLE and run.outcome != ending.outcome:
        raise StoreConflict(f"run {run.id}: it ended as {run.outcome}, it cannot end as {ending.outcome}")
    return Run.model_validate({**dict(run), **dict(ending)})
