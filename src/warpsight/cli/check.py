"""`warpsight check TASK`: is the kernel right? Runs every workload on a device against the NumPy reference.

The verdict is the gate's; here it is asked for and shown. Exit code 0 only for a right kernel.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from warpsight.cli.device_argument import DEVICE_HELP, DeviceName
from warpsight.cli.output import ExitCode, emit

TASK_HELP = "A task folder, or the name of one under ./tasks."
KERNEL_HELP = "Check this file instead of the task's own kernel."


def check(
    task: Annotated[str, typer.Argument(metavar="TASK", help=TASK_HELP)],
    kernel: Annotated[Path | None, typer.Option(metavar="FILE", help=KERNEL_HELP)] = None,
    workload: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this workload; can be repeated.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the generated inputs.")] = 0,
    device: Annotated[DeviceName | None, typer.Option(help=DEVICE_HELP)] = None,
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
    from warpsight.cli import check_text
    from warpsight.cli.device_argument import device_for, language_for, opened
    from warpsight.cli.progress import progress_on_stderr
    from warpsight.cli.task_argument import choose_workloads, document_of, find_task, gpu_of, read_kernel, usage_of
    from warpsight.gate.check import check_candidate
    from warpsight.gate.evaluate import build_for

    found = find_task(task)
    gpu_of(found)  # a name that means no GPU is refused before anything is compiled
    file, candidate = read_kernel(found, kernel, language_for(device))
    where = device_for(device, candidate, file)
    chosen = choose_workloads(found, workload or [])
    with progress_on_stderr() as say, opened(where, cores=cores, deadline_s=deadline) as run_on:
        say("compiling")
        build = build_for(found, candidate, run_on)
        result = check_candidate(
            found,
            candidate,
            run_on,
            seed=seed,
            workloads=chosen if workload else None,
            progress=say,
            build=build,
        )
    document = {
        **document_of(result),
        "task": found.name,
        "kernel": {"file": file, "sha256": candidate.sha256},
        "seed": seed,
        "device": run_on.name,
        "gpu_arch": build.gpu_arch,
        "usage": usage_of(build, found.entry),
    }
    shown = check_text.Shown(found, file, candidate.source, chosen, build, seed)
    emit(document, as_json=as_json, render=lambda console: check_text.render(console, result, shown))
    raise typer.Exit(int(ExitCode.FINE if result.verdict == "right" else ExitCode.WRONG))
