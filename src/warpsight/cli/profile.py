"""`warpsight profile TASK`: what does the kernel do, how long does it take, and where? One workload on one GPU.

With `--from REPORT` the same of a measured report (see `profile_report`).

Counts and time are simulated, of the machine code for that GPU; where it has a form that is not read, counts are of the
PTX and there is no time. Says nothing of whether the kernel is right: that is `check`.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from warpsight.cli.check import TASK_HELP
from warpsight.cli.device_argument import DEVICE_HELP, DEVICES
from warpsight.cli.options import CpuLimit, HtmlFile, LaunchLimit, ProfileWorkload, TraceFile
from warpsight.errors import UsageError

GPU_HELP = (
    "Compile for this GPU and simulate its time; by default the task's. `warpsight gpus` lists them. With --device "
    "cuda or hip: which of this machine's GPUs, by number, name or UUID."
)
FROM_HELP = "Show a measured report, not a task: .ncu-rep, .sqlite of nsys, or .csv of ncu, nsys, nvprof or rocprof."
KERNEL_NAME_HELP = "Which kernel of the report, with --from; of a program, show this one in full."
ARGUMENTS_HELP = (
    "For a whole program in place of a task (a .cu file with a main, a folder, a binary): its own arguments."
)
KERNEL_HELP = "Profile this file instead of the task's."
BLOCKS_HELP = "Count this many blocks and scale; by default all, or as many as the budget allows."


def profile(
    task: Annotated[str | None, typer.Argument(metavar="TASK", help=TASK_HELP)] = None,
    arguments: Annotated[list[str] | None, typer.Argument(metavar="ARGUMENT", help=ARGUMENTS_HELP)] = None,
    report: Annotated[Path | None, typer.Option("--from", metavar="REPORT", help=FROM_HELP)] = None,
    kernel_name: Annotated[str | None, typer.Option(metavar="NAME|INDEX", help=KERNEL_NAME_HELP)] = None,
    kernel: Annotated[Path | None, typer.Option("--kernel", "--candidate", metavar="FILE", help=KERNEL_HELP)] = None,
    workload: ProfileWorkload = None,
    device: Annotated[str | None, typer.Option(metavar=DEVICES, help=DEVICE_HELP)] = None,
    gpu: Annotated[str | None, typer.Option(metavar="NAME", help=GPU_HELP)] = None,
    lines: Annotated[int, typer.Option(min=0, help="How many source lines to show, costliest first.")] = 10,
    all_lines: Annotated[bool, typer.Option("--all-lines", help="Show every source line, in order.")] = False,
    all_counters: Annotated[bool, typer.Option("--all", help="Show the counters that are zero too.")] = False,
    blocks: Annotated[int | None, typer.Option(min=1, help=BLOCKS_HELP)] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the generated inputs.")] = 0,
    deadline: Annotated[float, typer.Option(min=0.1, help="Seconds that one launch may take.")] = 120.0,
    cores: Annotated[int | None, typer.Option(min=1, help="CPU cores to use; all by default.")] = None,
    cpu_limit: CpuLimit = None,
    launch_limit: LaunchLimit = None,
    trace: TraceFile = None,
    html: HtmlFile = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Profile a kernel: its time, what binds it, where warps wait, what each source line does, and findings.

    \b
    Examples:
      warpsight profile matmul_tiled
      warpsight profile tasks/transpose --kernel mine.cu --lines 5
      warpsight profile saxpy --device opencl
      warpsight profile --from report.ncu-rep --kernel-name daxpy
      warpsight profile --html page.html --trace trace.json saxpy.cu 1000000
    """
    shown = None if all_lines else lines
    if report is not None:
        from warpsight.cli.profile_report import show_report

        others = (task, kernel, workload, device, gpu, blocks)
        show_report(report, others, kernel_name, shown, everything=all_counters, as_json=as_json)
        return
    from warpsight.cli.profile_program import show_if_program

    if task is not None:
        show_if_program(
            task, arguments, gpu=gpu, cores=cores, as_json=as_json, kernel=kernel_name, lines=shown,
            everything=all_counters, cpu_limit=cpu_limit, launch_limit=launch_limit, trace=trace, html=html,
        )  # fmt: skip
    if task is None or kernel_name is not None:
        missing = "a TASK or --from REPORT" if task is None else "--from REPORT with --kernel-name"
        raise UsageError(f"expected {missing}", "warpsight profile matmul_tiled")
    from warpsight.cli.asked import asked, require_build
    from warpsight.cli.text.diagnosis import show

    with asked(
        task, kernel, device=device, gpu=gpu, workload=workload, seed=seed, deadline=deadline, cores=cores,
        keep_reports=device not in (None, "virtual", "opencl"),
    ) as question:  # fmt: skip
        require_build(question, as_json)
        began = time.time()
        found = question.session.profile(question.kernel, blocks=blocks)
        show(question, found, began, lines=shown, everything=all_counters, as_json=as_json)
