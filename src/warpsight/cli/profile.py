"""`warpsight profile TASK`: what does the kernel do? Counters of one workload, per kernel and per source line.

Counts are simulated, of the PTX. Says nothing of time, and nothing of whether the kernel is right: that is `check`.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from warpsight.cli.check import TASK_HELP
from warpsight.cli.output import ExitCode, emit

if TYPE_CHECKING:
    from rich.console import Console

    from warpsight.nouns import Build, Candidate, Task, Workload
    from warpsight.tasks import LaunchSize

BLOCKS_HELP = "Count this many blocks and scale; by default all, or as many as the budget allows."


def profile(
    task: Annotated[str, typer.Argument(metavar="TASK", help=TASK_HELP)],
    kernel: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Profile this file instead of the task's.")
    ] = None,
    workload: Annotated[
        str | None, typer.Option(metavar="NAME", help="By default the task's profile workload.")
    ] = None,
    lines: Annotated[int, typer.Option(min=0, help="How many source lines to show, costliest first.")] = 10,
    all_lines: Annotated[bool, typer.Option("--all-lines", help="Show every source line, in order.")] = False,
    all_counters: Annotated[bool, typer.Option("--all", help="Show the counters that are zero too.")] = False,
    blocks: Annotated[int | None, typer.Option(min=1, help=BLOCKS_HELP)] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the generated inputs.")] = 0,
    cores: Annotated[int | None, typer.Option(min=1, help="CPU cores to use; all by default.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Profile a kernel: instructions, memory sectors, bank conflicts, divergence, and the source lines they come from.

    \b
    Examples:
      warpsight profile matmul_tiled
      warpsight profile tasks/transpose --kernel mine.cu --lines 5
    """
    from warpsight.cli import profile_text
    from warpsight.cli.progress import progress_on_stderr
    from warpsight.cli.task_argument import document_of, find_task, gpu_of, profiled_workload, read_kernel, usage_of
    from warpsight.devices.virtual import VirtualGpu, spread_blocks
    from warpsight.gate.check import build_candidate, kernel_values

    found = find_task(task)
    gpu_of(found)  # a name that means no GPU is refused before anything is compiled
    file, candidate = read_kernel(found, kernel)
    chosen = profiled_workload(found, workload)
    size = _launch(candidate, chosen, file)
    with progress_on_stderr() as say:
        say("compiling")
        build = build_candidate(found, candidate)
        if not build.ok:
            _does_not_compile(found, file, candidate, build, as_json)
        say(f"counting workload {chosen.name}")
        picked = None if blocks is None else spread_blocks(math.prod(size.grid), blocks)
        values = kernel_values(found, chosen, seed)[1]
        result = VirtualGpu(cores=cores).profile(
            build, found.entry, values, size, source_text=candidate.source, blocks=picked
        )
    document = {
        **document_of(result),
        **_ran(found, file, candidate, build),
        "workload": {"name": chosen.name, "axes": dict(chosen.axes), "seed": seed},
        "launch": size._asdict(),
        "usage": usage_of(build, found.entry),
    }
    shown = profile_text.Shown(
        found.name, file, chosen, size, build, found.entry, None if all_lines else lines, all_counters
    )
    emit(document, as_json=as_json, render=lambda console: profile_text.render(console, result, shown))


def _launch(candidate: Candidate, workload: Workload, file: str) -> LaunchSize:
    from warpsight.devices.device import CannotProfile
    from warpsight.errors import TaskError
    from warpsight.tasks import evaluate_launch

    try:
        return evaluate_launch(candidate, workload.axes, file)
    except TaskError as impossible:  # a launch that no GPU takes is the kernel's fault, as it is for `check`
        raise CannotProfile(f"the launch is not possible: {impossible.message}") from None


def _ran(task: Task, file: str, candidate: Candidate, build: Build) -> dict[str, Any]:
    kernel = {"file": file, "entry": task.entry, "sha256": candidate.sha256}
    return {"task": task.name, "kernel": kernel, "gpu_arch": build.gpu_arch, "compiler": build.compiler}


def _does_not_compile(task: Task, file: str, candidate: Candidate, build: Build, as_json: bool) -> NoReturn:
    """There is nothing to count: the compiler's messages are the result."""
    from warpsight.cli import check_text
    from warpsight.cli.task_argument import document_of

    shown = check_text.Shown(task, file, candidate.source, (), build, 0)
    diagnostics = [document_of(diagnostic) for diagnostic in build.diagnostics]
    document = {**_ran(task, file, candidate, build), "verdict": "does_not_compile", "diagnostics": diagnostics}

    def render(console: Console) -> None:
        check_text.render_diagnostics(console, build.diagnostics, shown)
        console.print("\n[bold red]does not compile[/]: there is nothing to profile")

    emit(document, as_json=as_json, render=render)
    raise typer.Exit(int(ExitCode.WRONG))
