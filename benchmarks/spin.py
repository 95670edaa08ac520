"""A task whose work is a number: the same answer after any count of wasted steps, in OpenCL C (and CUDA, for the task).

For the gate's own measurements: two kernels that differ by a known share of their work and by nothing else.
"""

from __future__ import annotations

from pathlib import Path

from warpsight.nouns import Candidate, Task
from warpsight.tasks import read_candidate, read_task

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
name = "prime"
axes = { N = 1009 }
hidden = true
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


def spin_text(steps: int, cuda: bool = False) -> str:
    """The kernel with so many steps of work that nothing needs."""
    body = BODY.replace("STEPS", str(steps))
    place = "blockIdx.x * blockDim.x + threadIdx.x" if cuda else "get_global_id(0)"
    return HEAD + (CUDA if cuda else CL) + body.replace("ID", place)


def spin_task(folder: Path, elements: int = 8192) -> Task:
    """The task in a new folder, timed on so many elements."""
    folder.mkdir(parents=True)
    toml = TASK_TOML.replace("N = 8192", f"N = {elements}")
    files = {
        "task.toml": toml,
        "reference.py": REFERENCE,
        "kernel.cu": spin_text(20, cuda=True),
        "kernel.cl": spin_text(20),
    }
    for name, content in files.items():
        (folder / name).write_text(content)
    return read_task(folder)


def spin_kernel(task: Task, steps: int) -> Candidate:
    return read_candidate(spin_text(steps), task, "kernel.cl")
