"""Constant memory is fast where it fits a small cache, and slower than L1 where it does not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from benchmarks.pairs.first_line import read_kernel
from benchmarks.timed import timed

from warpsight.devices.device import Value
from warpsight.tasks import LaunchSize
from warpsight.vgpu.constants import PUBLISHED
from warpsight.vgpu.gpu import Gpu
from warpsight.vgpu.gpus import find_gpu
from warpsight.vgpu.timemodel import PredictedTime

GPU = find_gpu("a100")
STEPS = 2048
CHASE = """
__constant__ unsigned table[16384];
extern "C" __global__ void k(const unsigned *given, unsigned *y, unsigned words, unsigned stride) {
    unsigned at = 0;
    #pragma unroll 1
    for (int i = 0; i < 2048; ++i) at = (TABLE + stride) & (words - 1);
    y[threadIdx.x] = at;
}
"""
LANES = """
__constant__ unsigned table[16384];
extern "C" __global__ void k(const unsigned *given, unsigned *y, unsigned words, unsigned stride) {
    unsigned sum = 0;
    #pragma unroll 1
    for (unsigned i = 0; i < 2048; ++i) sum += table[(i * words + threadIdx.x * stride) & 16383];
    y[threadIdx.x] = sum;
}
"""


def run(
    text: str, words: int, stride: int, *, blocks: int = 1, gpu: Gpu = GPU, without: Sequence[str] = ()
) -> PredictedTime:
    values = [
        Value("given", np.zeros(16384, np.uint32), False),
        Value("y", np.zeros(32, np.uint32), True),
        Value("words", np.array(words, np.uint32), False),
        Value("stride", np.array(stride, np.uint32), False),
    ]
    return timed(
        read_kernel("// launch: grid=(1) block=(32) shared=0" + text),
        "k",
        gpu,
        values,
        LaunchSize((blocks, 1, 1), (32, 1, 1), 0),
        without=without,
    )


def chain(load: str, words: int, stride: int, steps: int = STEPS, **more: Any) -> float:
    text = CHASE.replace("TABLE", f"{load}[at] + at").replace("2048", str(steps))
    return run(text, words, stride, **more).cycles


def clocks(words: int, load: str = "table", **more: Any) -> float:
    """Of one load in a long chain through so many words, when all caches have what they can hold."""
    stride = 16 if words < 16384 else 64 + 16
    return (chain(load, words, stride, 4 * STEPS, **more) - chain(load, words, stride, 2 * STEPS, **more)) / 2 / STEPS


def test_a_chain_takes_what_each_cache_was_measured_to_take() -> None:
    small, large = clocks(256), clocks(2048)
    assert large - small == pytest.approx(PUBLISHED.constant_l15_clocks - PUBLISHED.constant_clocks, abs=2)
    assert 0 < small - PUBLISHED.constant_clocks < 24  # and what is computed between two loads


def test_what_no_cache_has_comes_from_l2() -> None:
    cold = chain("table", 16384, 64) - STEPS * clocks(2048)
    assert cold == pytest.approx(256 * (GPU.latency_l2 - PUBLISHED.constant_l15_clocks), rel=0.1)


def test_a_chain_through_a_large_table_gains_nothing_over_global_memory() -> None:
    assert clocks(16384) > 1.5 * clocks(16384, "given") > 1.5 * clocks(256)


def test_a_table_beyond_the_larger_cache_comes_from_l2_again_and_again() -> None:
    turing = find_gpu("t4")
    assert turing.constant_l15_bytes < 65536
    text = CHASE.replace("TABLE", "table[at] + at")
    once, twice = (run(text.replace("2048", str(n)), 16384, 64, gpu=turing).cycles for n in (STEPS, 2 * STEPS))
    assert (twice - once) / STEPS > turing.latency_l2


def test_lanes_that_differ_are_replayed_and_miss_by_the_line() -> None:
    same, apart, far = (run(LANES, *how).cycles / STEPS for how in ((0, 0), (0, 1), (512, 16)))
    assert apart - same == pytest.approx(31, abs=1)
    assert far - apart > PUBLISHED.constant_l15_clocks - PUBLISHED.constant_clocks + 31


def test_every_multiprocessor_starts_cold() -> None:
    text = CHASE.replace("TABLE", "table[at] + at")
    one, many = (run(text, 2048, 16, blocks=n).cycles for n in (1, GPU.sms))
    assert many == pytest.approx(one, rel=0.02)


def test_it_is_a_term_of_its_own() -> None:
    free = ("constant caches",)
    assert clocks(16384, without=free) == pytest.approx(clocks(256, without=free), rel=0.01)
    assert clocks(256) == pytest.approx(clocks(256, without=free), rel=0.02)


def test_a_generic_address_of_constant_memory_is_one_of_global_memory() -> None:
    either = "(words ? (const unsigned *)table : given)"
    assert chain(either, 16384, 80) == pytest.approx(chain("given", 16384, 80), rel=0.1)


UNIFORM = """
__constant__ float table[16384];
extern "C" __global__ void k(const unsigned *given, unsigned *y, unsigned words, unsigned stride) {
    float sum = __uint_as_float(given[threadIdx.x]);
    #pragma unroll 8
    for (unsigned i = 0; i < 2048; ++i) sum = sum * 0.5f + table[i * stride & (words - 1)];
    y[threadIdx.x] = __float_as_uint(sum);
}
"""


def test_constants_by_an_index_that_all_lanes_share_have_the_same_caches() -> None:
    near, far = run(UNIFORM, 256, 1), run(UNIFORM, 16384, 64)
    assert far.cycles > 2 * near.cycles
