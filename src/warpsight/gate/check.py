"""Check a candidate: compile it, run every workload on a device, compare with the reference, and give one verdict.

Every verdict but `right` has a named reason. The order is: the task's own workloads with declared inputs, each a second
time with other poison and in another order; then other families of inputs on the smallest ones; then workloads drawn
from the task's axes with a seed that is told only afterwards: small ones, large ones, and some far beyond the declared
ones. Expected values come from the task's NumPy reference in float64 in a process of its own; the candidate has no part
in them.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from warpsight.devices.device import Device, Execution, Value, caveats
from warpsight.errors import ParameterMismatch, TaskError, UnsupportedInstruction
from warpsight.gate.expected import ExpectedValues, shared_expected_values
from warpsight.gate.families import ALL_FAMILIES, DECLARED, LONELY
from warpsight.gate.hidden import generated_workloads
from warpsight.gate.hidden_far import FarWorkload, far_workloads
from warpsight.gate.hidden_large import large_workloads
from warpsight.gate.initial import CONTENTS, changed_starts, free_contents, start_told
from warpsight.gate.kernel import build_candidate
from warpsight.gate.placement import CROWDED, PLACEMENTS
from warpsight.gate.plan import PlannedRun, contents_plan, declared_plan, families_plan, placements_of
from warpsight.gate.precision import named_precision
from warpsight.gate.repeat import kept_loaded, run_again, told_if_only_first
from warpsight.gate.run import LaunchRefused, Skipped, Subject, Trial, prepare, run
from warpsight.gate.run_far import Unjudged, run_far
from warpsight.gate.values import fresh_values
from warpsight.gate.weak import task_weakness
from warpsight.nouns import Build, Candidate, Check, Fault, SkippedFamily, Task, Workload, WorkloadResult
from warpsight.tasks import read_candidate

Progress = Callable[[str], None]
SECRET_BITS = 48
NO_SECRET_SIZE = "no size but the declared ones was tried: the axes, or the reference, take no other"
TIME_USED_UP = ("deadline", "endless_loop", "launch_too_large")  # the next workload would take as long again


def kernel_values(task: Task, workload: Workload, seed: int) -> tuple[dict[str, np.ndarray], tuple[Value, ...]]:
    """The declared inputs, and the kernel's arguments in order: inputs, poisoned outputs, scalars."""
    return fresh_values(task, workload, seed)


@dataclass
class _Findings:
    """What the runs have shown so far."""

    results: list[WorkloadResult] = field(default_factory=list[WorkloadResult])
    faults: list[Fault] = field(default_factory=list[Fault])
    skipped: list[SkippedFamily] = field(default_factory=list[SkippedFamily])
    refused: str = ""

    @property
    def ok(self) -> bool:
        return not self.refused and not self.faults and all(result.ok for result in self.results)


def check_candidate(
    task: Task,
    candidate: Candidate,
    device: Device,
    *,
    seed: int = 0,
    workloads: Sequence[Workload] | None = None,
    progress: Progress = lambda _: None,
    build: Build | None = None,
    families: Sequence[str] = ALL_FAMILIES,
    secret_seed: int | None = None,
    values: ExpectedValues | None = None,
    farthest: bool = False,
    once: bool = False,
) -> Check:
    """The verdict over the given workloads; when None, over all of the task's and some drawn with `secret_seed`.

    `build` is the candidate's, if at hand. `families` are run besides the declared inputs; none are for (). A
    `secret_seed` that is None is drawn here and stands in the result. `farthest` adds the costly size of 2^24 elements.
    With `once` the seed was drawn for this and will not come again, so nothing of it is kept on disk.
    """
    if build is None:
        progress("compiling")
        build = build_candidate(task, candidate)
    if not build.ok:
        errors = [d for d in build.diagnostics if d.severity == "error"]
        reason = errors[0].message if errors else "the compiler gave no reason"
        return Check(verdict="does_not_compile", reason=reason, diagnostics=build.diagnostics, trust=build.trust)
    subject = Subject(task, candidate, build, kept_loaded(device), values or shared_expected_values())
    own = task.workloads if workloads is None else workloads
    weakness = task_weakness(task, [w for w in own if not w.profile], seed, subject.values)
    if weakness.refused:
        reason = f"weak task: {weakness.refused}"
        return Check(verdict="refused", reason=reason, diagnostics=build.diagnostics, trust=build.trust)
    found, generated = _Findings(), tuple[Workload, ...]()
    secret = secrets.randbits(SECRET_BITS) if secret_seed is None else secret_seed
    try:
        _declared(subject, own, seed, found, progress)
        if found.ok:
            _families(subject, families_plan(task, own, families, seed), found, progress)
        if found.ok and _plain(subject) == CONTENTS:
            _families(subject, contents_plan(own, seed), found, progress)
        if found.ok and workloads is None:
            small, large = generated_workloads(task, secret), large_workloads(task, secret)
            own_build = _own_build(task, candidate, build)
            far = () if own_build is None else far_workloads(task, own_build, secret, farthest=farthest)
            generated = (*small, *large, *(f.workload for f in far))
            again = secret_seed is not None and not once
            drawn = subject if again else replace(subject, values=subject.values.in_memory())
            _generated(drawn, small, families, secret, found, progress)
            _large(drawn, large, families, secret, found, progress)
            if own_build is not None:
                generated += _far(drawn, own_build, far, secret, found, progress)
    except (UnsupportedInstruction, ParameterMismatch) as refused:
        found.refused = refused.message
    if found.refused:
        return Check(verdict="refused", reason=found.refused, diagnostics=build.diagnostics, trust=build.trust)
    warnings = weakness.warnings
    if found.ok and workloads is None and not {w.name for w in generated} & {r.workload for r in found.results}:
        warnings = (*warnings, NO_SECRET_SIZE)
    warnings = (*warnings, *caveats(device))
    extra = {"generated": generated, "secret_seed": secret if generated else None, "warnings": warnings}
    return _verdict(found, build).model_copy(update=extra)


