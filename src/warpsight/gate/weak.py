"""Tasks that no check can protect: where a constant would be right, or an input does not matter.

Looked at on the oracle alone, before any candidate runs. A task whose every output is within its own tolerance of one
constant is refused, since a kernel that does no work would pass it. An input that can be replaced by another draw
without moving any output out of tolerance is a warning: work on it may be left out unseen.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from warpsight.gate.expected import Arrays, ExpectedValues, task_key
from warpsight.nouns import Task, Workload
from warpsight.tasks import compare, generate_inputs
from warpsight.tasks.compare import allowed_errors


@dataclass(frozen=True)
class Weakness:
    """`refused` says why the task cannot tell a kernel from none; `warnings` what it does not look at."""

    refused: str = ""
    warnings: tuple[str, ...] = ()


def task_weakness(task: Task, workloads: Sequence[Workload], seed: int, values: ExpectedValues) -> Weakness:
    """What is weak about the task on the given workloads, taken together: one that tells is enough."""

    def compute() -> bytes:
        found = _looked_at(task, workloads, seed, values)
        return json.dumps([found.refused, found.warnings]).encode()

    sizes = json.dumps([sorted(workload.axes.items()) for workload in workloads])
    refused, warnings = json.loads(values.kept(task_key(task, {}, "weakness", sizes, str(seed)), compute))
    return Weakness(str(refused), tuple(str(warning) for warning in warnings))


def _looked_at(task: Task, workloads: Sequence[Workload], seed: int, values: ExpectedValues) -> Weakness:
    constant: list[bool] = []
    unfelt: dict[str, bool] = {}
    for workload in workloads:
        inputs, others = generate_inputs(task, workload, seed), generate_inputs(task, workload, seed + 1)
        expected = values.of(task, inputs, workload.axes)
        if sum(array.size for array in expected.values()) == 0:
            continue
        constant.append(_is_constant(task, expected))
        for argument in task.arguments:
            name = argument.name
            if argument.role in ("in", "inout") and not np.array_equal(inputs[name], others[name]):
                moved = values.of(task, {**inputs, name: others[name]}, workload.axes)
                same = compare(task, _narrowed(task, moved), expected).ok
                unfelt[name] = unfelt.get(name, True) and same
    if constant and all(constant):
        return Weakness("the expected output is a constant within the task's tolerance: no work would be right")
    warnings = [
        f"the expected output does not depend on input {n} beyond the tolerance" for n, same in unfelt.items() if same
    ]
    return Weakness(warnings=tuple(warnings))


def _is_constant(task: Task, expected: Arrays) -> bool:
    """Whether each output is one number within tolerance; a single element is one only where it is nearly zero."""
    for array in expected.values():
        if array.size == 0:
            continue
        if array.dtype.kind != "f":
            if array.size == 1 or bool((array != array.flat[0]).any()):
                return False
            continue
        middle = (float(array.max()) + float(array.min())) / 2 if array.size > 1 else 0.0
        if not np.isfinite(middle):
            return False
        if not bool((np.abs(array - middle) <= allowed_errors(task.tolerance, array)).all()):
            return False
    return True


def _narrowed(task: Task, outputs: Arrays) -> Arrays:
    dtypes = {argument.name: argument.dtype for argument in task.arguments}
    return {name: array.astype(dtypes[name]) for name, array in outputs.items()}
