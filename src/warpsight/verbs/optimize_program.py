"""Make a whole program faster: run it, take the kernel that is worth most, capture it, find a faster one in the usual
loop and gate, bring that into the source, and run the whole program again.

What must stay true: nothing is called faster whose whole run does not end as the first one did, and the user's own
sources are not touched: the result is a patch.
"""

from __future__ import annotations

import hashlib
import shutil
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from warpsight.capture.patch import CannotPatch, SourcePatch, make_patch
from warpsight.capture.recording import DEFAULT_CAP_BYTES, CannotCapture
from warpsight.capture.same_output import compare_outputs, own_check
from warpsight.capture.source_text import plain_and_arguments
from warpsight.capture.workspace import copied_program
from warpsight.errors import UsageError, WarpsightError
from warpsight.gate import keys
from warpsight.gate.identity import canonical, plain
from warpsight.nouns import KernelLaunches, ProgramSpeedup, Task, Timing, WholeRun
from warpsight.programs.launches import LaunchAsked
from warpsight.session.session import Session
from warpsight.verbs.capture import CaptureQuestion, capture
from warpsight.verbs.optimize import plan_job
from warpsight.verbs.optimize import run as run_job
from warpsight.verbs.run_program import ProgramQuestion, run_whole
from warpsight.vgpu.faults import kernel_name

MOST_TRIED = 3
LEAST_SHARE = 0.02
Say = Callable[[str], None]
Sizes = tuple[tuple[int, int, int], tuple[int, int, int], int]


@dataclass(frozen=True)
class ProgramJob:
    """What to make faster and how. `by_hand` is a kernel to judge; without, one is looked for, and `asked` is what
    `plan_job` takes: model, budget, ..."""

    program: ProgramQuestion
    out: Path
    kernel: str | None = None
    by_hand: Path | None = None
    cap_bytes: int = DEFAULT_CAP_BYTES
    asked: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class FasterKernel:
    """A kernel that the gate took: right, and faster by this ratio. A certificate only where it is FASTER. `changed`
    says what was done, and `report_file` shows the search, where it was looked for."""

    text: str
    timing: Timing
    ratio: float
    certificate_file: Path | None
    changed: tuple[str, ...] = ()
    report_file: Path | None = None


@dataclass(frozen=True)
class FasterProgram:
    """What came of it. `left` says of each kernel that was tried in vain why."""

    first: WholeRun
    left: tuple[tuple[str, str], ...]
    speedup: ProgramSpeedup | None = None
    kernel: FasterKernel | None = None
    patch_file: Path | None = None
    evidence_file: Path | None = None
    task: Task | None = None


@dataclass(frozen=True)
class _Ran:
    run: WholeRun
    output: str


def optimize_program(job: ProgramJob, say: Say) -> FasterProgram:
    """The faster program, or why there is none."""
    if job.out.exists() and (not job.out.is_dir() or any(job.out.iterdir())):
        raise UsageError(f"expected a new or empty folder, {job.out} is there already", "choose another --out")
    say("running the program as it is")
    first = _run(job.program)
    if first.run.end != "exited" or first.run.faulted:
        raise UsageError(
            f"the program does not end well as it is ({first.run.end}, exit code {first.run.exit_code})",
            "see what `warpsight run` says of it",
        )
    left: list[tuple[str, str]] = []
    for rows in _worth(first.run, job.kernel)[:MOST_TRIED]:
        name = kernel_name(rows[0].kernel)
        try:
            return _with_kernel(job, first, rows, tuple(left), say)
        except CannotCapture as refused:
            left.append((name, refused.message))
        except _NotFaster as found:
            left.append((name, str(found)))
        say(f"{name}: {left[-1][1]}")
    return FasterProgram(first.run, tuple(left))


class _NotFaster(Exception):
    """No kernel that is right and faster was found for this one."""


def _run(program: ProgramQuestion) -> _Ran:
    output, errors = bytearray(), bytearray()
    found = run_whole(replace(program, times=True), output=output.extend, errors=errors.extend)
    return _Ran(found, output.decode(errors="replace"))


def _worth(run: WholeRun, kernel: str | None) -> list[list[KernelLaunches]]:
    """The kernels with their launches by size, the one with most of the simulated time first."""
    by_name: dict[str, list[KernelLaunches]] = defaultdict(list)
    for row in run.kernels:
        if row.time_us is not None and (kernel is None or kernel in (row.kernel, kernel_name(row.kernel))):
            by_name[row.kernel].append(row)
    if not by_name:
        known = ", ".join(dict.fromkeys(kernel_name(row.kernel) for row in run.kernels)) or "none"
        what = f"the kernel {kernel!r}" if kernel else "a kernel with a simulated time"
        raise UsageError(f"expected {what} in the program", f"its kernels: {known}")
    ranked = sorted(by_name.values(), key=lambda rows: -sum(row.time_us or 0.0 for row in rows))
    whole = run.kernel_us + run.copy_us
    return [r for r in ranked if kernel or sum(row.time_us or 0.0 for row in r) >= LEAST_SHARE * whole] or ranked[:1]


