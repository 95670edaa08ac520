"""`optimize`: a model makes the kernel faster with the tools; gives the kernel and the evidence.

Plans the job, opens model and tools, runs the loop, writes the report. Runs are kept in the data folder, so a run that
was cut off is gone on with by its job (`run`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import JsonValue

from warpsight.models.guided import GUIDED
from warpsight.models.local import has_local_weights
from warpsight.models.model import Model
from warpsight.models.open import weights_path
from warpsight.models.scripted import shipped_script
from warpsight.nouns import Task
from warpsight.reason.budget import Budget, parse_budget
from warpsight.reason.job import Job, Strategy
from warpsight.reason.loop import Watch
from warpsight.reason.optimize import LEDGER, SMALL_BOX, OptimizeResult, open_tools, opened_box, outcome_of, plan
from warpsight.reason.resume import model_of, run_job
from warpsight.report.write import write_report
from warpsight.runs.sqlite import SqliteStore
from warpsight.session.feedback import require_offered
from warpsight.session.opening import open_task, read_kernel
from warpsight.session.session import KernelLike
from warpsight.short.shipped import Shipped, ask_small, find_shipped, open_small
from warpsight.tools.task_box import TaskBox
from warpsight.verbs.ask import TaskLike, meant

REPORTS = "reports"  # in the data folder, a page a run
LOCAL = "local"
LOCAL_WORDS = "the embedded local model (SmolLM2-135M)"
MAX_TOKENS = 8192  # of one reply


class PlannedJob(NamedTuple):
    """A job, and the words for the model that was taken because none was named."""

    job: Job
    chosen: str = ""


def _nobody(_text: str) -> None:
    """Nobody watches."""


def optimize(task: TaskLike, kernel: KernelLike = None, *, model: str | None = None, **asked: Any) -> OptimizeResult:
    """Let a model make the kernel faster; `outcome.kernel` is the new text, None where none was accepted.

    Without `model` the trained model of this package is used where its weights are installed, else a search by rule,
    guided by the profile. `asked` is what `plan_job` takes: `gpu`, `device`,
    `budget` ("calls=20,seconds=900"), `strategy`, `base_url`, `api_key_env`, ...
    """
    return run(plan_job(task, kernel, model=model, **asked).job)


def plan_job(
    task: TaskLike,
    kernel: KernelLike = None,
    *,
    model: str | None = None,
    device: str = "virtual",
    gpu: str | None = None,
    feedback: str = "curated",
    budget: Budget | str | None = None,
    strategy: Strategy | None = None,
    prompt: str | None = None,
    calling: str = "native",
    temperature: float | None = None,
    seed: int | None = None,
    max_tokens: int | None = None,
    adapter: Path | None = None,
    base_url: str | None = None,
    api_key_env: str | None = None,
    unsafe: bool = False,
) -> PlannedJob:
    """The job, not begun. The trained model is asked as it was trained, unless anything says otherwise."""
    found = task if isinstance(task, Task) else open_task(task)
    plain = model is None and adapter is None and prompt is None and device == "virtual" and calling == "native"
    trained = find_shipped() if plain else None
    if trained is not None and not has_local_weights(embedded=trained.weights is None):
        trained = None  # there is nobody to ask
    if plain and trained is None:
        model = GUIDED
    limits = parse_budget(budget) if isinstance(budget, str) else budget
    used = adapter if trained is None else trained.adapter
    settings: dict[str, JsonValue] = {
        "base_url": base_url,
        "api_key_env": api_key_env,
        "adapter": None if used is None else str(used.resolve()),
    }
    job = plan(
        found,
        model_word(model if trained is None else trained.model),
        device=device,
        gpu=gpu,
        kernel=_text(found, kernel),
        feedback=require_offered(feedback),
        budget=limits,
        strategy=strategy or Strategy(),
        prompt=prompt or ("trained" if used is not None else "untrained"),  # type: ignore[arg-type]
        calling=calling,  # type: ignore[arg-type]
        temperature=temperature,
        sampling_seed=seed,
        max_tokens=max_tokens or MAX_TOKENS,
        unsafe=unsafe,
        settings={name: value for name, value in settings.items() if value is not None},
    )
    if trained is not None:
        job = ask_small(job, found, trained, budget=limits, max_tokens=max_tokens)
    return PlannedJob(job, _chosen(trained) if plain else "" if model is not None else LOCAL_WORDS)


def run(
    job: Job,
    *,
    watch: Watch | None = None,
    say: Callable[[str], None] = _nobody,
    begin: Callable[[str], None] = _nobody,
) -> OptimizeResult:
    """Start a job or go on with it; the outcome names the page that tells of it."""
    with SqliteStore() as store:
        say("opening the model")
        model = model_of(job)
        try:
            found = _played(job, model, store, watch, say, begin)
        finally:
            model.close()
        say("writing the report")
        page = store.folder / REPORTS / f"{job.id}.html"
        write_report(store, job.id, page)
    return replace(found, report_file=page)


def model_word(model: str | None) -> str:
    """The model as it is stored: files by their whole path, so that the run can be resumed from any folder."""
    if model is None:
        return LOCAL
    if (path := weights_path(model)) is not None:
        return f"{LOCAL}:{path.resolve()}"
    kind, _, rest = model.partition(":")
    if kind == "scripted" and shipped_script(rest) is not None:
        return model
    return f"{kind}:{Path(rest).resolve()}" if kind in ("scripted", LOCAL) and rest else model


def _played(
    job: Job,
    model: Model,
    store: SqliteStore,
    watch: Watch | None,
    say: Callable[[str], None],
    begin: Callable[[str], None],
) -> OptimizeResult:
    begin("checking the given kernel; a budget of seconds starts after that")
    box: TaskBox = open_tools(job, store, store.folder / LEDGER, say=say)
    opened = open_small(job, box) if job.settings.get("box") == SMALL_BOX else opened_box(job, box)
    try:
        found = run_job(job, model, opened, store, watch=watch)
        if found.outcome == "stopped":  # it is to be gone on with, so its best kernel is not evaluated yet
            return OptimizeResult(found)
        try:
            return outcome_of(found, box, store)
        except KeyboardInterrupt:
            return OptimizeResult(found)
    finally:
        box.close()


def _chosen(trained: Shipped | None) -> str:
    return "the trained model of this package" if trained else "a search by rule, guided by the profile (no model)"


def _text(task: Task, kernel: KernelLike) -> str | None:
    wanted = meant(kernel)
    if wanted is None or not isinstance(wanted, (str, Path)):
        return None if wanted is None else wanted.source
    return read_kernel(task, wanted, task.kernel_file).source


def write_kernel(found: OptimizeResult, out: Path | None) -> Path | None:
    from warpsight.tasks import written_in

    if found.kernel is None:
        return None
    triton = written_in(found.kernel) == "triton"
    language = "cl" if found.run.device == "opencl" else "py" if triton else "cu"
    file = (out or Path(f"{found.run.id}.{language}")).resolve()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(found.kernel, encoding="utf-8")
    return file
