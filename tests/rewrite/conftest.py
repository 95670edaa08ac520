from __future__ import annotations

from pathlib import Path

import pytest

from warpsight.nouns import Task
from warpsight.tasks import read_task

TASK = """name = "twice"
description = "y = 2 x"
kernel = "kernel.cu"
entry = "twice"

[target]
gpu = "rtx-a6000"
arch = "sm_86"

[axes]
N = { min = 1, max = 1048576 }

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
rtol = 1e-5
atol = 1e-6

[[workloads]]
name = "small"
axes = { N = 1000 }

[[workloads]]
name = "odd"
axes = { N = 77 }
hidden = true

[[workloads]]
name = "profile"
axes = { N = 65536 }
profile = true
"""


@pytest.fixture(scope="session")
def twice(tmp_path_factory: pytest.TempPathFactory) -> Task:
    """A task of one line: y = 2 x."""
    from tests.rewrite.kernels import COPY_LOOP

    folder: Path = tmp_path_factory.mktemp("twice")
    (folder / "task.toml").write_text(TASK)
    (folder / "kernel.cu").write_text(COPY_LOOP)
    (folder / "reference.py").write_text("def reference(x):\n    return 2 * x\n")
    return read_task(folder)