def _with_kernel(
    job: ProgramJob, first: _Ran, rows: list[KernelLaunches], left: tuple[tuple[str, str], ...], say: Say
) -> FasterProgram:
    row = max(rows, key=lambda one: one.time_us or 0.0)
    name, sizes = kernel_name(row.kernel), (row.grid, row.block, row.shared_bytes)
    say(f"capturing {name}, {(row.time_us or 0.0):.3g} us of {first.run.kernel_us + first.run.copy_us:.3g} us")
    folder = job.out / "task"
    shutil.rmtree(folder, ignore_errors=True)

    def wanted(kernel: str, asked: LaunchAsked) -> bool:
        return kernel == row.kernel and (asked.grid, asked.block, asked.shared_bytes) == sizes

    question = CaptureQuestion(replace(job.program, out=None), row.kernel, cap_bytes=job.cap_bytes, wanted=wanted)
    task = capture(question, folder, output=_quiet, errors=_quiet, say=say)
    say(f"looking for a faster {name}")
    found = _judged(job, task) if job.by_hand is not None else _looked_for(job, task, say)
    _, instance = plain_and_arguments(row.kernel)
    target = job.program.target
    place = target if target.is_dir() else target.parent
    patch = make_patch(task, found.text, place, instance, one_size=len(rows) == 1)
    say("running the program with the faster kernel")
    second = _patched_run(job, patch)
    speedup = _compared(job, first, second, found, patch, rows)
    if not speedup.holds:
        raise _NotFaster(
            f"with the faster kernel the program ends otherwise: output {speedup.output}"
            f" {speedup.output_first_difference}, own check {speedup.own_check_after}"
        )
    return _written(job, FasterProgram(first.run, left, speedup, found, task=task), patch)


def _looked_for(job: ProgramJob, task: Task, say: Say) -> FasterKernel:
    """The usual loop on the captured task."""
    found = run_job(plan_job(task, gpu=job.program.gpu, **job.asked).job, say=say)
    timing = None if found.final is None else found.final.timing
    if found.kernel is None or timing is None or timing.ratio is None:
        ended = f": the search ended early, {found.run.reason}" if found.run.outcome != "submitted" else ""
        raise _NotFaster(f"no kernel was found that is right and faster{ended}")
    said = "" if found.run.submission is None else found.run.submission.cause
    steps = tuple(step.strip() for step in said.split("; ") if step.strip())
    return FasterKernel(found.kernel, timing, timing.ratio, found.certificate_file, steps, found.report_file)


def _judged(job: ProgramJob, task: Task) -> FasterKernel:
    """The kernel that was brought along, through the whole gate."""
    assert job.by_hand is not None
    text = job.by_hand.read_text(encoding="utf-8")
    with Session(task, gpu=job.program.gpu, ledger=job.out / "ledger") as session:
        found = session.submit(text)
        if found.timing is None or not found.timing.improves or found.timing.ratio is None:
            told = found.check.reason if found.timing is None else f"{found.timing.decision} {found.timing.detail}"
            raise _NotFaster(f"{job.by_hand.name} is not right and faster: {told.strip()}")
        return FasterKernel(text, found.timing, found.timing.ratio, session.certificate_file(found))


def _patched_run(job: ProgramJob, patch: SourcePatch) -> _Ran:
    """The program, built again from a copy of its sources with the patch in it."""
    target = copied_program(job.program.target, job.out / "patched")
    folder = target if target.is_dir() else target.parent
    for name, text in patch.files.items():
        (folder / name).write_bytes(text.encode("utf-8", errors="surrogateescape"))
    try:
        return _run(replace(job.program, target=target))
    except WarpsightError as problem:
        raise CannotPatch(f"the patched program does not build or run: {problem.message}") from None


def _compared(
    job: ProgramJob, first: _Ran, second: _Ran, found: FasterKernel, patch: SourcePatch, rows: list[KernelLaunches]
) -> ProgramSpeedup:
    compared = compare_outputs(first.output, second.output)
    before = first.run.kernel_us + first.run.copy_us
    ended = second.run.end == "exited" and not second.run.faulted
    return ProgramSpeedup(
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        program=job.program.target.name, arguments=job.program.arguments, gpu=job.program.gpu,
        kernel=kernel_name(rows[0].kernel), kernel_ratio=found.ratio, decision=found.timing.decision or "",
        kernel_share=sum(row.time_us or 0.0 for row in rows) / before if before else 0.0,
        certificate="" if found.certificate_file is None else found.certificate_file.stem,
        before_us=before, after_us=second.run.kernel_us + second.run.copy_us,
        output=compared.same if ended else "different", output_lines=compared.lines,
        output_left_out=max(0, compared.left_out), output_first_difference=compared.first,
        own_check_before=own_check(first.output), own_check_after=own_check(second.output),
        exit_code_before=first.run.exit_code, exit_code_after=second.run.exit_code if ended else 1,
        output_sha256_before=_sha256(first.output), output_sha256_after=_sha256(second.output),
        patch_sha256=_sha256(patch.text), files=tuple(sorted(patch.files)),
    )  # fmt: skip


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", errors="surrogateescape")).hexdigest()


def _written(job: ProgramJob, found: FasterProgram, patch: SourcePatch) -> FasterProgram:
    """The patch, the kernel, its certificate and the signed account of the whole program, in the folder."""
    assert found.speedup is not None and found.kernel is not None
    patch_file, evidence = job.out / "faster.patch", job.out / "program.json"
    patch_file.write_bytes(patch.text.encode("utf-8", errors="surrogateescape"))
    (job.out / "kernel.cu").write_text(found.kernel.text, encoding="utf-8")
    if found.kernel.certificate_file is not None:
        shutil.copy2(found.kernel.certificate_file, job.out / "certificate.json")
    if found.kernel.report_file is not None:
        shutil.copy2(found.kernel.report_file, job.out / "report.html")
    document = plain(found.speedup)
    signature = keys.sign(canonical(document))
    evidence.write_bytes(canonical({**document, "signature": plain(signature)}))
    return replace(found, patch_file=patch_file, evidence_file=evidence)


def _quiet(_: bytes) -> None:
    """What the program prints while it is captured was seen in its first run."""
