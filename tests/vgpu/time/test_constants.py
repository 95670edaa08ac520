"""Every constant of the time model has a source, the documentation says the same, and each can be varied."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from benchmarks.pairs import load_ties
from benchmarks.pairs.first_line import read_kernel
from benchmarks.time_pairs import no_difference, times_us
from benchmarks.timed import timed

from warpsight.devices.device import Value
from warpsight.tasks import LaunchSize
from warpsight.vgpu.constants import PUBLISHED, listed
from warpsight.vgpu.gpus import find_gpu

DOCUMENT = Path(__file__).parents[3] / "docs" / "time-model.md"
KERNEL = """// launch: grid=(1) block=(1) shared=0
extern "C" __global__ void k(float *y) {
    float v = threadIdx.x;
    for (int i = 0; i < 64; ++i) v = __expf(v) - 1.0f;
    y[threadIdx.x] = v;
}
"""


def test_every_constant_has_a_source() -> None:
    assert all(len(c.source) > 10 for c in listed())


def test_what_stands_in_for_an_unpublished_number_is_that_number() -> None:
    assert PUBLISHED.other_clocks == PUBLISHED.special_clocks


def test_the_documented_constants_are_these() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    missing = [c.name for c in listed() if f"| {c.meaning} | {c.value:g} {c.unit} | {c.source} |" not in text]
    assert missing == []


def test_a_constant_can_be_varied() -> None:
    gpu, values = find_gpu("rtx-a6000"), [Value("y", np.zeros(32, np.float32), True)]
    size = LaunchSize((1, 1, 1), (32, 1, 1), 0)
    plain, slow = (
        timed(read_kernel(KERNEL), "k", gpu, values, size, constants=c).cycles
        for c in (PUBLISHED, replace(PUBLISHED, special_clocks=34))
    )
    assert slow - plain >= 64 * 16


def test_a_known_tie_is_a_tie() -> None:
    tie = next(t for t in load_ties() if t.name == "copy_float4_dram")
    for name in tie.ties_on:
        assert no_difference(*times_us(tie, find_gpu(name)))
    assert not no_difference(1.04, 1.0) and not no_difference(1.0, 1.04)
