"""`warpsight time TASK`: how long does the kernel take? Simulated on a GPU of the data sheets, or measured by OpenCL.

No verdict on right, beyond the outputs of timed calls: that is `check`; nor on faster: that is `compare`.
"""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from warpsight.cli.check import TASK_HELP
from warpsight.cli.device_argument import DEVICE_HELP, DeviceName
from warpsight.cli.output import ExitCode, emit
from warpsight.cli.profile import GPU_HELP

if TYPE_CHECKING:
    from rich.console import Console

    from warpsight.devices.device import TimedDevice


def time(
    task: Annotated[str, typer.Argument(metavar="TASK", help=TASK_HELP)],
    kernel: Annotated[Path | None, typer.Option(metavar="FILE", help="Time this file instead of the task's.")] = None,
    workload: Annotated[str | None, typer.Option(metavar="NAME", help="By default the profile workload.")] = None,
    device: Annotated[DeviceName | None, typer.Option(help=DEVICE_HELP)] = None,
    gpu: Annotated[str | None, typer.Option(metavar="NAME", help=GPU_HELP)] = None,
    calls: Annotated[int, typer.Option(min=5, help="Timed calls on a measured device.")] = 48,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the contents; random by default.")] = None,
    deadline: Annotated[float, typer.Option(min=0.1, help="Seconds that one launch may take.")] = 120.0,
    cores: Annotated[int | None, typer.Option(min=1, help="CPU cores to use; all by default.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Time a kernel: on a GPU by the time model (simulated), or on this machine by OpenCL (measured).

    \b
    Examples:
      warpsight time matmul_tiled --gpu rtx-a6000
      warpsight time saxpy --device opencl
    """
    from rich.markup import escape

    from warpsight.cli import timing_text
    from warpsight.cli.device_argument import device_for, language_for
    from warpsight.cli.profile import does_not_compile
    from warpsight.cli.progress import progress_on_stderr
    from warpsight.cli.task_argument import document_of, find_task, profiled_workload, read_kernel
    from warpsight.cli.timed_device import timed_device
    from warpsight.devices.virtual import VirtualGpu
    from warpsight.gate.compare_pair import kernel_on, trusted
    from warpsight.gate.evaluate import build_for
    from warpsight.gate.time_alone import time_measured, time_simulated

    found = find_task(task)
    file, candidate = read_kernel(found, kernel, language_for(device))
    where, chosen = device_for(device, candidate, file), profiled_workload(found, workload)
    drawn = secrets.randbits(48) if seed is None else seed
    with (
        progress_on_stderr() as say,
        timed_device(where, found, gpu, cores=cores, deadline_s=deadline) as run_on,
    ):
        say("compiling")
        build = build_for(found, candidate, run_on)
        if not build.ok:
            does_not_compile(found, file, candidate, build, as_json, outcome="nothing to time")
        ready = kernel_on(candidate, build, chosen)
        if isinstance(run_on, VirtualGpu):
            result = time_simulated(found, chosen, ready, run_on, seed=drawn)
        else:
            timed = cast("TimedDevice", run_on)
            result = time_measured(found, chosen, ready, timed, seed=drawn, calls=calls, progress=say)
        result = trusted(result, build)

    def render(console: Console) -> None:
        console.print(f"{found.name}: {file}, workload {chosen.name}, {result.device}")
        if result.samples_us:
            console.print(timing_text.time_line("kernel", result, result.samples_us))
        for note in result.notes:
            console.print(f"[dim]note: {escape(note)}[/]")
        if result.decision is not None:
            console.print(timing_text.decision_text(result))

    kernel_of = {"file": file, "sha256": candidate.sha256}
    emit({**document_of(result), "task": found.name, "kernel": kernel_of}, as_json=as_json, render=render)
    raise typer.Exit(int(ExitCode.FINE if result.decision is None else ExitCode.WRONG))
