"""What a change did to one guarded kernel: right or wrong, faster or slower, and how sure that is.

The gate decides: the new text is checked and timed against the accepted text, both by the tools of today. A regression
fails only where it is larger than allowed AND the range of measured ratios that the time model's own error leaves lies
wholly below 1. Anything between is `likely_slower`, which is told and does not fail unless asked for. Times alone have
a public seed, so the same change gives the same verdict everywhere.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from typing import Literal

from pydantic import Field

from warpsight.cubin.elf import Elf
from warpsight.errors import TaskError, UsageError
from warpsight.guard.baseline import AcceptedKernel, GuardBaseline, KernelFacts, facts_of
from warpsight.guard.config import GuardedKernel, GuardList
from warpsight.nouns import Check, Evaluation, Finding, Noun, Task, Timing
from warpsight.session.opening import open_task, read_kernel
from warpsight.session.session import Session
from warpsight.vgpu.gpus import find_gpu

Status = Literal[
    "unchanged", "same", "faster", "likely_faster", "likely_slower", "slower", "unclear", "wrong", "new", "task_changed"
]
FAILS: frozenset[Status] = frozenset(("slower", "wrong", "new", "task_changed"))
Say = Callable[[str], None]


class GuardRow(Noun):
    """One kernel, or one whole program, on one GPU. `change` is what its simulated time grew by, as a share; `likely`
    is the range of that change when measured. Of a program `moves` tells its kernels, `finding_paths` the files."""

    kind: Literal["kernel", "program"] = "kernel"
    task: str
    file: str
    path: str
    gpu: str
    status: Status
    detail: str = ""
    line: int | None = None
    change: float | None = None
    likely: tuple[float, float] | None = None
    before: KernelFacts | None = None
    after: KernelFacts | None = None
    findings: tuple[Finding, ...] = ()
    finding_paths: Mapping[str, str] = Field(default_factory=dict)
    moves: tuple[str, ...] = ()

    @property
    def new_findings(self) -> tuple[Finding, ...]:
        known = self.before.findings if self.before else ()
        return tuple(one for one in self.findings if one.name not in known)

    @property
    def gone_findings(self) -> tuple[str, ...]:
        names = [one.name for one in self.findings]
        return tuple(name for name in (self.before.findings if self.before and self.after else ()) if name not in names)

    def fails(self, strict: bool) -> bool:
        return self.status in FAILS or (strict and self.status in ("likely_slower", "unclear"))


def questions(guarded: GuardList, only: str = "") -> Iterator[tuple[GuardedKernel, Task, str]]:
    """Every kernel of the list with its task, once for each GPU."""
    asked = [one for one in guarded.kernels if not only or only in (one.task, one.task.rsplit("/", 1)[-1])]
    for kernel in asked:
        task = open_task(guarded.folder / kernel.task)
        for gpu in kernel.gpus or (task.gpu,):
            yield kernel, task, find_gpu(gpu).key


def accept(guarded: GuardList, kernel: GuardedKernel, task: Task, gpu: str, say: Say) -> AcceptedKernel | GuardRow:
    """The kernel as it is now, to be kept; a wrong one is told as a row and never kept."""
    with _session(guarded, kernel, task, gpu, None, say) as session:
        check = session.check()
        if check.verdict != "right":
            return _wrong(guarded, kernel, task, gpu, check)
        facts = facts_of(session.profile())
        time = session.time()
        facts = facts.model_copy(update={"time_us": time.time_us or facts.time_us})
        return AcceptedKernel(
            kernel=kernel, gpu=gpu, question=question_of(task), sha256=session.given.sha256, text=session.given.source,
            facts=facts,
        )  # fmt: skip


def judge(
    guarded: GuardList, baseline: GuardBaseline, kernel: GuardedKernel, task: Task, gpu: str, most: float, say: Say
) -> GuardRow:
    """What became of one kernel since it was accepted."""
    accepted = baseline.of(kernel, gpu)
    told = _row(guarded, kernel, task, gpu)
    if accepted is None:
        return told.model_copy(update={"status": "new", "detail": "not in the baseline: `warpsight guard update`"})
    told = told.model_copy(update={"before": accepted.facts})
    if accepted.question != question_of(task):
        why = "the task itself changed: `warpsight guard update` accepts it"
        return told.model_copy(update={"status": "task_changed", "detail": why})
    if _text(guarded, kernel, task) == accepted.text:
        return told.model_copy(update={"status": "unchanged", "after": accepted.facts})
    try:
        with _session(guarded, kernel, task, gpu, accepted.text, say) as session:
            mine = read_kernel(task, _text(guarded, kernel, task), task.kernel_file)
            if _same_program(session, mine.source):
                return told.model_copy(update={"detail": "the same machine code", "after": accepted.facts})
            found = session.evaluation(mine)
            if found.check.verdict != "right":
                return _wrong(guarded, kernel, task, gpu, found.check)
            return _judged(told, accepted, found, session, mine.source, most)
    except TaskError as problem:
        return told.model_copy(update={"status": "wrong", "detail": problem.message})


def _same_program(session: Session, text: str) -> bool:
    """Whether a text is another way to write the accepted kernel: nothing can have changed then."""
    theirs, mine = session.build(), session.build(text)
    if not (theirs.ok and mine.ok) or session.launch() != session.launch(text):
        return False
    return bool(mine.cubin) and Elf(theirs.cubin).meaning() == Elf(mine.cubin).meaning()


def _judged(
    told: GuardRow, accepted: AcceptedKernel, found: Evaluation, session: Session, text: str, most: float
) -> GuardRow:
    timing = found.timing
    assert timing is not None
    before, after = accepted.facts, accepted.facts
    if found.profile is not None:
        left = tuple(finding.name for finding in found.findings)
        after = facts_of(session.profile(text)).model_copy(update={"findings": left})
    if timing.ratio is not None:
        before = before.model_copy(update={"time_us": timing.baseline_us[0]})
        after = after.model_copy(update={"time_us": timing.samples_us[0]})
    status, detail = status_of(timing, most)
    low, high = timing.interval or (1.0, 1.0)
    return told.model_copy(
        update={
            "status": status,
            "detail": detail,
            "change": None if timing.ratio is None else 1 / timing.ratio - 1,
            "likely": None if timing.interval is None else (1 / high - 1, 1 / low - 1),
            "before": before,
            "after": after,
            "findings": found.findings,
        }
    )


def status_of(timing: Timing, most: float) -> tuple[Status, str]:
    """In one word what the comparison with the accepted kernel says, and why where the word does not."""
    if timing.decision == "REJECTED":
        return "wrong", f"{timing.reason}: {timing.detail}".rstrip(": ")
    if timing.ratio is None or timing.interval is None:
        return "unclear", f"{timing.reason}: {timing.detail}".rstrip(": ")
    if timing.decision in ("FASTER", "LIKELY_FASTER"):
        return ("faster" if timing.decision == "FASTER" else "likely_faster"), ""
    if timing.ratio * (1 + most) < 1 and timing.decision == "SLOWER":
        if timing.interval[1] < 1:
            return "slower", ""
        return "likely_slower", "within the time model's own error for such kernels"
    if timing.decision == "AMBIGUOUS" and timing.reason != "interval_too_wide":
        return "unclear", timing.reason
    return "same", ""


def question_of(task: Task) -> str:
    """The hash of what a kernel is asked to do: arguments, sizes, tolerance, reference."""
    kept = task.model_dump_json(exclude={"folder", "kernel", "kernel_file", "opencl", "opencl_file", "description"})
    return hashlib.sha256(kept.encode()).hexdigest()


def _row(guarded: GuardList, kernel: GuardedKernel, task: Task, gpu: str) -> GuardRow:
    file = kernel.file or f"{kernel.task}/{task.kernel_file}"
    return GuardRow(task=task.name, file=kernel.file or task.kernel_file, path=file, gpu=gpu, status="same")


def _text(guarded: GuardList, kernel: GuardedKernel, task: Task) -> str:
    if not kernel.file:
        return task.kernel
    return read_kernel(task, guarded.folder / kernel.file, task.kernel_file).source


def _session(guarded: GuardList, kernel: GuardedKernel, task: Task, gpu: str, beat: str | None, say: Say) -> Session:
    named = [one for one in task.workloads if one.name == kernel.workload]
    if kernel.workload and not named:
        raise UsageError(
            f"task {task.name} has no workload {kernel.workload!r}",
            f"one of {', '.join(w.name for w in task.workloads)}",
        )
    given = _text(guarded, kernel, task) if beat is None else beat
    return Session(task, gpu=gpu, kernel=given, workload=named[0] if named else None, tells_sizes=True, say=say)


def _wrong(guarded: GuardList, kernel: GuardedKernel, task: Task, gpu: str, check: Check) -> GuardRow:
    line = next((one.line for one in check.faults if one.line), None) or next(
        (one.line for one in check.diagnostics if one.line and one.severity == "error"), None
    )
    told = next((one.message for one in check.diagnostics if one.severity == "error"), "") or next(
        (one.message for one in check.faults), ""
    )
    detail = f"{check.verdict}: {check.reason}" + (f": {told}" if told else "")
    return _row(guarded, kernel, task, gpu).model_copy(update={"status": "wrong", "detail": detail, "line": line})
