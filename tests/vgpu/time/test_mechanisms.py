"""Single mechanisms of the time model, each on a kernel made for it; each can be left out by its name in TERMS."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from benchmarks.pairs.first_line import read_kernel
from benchmarks.timed import timed

from warpsight.devices.device import Value
from warpsight.tasks import LaunchSize
from warpsight.vgpu.gpus import find_gpu
from warpsight.vgpu.timemodel import TERMS, Prediction

N = 1 << 20


def run(
    body: str,
    gpu: str = "a100",
    *,
    grid: tuple[int, int, int] = (N // 256, 1, 1),
    block: tuple[int, int, int] = (256, 1, 1),
    before: str = "",
    n: int = N,
    without: Sequence[str] = (),
) -> Prediction:
    """The draft of `k(const float *x, float *y, int n)` with this body, `i` being the thread in the grid's x."""
    assert set(without) <= set(TERMS)
    text = (
        f"// launch: grid=(1) block=(1) shared=0\n{before}\n"
        'extern "C" __global__ void k(const float *__restrict__ x, float *__restrict__ y, int n) {\n'
        f"    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    {body}\n}}\n"
    )
    values = [
        Value("x", np.zeros(n, np.float32), writable=False),
        Value("y", np.zeros(n, np.float32), writable=True),
        Value("n", np.array(n, np.int32), writable=False),
    ]
    return timed(read_kernel(text), "k", find_gpu(gpu), values, LaunchSize(grid, block, 0), without=without)


@pytest.mark.parametrize("gpu", ["t4", "a100"])
def test_a_constant_operand_is_no_access_of_the_step_before(gpu: str) -> None:
    """`FFMA R, R, c[3][..]` needs no more time than with the number itself, and stores stay stores."""
    body = "float s = x[i];\n#pragma unroll\nfor (int j = 0; j < 64; ++j) s = s * {} + s; y[i] = s;"
    held = run(body.format("c[j]"), gpu, before="__constant__ float c[64];")
    plain = run(body.format("(1.5f + j)"), gpu)
    assert held.l2_bytes == plain.l2_bytes == 8 * N
    assert held.dram_bytes == plain.dram_bytes == 8 * N
    assert held.time_us == pytest.approx(plain.time_us, rel=0.02)
