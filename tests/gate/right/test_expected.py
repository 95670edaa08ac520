"""What is kept of expected values belongs to one text, one declaration, one set of inputs and one version of us."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.gate.right.candidates import adds, own, task_named

from warpsight.devices.virtual import VirtualGpu
from warpsight.gate import expected
from warpsight.gate.check import check_candidate
from warpsight.gate.expected import ExpectedValues
from warpsight.nouns import Task
from warpsight.tasks import generate_inputs, read_candidate
from warpsight.toolchain.cache import Cache

# The work of a stranger's task: from its first call on, additions of two arrays forget the second one.
POISONING = """
import numpy as np


def reference(a, b):
    result = np.asarray(a) + np.asarray(b)
    add = np.add
    np.add = lambda x, y: add(x, 0 * y)
    return result
"""
HONEST = "import numpy as np\n\n\ndef reference(a, b):\n    return np.add(a, b)\n"


def vector_add(reference: str) -> Task:
    task = task_named("vector_add")
    return task.model_copy(update={"reference": reference, "workloads": task.workloads[:2]})


def test_a_strangers_reference_changes_no_verdict_of_another_task(tmp_path: Path) -> None:
    stranger, task = vector_add(POISONING), vector_add(HONEST)
    values = ExpectedValues(disk=Cache(tmp_path))
    check_candidate(stranger, own(stranger), VirtualGpu(), families=(), values=values)
    cheat = read_candidate(adds("if (i < N) c[i] = a[i];"), task)
    assert check_candidate(task, cheat, VirtualGpu(), families=(), values=values).verdict == "wrong"
    for later in (values, ExpectedValues(disk=Cache(tmp_path))):
        assert check_candidate(task, own(task), VirtualGpu(), families=(), values=later).verdict == "right"


def kept(task: Task, folder: Path, axes: dict[str, int] | None = None, change: int = 0) -> int:
    """How many entries there are after one look-up."""
    workload = task.workloads[0]
    inputs = generate_inputs(task, workload, 1)
    inputs["a"] = inputs["a"] + np.float32(change)
    ExpectedValues(disk=Cache(folder)).of(task, inputs, {**workload.axes, **(axes or {})})
    return len(list(folder.glob("??/*")))


def test_the_key_is_all_that_made_a_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task = vector_add(HONEST)
    c = task.arguments[2].model_copy(update={"dtype": "float64"})
    assert kept(task, tmp_path) == kept(task, tmp_path) == 1
    assert kept(task, tmp_path, change=1) == 2
    assert kept(task, tmp_path, axes={"UNUSED": 3}) == 3
    assert kept(vector_add(HONEST + "\n"), tmp_path) == 4
    declared = (*task.arguments[:2], c, *task.arguments[3:])
    assert kept(task.model_copy(update={"arguments": declared}), tmp_path) == 5
    for name, value in (("_version", lambda package: "0.0"), ("_MADE_IN", ("oracle_worker.py",))):
        expected.provenance.cache_clear()
        with monkeypatch.context() as patched:
            patched.setattr(expected, name, value)
            kept(task, tmp_path)
        expected.provenance.cache_clear()
    assert kept(task, tmp_path) == 7


def test_where_a_task_lies_is_no_part_of_the_key(tmp_path: Path) -> None:
    task = vector_add(HONEST)
    assert kept(task, tmp_path) == kept(task.model_copy(update={"folder": tmp_path}), tmp_path) == 1
