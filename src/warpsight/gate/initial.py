"""Which start contents a kernel must take: arrays that it reads and writes, filled with zeros or ones by their task.

A kernel that overwrites where it should add is right on zeros. So such an array gets other contents in the families of
inputs, but only where the reference's answer moves with them. Where it does not, the declared fill is a promise to the
kernel (a histogram that counts into a cleared array), and every run keeps it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np

from warpsight.errors import TaskError
from warpsight.gate.expected import ExpectedValues, task_key
from warpsight.nouns import Task, Workload
from warpsight.tasks import generate_inputs, shape_of

CONSTANTS = ("zeros", "ones")
LEAST_ELEMENTS = 64
SEED = 20_261


def free_contents(task: Task, values: ExpectedValues) -> frozenset[str]:
    """The names of arguments whose declared constant may be replaced, since the reference says what follows."""
    constant = [a.name for a in task.arguments if a.role == "inout" and a.fill in CONSTANTS]
    if not constant:
        return frozenset()
    workload = min(task.workloads, key=lambda w: _telling(task, w))

    def compute() -> bytes:
        inputs = generate_inputs(task, workload, SEED)
        before = values.of(task, inputs, workload.axes)
        return json.dumps([n for n in constant if _moves(task, workload, inputs, before, values, n)]).encode()

    key = task_key(task, workload.axes, "free contents", str(SEED))
    return frozenset(str(name) for name in json.loads(values.kept(key, compute)))


def _telling(task: Task, workload: Workload) -> tuple[bool, int]:
    """Small first, but not so small that there is nothing to see."""
    size = sum(int(np.prod(shape_of(a, workload.axes), dtype=np.int64)) for a in task.arguments if a.shape)
    return size < LEAST_ELEMENTS, size


def _moves(
    task: Task,
    workload: Workload,
    inputs: Mapping[str, np.ndarray],
    before: Mapping[str, np.ndarray],
    values: ExpectedValues,
    name: str,
) -> bool:
    """Whether other contents of one argument give another answer; no where the reference does not take them."""
    given = inputs[name]
    other = given + (np.arange(given.size) % 5 + 3).reshape(given.shape).astype(given.dtype)
    try:
        after = values.of(task, {**inputs, name: other}, workload.axes)
    except TaskError:
        return False
    return any(not np.array_equal(after[key], before[key], equal_nan=True) for key in before)
