"""Generated kernels: machine code and PTX give the same bits. Without contraction of products and sums: where the
compiler may fuse them, it does so after PTX.
"""

from __future__ import annotations

import numpy as np
import pytest
from tests.vgpu.sass.both import ARCHITECTURES, Arrays, both
from tests.vgpu.sass.generate import kernel

THREADS, BLOCKS = 64, 2
FEW, MANY = 6, 200


def inputs(seed: int) -> Arrays:
    random, n = np.random.default_rng(seed), THREADS * BLOCKS
    x = random.integers(-(2**31), 2**31, n).astype(np.int32)
    x[::5] = random.integers(-100, 100, len(x[::5]))
    y = (random.standard_normal(n) * 10.0 ** random.integers(-3, 4, n)).astype(np.float32)
    y[::17] = np.array([0.0, -0.0, np.inf, 1e-40, 3e38, -1e-39, 65504, 1], np.float32)[: len(y[::17])]
    return {
        "x": x,
        "y": y,
        "z": random.standard_normal(n) * 100,
        "out": np.zeros(n, np.int64),
        "outf": np.zeros(2 * n, np.float32),
        "outd": np.zeros(n),
    }


def check(seed: int, gpu_arch: str) -> None:
    both(kernel(seed), inputs(seed), gpu_arch, grid=BLOCKS, block=THREADS, options=("--fmad=false",))


@pytest.mark.parametrize("gpu_arch", ARCHITECTURES)
def test_a_few_generated_kernels(gpu_arch: str) -> None:
    for seed in range(FEW):
        check(seed, gpu_arch)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("gpu_arch", ARCHITECTURES)
def test_many_generated_kernels(gpu_arch: str) -> None:
    for seed in range(MANY):
        check(seed, gpu_arch)
