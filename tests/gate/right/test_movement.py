"""The movement with declared inputs is worked out once, and is what it would be without."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from tests.gate.right.candidates import task_named

from warpsight.gate.expected import ExpectedValues
from warpsight.gate.movement import degree, movement, usual_movement
from warpsight.tasks import generate_inputs
from warpsight.toolchain.cache import Cache


def test_what_is_kept_is_the_same_bytes_and_computed_once(tmp_path: Path) -> None:
    task = task_named("vector_add")
    workload = task.workloads[0]
    declared = generate_inputs(task, workload, 3)
    values = ExpectedValues(disk=Cache(tmp_path))
    first, powers = usual_movement(task, workload, declared, values)
    before = values.computed
    again, same = usual_movement(task, workload, declared, values)
    assert values.computed == before > 0 and powers == same and first.keys() == again.keys()
    alone = ExpectedValues()
    plain = movement(task, workload, declared, alone)
    assert all(np.array_equal(first[name], plain[name]) and plain[name].any() for name in plain)
    assert powers == degree(task, workload, declared, alone) != {}


def test_other_inputs_have_another_movement() -> None:
    task = task_named("vector_add")
    workload = task.workloads[0]
    values = ExpectedValues()
    moved = [usual_movement(task, workload, generate_inputs(task, workload, seed), values)[0] for seed in (1, 2)]
    assert not np.array_equal(moved[0]["c"], moved[1]["c"])
