"""Writes a new task folder that is complete and right from the start: the kernel scales a vector.

Never overwrites: a folder that exists and holds anything is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from warpsight.errors import UsageError

_TASK = """\
name = "{name}"
description = "y = alpha * x, element by element"
kernel = "kernel.cu"
entry = "{entry}"

[target]
gpu = "a100"
arch = "sm_80"

# Sizes that vary. Each workload below gives every axis a value within these bounds.
[axes]
N = {{ min = 1, max = 67108864 }}

# The parameters of the kernel, in order. Shapes are lists of expressions over the axes.
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
name = "alpha"
dtype = "float32"
role = "scalar"
value = 2.5

[[arguments]]
name = "N"
dtype = "int32"
role = "scalar"
value = "N"

# |got - expected| <= atol + rtol * |expected|, against the reference in float64.
[tolerance]
rtol = 1e-6
atol = 1e-6

[[workloads]]
name = "small"
axes = {{ N = 1000 }}

[[workloads]]
name = "one"
axes = {{ N = 1 }}

[[workloads]]
name = "large"
axes = {{ N = 1048576 }}
profile = true

# Hidden workloads are never shown to a model: other sizes, primes, edges.
[[workloads]]
name = "prime"
axes = {{ N = 4099 }}
hidden = true

[[workloads]]
name = "block-edge"
axes = {{ N = 257 }}
hidden = true
"""

_KERNEL = """\
// launch: grid=(ceil(N/256)) block=(256) shared=0
extern "C" __global__ void {entry}(const float* __restrict__ x, float* __restrict__ y, float alpha, int N) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {{
        y[i] = alpha * x[i];
    }}
}}
"""

_REFERENCE = """\
import numpy as np


def reference(x: np.ndarray, alpha: float) -> np.ndarray:
    return alpha * x
"""


def new_task(path: Path | str, name: str) -> Path:
    """Write a task called `name` into the folder `path` and return that folder."""
    folder = Path(path)
    require_new_folder(folder, name)
    # `int` and its like would pass as names but not as C functions; the suffix keeps every name usable.
    entry = name.replace("-", "_") + "_kernel"
    texts = {"task.toml": _TASK, "kernel.cu": _KERNEL, "reference.py": _REFERENCE}
    write_files(folder, {file: text.format(name=name, entry=entry) for file, text in texts.items()})
    return folder


def require_new_folder(folder: Path, name: str) -> None:
    """Refuse a name that no task may have, and a folder that holds anything."""
    if not re.fullmatch(r"[a-z][a-z0-9_-]{0,63}", name):
        hint = "use lower-case letters, digits, - and _, beginning with a letter"
        raise UsageError(f"expected a task name such as my_kernel, found {name!r}", hint)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"expected a new or empty folder, found that {folder} is there already", "choose another name")


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Write the files of a new task; one that is there is never written over."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in files.items():
            with (folder / file).open("x", encoding="utf-8") as stream:
                stream.write(text)
    except OSError as error:
        raise UsageError(f"expected to write {folder}, found: {error.strerror}", "choose a writable folder") from error
