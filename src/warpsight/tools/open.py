"""From a task and a few words to its tools: which device, which GPU, which kernel to beat, which feedback.

The way in for every door. Checks that the request makes sense; runs nothing yet.
"""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Literal

from warpsight.devices.device import Device
from warpsight.errors import UsageError
from warpsight.gate.ledger import Ledger
from warpsight.nouns import Candidate, Task
from warpsight.tasks import read_candidate, written_in
from warpsight.tools.feedback import Feedback
from warpsight.tools.more import Shelf
from warpsight.tools.task_box import TaskBox
from warpsight.tools.workbench import SEED_BITS, Workbench
from warpsight.vgpu.gpus import find_gpu

DeviceKind = Literal["virtual", "opencl", "cuda", "hip"]


def open_box(
    task: Task,
    *,
    device: DeviceKind = "virtual",
    gpu: str | None = None,
    kernel: str | None = None,
    feedback: Feedback = "curated",
    seed: int | None = None,
    ledger: Path | None = None,
    unsafe: bool = False,
    shelf: Shelf | None = None,
    decoys: tuple[Task, ...] = (),
    cores: int | None = None,
    deadline_seconds: float = 120.0,
) -> TaskBox:
    """The tools of a task. `kernel` is the text to beat, by default the task's own for this device."""
    bench = Workbench(
        task,
        _device(task, device, gpu, unsafe=unsafe, cores=cores, deadline_seconds=deadline_seconds),
        given_kernel(task, device, kernel),
        feedback=feedback,
        seed=secrets.randbits(SEED_BITS) if seed is None else seed,
        ledger=None if ledger is None else Ledger(ledger),
        unsafe=unsafe,
        decoys=decoys,
    )
    return TaskBox(bench, shelf)


def given_kernel(task: Task, device: DeviceKind, text: str | None = None) -> Candidate:
    """The kernel to beat on this device."""
    if device == "opencl":
        if text is None and not task.opencl_file:
            raise UsageError(
                f"task {task.name} has no OpenCL kernel", hint='add `opencl = "kernel.cl"` to its task.toml'
            )
        return read_candidate(task.opencl if text is None else text, task, task.opencl_file or "kernel.cl", "opencl")
    if text is None:
        return read_candidate(task.kernel, task, task.kernel_file)
    return read_candidate(text, task, task.kernel_file, written_in(text))


def _device(
    task: Task, kind: DeviceKind, gpu: str | None, *, unsafe: bool, cores: int | None, deadline_seconds: float
) -> Device:
    if kind == "opencl":
        if gpu is not None:
            raise UsageError("a GPU is for the virtual device, OpenCL runs on this machine's processor")
        from warpsight.devices.opencl import OpenClDevice

        return OpenClDevice(threads=cores, deadline_seconds=deadline_seconds, unsafe=unsafe)
    if kind == "cuda":
        from warpsight.devices.cuda import CudaDevice
        from warpsight.lens.profilers.on_gpu import look_for_faults

        return CudaDevice(gpu=gpu, deadline_seconds=deadline_seconds, checker=look_for_faults)
    if kind == "hip":
        from warpsight.devices.hip import HipDevice

        return HipDevice(gpu=gpu, deadline_seconds=deadline_seconds)
    from warpsight.devices.virtual import VirtualGpu

    return VirtualGpu(gpu=find_gpu(gpu or task.gpu), cores=cores, deadline_seconds=deadline_seconds)
