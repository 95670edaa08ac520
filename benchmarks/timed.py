"""A kernel's simulated time on a GPU, for the checks of the time model: build, machine code, prediction."""

from __future__ import annotations

from collections.abc import Sequence

from warpsight.devices.device import Value
from warpsight.devices.machine_code import machine_code, time_launch
from warpsight.nouns import Candidate
from warpsight.tasks import LaunchSize
from warpsight.toolchain.compile import compile_cuda
from warpsight.vgpu.constants import PUBLISHED, Constants
from warpsight.vgpu.gpu import Gpu
from warpsight.vgpu.timemodel import STEP_BUDGET, PredictedTime


def timed(
    kernel: Candidate,
    entry: str,
    gpu: Gpu,
    values: Sequence[Value],
    size: LaunchSize,
    *,
    step_budget: int = STEP_BUDGET,
    without: Sequence[str] = (),
    constants: Constants = PUBLISHED,
) -> PredictedTime:
    """Raises when the kernel does not compile or its machine code has a form that is not read."""
    build = compile_cuda(kernel.source, gpu_arch=gpu.arch, options=kernel.options, entry=entry)
    if not build.ok:
        raise ValueError(f"does not compile: {build.diagnostics[0].message}")
    code = machine_code(build.cubin, entry)
    if code.program is None:
        raise ValueError(code.reason)
    return time_launch(
        code.program, build, gpu, values, size, step_budget=step_budget, without=without, constants=constants
    )
