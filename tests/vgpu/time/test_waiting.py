"""What takes time without an instruction to show for it: fences, sleep, and what has no time at all."""

from __future__ import annotations

import numpy as np
import pytest
from tests.vgpu.time.test_sample import GPU, SCALE, N, whole

from warpsight.devices.device import CannotProfile, Value
from warpsight.devices.virtual import VirtualGpu
from warpsight.tasks import LaunchSize
from warpsight.toolchain.compile import compile_cuda
from warpsight.vgpu.constants import PUBLISHED


def added_us(before: str) -> float:
    slow = SCALE.replace("if (i < n)", f"{before} if (i < n)")
    return whole(slow, 256).time.time_us - whole(SCALE, 256).time.time_us


@pytest.mark.parametrize(("fence", "clocks"), [
    ("__threadfence();", PUBLISHED.fence_clocks),
    ("__threadfence_system();", PUBLISHED.fence_system_clocks),
    ("__threadfence_block();", 0),
])  # fmt: skip
def test_a_fence_takes_what_was_measured(fence: str, clocks: int) -> None:
    assert added_us(fence) * GPU.boost_mhz == pytest.approx(clocks, abs=150)


@pytest.mark.parametrize("how_long", ["20000", "n / 4 + 3616", "threadIdx.x == 77 ? 20000 : 100"])
def test_sleep_takes_its_time_whether_it_stands_in_the_code_or_not(how_long: str) -> None:
    assert added_us(f"__nanosleep({how_long});") == pytest.approx(20, rel=0.1)


def test_a_few_blocks_that_sleep_are_not_missed() -> None:
    assert added_us("if (blockIdx.x * 2654435761u >> 26 == 5) __nanosleep(20000);") > 15


def test_a_fence_is_a_stall_of_its_own() -> None:
    time = whole(SCALE.replace("if (i < n)", "__threadfence_system(); if (i < n)"), 256).time
    assert max(time.stall_share, key=lambda name: time.stall_share[name]) == "membar"


def test_a_kernel_that_allocates_has_counts_and_no_time() -> None:
    text = SCALE.replace("if (i < n)", "int* p = (int*)malloc(16); if (!p) return; free(p); if (i < n)")
    build = compile_cuda(text, gpu_arch=GPU.arch)
    values = (
        Value("x", np.ones(N, np.float32), False),
        Value("y", np.zeros(N, np.float32), True),
        Value("n", np.array(N, np.int32), False),
    )
    device, size = VirtualGpu(gpu=GPU), LaunchSize((4, 1, 1), (256, 1, 1), 0)
    with pytest.raises(CannotProfile, match="malloc"):
        device.observe(build, "k", values, size, source_text=text)
    found = device.profile(build, "k", values, size, source_text=text)
    assert "duration_us" not in found.counters and "malloc" in " ".join(found.notes)
