"""Sizes far beyond the declared ones: what works only near those is wrong, and honest limits are no fault."""

from __future__ import annotations

import pytest
from tests.gate.right.candidates import TASKS, adds, changed, own, task_named

from warpsight.devices.virtual import VirtualGpu
from warpsight.gate.check import check_candidate, kernel_values
from warpsight.gate.hidden import elements_of, largest_axes
from warpsight.gate.hidden_far import BUDGETS, far_workloads, growth_of
from warpsight.gate.kernel import build_candidate
from warpsight.gate.run_far import NOT_JUDGED, OWN_IS_WRONG
from warpsight.nouns import Axis, Check, Task
from warpsight.tasks import evaluate_launch, launch_of, read_candidate


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


SLOW_LIMIT = 6_000_000  # of instructions, so that "too long" does not take long
BURN = "unsigned w = i; for (long long k = 0; k < {turns}; ++k) w = w * 5u + (w >> 3);"
STORE = "if (i < N) c[i] = w == 77u ? b[i] + a[i] : a[i] + b[i];"


def small_verdict(task: Task, text: str) -> Check:
    """Of the small workloads and drawn ones, on a device that ends a launch early."""
    small = task.model_copy(update={"workloads": tuple(w for w in task.workloads if not w.profile)})
    device = VirtualGpu(max_instructions=SLOW_LIMIT)
    return check_candidate(small, read_candidate(text, small), device, families=(), secret_seed=3)


@pytest.mark.parametrize(
    "body",
    [
        f"if (N > 30000) {{ {BURN.format(turns=1 << 24)} if (i < N) c[i] = w; }} else if (i < N) c[i] = a[i] + b[i];",
        "while (N > 30000) if (*(volatile int*)a == 77) break; if (i < N) c[i] = a[i] + b[i];",
        f"{BURN.format(turns='max(N - 30000, 0) * 1000ll')} if (i < N) c[i] = N > 30000 ? w : a[i] + b[i];",
    ],
    ids=["works for long", "never ends", "works longer and longer"],
)
def test_who_works_for_long_on_garbage_does_not_get_away_with_it(body: str) -> None:
    found = small_verdict(task_named("vector_add"), adds(body))
    assert (found.verdict, found.named) == ("fault", "deadline"), found
    assert NOT_JUDGED in found.reason and "N=" in found.reason


def test_a_launch_that_grows_without_need_hides_nothing() -> None:
    body = adds("if (i < N && N <= 30000) c[i] = a[i] + b[i];")
    text = body.replace("grid=(ceil(N/256))", "grid=(ceil(N/256) + (N // 30000) * 100000000)")
    assert text != body
    assert small_verdict(task_named("vector_add"), text).named == "deadline"


def test_one_honest_size_of_an_axis_does_not_excuse_the_other() -> None:
    """Right where the other axis is tiny, and endless where it is not."""
    start = "\n    while ((R > 1200 || C > 1200) && R > 8 && C > 8) if (*(volatile int*)x == 77) break;\n"
    text = changed("transpose", ("{\n", "{" + start))
    found = small_verdict(task_named("transpose"), text)
    assert found.named == "deadline" and "secret-far" in found.workloads[-1].workload


def test_work_that_grows_steadily_is_judged_at_a_shorter_size() -> None:
    text = adds(BURN.format(turns="N / 64") + STORE)
    found = small_verdict(task_named("vector_add"), text)
    assert found.verdict == "right", found.reason
    judged = {result.workload for result in found.workloads}
    shorter = [w for w in found.generated if w.name.startswith(("secret-far-n-", "secret-thin-n-"))]
    assert shorter and all(w.name in judged and w.axes["N"] > 12345 for w in shorter)
    wrong = adds(BURN.format(turns="N / 64") + STORE.replace("i < N", "i < min(N, 15000)"))
    assert small_verdict(task_named("vector_add"), wrong).verdict == "wrong"


def test_an_axis_without_one_judged_size_is_not_right() -> None:
    """Slow and steady, but no shorter size lies beyond the declared ones."""
    task = task_named("vector_add")
    task = task.model_copy(update={"axes": (task.axes[0].model_copy(update={"max": 20000}),)})
    found = small_verdict(task, adds(BURN.format(turns=4700) + STORE))
    assert found.named == "deadline" and "does not explain" not in found.reason, found


def test_a_stopped_launch_leaves_no_module_behind() -> None:
    """A counter that a stopped launch did not reset is no fault of later launches."""
    task = task_named("vector_add")
    device = VirtualGpu(max_instructions=SLOW_LIMIT).remembering()
    body = adds("if (i == 0) busy = 1; while (N > 5000) if (*(volatile int*)a == 77) break;")
    candidate = read_candidate(body.replace('extern "C"', '__device__ int busy;\nextern "C"'), task)
    build = build_candidate(task, candidate)
    for workload in task.workloads:
        values = kernel_values(task, workload, 0)[1]
        size = launch_of(build, evaluate_launch(candidate, workload.axes))
        done = device.execute(build, task.entry, values, size, check=False)
        assert bool(device.modules) == (not done.faults)
