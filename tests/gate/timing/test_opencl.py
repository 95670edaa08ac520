"""The whole gate on a device that is really timed: PoCL, in the jail. Two kernels whose work differs by a factor."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from warpsight.gate.evaluate import evaluate
from warpsight.gate.ledger import Ledger
from warpsight.gate.verify import verify_bytes
from warpsight.nouns import Candidate, Task
from warpsight.tasks import read_candidate, read_task

pytestmark = pytest.mark.skipif(
    find_spec("pyopencl") is None or find_spec("pocl_binary_distribution") is None, reason="no OpenCL here"
)
TASK_TOML = """
name = "spin"
description = "many steps of a recurrence for each element"
kernel = "kernel.cu"
opencl = "kernel.cl"
entry = "spin"
[target]
gpu = "a100"
arch = "sm_80"
[axes]
N = { min = 1, max = 65536 }
[[arguments]]
name = "x"
dtype = "float32"
shape = ["N"]
role = "in"
[[arguments]]
name = "y"
dtype = "float32"
shape = ["N"]
role = "out"
[[arguments]]
name = "N"
dtype = "int32"
role = "scalar"
value = "N"
[tolerance]
rtol = 1e-4
atol = 1e-4
[[workloads]]
name = "small"
axes = { N = 300 }
[[workloads]]
name = "profile"
axes = { N = 8192 }
profile = true
"""
REFERENCE = """
import numpy as np

def reference(x):
    return np.tanh(x) + x
"""
HEAD = "// launch: grid=(ceil(N/64)) block=(64) shared=0\n"
CUDA = 'extern "C" __global__ void spin(const float* x, float* y, int N) {\n'
CL = "__kernel void spin(__global const float* x, __global float* y, int N) {\n"
BODY = """  int i = ID;
  if (i >= N) return;
  float kept = x[i], waste = 0.5f;
  for (int k = 0; k < STEPS; k++) waste = waste * 0.999f + kept * 1e-3f;
  y[i] = tanh(kept) + kept + (waste == 12345.678f ? 1.0f : 0.0f);
}
"""


def text(steps: int, cuda: bool = False) -> str:
    body = BODY.replace("STEPS", str(steps))
    place = "blockIdx.x * blockDim.x + threadIdx.x" if cuda else "get_global_id(0)"
    return HEAD + (CUDA if cuda else CL) + body.replace("ID", place)


@pytest.fixture(scope="module")
def spin(tmp_path_factory: pytest.TempPathFactory) -> Task:
    folder = tmp_path_factory.mktemp("tasks") / "spin"
    folder.mkdir()
    files = {"task.toml": TASK_TOML, "reference.py": REFERENCE, "kernel.cu": text(20, True), "kernel.cl": text(20)}
    for name, content in files.items():
        (folder / name).write_text(content)
    return read_task(folder)


def kernel(task: Task, steps: int) -> Candidate:
    return read_candidate(text(steps), task, "kernel.cl")


def test_a_kernel_with_a_fifth_of_the_work_is_accepted_and_its_certificate_holds(spin: Task, tmp_path: Path) -> None:
    from warpsight.devices.opencl import OpenClDevice

    ledger = Ledger(tmp_path)
    with OpenClDevice() as device:
        found = evaluate(spin, kernel(spin, 200), kernel(spin, 2000), device, ledger=ledger)
    assert found.check.verdict == "right", found.check.reason
    assert found.timing is not None and found.timing.source == "measured"
    if found.timing.decision == "AMBIGUOUS":
        pytest.skip(f"the machine is too busy to tell: {found.timing.reason} {found.timing.detail}")
    assert found.timing.decision == "FASTER", found.timing.detail
    assert found.timing.roof is not None and found.timing.roof.compulsory_bytes == 8192 * 8
    raw = (ledger.certificates / f"{found.certificate}.json").read_bytes()
    certificate, looked = verify_bytes(raw, ledger.path, spin)
    assert certificate is not None and all(one.ok for one in looked), looked
    assert {"measurement 1", "measurement 2", "measured twice"} <= {one.name for one in looked}


def test_a_wrong_kernel_is_not_timed(spin: Task) -> None:
    from warpsight.devices.opencl import OpenClDevice

    wrong = read_candidate(text(20).replace("+ kept +", "+ 2 * kept +"), spin, "kernel.cl")
    with OpenClDevice() as device:
        found = evaluate(spin, wrong, kernel(spin, 20), device)
    assert found.check.verdict == "wrong" and found.timing is None
