"""Timed launches of kernels that keep state in variables of their module: what a first launch saves does not count."""

from __future__ import annotations

import numpy as np
import pytest

from warpsight.devices import whole_launch
from warpsight.devices.device import Value
from warpsight.devices.machine_code import FaultInLaunch, machine_code
from warpsight.devices.whole_launch import BEFORE, LATER_IS_SLOWER, WholeLaunch, time_whole_launch
from warpsight.tasks import LaunchSize
from warpsight.toolchain.compile import compile_cuda
from warpsight.vgpu import machine
from warpsight.vgpu.gpus import find_gpu

GPU = find_gpu("a100")
BLOCKS, N = 4, 4 * 256
KERNEL = """
__device__ unsigned turn[4], ticket, scratch[4096];
__constant__ float scale = 2.0f;
extern "C" __global__ void k(const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned launches = turn[blockIdx.x];
    float v = x[i] * scale;
    BODY
    y[i] = v;
}
"""
WORK = "for (int j = 0; j < 400; ++j) v = fmaf(v, 1.0000001f, 1e-12f);"
COUNT = "__syncthreads(); if (threadIdx.x == 0) turn[blockIdx.x] = launches + 1;"


def timed(body: str, seed: int = 1) -> WholeLaunch:
    build = compile_cuda(KERNEL.replace("BODY", body), gpu_arch=GPU.arch)
    assert build.ok, build.diagnostics
    program = machine_code(build.cubin, "k").program
    assert program is not None
    values = (Value("x", np.arange(N, dtype=np.float32), False), Value("y", np.zeros(N, np.float32), True))
    return time_whole_launch(program, build, GPU, values, LaunchSize((BLOCKS, 1, 1), (256, 1, 1), 0), seed=seed)


@pytest.fixture
def launches(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For every launch, whether it was watched for its time."""
    seen: list[bool] = []
    real = machine.launch

    def launch(*given: object, **more: object) -> machine.Launched:
        seen.append(more["watched"] is not None)
        return real(*given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(whole_launch.machine, "launch", launch)
    return seen


@pytest.mark.parametrize("free", [1, 3])
def test_work_that_is_not_done_in_the_first_launches_counts(free: int) -> None:
    always, later = timed(WORK + COUNT), timed(f"if (launches >= {free}) {{ {WORK} }} {COUNT}")
    never = timed(COUNT)
    assert later.time.cycles > 2 * never.time.cycles
    assert later.time.cycles == pytest.approx(always.time.cycles, rel=0.1)
    assert LATER_IS_SLOWER in later.time.notes
    assert not np.array_equal(later.arrays["y"], never.arrays["y"])  # outputs are those of the launch that counts


def test_a_slow_first_launch_counts_as_well() -> None:
    first = timed(f"if (launches == 0) {{ {WORK} }} {COUNT}")
    assert first.time.cycles > 2 * timed(COUNT).time.cycles and LATER_IS_SLOWER not in first.time.notes


@pytest.mark.parametrize(
    "body",
    ["", "if (scratch[i % 4096]) v = 0;", "if (atomicAdd(&ticket, 1u) == gridDim.x * blockDim.x - 1) ticket = 0;"],
    ids=["none", "only read", "put back"],
)
def test_variables_that_are_left_as_they_were_cost_nothing(body: str, launches: list[bool]) -> None:
    found = timed(body)
    assert all(launches) and len(launches) <= 2 and not found.time.notes  # two where blocks differ


def test_the_number_of_launches_before_is_secret_and_ends_where_nothing_changes(launches: list[bool]) -> None:
    counts = set[int]()
    for seed in range(4):
        timed(COUNT, seed)
        counts.add(launches.count(False))
        launches.clear()
    assert len(counts) > 1 and all(BEFORE[0] <= count + 1 < BEFORE[1] for count in counts), counts
    timed("scratch[i % 4096] = i + 1;")
    assert launches.count(False) == 1  # it leaves what the first one left


def test_a_fault_in_a_later_launch_is_told() -> None:
    with pytest.raises(FaultInLaunch, match=r"out_of_bounds .* in launch 6 of a loaded module"):
        timed(f"if (launches == 5) v = x[i + (1 << 24)]; {COUNT}")
