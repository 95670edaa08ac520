"""A kernel as the reference: what it gives is expected, what it does not take is no expectation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from warpsight.devices.virtual import VirtualGpu
from warpsight.errors import TaskError
from warpsight.gate.check import check_candidate
from warpsight.gate.kernel import build_candidate
from warpsight.gate.machine_check import MachineDifference, machine_code_difference
from warpsight.gate.original import reference_outputs
from warpsight.nouns import Task
from warpsight.tasks import generate_inputs, read_candidate, read_task
from warpsight.tasks.recorded import write_recorded
from warpsight.vgpu.gpus import find_gpu

KERNEL = """\
// launch: grid=(ceil(n/64)) block=(64) shared=0
extern "C" __global__ void scale(const float* x, const int* at, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[at[i]];
}
"""
TASK = """\
name = "scale"
description = "y = 2 x[at]"
kernel = "kernel.cu"
entry = "scale"
reference = "original.cu"
target = {{ gpu = "a100", arch = "sm_80" }}
axes = {{ n = {{ min = 1, max = 100 }} }}
tolerance = {{ rtol = 1e-6, atol = 1e-6 }}
arguments = [
  {{ name = "x", dtype = "float32", shape = ["100"], role = "in", fill = "resampled", recorded = "{x}" }},
  {{ name = "at", dtype = "int32", shape = ["n"], role = "in", fill = "recorded", recorded = "{at}" }},
  {{ name = "y", dtype = "float32", shape = ["n"], role = "out" }},
  {{ name = "n", dtype = "int32", role = "scalar", value = "n" }},
]
workloads = [
  {{ name = "recorded", axes = {{ n = 100 }}, profile = true, recorded = true }},
  {{ name = "fresh", axes = {{ n = 64 }}, hidden = true }},
]
"""


@pytest.fixture
def task(tmp_path: Path) -> Task:
    x = np.linspace(-1, 1, 100, dtype=np.float32)
    at = np.arange(100, dtype=np.int32)[::-1]
    hashes = {"x": write_recorded(tmp_path, x), "at": write_recorded(tmp_path, at)}
    (tmp_path / "task.toml").write_text(TASK.format(**hashes))
    for name in ("kernel.cu", "original.cu"):
        (tmp_path / name).write_text(KERNEL)
    return read_task(tmp_path)


def test_recorded_and_fresh_contents(task: Task) -> None:
    recorded, fresh = (generate_inputs(task, workload, 3) for workload in task.workloads)
    assert recorded["x"][0] == -1 and recorded["at"].tolist() == list(range(99, -1, -1))
    assert fresh["at"].tolist() == list(range(99, 35, -1))
    assert set(fresh["x"].tolist()) < set(recorded["x"].tolist()) and fresh["x"].tolist() != recorded["x"].tolist()
    assert reference_outputs(task, recorded, {"n": 100})["y"][0] == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [("", "", "right"), ("2.0f", "2.001f", "wrong"), ("i < n", "i < n - 1", "wrong"), ("at[i]", "i", "wrong")],
)
def test_the_verdict(task: Task, old: str, new: str, verdict: str) -> None:
    candidate = read_candidate(task.kernel.replace(old, new) if old else task.kernel, task)
    assert check_candidate(task, candidate, VirtualGpu()).verdict == verdict


def test_what_the_original_does_not_take_is_no_expectation(task: Task) -> None:
    inputs = generate_inputs(task, task.workloads[0], 0)
    far = {**inputs, "at": inputs["at"] + 1_000_000}
    with pytest.raises(TaskError, match="out_of_bounds"):
        reference_outputs(task, far, {"n": 100})
    assert reference_outputs(task, inputs, {"n": 100})["y"].shape == (100,)  # the next one is answered


def test_an_original_that_does_not_compile_is_said(task: Task, tmp_path: Path) -> None:
    (tmp_path / "original.cu").write_text(KERNEL.replace("2.0f", "nobody"))
    broken = read_task(tmp_path)
    with pytest.raises(TaskError, match="to compile"):
        reference_outputs(broken, generate_inputs(broken, broken.workloads[0], 0), {"n": 100})


def test_recorded_contents_need_their_file(task: Task, tmp_path: Path) -> None:
    for file in (tmp_path / "recorded").iterdir():
        file.unlink()
    from warpsight.tasks import recorded

    recorded._body.cache_clear()
    with pytest.raises(TaskError, match="capture the kernel again"):
        generate_inputs(task, task.workloads[0], 0)


CENTRED = """\
// launch: grid=(ceil(n/64)) block=(64) shared=0
extern "C" __global__ void scale(const float* a, const float* b, float* y, int n, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    float sum = 0.0f;
    for (int k = 0; k < columns; ++k) sum += a[row * columns + k] * b[k];
    for (int k = 0; k < columns; ++k) {
        float product = a[row * columns + k] * b[k];
        y[row * columns + k] = 300.0f * (product - sum / columns);
    }
}
"""


def test_what_the_original_itself_does_as_machine_code_is_right(tmp_path: Path) -> None:
    """By its PTX the answer is zero, or a rounding; which, ptxas decides anew for each text."""
    text = TASK.split("arguments = [")[0] + (
        'arguments = [{{ name = "a", dtype = "float32", shape = ["n"], role = "in" }},'
        ' {{ name = "b", dtype = "float32", shape = ["1"], role = "in" }},'
        ' {{ name = "y", dtype = "float32", shape = ["n"], role = "out" }},'
        ' {{ name = "n", dtype = "int32", role = "scalar", value = "n" }},'
        ' {{ name = "columns", dtype = "int32", role = "scalar", value = 1 }}]\n'
        'workloads = [{{ name = "small", axes = {{ n = 100 }}, profile = true }},'
        ' {{ name = "less", axes = {{ n = 7 }}, hidden = true }}]\n'
    )
    (tmp_path / "task.toml").write_text(text.replace("{{", "{").replace("}}", "}"))
    for name in ("kernel.cu", "original.cu"):
        (tmp_path / name).write_text(CENTRED)
    task = read_task(tmp_path)
    inputs = generate_inputs(task, task.workloads[0], 0)
    law = reference_outputs(task, inputs, {"n": 100})["y"]
    own = reference_outputs(task, inputs, {"n": 100}, narrow=True)["y"]
    assert np.abs(own - law).max() > task.tolerance.atol, "the two agree: this compiler joins them alike"
    assert _difference(task, CENTRED) is None
    found = _difference(task, CENTRED.replace("sum / columns", "1.0001f * sum / columns"))
    assert found is not None and "wrong_values" in found.told


def _difference(task: Task, text: str) -> MachineDifference | None:
    candidate = read_candidate(text, task)
    build = build_candidate(task, candidate, gpu_arch="sm_80")
    device = VirtualGpu(gpu=find_gpu("a100"))
    return machine_code_difference(task, task.workloads[1], candidate, build, device, seed=1)
