"""A stored run once more, with no model and no device: the same transcript to the byte, and the same evaluation.

The loop itself runs, on the run's own records; whatever it would have to ask for is missing, and that is an error. So
a replay shows that the transcript and the ending follow from the records by the loop's rules and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from pydantic import JsonValue

from warpsight.errors import WarpsightError
from warpsight.models.model import OnText, Reply, Request
from warpsight.nouns.run import Run
from warpsight.reason.job import Job, job_of
from warpsight.reason.loop import run_loop
from warpsight.reason.strategies import ending_of
from warpsight.reason.transcript import transcript_bytes
from warpsight.runs.memory import MemoryStore
from warpsight.runs.store import RESUMABLE, Ending, Store, ended
from warpsight.tools.box import ToolResult, ToolSpec

_NO_ENDING = {"outcome": None, "submitted": None}


class NotRecorded(WarpsightError):
    """The replay needs something that the run has no record of."""

    exit_code = 5


class Replayed(NamedTuple):
    """A run made again from its records. `differs_at` is the first step that is not as stored; None when all are."""

    run: Run
    differs_at: int | None
    same_ending: bool

    @property
    def same(self) -> bool:
        return self.differs_at is None and self.same_ending


def replay(store: Store, run_id: str) -> Replayed:
    """Replay a run, or all attempts of a group. One that has not ended is replayed as far as it went."""
    stored = store.read(run_id)
    job = job_of(stored)
    if job.strategy.name != "single":
        return _replay_group(store, stored)
    again = run_loop(job, _NoModel(job.model), _NoTools(job), MemoryStore(run_id, store.records(run_id)))
    is_open = stored.outcome in RESUMABLE
    ours, theirs = again.steps[: len(stored.steps)] if is_open else again.steps, stored.steps
    same = transcript_bytes(ours) == transcript_bytes(theirs)
    differs = None if same else next((i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), None)
    if differs is None and not same:
        differs = min(len(ours), len(theirs))
    return Replayed(again, differs, is_open or _same_ending(again, stored))


def _replay_group(store: Store, stored: Run) -> Replayed:
    """Every attempt again, and the ending that follows from them."""
    lines = store.list_runs(parent=stored.id)
    attempts = [replay(store, f"{stored.id}.{number}") for number in range(1, len(lines) + 1)]
    run = ended(stored.model_copy(update=_NO_ENDING), ending_of([attempt.run for attempt in attempts]))
    is_open = stored.outcome in RESUMABLE
    differs = next((attempt.differs_at for attempt in attempts if attempt.differs_at is not None), None)
    same = all(attempt.same_ending for attempt in attempts) and (is_open or _same_ending(run, stored))
    return Replayed(run, differs, same)


def _same_ending(one: Run, other: Run) -> bool:
    return all(getattr(one, name) == getattr(other, name) for name in Ending.model_fields)


class _NoModel:
    def __init__(self, name: str) -> None:
        self.name = name

    def reply(self, request: Request, on_text: OnText | None = None) -> Reply:
        raise NotRecorded(f"no record of the reply after {len(request.messages)} messages")

    def close(self) -> None:
        """Nothing is held."""


class _NoTools:
    def __init__(self, job: Job) -> None:
        self._job = job

    def specs(self) -> tuple[ToolSpec, ...]:
        return self._job.tools

    def call(self, name: str, arguments: Mapping[str, JsonValue]) -> ToolResult:
        raise NotRecorded(f"no record of the result of {name}")
