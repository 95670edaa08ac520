"""Attempts of one job that are made elsewhere at the same time: in processes, or on a Ray cluster.

A worker opens the model and the tools as the job says and runs the same loop, in memory. This process writes what came
into the store, in the order of the attempts. What must stay true: the runs are those that one after the other would
have given; an attempt that this process has begun is not begun again elsewhere; a kernel that one attempt handed in in
vain is not drawn for again.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass

from warpsight.nouns.run import Run
from warpsight.processes.executor import Executor
from warpsight.reason.job import Job, run_of
from warpsight.reason.loop import run_loop
from warpsight.reason.optimize import FEW_BOX, SMALL_BOX, open_tools, opened_box
from warpsight.reason.resume import OpenedBox, model_of
from warpsight.reason.strategies import AtOnce, Attempt
from warpsight.runs.memory import MemoryStore
from warpsight.runs.store import Ending, NoSuchRun, Record, Store
from warpsight.session.session import Session
from warpsight.short.few import open_few
from warpsight.short.shipped import open_small
from warpsight.tools.task_box import TaskBox


@dataclass(frozen=True)
class FinishedAttempt:
    """A run with all that its store had of it."""

    run: Run
    records: tuple[Record, ...]
    artefacts: tuple[bytes, ...]


def open_box_of(job: Job, box: TaskBox) -> OpenedBox:
    """The tools as the job has them: short ones for a small model, else the real ones."""
    doors = {SMALL_BOX: open_small, FEW_BOX: open_few}
    return doors.get(str(job.settings.get("box")), opened_box)(job, box)


def attempt_elsewhere(job: Job) -> FinishedAttempt:
    """In a worker: one attempt, from its beginning to its end."""
    store = MemoryStore()
    box = open_tools(job, store, None, require_right=False)  # who handed it out has checked the given kernel
    try:
        model = model_of(job)
        try:
            run = run_loop(job, model, open_box_of(job, box).tools, store)
        finally:
            model.close()
    finally:
        box.close()
    return FinishedAttempt(run, store.records(job.id), store.kept())


def attempts_on(executor: Executor, store: Store, session: Session, here: Attempt) -> AtOnce:
    """Several attempts on an executor; what this process has begun goes on `here`."""

    def at_once(jobs: Sequence[Job]) -> Generator[Run]:
        begun = {job.id for job in jobs if _is_begun(store, job)}
        with closing(executor.run(attempt_elsewhere, [job for job in jobs if job.id not in begun])) as made:
            for job in jobs:
                run = here(job) if job.id in begun else _written(store, job, next(made))
                if run.submitted is not None and (run.submitted.timing is None or not run.submitted.timing.improves):
                    session.recall_submission(run.submitted)
                yield run

    return at_once


def _is_begun(store: Store, job: Job) -> bool:
    try:
        store.read(job.id)
    except NoSuchRun:
        return False
    return True


def _written(store: Store, job: Job, found: FinishedAttempt) -> Run:
    """The run as the store has it now."""
    run = found.run
    with store.hold(job.id):
        store.create_run(run_of(job).model_copy(update={"started_at": run.started_at}))
        for content in found.artefacts:
            store.put(content)
        store.write(job.id, [*run.steps, *found.records])
        if run.outcome is not None:
            fields = {name: getattr(run, name) for name in Ending.model_fields}
            store.finish(job.id, Ending(**fields))
        return store.read(job.id)
