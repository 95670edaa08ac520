"""Eleven SGEMM kernels from naive to warp-tiled, each with the speed published for a kernel of that description.

The kernels are our own, written from the published descriptions; the speeds are for an RTX A6000 at M = N = K = 4096.
Any M, N, K that are multiples of 256 work: there are no bounds checks past kernel 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.pairs.first_line import read_kernel
from warpsight.devices.device import Value
from warpsight.nouns import Candidate

ENTRY = "sgemm"
GPU_ARCH = "sm_86"
PUBLISHED_SIZE = 4096
# GFLOP/s, RTX A6000; source: the README of siboehm/SGEMM_CUDA.
PUBLISHED_GFLOPS = {
    1: 309.0, 2: 1986.5, 3: 2980.3, 4: 8474.7, 5: 15971.7, 6: 18237.3,
    7: 16213.4, 8: 16459.2, 9: 19721.0, 10: 21779.3, 11: 17278.3,
}  # fmt: skip
ALPHA, BETA = 1.5, -0.5


@dataclass(frozen=True)
class Rung:
    """One kernel of the ladder. `published_us` is what its published speed means at the published size."""

    number: int
    kernel: Candidate
    published_gflops: float

    @property
    def published_us(self) -> float:
        return 2 * PUBLISHED_SIZE**3 / self.published_gflops / 1e3


def load_ladder() -> list[Rung]:
    """All rungs, lowest first."""
    folder = Path(__file__).parent
    return [
        Rung(number, read_kernel((folder / f"sgemm_{number:02}.cu").read_text()), gflops)
        for number, gflops in PUBLISHED_GFLOPS.items()
    ]


def ladder_values(m: int, n: int, k: int) -> tuple[Value, ...]:
    """The kernel's arguments for a size, the same for every rung."""
    draw = np.random.default_rng(0)

    def matrix(rows: int, cols: int) -> np.ndarray:
        return draw.standard_normal((rows, cols), np.float32)

    def scalar(name: str, value: float, dtype: type) -> Value:
        return Value(name, np.array(value, dtype), writable=False)

    sizes = scalar("M", m, np.int32), scalar("N", n, np.int32), scalar("K", k, np.int32)
    a, b = Value("A", matrix(m, k), writable=False), Value("B", matrix(k, n), writable=False)
    alpha, beta = scalar("alpha", ALPHA, np.float32), scalar("beta", BETA, np.float32)
    return *sizes, alpha, a, b, beta, Value("C", matrix(m, n), writable=True)
