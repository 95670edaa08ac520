"""`warpsight sass TASK`: the machine code that the GPU would run, with its schedule and, after a run, what it cost.

Every instruction of the kernel with the source line it comes from. Counts and stall samples are simulated; with
--no-run, or where the code has a form that the virtual GPU does not read, there are none and the output says so.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from warpsight.cli.check import TASK_HELP
from warpsight.cli.output import emit
from warpsight.cli.profile import GPU_HELP
from warpsight.verbs.sass import line_range, machine_rows, of_lines

LINES_HELP = "Only the code of these source lines: 12, or 12:20."
NO_RUN_HELP = "Only the code, without running it."


def sass(
    task: Annotated[str, typer.Argument(metavar="TASK", help=TASK_HELP)],
    kernel: Annotated[
        Path | None,
        typer.Option("--kernel", "--candidate", metavar="FILE", help="Show this file instead of the task's."),
    ] = None,
    gpu: Annotated[str | None, typer.Option(metavar="NAME", help=GPU_HELP)] = None,
    workload: Annotated[
        str | None, typer.Option(metavar="NAME", help="By default the task's profile workload.")
    ] = None,
    lines: Annotated[str | None, typer.Option(metavar="A:B", help=LINES_HELP)] = None,
    no_run: Annotated[bool, typer.Option("--no-run", help=NO_RUN_HELP)] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the generated inputs.")] = 0,
    cores: Annotated[int | None, typer.Option(min=1, help="CPU cores to use; all by default.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Show the machine code of a kernel: its schedule, how often each instruction ran, where warps waited (simulated).

    \b
    Examples:
      warpsight sass saxpy
      warpsight sass matmul_tiled --lines 12:20 --gpu rtx-a6000
      warpsight sass tasks/transpose --kernel mine.cu --no-run
    """
    from warpsight.cli.asked import asked, require_build
    from warpsight.cli.text import sass as sass_text
    from warpsight.cli.text.diagnosis import target_document

    wanted = None if lines is None else line_range(lines)
    with asked(task, kernel, device="virtual", gpu=gpu, workload=workload, seed=seed, cores=cores) as question:
        session = question.session
        build = require_build(question, as_json, "nothing to show")
        profile = None if no_run else session.counters(question.kernel)
    target = session.gpu
    assert target is not None
    rows = machine_rows(session.task, build, profile)
    kept = rows if wanted is None else of_lines(rows, wanted)
    document = {
        **question.what_ran,
        "target": target_document(target),
        "workload": None if profile is None else question.workload,
        **sass_text.outcome(profile),
        "instructions": [row.document() for row in kept],
    }
    ran = None if profile is None else session.workload
    source = question.kernel.source
    shown = sass_text.ShownSass(session.task.name, question.file, source, target, ran, profile, rows, kept)
    emit(document, as_json=as_json, render=lambda console: sass_text.render(console, shown))
