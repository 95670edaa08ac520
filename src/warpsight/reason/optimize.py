"""A task made faster, from what a person asks for to what they get: job, tools, run, and the kernel with its evidence.

`plan` makes the job, `open_tools` its box (again, on resume), `outcome_of` what came of the run. What must stay true: a
run goes on only with the task it began with, and what is reported as faster has passed the whole gate with a seed that
nothing in the run had used; so a best kernel that was never submitted is evaluated once more.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, JsonValue

from warpsight.errors import UsageError
from warpsight.gate.identity import task_sha256
from warpsight.nouns import Candidate, Evaluation, Profile, Task
from warpsight.nouns.base import Count, Noun
from warpsight.nouns.run import Run
from warpsight.reason.budget import Budget
from warpsight.reason.job import Job, Opening, Strategy, new_run_id
from warpsight.reason.opening import Prompt, opening_of
from warpsight.reason.progress import better
from warpsight.reason.resume import OpenedBox
from warpsight.reason.strategies import require_strategy
from warpsight.runs.store import NoSuchRun, Store
from warpsight.session.feedback import Feedback
from warpsight.session.opening import given_kernel
from warpsight.session.session import IMPOSSIBLE, SEED_BITS, Session
from warpsight.tasks import read_task
from warpsight.tools.box import SUBMIT
from warpsight.tools.more import Shelf
from warpsight.tools.open import open_box
from warpsight.tools.pages import handle_of
from warpsight.tools.task_box import TaskBox, specs
from warpsight.vgpu.gpus import find_gpu

BOX = "task"  # the name of these tools in the settings of a job
SMALL_BOX = "small"  # the same behind few words, for a small trained model
FEW_BOX = "few"  # few tools in few words, for a small model that nobody trained
REAL_GPUS = {"cuda": "this machine's NVIDIA GPU", "hip": "this machine's AMD GPU, through HIP"}
LEDGER = "ledger"  # folder beside the runs: commitments, results and certificates


def _prompt_now(word: object) -> object:
    """What `full` was called in runs of before."""
    return "full" if word == "untrained" else word


class OpenedWith(Noun):
    """What the tools of a run were opened with; part of the job's settings. `kernel` is a text to beat, if any."""

    folder: str
    device: str = "virtual"
    gpu: str | None = None
    kernel: str | None = None
    feedback: Feedback = "curated"
    prompt: Annotated[Prompt, BeforeValidator(_prompt_now)] = "full"
    seed: Count
    unsafe: bool = False


def plan(
    task: Task,
    model: str,
    *,
    device: str = "virtual",
    gpu: str | None = None,
    kernel: str | None = None,
    feedback: Feedback = "curated",
    budget: Budget | None = None,
    strategy: Strategy | None = None,
    prompt: Prompt = "full",
    calling: Literal["native", "text"] = "native",
    temperature: float | None = None,
    sampling_seed: int | None = None,
    max_tokens: int = 8192,
    secret_seed: int | None = None,
    unsafe: bool = False,
    settings: dict[str, JsonValue] | None = None,
) -> Job:
    """The job of making a task's kernel faster. `settings` is what opens the model again (base_url, adapter, ...)."""
    asked = OpenedWith(
        folder=str(task.folder.resolve()),
        device=device,
        gpu=find_gpu(gpu).key if gpu is not None and device == "virtual" else gpu,
        kernel=kernel,
        feedback=feedback,
        prompt=prompt,
        seed=secrets.randbits(SEED_BITS) if secret_seed is None else secret_seed,
        unsafe=unsafe,
    )
    given = given_kernel(task, device, kernel)
    job = Job(
        id=new_run_id(task.name),
        task=task.name,
        task_sha256=task_sha256(task),
        model=model,
        device=_device_name(task, asked),
        calling=calling,
        opening=opening_of(as_asked(task, asked), specs(), prompt=prompt, calling=calling, kernel=given.source),
        tools=specs(),
        budget=budget or Budget(),
        strategy=strategy or Strategy(),
        max_tokens=max_tokens,
        temperature=temperature,
        seed=sampling_seed,
        settings={**(settings or {}), **asked.model_dump(mode="json"), "box": BOX},
    )
    require_strategy(job)
    return job


def with_tools(job: Job, names: Sequence[str]) -> Job:
    """The job with some of the tools only, and `submit`."""
    known = {spec.name: spec for spec in job.tools}
    missing = [name for name in names if name not in known]
    if missing:
        raise UsageError(f"no tool {', '.join(missing)}; the tools are {', '.join(known)}", hint="--tools rewrite,time")
    return job.model_copy(update={"tools": tuple(known[name] for name in dict.fromkeys((*names, SUBMIT)))})


def asked_of(job: Job) -> OpenedWith:
    """What the tools of a job are opened with."""
    fields = OpenedWith.model_fields
    return OpenedWith.model_validate({name: value for name, value in job.settings.items() if name in fields})


