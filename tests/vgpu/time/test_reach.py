"""What waves of blocks have in common is counted, whatever the grid and the seed; what L2 keeps follows."""

from __future__ import annotations

import numpy as np
import pytest

from warpsight.devices.device import Value
from warpsight.devices.machine_code import machine_code
from warpsight.devices.whole_launch import WholeLaunch, time_whole_launch
from warpsight.tasks import LaunchSize
from warpsight.toolchain.compile import compile_cuda
from warpsight.vgpu.gpu import Gpu
from warpsight.vgpu.gpus import find_gpu
from warpsight.vgpu.machine import Wave
from warpsight.vgpu.reach import MOST_WAVES, WAVES_IN_ROW, CountedWaves, dram_share, watched_waves

# Few multiprocessors and little L2: small arrays make many waves that do not fit. Blocks that share never meet on one
# of seven.
SMALL = find_gpu("a100").model_copy(update={"sms": 7, "l2_bytes": 1 << 20})
IN_ROW = "int n = blockIdx.x, g = n / 3;"
IN_PAIRS = "int n = blockIdx.y * 2 + blockIdx.x, g = blockIdx.y / 3 * 2 + blockIdx.x;"


def triples(where: str, grid: tuple[int, int, int], gpu: Gpu = SMALL, *, seed: int = 1, cores: int = 1) -> WholeLaunch:
    """Blocks of 256 threads; three of them read the same 4096 floats of x, no others do."""
    text = f"""extern "C" __global__ void k(const float4* x, float* y) {{
    {where}
    float s = 0;
    for (int j = 0; j < 4; ++j) {{ float4 a = x[g * 1024 + j * 256 + threadIdx.x]; s += a.x + a.y + a.z + a.w; }}
    y[n * 256 + threadIdx.x] = s;
}}"""
    build = compile_cuda(text, gpu_arch=gpu.arch)
    assert build.ok, build.diagnostics
    program = machine_code(build.cubin, "k").program
    assert program is not None
    blocks = grid[0] * grid[1]
    values = (
        Value("x", np.ones(blocks // 3 * 4096, np.float32), False),
        Value("y", np.zeros(blocks * 256, np.float32), True),
    )
    return time_whole_launch(program, build, gpu, values, LaunchSize(grid, (256, 1, 1), 0), seed=seed, cores=cores)


def test_blocks_in_threes_take_the_same_time_in_any_grid_and_for_any_seed() -> None:
    row = triples(IN_ROW, (1536, 1, 1)).time
    pairs = [triples(IN_PAIRS, (2, 768, 1), seed=seed).time for seed in range(4)]
    for one in pairs:
        assert one.dram_bytes == pytest.approx(row.dram_bytes, rel=0.02)
        assert one.time_us == pytest.approx(row.time_us, rel=0.1)
    assert row.dram_bytes == pytest.approx(512 * 4096 * 4 + 1536 * 256 * 4, rel=0.05)  # each triple once, and y


def test_waves_are_counted_alike_on_one_core_and_on_two() -> None:
    one, two = (triples(IN_ROW, (300, 1, 1), cores=cores).launched for cores in (1, 2))
    assert one.waves == two.waves and len(one.waves) == -(-300 // 56)
    first = one.waves[0]  # 56 blocks: eighteen triples and two blocks of the next
    assert first.loaded[0] == 19 * 512 and first.stored == 56 * 32
    assert one.waves[1].loaded[:2] == (19 * 512, 512)  # one block reads what the first wave read


def test_all_waves_are_watched_or_rows_of_them_from_every_part() -> None:
    assert watched_waves(MOST_WAVES, 5) == list(range(MOST_WAVES))
    for waves in (MOST_WAVES + 1, 100, 12345):
        found = watched_waves(waves, 5)
        assert found == sorted(set(found)) and len(found) <= MOST_WAVES and found[-1] < waves
        rows = [found[at : at + WAVES_IN_ROW] for at in range(0, len(found), WAVES_IN_ROW)]
        assert all(row == list(range(row[0], row[0] + WAVES_IN_ROW)) for row in rows)
        assert all(waves * at // 4 <= row[0] < waves * (at + 1) // 4 for at, row in enumerate(rows))
    assert watched_waves(12345, 5) != watched_waves(12345, 6)


def _wave(number: int, *loaded: int) -> Wave:
    return Wave(number, loaded + (0,) * (16 - len(loaded)), 0)


def test_what_l2_keeps_is_not_fetched_again() -> None:
    """Eight waves of 100 sectors: half of each was in the wave before, a quarter in the one before that."""
    waves = (_wave(0, 100), _wave(1, 50, 50), *(_wave(n, 25, 50, 25) for n in range(2, 8)))
    counted = CountedWaves(250.0, 0.0, 8.0, waves)
    assert counted.touched(1) == 100
    assert counted.fetched(0) == 800 and counted.fetched(2) == 100 + 50 + 6 * 25
    assert counted.fetched(1) == 100 + 50 + 6 * 50

    def served(l2_sectors: int) -> float:
        return 1000 * dram_share(SMALL.model_copy(update={"l2_bytes": 32 * l2_sectors}), counted, 1000.0)

    assert served(99) == 800 and served(100) == 450 and served(200) == 300 and served(250) == 250


def test_a_wave_whose_past_nobody_saw_says_nothing_of_it() -> None:
    """Waves 10 and 11 alone: only the second is known to follow one that was seen."""
    counted = CountedWaves(0.0, 0.0, 20.0, (_wave(10, 100), _wave(11, 40, 60)))
    assert counted.fetched(0) == 20 * 100 and counted.fetched(1) == 20 * 40
