"""One launch far beyond the declared sizes, and what it says: done, not done, or nothing.

It says nothing where the reference or the launch does not take the size, and where the task's own kernel is wrong as
well. `hidden_far.py` has the reasons.

A candidate that takes too long there must not get away unjudged: it could work on garbage for long at every size that
is not declared. It runs again with `MORE_ROOM`. If that is not enough either, its work is counted at two small sizes.
Work that grows as there explains that it takes so long (a whole tile for a thin matrix, a sort by ranks): then it is
judged at the largest halved size that its growth leaves possible, still beyond the declared ones. Work that jumps is no
growth, and the candidate is not right. Kernels that are not too long pay nothing for this.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeGuard

from warpsight.devices.device import Device, Execution, simulator
from warpsight.devices.virtual import VirtualGpu
from warpsight.errors import TaskError
from warpsight.gate.hidden_far import MORE_ROOM, ROOM, FarWorkload
from warpsight.gate.run import Subject, Trial, prepare, run
from warpsight.nouns import Build, Fault, SkippedFamily, WorkloadResult
from warpsight.tasks import read_candidate

TOO_LONG = ("deadline", "endless_loop", "launch_too_large")
OWN_IS_WRONG = "the task's own kernel is wrong there too: its axes allow more than it can do"
TOO_LONG_HERE = "takes longer than this device allows"
NOT_JUDGED = "and could not be judged there"
STEEPEST = 3.0  # the power with which work may grow with an axis
SURE = 4  # times less work than stopped it: a size of so much will do


@dataclass(frozen=True)
class FarRun:
    execution: Execution
    result: WorkloadResult
    trial: Trial


@dataclass(frozen=True)
class Unjudged:
    """The candidate took too long. With `jumps`, its work at smaller sizes does not explain that."""

    far: FarWorkload
    fault: Fault
    result: WorkloadResult
    jumps: bool

    @property
    def skipped(self) -> SkippedFamily:
        return SkippedFamily(workload=self.far.workload.name, family=self.result.family, why=self.result.detail)


Outcome = FarRun | SkippedFamily | Unjudged


def run_far(subject: Subject, own: Build, far: FarWorkload, family: str, seed: int) -> Outcome:
    launched = _Launches(subject, own, family, seed)
    done = launched.at(far, ROOM)
    if not _too_long(done):
        return done
    if launched.own_is_wrong(far, done.trial):
        return launched.skipped(far, OWN_IS_WRONG)
    if simulator(subject.device) is None:  # nothing is counted there
        return _unjudged(far, done, TOO_LONG_HERE, jumps=False)
    again = launched.at(far, MORE_ROOM)
    return _shorter(launched, far, again) if _too_long(again) else again


def _shorter(launched: _Launches, far: FarWorkload, stopped: FarRun) -> Outcome:
    """A candidate that was stopped at a far size, judged at a shorter one if the growth of its work explains that."""
    work = stopped.execution.warp_instructions
    times = min(MORE_ROOM, math.floor(work / far.work))
    taken = f"takes more than {times} times the work of the task's own kernel" if times else TOO_LONG_HERE
    halves = _halves(far)
    near = halves[-1] if halves else far.shorter(1)
    done, below = launched.at(near, MORE_ROOM), launched.at(near.shorter(1), MORE_ROOM)
    for found in (done, below):
        if isinstance(found, SkippedFamily):
            return _unjudged(far, stopped, taken, jumps=found.why != OWN_IS_WRONG)
        if not found.result.ok:
            return _unjudged(far, stopped, taken, jumps=True) if _too_long(found) else found
    assert isinstance(done, FarRun) and isinstance(below, FarRun)
    power = _power(done, below, far.axis.name)

    def expected(at: FarWorkload) -> float:
        return done.execution.warp_instructions * (_length(at) / _length(near)) ** power

    if expected(far) * ROOM < work:
        return _unjudged(far, stopped, taken, jumps=True)
    chosen = next((half for half in halves if expected(half) * SURE <= work), None)
    if chosen is None:
        return _unjudged(far, stopped, taken, jumps=False)
    judged = done if chosen is near else launched.at(chosen, MORE_ROOM)
    return _unjudged(chosen, judged, taken, jumps=True) if _too_long(judged) else judged


def _halves(far: FarWorkload) -> list[FarWorkload]:
    """The halved sizes beyond the declared ones, the longest first."""

    def shorter() -> Iterator[FarWorkload]:
        for halvings in range(1, 64):
            half = far.shorter(halvings)
            if half.growth <= 1:
                return
            yield half

    return list(shorter())


def _length(far: FarWorkload) -> int:
    return far.workload.axes[far.axis.name]


def _power(longer: FarRun, shorter: FarRun, axis: str) -> float:
    """With which power of an axis the work grows."""
    lengths = longer.trial.workload.axes[axis] / shorter.trial.workload.axes[axis]
    work = max(1, longer.execution.warp_instructions) / max(1, shorter.execution.warp_instructions)
    return min(STEEPEST, max(0.0, math.log(work) / math.log(lengths))) if lengths > 1 else STEEPEST


def _unjudged(far: FarWorkload, stopped: FarRun, taken: str, *, jumps: bool) -> Unjudged:
    size = ", ".join(f"{name}={value}" for name, value in far.workload.axes.items())
    why = "; its work at smaller sizes does not explain that" if jumps else ""
    detail = f"{taken} at size {size} {NOT_JUDGED}{why}"
    fault = stopped.execution.faults[0].model_copy(update={"kind": "deadline", "message": detail})
    result = stopped.result.model_copy(update={"reason": "deadline", "detail": detail})
    return Unjudged(far, fault, result, jumps)


@dataclass(frozen=True)
class _Launches:
    """Launches of the candidate, and of the task's own kernel, at far sizes."""

    subject: Subject
    own: Build
    family: str
    seed: int

    def skipped(self, far: FarWorkload, why: str) -> SkippedFamily:
        return SkippedFamily(workload=far.workload.name, family=self.family, why=why)

    def at(self, far: FarWorkload, room: int) -> FarRun | SkippedFamily:
        """The judged launch, ended after `room` times the work of the task's own kernel."""
        try:
            prepared = prepare(self.subject, far.workload, family=self.family, seed=self.seed)
        except TaskError as not_taken:
            return self.skipped(far, not_taken.found)
        if not isinstance(prepared, Trial):
            return self.skipped(far, prepared.why)
        trial = _looser(prepared, far.growth)
        device = _limited(self.subject.device, far, room)
        execution, result = run(self.subject, trial, checked=False, device=device)
        if result is None:
            return self.skipped(far, execution.refused)
        done = FarRun(execution, result, trial)
        if not result.ok and not _too_long(done) and self.own_is_wrong(far, trial):
            return self.skipped(far, OWN_IS_WRONG)
        return done

    def own_is_wrong(self, far: FarWorkload, trial: Trial) -> bool:
        task = self.subject.task
        kernel = read_candidate(task.kernel, task, task.kernel_file)
        theirs = replace(self.subject, candidate=kernel, build=self.own, device=_limited(VirtualGpu(), far, ROOM))
        prepared = prepare(theirs, far.workload, family=self.family, seed=trial.seed)
        if not isinstance(prepared, Trial):
            return True
        result = run(theirs, replace(trial, size=prepared.size), checked=False)[1]
        return result is None or not result.ok


def _too_long(done: Outcome) -> TypeGuard[FarRun]:
    return isinstance(done, FarRun) and not done.result.ok and done.result.reason in TOO_LONG


def _looser(trial: Trial, growth: float) -> Trial:
    """Rounding errors of a sum grow with its length at the most, and so does what is allowed."""
    allowed = {name: errors * max(1.0, growth) for name, errors in trial.want.allowed.items()}
    return replace(trial, want=replace(trial.want, allowed=allowed))


def _limited(device: Device, far: FarWorkload, room: int) -> Device:
    simulated = simulator(device)
    return device if simulated is None else simulated.limited(int(room * far.work) + 100_000)
