"""What timed calls get, and the roof: contents that never repeat and keep their meaning, bytes that must be moved."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from warpsight.gate.fresh import FreshContents
from warpsight.gate.roofline_cap import compulsory_bytes, needed_inputs, simulated_roof
from warpsight.nouns import Task
from warpsight.tasks import read_task
from warpsight.vgpu.gpus import find_gpu

TASKS = Path(__file__).parents[3] / "tasks"


def task(name: str) -> Task:
    return read_task(TASKS / name)


def test_contents_differ_from_call_to_call() -> None:
    saxpy = task("saxpy")
    contents = FreshContents(saxpy, saxpy.workloads[0], 3)
    drawn = [contents.draw() for _ in range(20)]
    assert len({c.inputs["x"].tobytes() for c in drawn}) == 20
    assert all(float(c.inputs["alpha"]) == 2.5 for c in drawn)
    again = FreshContents(saxpy, saxpy.workloads[0], 3).draw()
    assert again.inputs["x"].tobytes() == drawn[0].inputs["x"].tobytes()
    assert {v.name for v in drawn[0].values} == {a.name for a in saxpy.arguments}


def test_turned_contents_keep_their_meaning() -> None:
    spmv = task("spmv_csr")
    workload = spmv.workloads[0]
    contents = FreshContents(spmv, workload, 4)
    rows, columns = next(a.name for a in spmv.arguments if a.fill == "csr_rows"), "cols"
    for _ in range(8):
        inputs = contents.draw().inputs
        assert np.all(np.diff(inputs[rows]) >= 0) and inputs[rows][0] == 0
        assert inputs[columns].min() >= 0 and inputs[columns].max() < inputs["x"].size


@pytest.mark.parametrize(
    ("name", "needed"),
    [
        ("vector_add", {"a", "b"}),
        ("reduce_max_rows", {"x"}),
        ("matmul_naive", {"A", "B"}),
        ("gather", {"index"}),  # not every row of the table is asked for
    ],
)
def test_inputs_that_every_kernel_must_read(name: str, needed: set[str]) -> None:
    assert needed_inputs(task(name)) == needed


def test_the_roof_of_a_simulated_gpu() -> None:
    add = task("vector_add")
    workload = next(w for w in add.workloads if w.profile)
    moved = 3 * 4 * workload.axes["N"]
    assert compulsory_bytes(add, workload) == moved
    roof = simulated_roof(add, workload, find_gpu("a100"))
    assert roof.floor_us == pytest.approx(0.7 * (moved / 1555e3 + 3.0)) and "a100" in roof.source
