"""`warpsight capture PROGRAM --kernel NAME`: one launch of a program becomes a task that all other commands take."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from warpsight.cli.output import emit
from warpsight.cli.run import PROGRAM_HELP

KERNEL_HELP = "The kernel, as it is called in the source; `warpsight profile PROGRAM` lists them."
LAUNCH_HELP = "Which of its launches, from 1; equal repeats count once."
OUT_HELP = "The task folder to write; by default the kernel's name, here."
CAP_HELP = "Record at most so many megabytes of arrays."


def capture(
    words: Annotated[list[str], typer.Argument(metavar="PROGRAM [ARGUMENT]...", help=PROGRAM_HELP)],
    kernel: Annotated[str, typer.Option(metavar="NAME", help=KERNEL_HELP)],
    launch: Annotated[int, typer.Option(min=1, metavar="N", help=LAUNCH_HELP)] = 1,
    out: Annotated[Path | None, typer.Option(metavar="FOLDER", help=OUT_HELP)] = None,
    gpu: Annotated[str, typer.Option(metavar="NAME", help="Which GPU; `warpsight gpus` lists them.")] = "a100",
    cap_mb: Annotated[int, typer.Option(min=1, max=1024, metavar="MB", help=CAP_HELP)] = 64,
    make: Annotated[list[str] | None, typer.Option(metavar="WORD", help="A word for make or nvcc; repeat it.")] = None,
    show: Annotated[
        list[Path] | None, typer.Option(metavar="PATH", help="Show this to the program, read-only.")
    ] = None,
    limit: Annotated[float | None, typer.Option(min=0.1, metavar="S", help="End the program after so long.")] = None,
    cores: Annotated[int, typer.Option(min=0, help="CPU cores to use; 0 for all.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Record one launch of a program's kernel as a task folder. Our options come first.

    \b
    Examples:
      warpsight capture --kernel saxpy saxpy.cu 1000000
      warpsight capture --kernel saxpy --launch 2 --out tasks/saxpy saxpy.cu
    """
    from warpsight.capture.capture import task_name
    from warpsight.cli.task_argument import document_of
    from warpsight.cli.text.capture import render
    from warpsight.programs.build import BuildFailed
    from warpsight.programs.run import NEVER_S
    from warpsight.verbs.capture import CaptureQuestion
    from warpsight.verbs.capture import capture as capture_launch
    from warpsight.verbs.run_program import ProgramQuestion, arguments_of

    target, arguments = arguments_of(words)
    program = ProgramQuestion(
        target, arguments, gpu=gpu, cores=cores, limit_s=limit or NEVER_S, make=tuple(make or ()),
        show=tuple(show or ()), tell=_tell,
    )  # fmt: skip
    folder = out or Path(task_name(kernel))
    question = CaptureQuestion(program, kernel, launch, cap_mb << 20)
    try:
        task = capture_launch(question, folder, output=_say, errors=_say, say=_tell)
    except BuildFailed as failed:
        sys.stderr.write(failed.said)
        raise
    document = {**document_of(task), "folder": str(folder)}
    emit(document, as_json=as_json, render=lambda console: render(console, task))


def _tell(text: str) -> None:
    _say(f"warpsight: {text}\n".encode())


def _say(data: bytes) -> None:
    sys.stderr.buffer.write(data)
    sys.stderr.flush()
