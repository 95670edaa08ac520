"""Counters of divergence, atomics, barriers and instruction mix; how counts add up over blocks, cores and samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from tests.vgpu.run import Ran, constant, output, run, three

from warpsight.devices.device import Value
from warpsight.devices.virtual import VirtualGpu
from warpsight.nouns import Profile
from warpsight.tasks import LaunchSize
from warpsight.toolchain.compile import compile_cuda
from warpsight.vgpu import counters

I32, F32 = np.int32, np.float32


def counted(source: str, arguments: dict[str, Any], **how: Any) -> dict[str, int | float]:
    ran = run(source, arguments, check=False, **how)
    assert ran.launched.faults == ()
    return ran.counters


# The branches do more than a predicated instruction can, so that they stay branches.
BRANCH = """
extern "C" __global__ void k(float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (%s) { for (int j = 0; j < 8; j++) x[i] = sqrtf(x[i] + j); }
    else { x[i] *= 3.0f; x[i + 128] = 1.0f; __nanosleep(1); }
}"""


@pytest.mark.parametrize(
    ("condition", "divergent"),
    [
        ("threadIdx.x & 1", 4),
        ("threadIdx.x < 16", 1),
        ("threadIdx.x < 32", 0),
        ("threadIdx.x < 40", 1),
        ("(threadIdx.x / 32) & 1", 0),
    ],
)
def test_divergent_branches_of_four_warps(condition: str, divergent: int) -> None:
    got = counted(BRANCH % condition, {"x": np.ones(256, F32)}, block=128)
    assert got["branches_divergent"] == divergent
    assert got["branch_efficiency"] == pytest.approx(100 * (1 - divergent / got["branches"]), abs=1e-3)


def test_lanes_of_a_loop_with_a_trip_count_for_each_lane() -> None:
    """Lane i goes round i + 1 times: the warp goes round 32 times with 32, 31, ..., 1 lanes, 528 in all."""
    source = """
    extern "C" __global__ void k(const float *x, float *y) {
        float v = 0.0f;
        #pragma unroll 1
        for (int j = 0; j <= threadIdx.x; j++) v += x[j];
        y[threadIdx.x] = v;
    }"""
    ran = run(source, {"x": constant(np.ones(32, F32)), "y": output(32, F32)}, check=False)
    np.testing.assert_array_equal(ran.arrays["y"], np.arange(1, 33))
    inside = next(n for n, t in enumerate(ran.program.texts) if t.startswith("ld.global"))
    row = ran.launched.counts[inside]
    assert row[counters.INDEX["warps"]] == 32
    assert row[counters.INDEX["threads"]] == 528
    assert 15 < ran.counters["lanes_per_instruction"] < 20
    assert ran.counters["branches_divergent"] == 31


@pytest.mark.parametrize(("groups", "passes"), [(1, 32), (2, 16), (8, 4), (32, 1)])
@pytest.mark.parametrize("place", ["global", "shared"])
def test_atomics_pass_once_for_each_lane_on_the_same_address(groups: int, passes: int, place: str) -> None:
    target = "s" if place == "shared" else "y"
    source = f"""
    extern "C" __global__ void k(int *y, int groups) {{
        __shared__ int s[32];
        s[threadIdx.x] = 0;
        __syncwarp();
        atomicAdd(&{target}[threadIdx.x % groups], 1);
        __syncwarp();
        y[32 + threadIdx.x] = s[threadIdx.x];
    }}"""
    ran = run(source, {"y": np.zeros(64, I32), "groups": I32(groups)})
    assert ran.launched.faults == ()
    start = 32 if place == "shared" else 0
    np.testing.assert_array_equal(ran.arrays["y"][start : start + groups], np.full(groups, 32 // groups))
    got = ran.counters
    assert (got["atomic_requests"], got["atomic_lanes"], got["atomic_passes"]) == (1, 32, passes)


def test_barriers_are_counted_by_warps() -> None:
    source = """
    extern "C" __global__ void k(int *y) {
        __shared__ int s[96];
        for (int r = 0; r < 5; r++) {
            s[threadIdx.x] = r;
            __syncthreads();
            y[threadIdx.x] = s[95 - threadIdx.x];
            __syncthreads();
        }
    }"""
    assert counted(source, {"y": output(96, I32)}, block=96)["barriers"] == 3 * 10


def test_the_mix_of_a_known_kernel() -> None:
    source = """
    extern "C" __global__ void k(const float *x, float *y, const double *p, double *q) {
        int i = threadIdx.x;
        float v = x[i];
        for (int j = 0; j < 10; j++) v = fmaf(v, v, 1.0f);
        y[i] = rsqrtf(v);
        double d = p[i];
        for (int j = 0; j < 6; j++) d = fma(d, 0.5, 1.0);
        q[i] = d;
    }"""
    arguments = {
        "x": constant(np.ones(64, F32)),
        "y": output(64, F32),
        "p": constant(np.ones(64)),
        "q": output(64, float),
    }
    got = counted(source, arguments, block=64)
    assert got["mix_float"] == 2 * 10
    assert got["mix_double"] == 2 * 6
    assert got["mix_special"] == 2
    assert got["mix_tensor"] == got["mix_half"] == got["mix_barrier"] == got["mix_warp"] == 0
    assert got["mix_memory"] >= 2 * 4
    assert sum(v for k, v in got.items() if k.startswith("mix_")) == got["instructions"]
    assert got["thread_instructions"] == 32 * got["instructions"]
    assert got["lanes_per_instruction"] == 32.0


UNIFORM = """
extern "C" __global__ void k(const float *x, float *y) {
    __shared__ float s[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    s[threadIdx.x] = x[i];
    __syncthreads();
    float v = 0.0f;
    for (int j = 0; j < 20; j++) v += s[(threadIdx.x * 2 + j) % 64];
    y[i] = v;
}"""


def uniform(count: int, **how: Any) -> Ran:
    arguments = {"x": constant(np.ones(64 * count, F32)), "y": np.zeros(64 * count, F32)}
    return run(UNIFORM, arguments, grid=count, block=64, check=False, **how)


def test_counts_scale_exactly_with_the_blocks() -> None:
    one, many = uniform(1).launched.counts, uniform(37, cores=2).launched.counts
    np.testing.assert_array_equal(one * np.uint64(37), many)


@pytest.mark.parametrize("blocks", [[0], [3, 7, 8], [36]])
def test_only_the_chosen_blocks_run(blocks: Sequence[int]) -> None:
    ran = uniform(37, blocks=blocks)
    touched = ran.arrays["y"].reshape(37, 64).any(1)
    assert np.flatnonzero(touched).tolist() == list(blocks)
    assert (ran.launched.blocks_run, ran.launched.total_blocks) == (len(blocks), 37)
    np.testing.assert_array_equal(ran.launched.counts, uniform(1).launched.counts * np.uint64(len(blocks)))


def profile(source: str, values: dict[str, np.ndarray], grid: int, block: int, budget: int) -> Profile:
    built = compile_cuda(source)
    given = [Value(name, array, writable=True) for name, array in values.items()]
    size = LaunchSize(three(grid), three(block), 0)
    return VirtualGpu(cores=2, profile_budget=budget).profile(built, "k", given, size, source_text=source)


def test_a_sampled_profile_says_so_and_scales() -> None:
    n = 400
    values = {"x": np.ones(64 * n, F32), "y": np.zeros(64 * n, F32)}
    full, part = (profile(UNIFORM, values, n, 64, budget) for budget in (10**9, 20_000))
    assert (full.sampled_blocks, full.total_blocks) == (n, n)
    assert part.total_blocks == n
    assert part.sampled_blocks is not None
    assert 4 <= part.sampled_blocks < n
    for name, value in full.counters.items():
        assert part.counters[name] == pytest.approx(value, rel=0.02), name


def test_blocks_that_wait_for_earlier_ones_can_be_profiled_from_a_sample() -> None:
    source = """
    extern "C" __global__ void k(volatile int *flag, int *y) {
        if (threadIdx.x == 0) {
            while (blockIdx.x > 0 && flag[blockIdx.x - 1] == 0) {}
            flag[blockIdx.x] = 1;
        }
        __syncthreads();
        y[blockIdx.x * 64 + threadIdx.x] = blockIdx.x;
    }"""
    given = [Value("flag", np.zeros(400, I32), writable=True), Value("y", np.zeros(400 * 64, I32), writable=True)]
    device = VirtualGpu(profile_budget=1000, max_instructions=5_000_000)
    size = LaunchSize(three(400), three(64), 0)
    got = device.profile(compile_cuda(source), "k", given, size, source_text=source)
    assert got.counters["barriers"] == 400 * 2
    assert got.counters["global_store_sectors"] == 400 * 9


def test_a_profile_names_the_guilty_line() -> None:
    got = profile(UNIFORM, {"x": np.ones(256, F32), "y": np.zeros(256, F32)}, 4, 64, 10**9)
    conflicts = {line.line: line.counters.get("shared_bank_conflicts", 0) for line in got.lines}
    assert conflicts[8] == got.counters["shared_bank_conflicts"] == 4 * 2 * 20
    assert sum(conflicts.values()) == conflicts[8]
    assert next(line.text for line in got.lines if line.line == 8).startswith("for (int j = 0")


DETERMINED = {
    "float atomics": """
    extern "C" __global__ void k(const float *x, float *y) {
        int i = blockIdx.x * 64 + threadIdx.x;
        atomicAdd(&y[i % 7], x[i] * 0.1f);
    }""",
    "integer atomics": """
    extern "C" __global__ void k(const float *x, int *y) {
        int i = blockIdx.x * 64 + threadIdx.x;
        atomicAdd(&y[i % 7], (int)(x[i] * 100.0f));
    }""",
    "tickets": """
    extern "C" __global__ void k(const float *x, int *y) {
        int i = blockIdx.x * 64 + threadIdx.x;
        if (x[i] > 0.5f) y[atomicAdd(y, 1) + 1] = i;
    }""",
    "divergence": """
    extern "C" __global__ void k(const float *x, float *y) {
        int i = blockIdx.x * 64 + threadIdx.x;
        float v = x[i];
        while (v < 100.0f) v = v * 1.5f + 0.1f;
        y[i] = v;
    }""",
}


@pytest.mark.parametrize("name", DETERMINED)
def test_results_and_counts_do_not_depend_on_the_cores(name: str) -> None:
    x = np.random.default_rng(11).random(64 * 50).astype(F32)
    one, two = (
        run(
            DETERMINED[name],
            {"x": constant(x), "y": np.zeros(64 * 50 + 1, I32)},
            grid=50,
            block=64,
            check=False,
            cores=c,
        )
        for c in (1, 2)
    )
    assert one.launched.faults == two.launched.faults == ()
    np.testing.assert_array_equal(one.arrays["y"], two.arrays["y"])
    np.testing.assert_array_equal(one.launched.counts, two.launched.counts)
    assert one.arrays["y"].any()
