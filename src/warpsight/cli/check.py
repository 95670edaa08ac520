"""`warpsight check TASK`: is the kernel right? Runs every workload on a device against the NumPy reference.

The verdict is the gate's; here it is asked for and shown. Exit code 0 only for a right kernel.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from warpsight.cli.device_argument import DEVICE_HELP, DEVICES
from warpsight.cli.output import ExitCode, emit

TASK_HELP = "A task folder, or the name of one under ./tasks."
KERNEL_HELP = "Check this file instead of the task's own kernel."


def check(
    task: Annotated[str, typer.Argument(metavar="TASK", help=TASK_HELP)],
    kernel: Annotated[Path | None, typer.Option("--kernel", "--candidate", metavar="FILE", help=KERNEL_HELP)] = None,
    workload: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this workload; can be repeated.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the generated inputs.")] = 0,
    device: Annotated[str | None, typer.Option(metavar=DEVICES, help=DEVICE_HELP)] = None,
    deadline: Annotated[float, typer.Option(min=0.1, help="Seconds that one launch may take.")] = 120.0,
    cores: Annotated[int | None, typer.Option(min=1, help="CPU cores to use; all by default.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Check a kernel: compile it, run it on every workload, compare with the reference, look for faults.

    \b
    Examples:
      warpsight check matmul_tiled
      warpsight check tasks/saxpy --kernel mine.cu --workload odd --seed 3
      warpsight check saxpy --device opencl
    """
    from warpsight.cli.asked import asked
    from warpsight.cli.task_argument import choose_workloads, document_of, find_task, usage_of
    from warpsight.cli.text import check as check_text

    chosen = choose_workloads(find_task(task), workload or [])
    with asked(task, kernel, device=device, seed=seed, deadline=deadline, cores=cores) as question:
        session = question.session
        result = session.check(question.kernel, workloads=chosen if workload else None)
        build = session.build(question.kernel)
    document = {
        **document_of(result),
        "task": session.task.name,
        "kernel": {"file": question.file, "sha256": question.kernel.sha256},
        "seed": seed,
        "device": session.device.name,
        "gpu_arch": build.gpu_arch,
        "usage": usage_of(build, session.task.entry),
    }
    shown = check_text.ShownCheck(session.task, question.file, question.kernel.source, chosen, build, seed)
    emit(document, as_json=as_json, render=lambda console: check_text.render(console, result, shown))
    raise typer.Exit(int(ExitCode.FINE if result.verdict == "right" else ExitCode.WRONG))
