"""One launch of a candidate on one workload with one family of inputs, and how it came out.

Knows nothing of verdicts: it gives what the device did and the judged result, or says why there was none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from warpsight.devices.device import Device, Execution
from warpsight.errors import TaskError
from warpsight.gate.expected import ExpectedValues
from warpsight.gate.families import DECLARED, family_inputs
from warpsight.gate.initial import CONTENTS, contents_inputs, free_contents
from warpsight.gate.tolerance import Wanted, wanted_of_family
from warpsight.gate.undetermined import settled
from warpsight.gate.values import POISONS, judged, values_of
from warpsight.nouns import REASONS, Build, Candidate, Task, Workload, WorkloadResult
from warpsight.nouns.check import OTHER_FAULT
from warpsight.tasks import LaunchSize, evaluate_launch, launch_of


@dataclass(frozen=True)
class Subject:
    """What is checked, on what, and where expected values are kept."""

    task: Task
    candidate: Candidate
    build: Build
    device: Device
    values: ExpectedValues


@dataclass(frozen=True)
class Trial:
    """One workload with one family of inputs: what the kernel is given, and what is wanted of it."""

    workload: Workload
    family: str
    seed: int
    inputs: Mapping[str, np.ndarray]
    want: Wanted
    size: LaunchSize


@dataclass(frozen=True)
class LaunchRefused:
    """The candidate's launch is impossible with a workload."""

    why: str


@dataclass(frozen=True)
class Skipped:
    """A family says nothing about a workload."""

    why: str


def prepare(
    subject: Subject, workload: Workload, *, family: str = DECLARED, seed: int
) -> Trial | LaunchRefused | Skipped:
    """Everything but the launch."""
    try:
        size = launch_of(subject.build, evaluate_launch(subject.candidate, workload.axes))
    except TaskError as impossible:  # the text is well formed, its numbers are not: the candidate's fault, so a result
        numbers = f"{impossible.key}: expected {impossible.expected}, found {impossible.found}"
        return LaunchRefused(f"{numbers}, with workload {workload.name}")
    task, values, like = subject.task, subject.values, family
    free = free_contents(task, values)
    if family == CONTENTS:
        inputs, like = contents_inputs(task, workload, seed, free, values), DECLARED  # of the size that is declared
    else:
        inputs = family_inputs(task, workload, seed, family, free)
    if inputs is None:
        return Skipped("no argument takes it")
    want = wanted_of_family(task, workload, inputs, values, family=like, seed=seed)
    return Skipped(want.skip) if want.skip else Trial(workload, family, seed, inputs, want, size)


def run(
    subject: Subject, trial: Trial, *, checked: bool = True, poison: int = POISONS[0], device: Device | None = None
) -> tuple[Execution, WorkloadResult | None]:
    """Launch and judge; no result where the device refused the launch."""
    task, workload = subject.task, trial.workload
    values = values_of(task, workload, trial.inputs, poison=poison)
    execution = (device or subject.device).execute(
        subject.build, task.entry, values, trial.size, check=checked, source_text=subject.candidate.source
    )
    if execution.refused:
        return execution, None
    if execution.faults:
        kind = execution.faults[0].kind
        reason = kind if kind in REASONS else OTHER_FAULT
        return execution, WorkloadResult(
            workload=workload.name,
            hidden=workload.hidden,
            family=trial.family,
            seed=trial.seed,
            ok=False,
            reason=reason,
            detail=execution.faults[0].message,
            line=execution.faults[0].line,
        )
    given, want, got = trial.inputs, trial.want, execution.arrays
    result = judged(task, workload, given, got, want, family=trial.family, seed=trial.seed, poison=poison)
    result = settled(task, workload, given, got, want, result, subject.values)
    return execution, with_stores(result, execution)


def with_stores(result: WorkloadResult, execution: Execution) -> WorkloadResult:
    """A result that lacks elements, with the stores that should have written them."""
    if result.reason != "output_not_written":
        return result
    for left in execution.unwritten:
        if f" of {left.array} were" in result.detail:
            elements = execution.arrays[left.array].size
            return result.model_copy(update={"detail": f"{result.detail}: {left.why(elements)}", "line": left.line})
    return result