def _declared(subject: Subject, workloads: Sequence[Workload], seed: int, found: _Findings, progress: Progress) -> None:
    """All of them, also after one that is wrong: a person wants to see which sizes fail. Not after one without end."""
    for planned in declared_plan(workloads, seed):
        progress(f"workload {planned.workload.name}")
        _run_one(subject, planned, found)
        if found.refused or any(fault.kind in TIME_USED_UP for fault in found.faults):
            return


def _families(subject: Subject, plan: Sequence[PlannedRun], found: _Findings, progress: Progress) -> None:
    for planned in plan:
        progress(f"workload {planned.workload.name}, {planned.family} inputs")
        _run_one(subject, planned, found)
        if not found.ok:
            return


def _generated(
    subject: Subject,
    workloads: Sequence[Workload],
    families: Sequence[str],
    secret: int,
    found: _Findings,
    progress: Progress,
) -> None:
    """Each with plain inputs and one more family. A size that the reference does not take is left out."""
    plain = _plain(subject)
    families = [family for family in families if family not in PLACEMENTS]
    for at, workload in enumerate(workloads):
        progress(f"workload {workload.name}")
        chosen = [plain, *([families[(secret + at) % len(families)]] if families else [])]
        for family in chosen:
            try:
                _run_one(subject, PlannedRun(workload, family, secret, again=family == plain), found)
            except TaskError as not_taken:
                found.skipped.append(SkippedFamily(workload=workload.name, family=family, why=not_taken.found))
                break
            if not found.ok:
                return


def _large(
    subject: Subject,
    workloads: Sequence[Workload],
    families: Sequence[str],
    secret: int,
    found: _Findings,
    progress: Progress,
) -> None:
    """Once each, with plain inputs, unchecked for races: what is asked is whether all of the work is done.

    The first one runs with lonely inputs too: in a long sum of random terms fewer bits do not show. And where there is
    something to place, once crowded and once placed as the secret says: counters that overflow, rows that are cut.
    """
    plain = _plain(subject)
    runs = [(workload, plain) for workload in workloads]
    runs += [(workload, LONELY) for workload in workloads[:1] if LONELY in families]
    placements = placements_of(subject.task, families)
    others = [family for family in placements if family != CROWDED]
    placed = [family for family in placements if family == CROWDED] + others[secret % 2 :][:1]
    runs += [(workload, family) for workload in workloads[:1] for family in placed]
    for workload, family in runs:
        if not found.ok:
            return
        progress(f"workload {workload.name}")
        try:
            _run_one(subject, PlannedRun(workload, family, secret, checked=False), found)
        except TaskError as not_taken:
            found.skipped.append(SkippedFamily(workload=workload.name, family=family, why=not_taken.found))


def _own_build(task: Task, candidate: Candidate, build: Build) -> Build | None:
    """The task's own kernel, compiled, where the virtual GPU can run it."""
    if candidate.source == task.kernel and build.ptx:
        return build
    own = read_candidate(task.kernel, task, task.kernel_file)
    compiled = None if own.language == "opencl" else build_candidate(task, own)
    return compiled if compiled is not None and compiled.ok else None


