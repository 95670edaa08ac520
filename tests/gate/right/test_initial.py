"""Arrays that are read and written start with more than their declared constant, where the reference reads them."""

from __future__ import annotations

import numpy as np
import pytest
from tests.gate.right.candidates import PER_ELEMENT, changed, checked, own, task_named

from warpsight.devices.virtual import VirtualGpu
from warpsight.gate.check import check_candidate
from warpsight.gate.expected import ExpectedValues
from warpsight.gate.initial import CONTENTS, contents_inputs, free_contents
from warpsight.nouns import Task, Workload
from warpsight.tasks import read_candidate

ONE_THREAD = "// launch: grid=(1) block=(32) shared=0\n"
SUM = (
    ONE_THREAD
    + """extern "C" __global__ void reduce_sum(const float* x, float* out, int N) {
    float total = 0.0f;
    for (int i = threadIdx.x; i < N; i += 32) total += x[i];
    for (int step = 16; step; step /= 2) total += __shfl_down_sync(0xffffffffu, total, step);
    if (threadIdx.x == 0) STORE;
}
"""
)


def summed(store: str) -> Task:
    task = task_named("reduce_sum")
    large = Workload(name="large", axes={"N": 30_000}, profile=True)
    sizes = (*(w for w in task.workloads if w.axes["N"] < 6000 and not w.profile), large)
    return task.model_copy(update={"workloads": sizes, "kernel": SUM.replace("STORE", store)})


@pytest.mark.parametrize(
    ("store", "verdict"),
    [
        ("out[0] += total", "right"),
        ("out[0] = total", "wrong"),
        ("out[0] = N > 20000 ? total : out[0] + total", "wrong"),
        ("out[0] = N == 30000 ? total : out[0] + total", "wrong"),
        ("out[0] = N > 20000 && N != 30000 ? total : out[0] + total", "wrong"),
        ("out[0] = total + (out[0] != 0.0f)", "wrong"),
    ],
)
def test_a_sum_that_is_stored_instead_of_added_is_wrong(store: str, verdict: str) -> None:
    task = summed(store)
    assert check_candidate(task, own(task), VirtualGpu(), families=(), secret_seed=4).verdict == verdict


def test_a_histogram_that_is_stored_instead_of_added_is_wrong() -> None:
    text = (
        PER_ELEMENT
        + """extern "C" __global__ void histogram(const int* values, unsigned* counts, int N, int BINS) {
    for (int bin = blockIdx.x * blockDim.x + threadIdx.x; bin < BINS; bin += gridDim.x * blockDim.x) {
        unsigned count = START;
        for (int i = 0; i < N; i++) count += values[i] == bin;
        counts[bin] = count;
    }
}
"""
    )
    task = task_named("histogram")
    only = task.model_copy(update={"workloads": task.workloads[:1]})
    for start, verdict in (("counts[bin]", "right"), ("0", "wrong")):
        candidate = read_candidate(text.replace("START", start), only)
        assert check_candidate(only, candidate, VirtualGpu(), families=("sparse",)).verdict == verdict


def test_a_start_that_the_reference_ignores_is_a_promise() -> None:
    """A kernel that counts into an array which its task says is cleared is right."""
    task = task_named("histogram")
    ignores = task.reference.replace("counts + np.bincount", "np.bincount")
    assert ignores != task.reference
    task = task.model_copy(update={"reference": ignores, "workloads": task.workloads[:2]})
    assert free_contents(task, ExpectedValues()) == frozenset()
    assert check_candidate(task, own(task), VirtualGpu(), secret_seed=1).verdict == "right"


@pytest.mark.parametrize(
    ("name", "free"), [("reduce_sum", {"out"}), ("histogram", {"counts"}), ("saxpy", set()), ("scatter_add", set())]
)
def test_what_is_free(name: str, free: set[str]) -> None:
    assert free_contents(task_named(name), ExpectedValues()) == free


def test_contents_are_of_the_size_of_what_is_added_to_them_and_follow_from_the_seed() -> None:
    task, values = task_named("reduce_sum"), ExpectedValues()
    workload = Workload(name="some", axes={"N": 20_000})
    made = [contents_inputs(task, workload, seed, {"out"}, values) for seed in (1, 1, 2)]
    starts = [float(inputs["out"][0]) for inputs in made if inputs is not None]
    assert starts[0] == starts[1] != starts[2] and all(900 <= start <= 5_100 for start in starts)
    assert made[0] is not None and not np.array_equal(made[0]["x"], np.zeros(20_000))


def test_every_check_of_such_a_task_says_that_it_tried() -> None:
    found = checked("reduce_sum", task_named("reduce_sum").kernel)
    assert found.verdict == "right" and {r.workload for r in found.workloads if r.family == CONTENTS} >= {
        w.name for w in found.generated
    }
    assert checked("saxpy", changed("saxpy", ("+ y[j]", ""))).verdict == "wrong"
