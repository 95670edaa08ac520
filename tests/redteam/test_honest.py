"""Honest kernels, varied and fast: none is rejected. The name of a file is its task and what it does.

In the fast run a share of them is checked on the small workloads; the slow one takes them all through the whole gate.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from redteam.kernels import attacked_task, virtual_gpu

from warpsight.devices.device import Device
from warpsight.gate.check import check_candidate
from warpsight.gate.evaluate import evaluate
from warpsight.nouns import Candidate, Task
from warpsight.tasks import read_candidate

KERNELS = sorted((Path(__file__).parent / "honest").glob("*.c[ul]"))
OPENCL = find_spec("pyopencl") is not None and find_spec("pocl_binary_distribution") is not None
FAST = (
    "vector_add__float4.cu", "vector_add__async_copy.cu", "reduce_sum__cooperative_groups.cu", "softmax__online.cu",
    "reduce_sum__last_block.cu", "matmul_naive__tensor_cores.cu", "half_axpy__eight_at_once.cu", "saxpy__fast_math.cu",
    "histogram__match.cu", "transpose__swizzled.cu", "vector_add__float4.cl",
)  # fmt: skip


def opened(kernel: Path, task: Task) -> Device:
    if kernel.suffix == ".cu":
        return virtual_gpu(task)
    if not OPENCL:
        pytest.skip("no OpenCL here")
    from warpsight.devices.opencl import OpenClDevice

    return OpenClDevice(threads=2)


def candidate_in(kernel: Path, task: Task) -> Candidate:
    return read_candidate(kernel.read_text(), task, kernel.name)


def test_there_are_forty_of_them_of_both_kinds() -> None:
    assert len(KERNELS) >= 40
    assert sum(kernel.suffix == ".cl" for kernel in KERNELS) >= 8


@pytest.mark.parametrize("kernel", [k for k in KERNELS if k.name in FAST], ids=lambda k: k.name)
def test_an_honest_kernel_is_right(kernel: Path) -> None:
    whole = attacked_task(kernel.name.partition("__")[0])
    task = whole.model_copy(update={"workloads": tuple(w for w in whole.workloads if not w.profile)})
    found = check_candidate(task, candidate_in(kernel, task), opened(kernel, task))
    assert found.verdict == "right", found.reason


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_an_honest_kernel_is_never_rejected(kernel: Path) -> None:
    task = attacked_task(kernel.name.partition("__")[0])
    own = task.opencl if kernel.suffix == ".cl" else task.kernel
    baseline = read_candidate(own, task, f"kernel{kernel.suffix}")
    found = evaluate(task, candidate_in(kernel, task), baseline, opened(kernel, task))
    assert found.check.verdict == "right", found.check.reason
    assert found.timing is not None
    assert found.timing.decision != "REJECTED", found.timing.detail
