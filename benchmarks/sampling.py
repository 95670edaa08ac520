"""A launch too large to run whole: 4096^3 naive matmul from chosen blocks; time and peak memory of its own process."""

from __future__ import annotations

import resource
import subprocess
import sys
import time

import numpy as np

from benchmarks.rivals import CUDA
from warpsight.devices.device import Value
from warpsight.devices.virtual import VirtualGpu
from warpsight.tasks import LaunchSize
from warpsight.toolchain.compile import compile_cuda

N = 4096


def measure() -> None:
    a = np.random.default_rng(0).random((N, N), dtype=np.float32)
    values = [
        Value("a", a, False),
        Value("b", a, False),
        Value("c", np.zeros_like(a), True),
        Value("n", np.array(N, dtype=np.int32), False),
    ]
    build = compile_cuda(CUDA, gpu_arch="sm_80")
    start = time.perf_counter()
    profile = VirtualGpu().profile(
        build, "matmul", values, LaunchSize((N // 16, N // 16, 1), (16, 16, 1), 0), source_text=CUDA
    )
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{profile.sampled_blocks} of {profile.total_blocks} blocks, {seconds:.1f} s, peak {peak:.2f} GiB")
    fma = profile.counters["mix_float"] * 32
    print(f"multiply-adds estimated from the sample: {fma:.4g}, exact: {float(N) ** 3:.4g}, ratio {fma / N**3:.4f}")


def main() -> None:
    subprocess.run([sys.executable, "-c", "from benchmarks.sampling import measure; measure()"], check=True)
