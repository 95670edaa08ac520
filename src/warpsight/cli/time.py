"""`warpsight time TASK`: how long does the kernel take? Simulated on a GPU of the data sheets, or measured by OpenCL.

No verdict on right, beyond the outputs of timed calls: that is `check`; nor on faster: that is `compare`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from warpsight.cli.check import TASK_HELP
from warpsight.cli.device_argument import DEVICE_HELP, DEVICES
from warpsight.cli.output import ExitCode, emit
from warpsight.cli.profile import GPU_HELP
from warpsight.cli.text.timing import render_alone


def time(
    task: Annotated[str, typer.Argument(metavar="TASK", help=TASK_HELP)],
    kernel: Annotated[
        Path | None,
        typer.Option("--kernel", "--candidate", metavar="FILE", help="Time this file instead of the task's."),
    ] = None,
    workload: Annotated[str | None, typer.Option(metavar="NAME", help="By default the profile workload.")] = None,
    device: Annotated[str | None, typer.Option(metavar=DEVICES, help=DEVICE_HELP)] = None,
    gpu: Annotated[str | None, typer.Option(metavar="NAME", help=GPU_HELP)] = None,
    calls: Annotated[int, typer.Option(min=5, help="Timed calls on a measured device.")] = 48,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the contents.")] = 0,
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
    from warpsight.cli.asked import asked, require_build
    from warpsight.cli.task_argument import document_of

    with asked(
        task, kernel, device=device, gpu=gpu, workload=workload, seed=seed, deadline=deadline, cores=cores
    ) as question:
        require_build(question, as_json, outcome="nothing to time")
        result = question.session.time(question.kernel, calls=calls)
    name, chosen = question.session.task.name, question.session.workload.name
    head = f"{name}: {question.file}, workload {chosen}, {result.device}"
    kernel_of = {"file": question.file, "sha256": question.kernel.sha256}
    emit(
        {**document_of(result), "task": name, "kernel": kernel_of},
        as_json=as_json,
        render=lambda console: render_alone(console, head, result),
    )
    raise typer.Exit(int(ExitCode.FINE if result.decision is None else ExitCode.WRONG))
