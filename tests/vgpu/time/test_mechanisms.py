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
from warpsight.vgpu.timemodel import STEP_BUDGET, TERMS, Prediction

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
    step_budget: int = STEP_BUDGET,
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
    size = LaunchSize(grid, block, 0)
    return timed(read_kernel(text), "k", find_gpu(gpu), values, size, without=without, step_budget=step_budget)


@pytest.mark.parametrize("gpu", ["t4", "a100"])
def test_a_constant_operand_is_no_access_of_the_step_before(gpu: str) -> None:
    """`FFMA R, R, c[3][..]` needs no more time than with the number itself, and stores stay stores."""
    body = "float s = x[i];\n#pragma unroll\nfor (int j = 0; j < 64; ++j) s = s * {} + s; y[i] = s;"
    held = run(body.format("c[j]"), gpu, before="__constant__ float c[64];")
    plain = run(body.format("(1.5f + j)"), gpu)
    assert held.l2_bytes == plain.l2_bytes == 8 * N
    assert held.dram_bytes == plain.dram_bytes == 8 * N
    assert held.time_us == pytest.approx(plain.time_us, rel=0.02)


def test_a_trace_that_runs_again_does_not_find_its_own_data() -> None:
    """With so few steps only one filling is traced, and the others are replayed."""
    body, n = "float s = 0; for (int j = 0; j < 4; ++j) s += x[4 * i + j * 0]; y[i] = s;", 1 << 22
    moved, stayed = (
        run(body, n=n, step_budget=2000, grid=(n // 1024, 1, 1), without=w) for w in ((), ("ends of traces",))
    )
    assert any("runs them again" in note for note in moved.notes)
    assert moved.l1_hit_rate == 0.0 < stayed.l1_hit_rate


UNEVEN = """
__shared__ float s[4096]; float v = x[i & (n - 1)];
for (int j = 0; j < 40 + 60 * (blockIdx.x % 3); ++j) { s[threadIdx.x] = v; __syncthreads(); v += s[threadIdx.x ^ 1]; }
y[i & (n - 1)] = v;
"""


def test_the_pace_is_followed_until_it_settles_and_its_spread_is_told() -> None:
    """Blocks of three lengths: the second filling alone is not the pace of the launch."""
    few, settled = (run(UNEVEN, grid=(108 * 240, 1, 1), block=(1024, 1, 1), without=w) for w in (("settled pace",), ()))
    assert settled.simulated_cycles > few.simulated_cycles
    assert 0.0 < settled.spread < 0.2


TILES = "int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 8 + threadIdx.y; float s = 0;"
HALO = TILES + "for (int j = 0; j < 24; ++j) s += x[(r + j) * 4096 + c]; y[r * 4096 + c] = s;"
PRODUCT = (
    TILES
    + "for (int j = 0; j < 512; j += 8) s += x[r * 512 + j] * x[(j + threadIdx.y) * 4096 + c]; y[r * 4096 + c] = s;"
)


@pytest.mark.parametrize(("body", "loaded"), [(HALO, 4096 * 535), (PRODUCT, 4096 * 512)])
def test_what_tiles_share_in_y_comes_from_dram_once(body: str, loaded: int) -> None:
    """512 rows of tiles: with their halo, or all of one array in each of them."""
    n = 4096 * 600
    both, flat = (
        run(body, grid=(128, 64, 1), block=(32, 8, 1), n=n, without=w) for w in ((), ("footprints in two directions",))
    )
    assert both.dram_bytes == pytest.approx(4 * (loaded + 4096 * 512), rel=0.05)
    assert flat.dram_bytes > both.dram_bytes


def test_stores_after_the_part_that_was_kept_are_counted() -> None:
    body = "float s = 0; for (int j = 0; j < 4096; ++j) s = s * 0.5f + x[(i + j) & (n - 1)]; y[i] = s;"
    cut = run(body, step_budget=30_000)
    assert any("only the first" in note for note in cut.notes)
    assert cut.dram_bytes >= 4 * N
