"""`warpsight import FORMAT PATH`: other people's tasks, read; KernelBench candidates, run; ours, written as theirs.

What cannot be imported is listed with its reason. Exit code 1 when anything was refused or a candidate is not right.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from warpsight.cli.options import AsJson
from warpsight.cli.output import ExitCode, emit


class ImportFormat(StrEnum):
    """Whose format it is."""

    KERNELBENCH = "kernelbench"
    HECBENCH = "hecbench"
    GPUMODE = "gpumode"
    FLASHINFER = "flashinfer"


class CompilerChoice(StrEnum):
    """What HeCBench programs are compiled with."""

    AUTO = "auto"
    NVRTC = "nvrtc"
    NVCC = "nvcc"


FORMAT_HELP = "kernelbench, hecbench, gpumode or flashinfer."
SEED_HELP = "kernelbench: repeat with the seed of a result; a secret one is drawn."
OUT_HELP = "Write what was imported there, a folder each; nothing is written over."
RUN_HELP = (
    "kernelbench: run this candidate (or the folder of candidates named like their problems); "
    "hecbench: on a GPU, run the program as it is and with this file of it changed; the hot kernels need --unsafe, "
    "since the profiler runs the program outside of the jail."
)
COMPILER_HELP = "hecbench: nvcc where it is, else NVRTC."
ARCH_HELP = "hecbench: compile for this architecture. By default sm_80, with --run that of the GPU."
KERNEL_HELP = "flashinfer: the CUDA kernel to make a task with; with --export, one more solution."
EXPORT_HELP = "flashinfer, the other way: PATH is one of our tasks, and --out gets it as flashinfer-trace."


def import_task(
    format: Annotated[ImportFormat, typer.Argument(metavar="FORMAT", help=FORMAT_HELP)],
    path: Annotated[str, typer.Argument(metavar="PATH", help="A file, or a folder of many.")],
    out: Annotated[Path | None, typer.Option(metavar="DIR", help=OUT_HELP)] = None,
    run: Annotated[Path | None, typer.Option(metavar="CANDIDATE", help=RUN_HELP)] = None,
    kernel: Annotated[Path | None, typer.Option(metavar="FILE", help=KERNEL_HELP)] = None,
    export: Annotated[bool, typer.Option("--export", help=EXPORT_HELP)] = False,
    compiler: Annotated[CompilerChoice, typer.Option(help=COMPILER_HELP)] = CompilerChoice.AUTO,
    arch: Annotated[str | None, typer.Option(metavar="ARCH", help=ARCH_HELP)] = None,
    seed: Annotated[int | None, typer.Option(min=0, help=SEED_HELP)] = None,
    trials: Annotated[int, typer.Option(min=1, help="kernelbench: inputs a candidate must be right on.")] = 5,
    samples: Annotated[int, typer.Option(min=0, help="kernelbench: timed samples; 0 does not time.")] = 9,
    threads: Annotated[int, typer.Option(min=1, help="kernelbench: threads for reference and candidate.")] = 1,
    deadline: Annotated[float, typer.Option(min=1, help="kernelbench: seconds that one step may take.")] = 60.0,
    as_json: AsJson = False,
) -> None:
    """Import tasks of other people's formats, and say what cannot be imported and why.

    \b
    Examples:
      warpsight import kernelbench KernelBench/level1 --json
      warpsight import kernelbench level1/19_ReLU.py --run my_relu.py
      warpsight import hecbench HeCBench/src/adam-cuda
      warpsight import gpumode reference-kernels/problems
      warpsight import flashinfer flashinfer-trace --out tasks
      warpsight import flashinfer tasks/softmax --export --out trace-set
    """
    from warpsight.cli.progress import progress_on_stderr
    from warpsight.cli.text import import_task as import_text
    from warpsight.cli.text.import_program import render
    from warpsight.verbs.import_formats import DEFAULT_ARCH, FORMATS, Wish, export_flashinfer, items_of, require_fitting
    from warpsight.verbs.import_program import compare_changed

    require_fitting(format.value, run, kernel, export=export)
    if export:
        written = export_flashinfer(path, kernel, out)
        emit({"format": format.value, "written": written}, as_json=as_json, render=import_text.exported(written))
        return
    wish = Wish(
        Path(path), out, run, kernel, compiler.value, arch or DEFAULT_ARCH, seed, trials, samples, threads, deadline
    )
    with progress_on_stderr() as say:
        if format is ImportFormat.HECBENCH and run is not None:
            told = compare_changed(Path(path), run, arch, max(samples, 1), deadline, say)
            emit(told, as_json=as_json, render=render(told))
            raise typer.Exit(int(ExitCode.FINE if told["comparison"]["verdict"] == "right" else ExitCode.WRONG))
        done = FORMATS[format.value](wish, say)
    document: dict[str, Any] = {
        "format": format.value,
        "path": path,
        "imported": items_of(done),
        "refused": done.refused,
        "written": done.written,
        **import_text.scores(done.attempts),
    }
    emit(document, as_json=as_json, render=import_text.render(done))
    raise typer.Exit(int(ExitCode.FINE if done.good else ExitCode.WRONG))
