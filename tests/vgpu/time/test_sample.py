"""Which blocks stand for a launch: kinds by weight, the busiest multiprocessor, blocks that cannot tell."""

from __future__ import annotations

import math

import numpy as np
import pytest

from warpsight.devices.device import Value
from warpsight.devices.machine_code import FaultInLaunch, machine_code, time_launch
from warpsight.devices.whole_launch import WholeLaunch, time_whole_launch
from warpsight.tasks import LaunchSize
from warpsight.toolchain.compile import compile_cuda
from warpsight.vgpu import _core
from warpsight.vgpu.gpus import find_gpu
from warpsight.vgpu.sample import INSTRUCTIONS, SPAN, drift_of, kinds_of

GPU = find_gpu("a100")
SCALE = """
extern "C" __global__ void k(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}
"""
N = 1 << 16


def whole(text: str, blocks: int, *, seed: int = 1, n: int = N, out: int = N) -> WholeLaunch:
    build = compile_cuda(text, gpu_arch=GPU.arch)
    assert build.ok, build.diagnostics
    program = machine_code(build.cubin, "k").program
    assert program is not None
    values = (
        Value("x", np.arange(n, dtype=np.float32), False),
        Value("y", np.zeros(out, np.float32), True),
        Value("n", np.array(n, np.int32), False),
    )
    return time_whole_launch(program, build, GPU, values, LaunchSize((blocks, 1, 1), (256, 1, 1), 0), seed=seed)


def test_kinds_are_by_weight_from_the_heaviest_down() -> None:
    kinds = kinds_of(np.array([100.0, 60.0, 51.0, 49.0, 30.0, 1.0, 0.0]))
    assert kinds.tolist() == [0, 0, 0, 1, 1, 2, 3]
    assert kinds_of(np.full(5, 7.0)).tolist() == [0] * 5


def test_blocks_go_to_the_place_that_is_free_first() -> None:
    where = _core.dispatch(np.array([10.0, 1.0, 1.0, 1.0, 1.0]), 2, 1)
    assert where.tolist() == [0, 1, 1, 1, 1]
    assert _core.dispatch(np.ones(6), 3, 2).tolist() == [0, 1, 2, 0, 1, 2]


def test_every_block_is_weighed_and_the_outputs_are_those_of_the_launch() -> None:
    found = whole(SCALE, 256)
    assert found.launched.work.shape[0] == 256
    assert bool((found.launched.work == found.launched.work[0]).all()) and not found.time.notes
    assert np.array_equal(found.arrays["y"], 2 * np.arange(N, dtype=np.float32))
    assert found.launched.loaded_sectors == found.launched.stored_sectors == N // 8


@pytest.mark.parametrize("times", [2, 8, 64])
def test_idle_blocks_are_never_faster(times: int) -> None:
    plain, padded = whole(SCALE, 256).time, whole(SCALE, 256 * times).time
    assert padded.time_us >= 0.999 * plain.time_us


@pytest.mark.parametrize("seed", range(4))
def test_idle_blocks_behind_uneven_ones_are_never_faster(seed: int) -> None:
    uneven = """extern "C" __global__ void k(const float* in, float* out, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    unsigned s = blockIdx.x * 2654435761u;
    float v = in[i];
    for (unsigned j = 0; j < 20 + (s >> 23) % 97; ++j) v = sinf(v);
    out[i] = v;
}"""
    plain, padded = (whole(uneven, blocks, seed=seed).time for blocks in (256, 256 * 32))
    assert padded.time_us >= 0.999 * plain.time_us


def test_one_block_with_all_the_work_decides_the_time() -> None:
    lonely = SCALE.replace(
        "if (i < n) y[i] = 2.0f * x[i];",
        "if (blockIdx.x == 77) for (int j = threadIdx.x; j < n; j += 256) y[j] = 2.0f * x[j];",
    )
    found = whole(lonely, 256)
    assert np.array_equal(found.arrays["y"], 2 * np.arange(N, dtype=np.float32))
    assert found.time.time_us > 3 * whole(SCALE, 256).time.time_us
    assert abs(found.time.cycles / whole(lonely.replace("77", "0"), 1).time.cycles - 1) < 0.2


def test_a_ticket_counts_through_the_whole_launch() -> None:
    """In a launch of its own every traced block would draw a low ticket and have nothing to do."""
    ticket = """
__device__ unsigned turn;
extern "C" __global__ void k(const float* x, float* y, int n) {
    __shared__ unsigned t;
    if (threadIdx.x == 0) t = atomicInc(&turn, gridDim.x - 1);
    __syncthreads();
    float sum = 0.0f;
    if (t >= 24) for (int j = 0; j < 64; ++j) sum += x[(t * 7919 + j * 4099 + threadIdx.x * 33) % n];
    y[t * 256 + threadIdx.x] = sum;
}
"""
    found = whole(ticket, 256)
    work = found.launched.work[:, INSTRUCTIONS]
    assert work[:20].max() < work[40:].min()
    build = compile_cuda(ticket, gpu_arch=GPU.arch)
    program = machine_code(build.cubin, "k").program
    assert program is not None
    values = (
        Value("x", np.zeros(N, np.float32), False),
        Value("y", np.zeros(N, np.float32), True),
        Value("n", np.array(N, np.int32), False),
    )
    draft = time_launch(program, build, GPU, values, LaunchSize((256, 1, 1), (256, 1, 1), 0))
    assert found.time.time_us > 1.5 * draft.time_us  # which is why a draft is no verdict


