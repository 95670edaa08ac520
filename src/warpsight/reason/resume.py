"""Going on with a stored run: its model and its tools are opened again as its job says, and the same loop runs.

Which boxes of tools can be opened is given by the caller, by name (`settings["box"]` of the job). What must stay true:
a run goes on with what it began with, or not at all.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from warpsight.errors import UsageError
from warpsight.models.model import Model
from warpsight.models.open import open_model
from warpsight.models.retry import patience_of
from warpsight.nouns.run import Run
from warpsight.reason.job import Job, job_of
from warpsight.reason.loop import Watch, run_loop
from warpsight.reason.progress import Progress
from warpsight.reason.strategies import AtOnce, Attempt, OpenWith, run_strategy
from warpsight.runs.store import RESUMABLE, Store
from warpsight.tools.box import ToolBox


class OpenedBox(NamedTuple):
    """The tools of a job, and how a conversation about one of its kernels begins (for strategies of several runs)."""

    tools: ToolBox
    open_with: OpenWith


OpenBox = Callable[[Job], OpenedBox]


def resume(store: Store, run_id: str, boxes: Mapping[str, OpenBox], watch: Watch | None = None) -> Run:
    """Go on with a run that has not ended; UsageError for one that has, or whose tools cannot be opened."""
    run = store.read(run_id)
    if run.outcome not in RESUMABLE:
        raise UsageError(f"run {run_id} has ended ({run.outcome}): there is nothing to resume", hint="start a new run")
    job = job_of(run)
    name = job.settings.get("box")
    if not isinstance(name, str) or name not in boxes:
        known = ", ".join(boxes) or "none"
        raise UsageError(f"run {run_id}: expected a tool box that can be opened here ({known}), found {name!r}")
    opened = boxes[name](job)
    model = model_of(job)
    try:
        return run_job(job, model, opened, store, watch)
    finally:
        model.close()


def run_job(
    job: Job,
    model: Model,
    opened: OpenedBox,
    store: Store,
    watch: Watch | None = None,
    at_once: AtOnce | None = None,
) -> Run:
    """Start a job or go on with it, by its strategy."""
    return run_strategy(job, attempt_with(model, opened, store, watch), opened.open_with, store, at_once)


def attempt_with(model: Model, opened: OpenedBox, store: Store, watch: Watch | None = None) -> Attempt:
    """One attempt in this process."""
    return functools.partial(run_loop, model=model, tools=opened.tools, store=store, watch=watch or _nobody_watches)


def model_of(job: Job) -> Model:
    """The model of a job, opened with the settings it began with. Keys are in the environment, never in a job."""

    def setting(name: str) -> str | None:
        value = job.settings.get(name)
        return value if isinstance(value, str) else None

    adapter, timeout = setting("adapter"), job.settings.get("reply_timeout")
    seconds = float(timeout) if isinstance(timeout, int | float) else None
    return open_model(
        job.model,
        base_url=setting("base_url"),
        api_key_env=setting("api_key_env"),
        adapter=None if adapter is None else Path(adapter),
        patience=None if seconds is None else patience_of(seconds),
    )


def _nobody_watches(_text: str, _progress: Progress) -> None:
    """Progress is told to nobody."""
