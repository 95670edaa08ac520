"""The kernel that is judged: its text compiled for a device, and its launch on a workload.

What every door needs before it profiles, checks or times, so it loads none of those parts. What must stay true: a text
that does not compile, or that the compiler does not survive, is a Build that says so and not an error.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from warpsight.devices.device import CannotProfile, Device, arch_of, teach
from warpsight.errors import TaskError
from warpsight.nouns import HOST_CODE_NOTE, Build, Candidate, Diagnostic, Task, Timing, Workload
from warpsight.tasks import LaunchSize, evaluate_launch, kernel_name, launch_of
from warpsight.toolchain.compile import DEADLINE_S, compile_cuda
from warpsight.toolchain.nvrtc import NvrtcProcess
from warpsight.toolchain.process import DeadlinePassed, MachineTooBusy, ProgramDied
from warpsight.toolchain.together import compile_together

BY_THE_TEXT = ("out_of_memory", "killed_by_signal", "cpu_limit", "too_much_output", "seccomp_violation")


@dataclass(frozen=True)
class Kernel:
    """A kernel that can be timed on one workload."""

    candidate: Candidate
    build: Build
    size: LaunchSize


def kernel_on(candidate: Candidate, build: Build, workload: Workload) -> Kernel:
    """The kernel with its launch for this workload; a launch that is impossible raises CannotProfile."""
    try:
        return Kernel(candidate, build, launch_of(build, evaluate_launch(candidate, workload.axes)))
    except TaskError as impossible:
        raise CannotProfile(f"the launch is not possible: {impossible.message}") from None


def trusted(found: Timing, *builds: Build) -> Timing:
    """The timing, trusted as far as the least trusted of its programs."""
    if all(build.trust == "kernel" for build in builds):
        return found
    notes = found.notes if HOST_CODE_NOTE in found.notes else (*found.notes, HOST_CODE_NOTE)
    return found.model_copy(update={"trust": "host_code", "notes": notes})


def timed_workload(task: Task) -> Workload:
    """The workload that is timed: the one flagged for profiles, else the last that is not hidden."""
    shown = [w for w in task.workloads if not w.hidden] or list(task.workloads)
    return next((w for w in shown if w.profile), shown[-1])


def build_for(task: Task, candidate: Candidate, device: Device, *, unsafe: bool = False) -> Build:
    """The candidate compiled for the device that will run it."""
    if candidate.language == "opencl":
        return _build_opencl(task, candidate, unsafe=unsafe)
    teach(device, candidate.source)
    return build_candidate(task, candidate, gpu_arch=arch_of(device))


def build_together(task: Task, candidates: Sequence[Candidate], device: Device) -> list[Build]:
    """The same for many CUDA candidates, by as many compilers as the device may use cores."""
    for candidate in candidates:
        teach(device, candidate.source)
    arch, cores = arch_of(device), getattr(device, "cores", None)
    return compile_together(lambda one, by: build_candidate(task, one, arch, process=by), candidates, cores)


def build_candidate(
    task: Task,
    candidate: Candidate,
    gpu_arch: str | None = None,
    *,
    deadline_s: float = DEADLINE_S,
    process: NvrtcProcess | None = None,
) -> Build:
    """The candidate compiled: CUDA and Triton for `gpu_arch`, by default the task's own; OpenCL for this machine.

    A text that the compiler does not survive, or does not finish in the processor time it is given, does not compile.
    A machine too busy to give it that time is an error of the machine, and no verdict.
    """
    if candidate.language == "opencl":
        return _build_opencl(task, candidate)
    arch = task.gpu_arch if gpu_arch is None else gpu_arch
    name = kernel_name(task, candidate.language)
    source, options = candidate.source, candidate.options
    if candidate.language == "triton":
        from warpsight.toolchain.triton_compile import build_triton

        return build_triton(task, candidate, name=name, gpu_arch=arch, deadline_s=deadline_s)
    try:
        return compile_cuda(
            source, gpu_arch=arch, options=options, entry=task.entry, name=name, deadline_s=deadline_s, process=process
        )
    except MachineTooBusy:
        raise
    except (DeadlinePassed, ProgramDied) as stopped:
        if isinstance(stopped, ProgramDied) and (stopped.event is None or stopped.event.kind not in BY_THE_TEXT):
            raise
        told = Diagnostic(severity="error", file=name, line=None, column=None, message=stopped.message[:2000])
        return Build(
            ok=False,
            source_sha256=hashlib.sha256(source.encode()).hexdigest(),
            gpu_arch=arch,
            options=options,
            compiler="nvrtc",
            diagnostics=(told,),
            log="",
        )


def _build_opencl(task: Task, candidate: Candidate, *, unsafe: bool = False) -> Build:
    from warpsight.devices.opencl_build import build_opencl  # here: most kernels are CUDA

    return build_opencl(task, candidate, unsafe=unsafe)
