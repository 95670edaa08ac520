"""Launches that only count read inputs in place: these stay as they were, whatever the kernel does."""

from __future__ import annotations

import numpy as np
import pytest

from warpsight.devices.device import CannotProfile, Value
from warpsight.devices.virtual import VirtualGpu
from warpsight.nouns import Profile
from warpsight.tasks import LaunchSize
from warpsight.toolchain.compile import compile_cuda
from warpsight.vgpu.gpus import find_gpu

SIZE = LaunchSize(grid=(1, 1, 1), block=(32, 1, 1), shared_bytes=0)
GPU = find_gpu("a100")


def profiled(body: str, x: np.ndarray, y: np.ndarray) -> Profile:
    text = f'extern "C" __global__ void k(float* x, float* y) {{ int i = threadIdx.x; {body} }}\n'
    build = compile_cuda(text, gpu_arch=GPU.arch)
    assert build.ok, build.diagnostics
    values = (Value("x", x, writable=False), Value("y", y, writable=True))
    return VirtualGpu(gpu=GPU).profile(build, "k", values, SIZE, source_text=text)


@pytest.mark.parametrize("writeable", [True, False], ids=["plain", "read only to numpy too"])
def test_a_profile_changes_neither_inputs_nor_outputs_of_the_caller(writeable: bool) -> None:
    x, y = np.arange(32, dtype=np.float32), np.full(32, 7.0, np.float32)
    x.flags.writeable = writeable
    assert profiled("y[i] = 2 * x[i];", x, y).counters["duration_us"] > 0
    assert (x == np.arange(32)).all() and (y == 7.0).all()


def test_a_store_to_an_input_is_a_fault_and_changes_nothing() -> None:
    x = np.arange(32, dtype=np.float32)
    with pytest.raises(CannotProfile, match="write_to_const"):
        profiled("x[i] = 0; y[i] = 1;", x, np.zeros(32, np.float32))
    assert (x == np.arange(32)).all()
