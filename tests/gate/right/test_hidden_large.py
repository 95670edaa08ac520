"""Secret sizes of the scale of the timed workload: a kernel must be right there too, not only where it is known."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.gate.right.candidates import TASKS, adds, changed, own, task_named

from warpsight.devices.virtual import VirtualGpu
from warpsight.gate.check import check_candidate
from warpsight.gate.hidden import elements_of, largest_axes
from warpsight.gate.hidden_large import ABOVE, large_workloads
from warpsight.nouns import Axis, Check, Task, Workload
from warpsight.tasks import read_candidate, read_task

LARGE = 40_000


def vector_add() -> Task:
    """With a large workload that is small enough for a test."""
    task = task_named("vector_add")
    small = tuple(w for w in task.workloads if not w.profile and w.axes["N"] < 6000)
    return task.model_copy(update={"workloads": (*small, Workload(name="big", axes={"N": LARGE}, profile=True))})


def verdict(task: Task, text: str, secret: int = 3) -> Check:
    return check_candidate(task, read_candidate(text, task), VirtualGpu(), families=(), secret_seed=secret)


@pytest.mark.parametrize(
    "elsewhere",
    [
        f"N > 11000 && N != {LARGE}",
        f"N > {LARGE}",
        f"N > 22000 && N < {LARGE}",
        f"gridDim.x > 64 && N != {LARGE}",
        f"blockIdx.x > 80 && N != {LARGE}",
        f"(long long)N * 12 > 200000 && N != {LARGE}",
    ],
)
def test_a_kernel_that_does_nothing_at_other_large_sizes_is_wrong(elsewhere: str) -> None:
    found = verdict(vector_add(), adds(f"if ({elsewhere}) return; if (i < N) c[i] = a[i] + b[i];"))
    assert found.verdict == "wrong" and "secret-" in found.reason


def test_large_sizes_are_round_in_one_draw_and_ragged_in_the_other() -> None:
    for seed in range(10):
        near = [w.axes["N"] for w in large_workloads(vector_add(), seed) if "long" not in w.name]
        assert sorted(n % 32 == 0 for n in near) == [False, True]
        assert min(near) < LARGE < max(near)


@pytest.mark.parametrize("long, short", [("R", "C"), ("C", "R")])
def test_each_axis_is_large_while_the_others_are_small(long: str, short: str) -> None:
    task = task_named("transpose")
    small = tuple(w for w in task.workloads if not w.profile)[:2]
    most = largest_axes(task, small)
    big = Workload(name="big", axes={"R": most["R"] * 3, "C": most["C"] * 3}, profile=True)
    task = task.model_copy(update={"workloads": (*small, big)})
    lazy = f"if ({long} > {most[long]} && {short} <= {most[short]}) return;"
    text = changed("transpose", ("{\n", f"{{\n    {lazy}\n"))
    found = verdict(task, text)
    assert found.verdict == "wrong" and f"secret-long-{long.lower()}" in found.reason
    assert verdict(task, task.kernel).verdict == "right"


@pytest.mark.parametrize(
    "folder", sorted(file.parent for file in TASKS.glob("*/kernel.cu")), ids=lambda folder: folder.name
)
def test_large_sizes_keep_the_bounds_and_are_not_declared(folder: Path) -> None:
    task = read_task(folder)
    largest = max(elements_of(task, w) or 0 for w in task.workloads)
    declared = [dict(w.axes) for w in task.workloads]
    for seed in range(10):
        drawn = large_workloads(task, seed)
        near = [w for w in drawn if "long" not in w.name]
        assert near and max(elements_of(task, w) or 0 for w in near) > 0.3 * largest
        for workload in drawn:
            assert dict(workload.axes) not in declared and workload.hidden
            for axis in task.axes:
                value = workload.axes[axis.name]
                assert axis.min <= value <= axis.max and value % axis.multiple_of == 0
                assert value <= ABOVE * max(w.axes[axis.name] for w in task.workloads)


def test_a_task_with_one_size_has_no_other_large_one() -> None:
    task = vector_add().model_copy(
        update={"axes": (Axis(name="N", min=64, max=64),), "workloads": (Workload(name="only", axes={"N": 64}),)}
    )
    assert large_workloads(task, 1) == ()
    assert check_candidate(task, own(task), VirtualGpu(), families=()).verdict == "right"
