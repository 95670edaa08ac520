"""The machine code that is timed is checked like the PTX: the same sizes, the same families of inputs.

The check runs PTX, which is documented and watched for faults; the time is that of the machine code. A kernel that is
right in one and not in the other would be given a time for work it does not do. So before a kernel is called faster,
its machine code runs on everything the check ran, and on the sizes that this comparison's own secret draws. The timed
workload with declared inputs is left out here: the timed run itself is verified. Machine code is not watched for races;
those were looked for in the PTX.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from warpsight.devices.device import Simulator
from warpsight.errors import TaskError
from warpsight.gate.expected import ExpectedValues, shared_expected_values
from warpsight.gate.families import ALL_FAMILIES, DECLARED, FAMILIES
from warpsight.gate.hidden import generated_workloads
from warpsight.gate.plan import PlannedRun, families_plan
from warpsight.gate.run import Subject, Trial, prepare, run
from warpsight.nouns import Build, Candidate, Task, Workload

CHECK_SEED = 0
"""The seed that a check takes for the task's own workloads."""


@dataclass(frozen=True)
class MachineDifference:
    """Where the machine code is wrong, in words."""

    told: str


def machine_code_difference(
    task: Task,
    timed: Workload,
    candidate: Candidate,
    build: Build,
    device: Simulator,
    *,
    seed: int,
    values: ExpectedValues | None = None,
) -> MachineDifference | None:
    """The first run of the machine code that is wrong; None where all are right."""
    subject = Subject(
        task, candidate, build, device.of_machine_code().remembering(), values or shared_expected_values()
    )
    for planned in _plan(task, timed, seed):
        try:
            trial = prepare(subject, planned.workload, family=planned.family, seed=planned.seed)
        except TaskError:  # a drawn size that the reference does not take
            continue
        if not isinstance(trial, Trial):
            continue
        execution, result = run(subject, trial, checked=False)
        if result is None or not result.ok:
            why = execution.refused if result is None else f"{result.reason}: {result.detail}"
            inputs = "" if planned.family == DECLARED else f" and {planned.family} inputs"
            return MachineDifference(f"with workload {planned.workload.name}{inputs}, {why}")
    return None


def _plan(task: Task, timed: Workload, seed: int) -> Iterator[PlannedRun]:
    yield from (PlannedRun(w, DECLARED, CHECK_SEED) for w in task.workloads if w != timed)
    yield from families_plan(task, task.workloads, ALL_FAMILIES, CHECK_SEED)
    families = tuple(FAMILIES)
    for at, workload in enumerate(generated_workloads(task, seed)):
        yield PlannedRun(workload, DECLARED, seed)
        yield PlannedRun(workload, families[(seed + at) % len(families)], seed)
