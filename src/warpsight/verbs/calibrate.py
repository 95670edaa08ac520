"""`warpsight doctor --calibrate`: which devices are checked, and how the outcome is shown. The check is in the lens.

The virtual GPU always; an NVIDIA GPU where one answers, through the profilers of the ladder.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from warpsight.errors import DeviceError, ToolMissing

if TYPE_CHECKING:
    from warpsight.lens.profilers.calibration import Calibration, MicroKernel
    from warpsight.nouns import Build, Profile

VIRTUAL = "a100"
PROFILER_S = 300.0


def calibrations() -> tuple[Calibration, ...]:
    """One for each device that is here."""
    from warpsight.devices.virtual import VirtualGpu
    from warpsight.lens.profilers.calibration import calibrate, on_device
    from warpsight.vgpu.gpus import find_gpu

    virtual = calibrate(on_device(VirtualGpu(gpu=find_gpu(VIRTUAL))), f"virtual GPU ({VIRTUAL}, simulated)")
    return (virtual, *_nvidia())


def _nvidia() -> tuple[Calibration, ...]:
    """The counters of this machine's NVIDIA GPU; nothing where none answers, which doctor's own lines tell."""
    from warpsight.devices.cuda import CudaDevice
    from warpsight.lens.profilers.calibration import calibrate, remember_wrong
    from warpsight.lens.profilers.ladder import climb, nvidia_rungs

    with CudaDevice() as device, tempfile.TemporaryDirectory() as name:
        try:
            gpu = device.gpu
        except (ToolMissing, DeviceError):
            return ()

        def measure(kernel: MicroKernel, build: Build) -> Profile:
            folder = Path(name)
            program = device.replay_argv(build, kernel.entry, kernel.values, kernel.size, folder=folder, launches=1)
            return climb(nvidia_rungs(program, kernel.entry, folder=folder, deadline_s=PROFILER_S)).profile

        found = calibrate(measure, f"{gpu.name} ({'simulated' if gpu.told else 'measured'})", gpu_arch=device.gpu_arch)
        remember_wrong(gpu.uuid, found.wrong)
        return (found,)