def test_blocks_that_wait_for_one_another_cost_their_waiting() -> None:
    chain = """
__device__ unsigned finished;
extern "C" __global__ void k(const float* x, float* y, int n) {
    if (threadIdx.x == 0) while (atomicAdd(&finished, 0u) < blockIdx.x) {}
    __syncthreads();
    float sum = 0.0f;
    for (int j = 0; j < 200; ++j) sum = sum * x[j] + 1.0f;
    y[blockIdx.x * 256 + threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(&finished, 1u);
}
"""
    free = chain.replace("while (atomicAdd(&finished, 0u) < blockIdx.x) {}", "atomicAdd(&finished, 0u);")
    waiting = whole(chain, 100)
    assert waiting.launched.work[99, SPAN] > 5 * waiting.launched.work[0, SPAN]
    assert waiting.time.time_us > 5 * whole(free, 100).time.time_us


def test_the_sample_follows_from_the_seed_alone() -> None:
    again = [whole(SCALE, 300, seed=seed, n=300 * 256, out=300 * 256).time.time_us for seed in (5, 5, 6)]
    assert again[0] == again[1] and math.isclose(again[0], again[2], rel_tol=0.02)


def test_a_fault_in_the_timed_run_is_told_by_its_line() -> None:
    with pytest.raises(FaultInLaunch, match="out_of_bounds at line 4"):
        whole(SCALE.replace("y[i] =", "y[i + (1 << 20)] ="), 256)


def test_polls_that_fail_are_counted() -> None:
    waiting = """__device__ unsigned turn;
extern "C" __global__ void k(const float* x, float* y, int n) {
    if (threadIdx.x == 0) WAIT
    __syncthreads();
    y[blockIdx.x * 256 + threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) atomicExch(&turn, (blockIdx.x + 1) % gridDim.x);
}
"""
    polls = "while (atomicAdd(&turn, 0u) != blockIdx.x) {}"
    assert whole(waiting.replace("WAIT", polls), 16).time.failed_polls > 0
    assert whole(waiting.replace("WAIT", "y[0] = atomicInc(&turn, 15u) * 0.0f;"), 16).time.failed_polls == 0


def test_every_exchange_on_condition_that_holds_costs_a_way_to_l2() -> None:
    adds = """extern "C" __global__ void k(const int* x, int* y, int n) {
    int seen, there = 0;
    if (threadIdx.x == 0) ADD
}
"""
    swap = "do { seen = there; there = atomicCAS(y, seen, seen + 1); } while (there != seen);"
    plain, swapped = (whole(adds.replace("ADD", text), 256) for text in ("atomicAdd(y, 1);", swap))
    assert plain.arrays["y"].view(np.int32)[0] == swapped.arrays["y"].view(np.int32)[0] == 256
    assert swapped.time.cycles >= 256 * GPU.latency_l2
    assert plain.time.cycles < swapped.time.cycles / 4


def test_blocks_that_do_something_else_after_the_part_that_was_kept_are_uncertain() -> None:
    def work(**counts: float) -> np.ndarray:
        names = ("instructions", "clocks", "held", "sectors", "lines", "passes", "atomics", "barriers", "far", "span")
        return np.array([counts.get(name, 0.0) for name in names])

    kept = work(instructions=1000, clocks=2000)
    assert drift_of(kept, work(instructions=3000, clocks=6000)) == pytest.approx(0.0, abs=0.01)
    assert drift_of(kept, work(instructions=3000, clocks=6000, sectors=2000, lines=2000)) > 1.0
    assert drift_of(kept, work(instructions=1020, clocks=2000, sectors=200)) == 0.0  # all but the end was kept
    assert drift_of(kept, work(instructions=3000, clocks=6000, held=20000)) > 1.0  # as many, each needed by the next
    assert drift_of(kept, work(instructions=3000, clocks=6000, far=600)) > 1.0
    cold = work(instructions=1000, clocks=2000, far=200)
    assert drift_of(cold, work(instructions=3000, clocks=6000, far=200)) < 0.01  # a cold start is nobody's trick


LATER = {
    "chains": """
    float a = x[i], b = a + 1, c = a + 2, d = a + 3;
    for (int k = 0; k < n; ++k) {
        a = a * b + c; a = a * b + c; a = a * b + c; a = a * b + c;
        a = a * b + c; a = a * b + c; a = a * b + c; a = a * b + c;
    }
    y[i] = a + d;""",
    "far": """
    float a = 0;
    for (int k = 0; k < n; ++k) a += x[(i + k * 4096) & 65535];
    y[i] = a;""",
}
FIRST = {
    "chains": """
    float a = x[i], b = a + 1, c = a + 2, d = a + 3;
    float e = b, f = c, g = d, h = a;
    for (int k = 0; k < n; ++k) {
        a = a * b + c; e = e * b + c; f = f * b + c; g = g * b + c;
        h = h * b + c; d = d * b + c; a = a * b + c; e = e * b + c;
    }
    y[i] = a + d + e + f + g + h;""",
    "far": """
    float a = 0;
    for (int k = 0; k < n; ++k) a += x[(i + (k & 1)) & 65535];
    y[i] = a;""",
}


@pytest.mark.parametrize(("what", "budget"), [("chains", 250_000), ("far", 100_000)])
def test_what_a_block_hides_behind_the_part_that_was_kept_is_told(
    what: str, budget: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("warpsight.devices.whole_launch.WHOLE_STEP_BUDGET", budget)
    head = 'extern "C" __global__ void k(const float* x, float* y, int n) { int i = blockIdx.x * 256 + threadIdx.x;'
    honest = f"{head} n /= 64; {FIRST[what]} }}"
    hides = f"{head} n /= 128; {{ {FIRST[what]} }} {{ {LATER[what]} }} }}"
    assert any("only the first" in note for note in whole(hides, 216).time.notes)
    assert whole(honest, 216).time.spread < 0.1
    assert whole(hides, 216).time.spread > 0.3
