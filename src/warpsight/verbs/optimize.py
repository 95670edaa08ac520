"""`optimize`: a model makes the kernel faster with the tools; gives the kernel and the evidence.

Plans the job, opens model and tools, runs the loop, writes the report. Runs are kept in the data folder, so a run that
was cut off is gone on with by its job (`run`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import JsonValue

from warpsight.errors import UsageError
from warpsight.models.catalogue import is_known_weights
from warpsight.models.guided import GUIDED
from warpsight.models.local import has_local_weights
from warpsight.models.model import Model
from warpsight.models.open import weights_path
from warpsight.models.scripted import shipped_script
from warpsight.nouns import Task
from warpsight.processes.executor import Executor, executor_for
from warpsight.reason.budget import Budget, parse_budget
from warpsight.reason.job import Job, Strategy
from warpsight.reason.loop import Watch
from warpsight.reason.optimize import (
    FEW_BOX,
    LEDGER,
    OptimizeResult,
    open_tools,
    outcome_of,
    plan,
    with_tools,
)
from warpsight.reason.prompt_choice import is_local, prompt_for, require_prompt
from warpsight.reason.resume import attempt_with, model_of, run_job
from warpsight.report.write import write_report
from warpsight.runs.sqlite import SqliteStore
from warpsight.session.feedback import require_offered
from warpsight.session.opening import open_task, read_kernel
from warpsight.session.session import KernelLike
from warpsight.short.few import ask_few, look
from warpsight.short.shipped import Shipped, ask_small, find_shipped
from warpsight.tools.task_box import TaskBox
from warpsight.verbs.ask import TaskLike, meant
from warpsight.verbs.attempts import attempts_on, open_box_of

REPORTS = "reports"  # in the data folder, a page a run
LOCAL = "local"
TRAINED = "trained"  # as a model: the one that ships, asked as it was trained
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

    Without `model` a search by rule, guided by the profile, with no model (`guided`); `trained` is the small model of
    this package. `asked` is what `plan_job` takes: `gpu`, `device`, `budget` ("calls=20,seconds=900"), `strategy`,
    `base_url`, `api_key_env`, ...
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
    tools: Sequence[str] = (),
    calling: str = "native",
    constrain: bool | None = None,
    reply_timeout: float | None = None,
    temperature: float | None = None,
    seed: int | None = None,
    max_tokens: int | None = None,
    adapter: Path | None = None,
    base_url: str | None = None,
    api_key_env: str | None = None,
    unsafe: bool = False,
) -> PlannedJob:
    """The job, not begun. The trained model is asked as it was trained, unless anything says otherwise; other models
    with the prompt for what their name says of them. `constrain`: whether servers and engines are asked to hold a model
    to a call; by default those near by are, for the small prompt."""
    found = task if isinstance(task, Task) else open_task(task)
    named = model is not None
    plain = adapter is None and prompt in (None, TRAINED) and device == "virtual" and calling == "native" and not tools
    trained = _trained(model, plain=plain) if TRAINED in (model, prompt) and model in (None, TRAINED) else None
    if model is None and plain and prompt is None:
        model = GUIDED
    limits = parse_budget(budget) if isinstance(budget, str) else budget
    used = adapter if trained is None else trained.adapter
    settings: dict[str, JsonValue] = {
        "base_url": base_url,
        "api_key_env": api_key_env,
        "adapter": None if used is None else str(used.resolve()),
        "reply_timeout": reply_timeout,
    }
    word = model_word(model if trained is None else trained.model)
    chosen = require_prompt(prompt) if prompt else prompt_for(word, adapter=used is not None)
    job = plan(
        found,
        word,
        device=device,
        gpu=gpu,
        kernel=_text(found, kernel),
        feedback=require_offered(feedback),
        budget=limits,
        strategy=strategy or Strategy(),
        prompt=chosen,
        calling=calling,  # type: ignore[arg-type]
        temperature=temperature,
        sampling_seed=seed,
        max_tokens=max_tokens or MAX_TOKENS,
        unsafe=unsafe,
        settings={name: value for name, value in settings.items() if value is not None},
    )
    if trained is not None:
        job = ask_small(job, found, trained, budget=limits, max_tokens=max_tokens)
    elif chosen == "small":
        job = ask_few(job, found, wanted=tools, budget=limits, max_tokens=max_tokens)
    elif tools:
        job = with_tools(job, tools)
    held = (chosen == "small" and is_local(word, base_url)) if constrain is None else constrain
    job = job.model_copy(update={"must_call": held and calling == "native" and trained is None})
    return PlannedJob(job, "" if named else _chosen(trained, model))


def attempts_executor(job: Job, on: str | None, processes: int) -> Executor | None:
    """Where attempts of a job are made at once; None is one after the other in this process."""
    if on is None and processes == 1:
        return None
    if job.strategy.name not in ("best-of-n", "beam"):
        hint = "--strategy best-of-n or beam, or leave out --on and --processes"
        raise UsageError(f"the attempts of {job.strategy.name} follow one another", hint=hint)
    if not job.device.startswith("virtual"):
        raise UsageError(f"times on {job.device} are measured one after another", hint="leave out --on and --processes")
    return executor_for(on, processes)


def run(
    job: Job,
    *,
    watch: Watch | None = None,
    say: Callable[[str], None] = _nobody,
    begin: Callable[[str], None] = _nobody,
    executor: Executor | None = None,
) -> OptimizeResult:
    """Start a job or go on with it; the outcome names the page that tells of it. Attempts that need nothing of one
    another are made on `executor`."""
    with SqliteStore() as store:
        say("opening the model")
        model = model_of(job)
        try:
            found = _played(job, model, store, watch, say, begin, executor)
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
    if kind == LOCAL and is_known_weights(rest):
        return model
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
    executor: Executor | None,
) -> OptimizeResult:
    begin("checking the given kernel; a budget of seconds starts after that")
    box: TaskBox = open_tools(job, store, store.folder / LEDGER, say=say)
    opened = open_box_of(job, box)
    try:
        job = look(job, opened) if job.settings.get("box") == FEW_BOX else job
        here = attempt_with(model, opened, store, watch)
        at_once = None if executor is None else attempts_on(executor, store, box.session, here)
        found = run_job(job, model, opened, store, watch=watch, at_once=at_once)
        if found.outcome == "stopped":  # it is to be gone on with, so its best kernel is not evaluated yet
            return OptimizeResult(found)
        try:
            return outcome_of(found, box, store)
        except KeyboardInterrupt:
            return OptimizeResult(found)
    finally:
        box.close()


def _chosen(trained: Shipped | None, model: str | None) -> str:
    """The words for a model that nobody named."""
    if trained is not None:
        return "the trained model of this package"
    return "a search by rule, guided by the profile (no model)" if model == GUIDED else LOCAL_WORDS


def _trained(model: str | None, *, plain: bool) -> Shipped | None:
    """The trained model that ships. Named as a model it must be had, and can be asked in its own way alone."""
    found = find_shipped() if plain else None
    if found is not None and (model == TRAINED or has_local_weights(embedded=found.weights is None)):
        return found
    if model != TRAINED:
        return None
    if not plain:
        raise UsageError(
            "the trained model works on the virtual GPU, with its own prompt and tools",
            hint="leave out --device, --prompt, --tools, --calling and --adapter, or name another model",
        )
    raise UsageError("no trained model comes with this package", hint="leave out --model: a search by rule")


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