def _far(
    subject: Subject, own: Build, workloads: Sequence[FarWorkload], secret: int, found: _Findings, progress: Progress
) -> tuple[Workload, ...]:
    """Once each, like the large ones. Returns the workloads that were run in place of those that took too long.

    A candidate that takes too long at every far size of an axis is not right: nobody knows what it does there.
    """
    judged, unjudged, shorter = set[str](), list[Unjudged](), list[Workload]()
    for far in workloads:
        if not found.ok:
            break
        progress(f"workload {far.workload.name}")
        done = run_far(subject, own, far, far.family or _plain(subject), secret)
        if isinstance(done, SkippedFamily):
            found.skipped.append(done)
        elif isinstance(done, Unjudged):
            unjudged.append(done)
            if done.jumps:
                _blame(done, found)
        else:
            judged.add(far.axis.name)
            shorter += [done.trial.workload] if done.trial.workload != far.workload else []
            result = named_precision(subject, done.trial, done.execution, done.result)
            _add(subject, done.trial, done.execution, told_if_only_first(subject, done.trial, result), found)
    for missed in unjudged:
        if found.ok and missed.far.axis.name not in judged:
            _blame(missed, found)
        elif not missed.jumps:
            found.skipped.append(missed.skipped)
    return tuple(shorter)


def _blame(unjudged: Unjudged, found: _Findings) -> None:
    found.results.append(unjudged.result)
    found.faults.append(unjudged.fault)


def _plain(subject: Subject) -> str:
    """The inputs of secret sizes: as declared, but for start contents that are free."""
    return CONTENTS if free_contents(subject.task, subject.values) else DECLARED


def _run_one(subject: Subject, planned: PlannedRun, found: _Findings) -> None:
    workload, family = planned.workload, planned.family
    trial = prepare(subject, workload, family=family, seed=planned.seed)
    if isinstance(trial, LaunchRefused):
        found.refused = trial.why
        return
    if isinstance(trial, Skipped):
        found.skipped.append(SkippedFamily(workload=workload.name, family=family, why=trial.why))
        return
    execution, result = run(subject, trial, checked=planned.checked)
    if result is not None and result.ok and planned.again:
        execution, result = run_again(subject, trial, execution, result)
    if result is None:
        found.refused = execution.refused
        return
    result = told_if_only_first(subject, trial, named_precision(subject, trial, execution, result))
    _add(subject, trial, execution, result, found)


def _add(subject: Subject, trial: Trial, execution: Execution, result: WorkloadResult, found: _Findings) -> None:
    """Keep a result and its faults; where it is bad and arrays did not start as declared, both say so."""
    faults = execution.faults
    names = [] if result.ok else changed_starts(subject.task, trial.workload, trial.inputs, subject.values)
    if names:
        told = start_told(names)
        result = result.model_copy(update={"detail": result.detail + told})
        faults = tuple(fault.model_copy(update={"message": fault.message + told}) for fault in faults)
    found.results.append(result)
    found.faults.extend(_new_faults(found.faults, faults))


def _new_faults(known: Sequence[Fault], found: Sequence[Fault]) -> Iterator[Fault]:
    """Each kind of fault at each line once, however many workloads show it."""
    seen = {(f.kind, f.line, f.instruction) for f in known}
    for fault in found:
        if (fault.kind, fault.line, fault.instruction) not in seen:
            yield fault


def _verdict(found: _Findings, build: Build) -> Check:
    def check(verdict: Literal["right", "wrong", "fault"], reason: str, named: str) -> Check:
        return Check(
            verdict=verdict,
            reason=reason,
            named=named,
            workloads=tuple(found.results),
            faults=tuple(found.faults),
            skipped=tuple(found.skipped),
            diagnostics=build.diagnostics,
            trust=build.trust,
        )

    bad = next((r for r in found.results if not r.ok), None)
    if found.faults:
        first = found.faults[0]
        where = "" if first.line is None else f" at line {first.line}"
        return check("fault", f"{first.kind}{where}: {first.message}", bad.reason if bad else "")
    if bad is not None:
        inputs = "" if bad.family == DECLARED else f" and {bad.family} inputs"
        where = "" if bad.line is None else f" at line {bad.line}"
        return check("wrong", f"{bad.reason}{where} with workload {bad.workload}{inputs}", bad.reason)
    return check("right", "", "")
