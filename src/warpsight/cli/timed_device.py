"""The device of a verb that tells time: the virtual GPU needs to be of a kind for that, OpenCL is as it is."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from warpsight.cli.device_argument import DeviceName, opened
from warpsight.errors import UsageError

if TYPE_CHECKING:
    from warpsight.devices.device import Device
    from warpsight.nouns import Task


@contextmanager
def timed_device(
    device: DeviceName, task: Task, gpu: str | None, *, cores: int | None, deadline_s: float
) -> Generator[Device, None, None]:
    """Open it; `gpu` is the kind of the virtual one, by default the task's, or which of the real ones."""
    if device == DeviceName.OPENCL:
        if gpu is not None:
            raise UsageError("--gpu is for the virtual device, OpenCL runs on this machine's processor")
        with opened(device, cores=cores, deadline_s=deadline_s) as processor:
            yield processor
        return
    if device in (DeviceName.CUDA, DeviceName.HIP):
        with opened(device, cores=cores, deadline_s=deadline_s, gpu=gpu) as real:
            yield real
        return
    from warpsight.cli.profile import target_gpu
    from warpsight.devices.virtual import VirtualGpu

    yield VirtualGpu(cores=cores, deadline_seconds=deadline_s, gpu=target_gpu(task, gpu))
