"""One launch far beyond the declared sizes, and what it says: done, not done, or nothing.

It says nothing where the reference or the launch does not take the size, where the candidate takes many times the work
of the task's own kernel, and where that kernel is wrong as well. `hidden_far.py` has the reasons.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from warpsight.devices.device import Device, Execution
from warpsight.devices.virtual import VirtualGpu
from warpsight.errors import TaskError
from warpsight.gate.hidden_far import ROOM, FarWorkload
from warpsight.gate.run import Subject, Trial, prepare, run
from warpsight.nouns import Build, SkippedFamily, WorkloadResult
from warpsight.tasks import read_candidate

TOO_LONG = ("deadline", "endless_loop", "launch_too_large")
TOO_MUCH = f"the kernel takes more than {ROOM} times the work of the task's own there"
OWN_IS_WRONG = "the task's own kernel is wrong there too: its axes allow more than it can do"


@dataclass(frozen=True)
class FarRun:
    execution: Execution
    result: WorkloadResult
    trial: Trial


def run_far(subject: Subject, own: Build, far: FarWorkload, family: str, seed: int) -> FarRun | SkippedFamily:
    def skipped(why: str) -> SkippedFamily:
        return SkippedFamily(workload=far.workload.name, family=family, why=why)

    try:
        prepared = prepare(subject, far.workload, family=family, seed=seed)
    except TaskError as not_taken:
        return skipped(not_taken.found)
    if not isinstance(prepared, Trial):
        return skipped(prepared.why)
    trial = _looser(prepared, far.growth)
    execution, result = run(subject, trial, checked=False, device=_limited(subject.device, far))
    if result is None:
        return skipped(execution.refused)
    if not result.ok and result.reason in TOO_LONG:
        return skipped(TOO_MUCH)
    if not result.ok and _own_is_wrong(subject, own, far, trial, family):
        return skipped(OWN_IS_WRONG)
    return FarRun(execution, result, trial)


def _looser(trial: Trial, growth: float) -> Trial:
    """Rounding errors of a sum grow with its length at the most, and so does what is allowed."""
    allowed = {name: errors * max(1.0, growth) for name, errors in trial.want.allowed.items()}
    return replace(trial, want=replace(trial.want, allowed=allowed))


def _limited(device: Device, far: FarWorkload) -> Device:
    return device.limited(int(ROOM * far.work) + 100_000) if isinstance(device, VirtualGpu) else device


def _own_is_wrong(subject: Subject, own: Build, far: FarWorkload, trial: Trial, family: str) -> bool:
    kernel = read_candidate(subject.task.kernel, subject.task, subject.task.kernel_file)
    theirs = replace(subject, candidate=kernel, build=own, device=_limited(VirtualGpu(), far))
    prepared = prepare(theirs, far.workload, family=family, seed=trial.seed)
    if not isinstance(prepared, Trial):
        return True
    result = run(theirs, replace(trial, size=prepared.size), checked=False)[1]
    return result is None or not result.ok