def open_tools(
    job: Job, store: Store, ledger: Path | None, *, say: Callable[[str], None] | None = None, require_right: bool = True
) -> TaskBox:
    """The tools of a job; UsageError when its task has changed since, or the kernel to beat is not right."""
    asked = asked_of(job)
    task = read_task(Path(asked.folder))
    if job.task_sha256 is not None and task_sha256(task) != job.task_sha256:
        raise UsageError(
            f"run {job.id}: the task in {asked.folder} is not the one that it began with", hint="start a new run"
        )
    box = open_box(
        task,
        device=asked.device,
        gpu=asked.gpu,
        kernel=asked.kernel,
        feedback=asked.feedback,
        secret=asked.seed,
        ledger=ledger,
        unsafe=asked.unsafe,
        ahead=True,
        shelf=Shelf(find=lambda handle: _stored_text(store, job.id, handle)),
    )
    if say is not None:
        box.session.say = say
    if require_right:
        _require_right_baseline(box)
    return box


def opened_box(job: Job, box: TaskBox) -> OpenedBox:
    """The box with the way to begin a conversation about another kernel, for strategies of several attempts."""
    asked = asked_of(job)
    task = as_asked(box.session.task, asked)

    def open_with(kernel: str, note: str) -> Opening:
        return opening_of(task, specs(), prompt=asked.prompt, calling=job.calling, kernel=kernel, note=note)

    return OpenedBox(box, open_with)


@dataclass(frozen=True)
class OptimizeResult:
    """What came of a run. `final` is the evaluation by the whole gate of the kernel that is handed over, if any."""

    run: Run
    final: Evaluation | None = None
    kernel: str | None = None
    before: Profile | None = None
    after: Profile | None = None
    certificate_file: Path | None = None
    report_file: Path | None = None

    @property
    def ratio(self) -> float | None:
        """How many times as fast as the given kernel; None where nothing faster was accepted."""
        timing = None if self.final is None else self.final.timing
        return None if timing is None else timing.ratio


def outcome_of(run: Run, box: TaskBox, store: Store) -> OptimizeResult:
    """The kernel of a run with its evidence: the submitted one, or a faster one that was never submitted."""
    session = box.session
    final = run.submitted if _accepted(run.submitted) and _is_in_ledger(session, run.submitted) else None
    if run.best is not None and better(run.best, final) and not _same_kernel(run.best, final):
        found = session.submit(session.candidate(store.get(run.best.candidate_sha256).decode()))
        final = found if better(found, final) else final
    before = _simulated(session, session.given)
    if final is None:
        return OptimizeResult(run, before=before)
    text = store.get(final.candidate_sha256).decode()
    after = _simulated(session, session.candidate(text)) or final.profile
    return OptimizeResult(run, final, text, before, after, session.certificate_file(final))


def _simulated(session: Session, kernel: Candidate) -> Profile | None:
    """The whole profile where there can be one without a GPU: what the gate kept of it does not tell what is left."""
    if session.simulator is None:
        return None
    try:
        return session.counters(kernel)
    except IMPOSSIBLE:
        return None


def _accepted(found: Evaluation | None) -> bool:
    return found is not None and found.timing is not None and found.timing.improves


def _is_in_ledger(session: Session, found: Evaluation | None) -> bool:
    """Whether the certificate lies here. An attempt that was made elsewhere leaves none: its kernel is handed in once
    more, and both draws must find it right and faster."""
    if session.ledger is None or found is None:
        return True
    file = session.certificate_file(found)
    return file is not None and file.is_file()


def _same_kernel(one: Evaluation, other: Evaluation | None) -> bool:
    return other is not None and one.candidate_sha256 == other.candidate_sha256


def as_asked(task: Task, asked: OpenedWith) -> Task:
    """The task as the model is told of it: with the GPU and the kernel file that were asked for."""
    changes: dict[str, str] = {}
    if asked.gpu is not None and asked.device == "virtual":
        gpu = find_gpu(asked.gpu)
        changes |= {"gpu": gpu.key, "gpu_arch": gpu.arch}
    if asked.device in REAL_GPUS:
        changes |= {"gpu": REAL_GPUS[asked.device]}
    if asked.device == "opencl":
        changes |= {"gpu": "this machine's processor, through OpenCL C", "kernel_file": task.opencl_file or "kernel.cl"}
    return task.model_copy(update=changes)


def _device_name(task: Task, asked: OpenedWith) -> str:
    return f"{asked.device}:{asked.gpu or find_gpu(task.gpu).key}" if asked.device == "virtual" else asked.device


def _require_right_baseline(box: TaskBox) -> None:
    """Beating a wrong kernel means nothing."""
    found = box.call("check", {"base": "given"})
    if found.data.get("verdict") != "right":
        raise UsageError(f"expected a right kernel to begin with: {found.text}", hint="warpsight check on it")


def _stored_text(store: Store, run_id: str, handle: str) -> str | None:
    """A long result that an earlier process has stored for this run or one of its attempts."""
    try:
        runs = [store.read(name) for name in (run_id, *(line.id for line in store.list_runs(parent=run_id)))]
    except NoSuchRun:
        return None
    for sha256 in (sha256 for run in runs for step in run.steps for sha256 in step.artefacts):
        if sha256.startswith(handle.removeprefix("r")):
            text = store.get(sha256).decode(errors="replace")
            return text if handle_of(text) == handle else None
    return None
