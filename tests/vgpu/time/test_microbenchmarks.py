"""Small kernels whose time on hardware was published: the simulated SM must take as many clocks.

Each is timed as on hardware: the same kernel with few and with many repetitions, and the difference divided.
"""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.pairs.first_line import read_kernel
from benchmarks.timed import timed

from warpsight.devices.device import Value
from warpsight.tasks import LaunchSize
from warpsight.vgpu.gpus import find_gpu

FEW, MANY = 64, 192
CELLS = (
    "__shared__ int cells[1024]; for (int i = threadIdx.x; i < 1024; i += blockDim.x) cells[i] = v; __syncthreads();"
)


def clocks_each(
    body: str, gpu: str, *, threads: int = 32, blocks_per_sm: int = 1, before: str = "", longer: int = 1
) -> float:
    """Clocks of one repetition of `body`; `v` is an int that it may change, `next` an array of zeros."""
    sheet = find_gpu(gpu)
    values = [Value("next", np.zeros(4096, np.int32), False), Value("out", np.zeros(1 << 19, np.int32), True)]
    size = LaunchSize((sheet.sms * blocks_per_sm, 1, 1), (threads, 1, 1), 0)
    found: list[float] = []
    for times in (longer * FEW, longer * MANY):
        text = (
            "// launch: grid=(1) block=(1) shared=0\n"
            'extern "C" __global__ void k(const int *next, int *out) {\n'
            f"    int v = next[threadIdx.x & 31];\n    {before}\n#pragma unroll\n"
            f"    for (int i = 0; i < {times}; ++i) {{ {body} }}\n"
            "    out[blockIdx.x * blockDim.x + threadIdx.x] = v;\n}\n"
        )
        found.append(timed(read_kernel(text), "k", sheet, values, size).sm_cycles)
    return (found[1] - found[0]) / (MANY - FEW) / longer


# Huerta et al. (MICRO 2025), table 2, on GA102; Abdelkhalik et al. (2022), table IV, on an A100.
@pytest.mark.parametrize(("gpu", "clocks"), [("rtx-a6000", 24), ("a100", 23)])
def test_a_chain_of_shared_loads(gpu: str, clocks: int) -> None:
    assert clocks_each("v = ((volatile int *)cells)[v];", gpu, before=CELLS) == pytest.approx(clocks, abs=0.5)


# The same, table 1: memory instructions that always hit, from warps on one to four schedulers. The compiler groups the
# loads of one warp, and a group waits for the one before it; with three and four warps that is hidden.
@pytest.mark.parametrize(("warps", "clocks", "waits"), [(1, 4, 1), (2, 4, 1), (3, 6, 0.1), (4, 8, 0.1)])
def test_independent_shared_loads(warps: int, clocks: int, waits: float) -> None:
    body = "v += ((volatile int *)cells)[(threadIdx.x + 32 * i) & 1023];"
    each = clocks_each(body, "rtx-a6000", threads=32 * warps, before=CELLS, longer=2)
    assert clocks - 0.1 <= each <= clocks + waits


# SyncPerformance (IISWC 2024), raw logs of an A100.
@pytest.mark.parametrize(("warps", "clocks"), [(1, 23), (2, 25), (4, 29), (8, 37), (16, 53), (32, 85)])
def test_barriers_one_after_the_other(warps: int, clocks: int) -> None:
    assert clocks_each("__syncthreads();", "a100", threads=32 * warps) == pytest.approx(clocks, abs=0.5)


@pytest.mark.parametrize(("threads", "clocks"), [(512, 64), (1024, 122.7)])
def test_barriers_of_two_blocks_on_an_sm(threads: int, clocks: float) -> None:
    assert clocks_each("__syncthreads();", "a100", threads=threads, blocks_per_sm=2) == pytest.approx(clocks, rel=0.06)


# 3080lab, an RTX 3080: 26 for the shuffle; the addition that keeps it in place takes 4 or 5 more.
def test_a_chain_of_shuffles() -> None:
    assert clocks_each("v = __shfl_xor_sync(-1, v, 1) + v;", "rtx-a6000") == pytest.approx(26 + 4.5, abs=0.6)


# GA102 whitepaper: shared memory moves 64 bytes a clock on Turing, 128 on GA10x. A load of two passes takes four clocks
# there and two here; so do 16 of them, from 16 warps.
@pytest.mark.parametrize(("gpu", "clocks"), [("t4", 64), ("rtx-a6000", 32)])
def test_shared_loads_with_a_bank_conflict(gpu: str, clocks: int) -> None:
    body = "v += ((volatile int *)cells)[(2 * threadIdx.x + i) & 1023];"
    assert clocks_each(body, gpu, threads=512, before=CELLS) == pytest.approx(clocks, rel=0.03)


# gpu-benches, L1 cache: 64 bytes a clock on an A40 with loads of 8 bytes.
def test_wide_loads_from_l1() -> None:
    body = "int2 w = ((const int2 *)next)[(threadIdx.x + 5 * i) & 2047]; v += w.x ^ w.y;"
    assert 512 * 8 / clocks_each(body, "rtx-a6000", threads=512) == pytest.approx(64, rel=0.05)


# AmpereArchViaMicroBenchMark, raw log of an RTX 3060: one warp, straight code. Up to 64 KiB an instruction takes 1.0
# clocks, beyond 160 KiB 4.45; the step between them (2.1) is not modelled.
@pytest.mark.parametrize(("kib", "clocks"), [(48, 1.0), (192, 4.45)])
def test_straight_code_larger_than_the_instruction_cache(kib: int, clocks: float) -> None:
    sheet, instructions = find_gpu("rtx-3060"), 64 * kib
    text = (  # the rounds come from memory: one text, which takes long to compile, for both
        "// launch: grid=(1) block=(1) shared=0\n"
        'extern "C" __global__ void k(const float *x, float *out) {\n'
        "    float v[4] = {}, e = x[0];\n#pragma unroll 1\n"
        "    for (float r = 0; r < x[1]; ++r)\n#pragma unroll\n"
        f"        for (int i = 0; i < {instructions}; ++i)\n"
        '            asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(v[i % 4]) : "f"(e));\n'
        "    out[blockIdx.x * 32 + threadIdx.x] = v[0] + v[1] + v[2] + v[3];\n}\n"
    )
    size = LaunchSize((sheet.sms, 1, 1), (32, 1, 1), 0)
    found: list[float] = []
    for rounds in (3, 5):
        x = np.zeros(32, np.float32)
        x[1] = rounds
        values = [Value("x", x, False), Value("out", np.zeros(4096, np.float32), True)]
        found.append(timed(read_kernel(text), "k", sheet, values, size).sm_cycles)
    assert (found[1] - found[0]) / 2 / instructions == pytest.approx(clocks, rel=0.03)
