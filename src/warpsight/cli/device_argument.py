"""`--device`: where a kernel runs, and which of a task's kernels that is.

Says nothing of right or fast. What must stay true: a kernel in one language is never given to a device for the other.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING

from warpsight.errors import UsageError

if TYPE_CHECKING:
    from warpsight.devices.device import Device
    from warpsight.nouns import Candidate, Language

DEVICE_HELP = (
    "Where it runs: the virtual GPU, this machine's processor through OpenCL, its NVIDIA GPU through CUDA, its AMD GPU "
    "through HIP. "
    "By default the kernel tells, and CUDA C++ goes to the virtual GPU."
)


class DeviceName(StrEnum):
    """The devices there are."""

    VIRTUAL = "virtual"
    OPENCL = "opencl"
    CUDA = "cuda"
    HIP = "hip"


LANGUAGES: dict[DeviceName, Language] = {
    DeviceName.VIRTUAL: "cuda",
    DeviceName.OPENCL: "opencl",
    DeviceName.CUDA: "cuda",
    DeviceName.HIP: "cuda",
}
RUN_TRITON = (DeviceName.VIRTUAL, DeviceName.CUDA)
"""Triton's compiler ends in PTX: it runs where PTX does."""


def language_for(device: DeviceName | None) -> Language:
    """The language of the task's own kernel that this device runs."""
    return "cuda" if device is None else LANGUAGES[device]


def device_for(device: DeviceName | None, candidate: Candidate, file: str) -> DeviceName:
    """The device that was asked for, or the one that fits; a kernel it does not run is a UsageError."""
    fitting = DeviceName.OPENCL if candidate.language == "opencl" else DeviceName.VIRTUAL
    triton = candidate.language == "triton"
    if device is not None and (device in RUN_TRITON if triton else LANGUAGES[device] == candidate.language):
        return device
    if device is not None and device != fitting:
        others = "CUDA C++ and Triton" if device in RUN_TRITON else "CUDA C++"
        needed = "OpenCL C, in a .cl file" if device == DeviceName.OPENCL else others
        raise UsageError(
            f"the {device} device runs {needed}, {file} came", hint=f"leave --device out, or use --device {fitting}"
        )
    return fitting


@contextmanager
def opened(
    device: DeviceName, *, cores: int | None, deadline_s: float, gpu: str | None = None
) -> Generator[Device, None, None]:
    """The device, ended with all its workers when the block is left. `gpu` chooses among real GPUs."""
    if device == DeviceName.OPENCL:
        from warpsight.devices.opencl import OpenClDevice

        with OpenClDevice(threads=cores, deadline_seconds=deadline_s) as processor:
            yield processor
    elif device == DeviceName.CUDA:
        from warpsight.devices.cuda import CudaDevice
        from warpsight.lens.profilers.on_gpu import look_for_faults

        with CudaDevice(gpu=gpu, deadline_seconds=deadline_s, checker=look_for_faults) as real:
            yield real
    elif device == DeviceName.HIP:
        from warpsight.devices.hip import HipDevice

        with HipDevice(gpu=gpu, deadline_seconds=deadline_s) as amd:
            yield amd
    else:
        from warpsight.devices.virtual import VirtualGpu

        yield VirtualGpu(cores=cores, deadline_seconds=deadline_s)
