"""Sizes far beyond the declared ones: what works only near those is wrong, and honest limits are no fault."""

from __future__ import annotations

import pytest
from tests.gate.right.candidates import TASKS, changed, own, task_named

from warpsight.devices.virtual import VirtualGpu
from warpsight.gate.check import build_candidate, check_candidate
from warpsight.gate.hidden import elements_of, largest_axes
from warpsight.gate.hidden_far import BUDGETS, far_workloads, growth_of
from warpsight.gate.run_far import OWN_IS_WRONG
from warpsight.nouns import Axis, Check, Task
from warpsight.tasks import read_candidate


def verdict(task: Task, text: str, *, farthest: bool = False) -> Check:
    candidate = read_candidate(text, task)
    return check_candidate(task, candidate, VirtualGpu(), families=(), secret_seed=3, farthest=farthest)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("transpose", "int c = blockIdx.x", "int c = (unsigned char)blockIdx.x"),
        ("softmax", "c < C; c += THREADS", "c < min(C, 8192); c += THREADS"),
        ("stencil2d", "{\n", "{\n    if (W > 8000) return;\n"),
    ],
)
def test_a_kernel_that_is_right_near_the_declared_sizes_only_is_wrong(name: str, old: str, new: str) -> None:
    found = verdict(task_named(name), changed(name, (old, new)))
    assert found.verdict != "right" and ("secret-far" in found.reason or "secret-thin" in found.reason)


def test_an_index_that_a_float_does_not_hold_is_seen_in_the_farthest_size() -> None:
    task = task_named("vector_add")
    text = changed("vector_add", ("if (i < N)", "i = (int)(float)(8 * i + 7) / 8; if (i < N)"))
    assert verdict(task, text).verdict == "right"
    assert verdict(task, text, farthest=True).verdict != "right"


@pytest.mark.parametrize("name", sorted(p.name for p in TASKS.iterdir() if (p / "kernel.cu").exists()))
def test_drawn_sizes_lie_beyond_the_declared_ones_and_within_their_budget(name: str) -> None:
    task = task_named(name)
    build = build_candidate(task, own(task))
    declared = largest_axes(task, task.workloads)
    for far in far_workloads(task, build, 9, farthest=True):
        kind = far.workload.name.split("-")[1]
        beyond = [axis for axis, value in far.workload.axes.items() if value > declared[axis]]
        assert beyond and (kind == "farthest" or len(beyond) == 1) and far.growth > 1
        assert (elements_of(task, far.workload) or 0) <= BUDGETS[kind][0]
        bounds: dict[str, Axis] = {axis.name: axis for axis in task.axes}
        assert all(bounds[axis].min <= value <= bounds[axis].max for axis, value in far.workload.axes.items())


def test_sizes_follow_from_the_seed_alone() -> None:
    task = task_named("softmax")
    build = build_candidate(task, own(task))
    drawn = [[far.workload.axes for far in far_workloads(task, build, seed, farthest=True)] for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_work_is_known_to_grow_with_each_axis() -> None:
    task = task_named("matmul_naive")
    growth = growth_of(task, build_candidate(task, own(task)))
    assert growth is not None
    assert all(power == pytest.approx(1, abs=0.1) for power in growth.powers.values())


def test_where_the_own_kernel_is_wrong_nobody_is_blamed() -> None:
    """Axes that promise more than the task's kernel can do."""
    task = task_named("softmax")
    limited = task.kernel.replace("c < C; c += THREADS", "c < min(C, 8192); c += THREADS")
    task = task.model_copy(update={"kernel": limited})
    found = verdict(task, limited + "\n")
    assert found.verdict == "right" and OWN_IS_WRONG in {skipped.why for skipped in found.skipped}
