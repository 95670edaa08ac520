"""`warpsight run PROGRAM`: run a whole CUDA program without a GPU, unmodified: a .cu file, a folder or a binary.

Its output passes through; what is said of it goes to stderr. The exit code is the program's, or 1 where a launch
faulted.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from warpsight.errors import UsageError

PROGRAM_HELP = (
    "A .cu file, a folder with a Makefile or CMakeLists.txt, a program or a Python script; then its own arguments."
)
CHECK_HELP = (
    "Look for races and uninitialised reads in every launch: lenient warns of them, strict takes them for faults."
)
OUT_HELP = "Put files that the program writes into this folder; without, they are gone with the run."
TIMES_HELP = "Leave simulated times out: faster, and events tell 0."
CPU_LIMIT_HELP = "End it after so many seconds of processor time, its own and that of its launches."
DRIVER_HELP = "Let a built program find NVIDIA's driver here too; a Python script always does."
LIMIT_HELP = "End the program after so many seconds."


def run(
    words: Annotated[list[str], typer.Argument(metavar="PROGRAM [ARGUMENT]...", help=PROGRAM_HELP)],
    gpu: Annotated[str, typer.Option(metavar="NAME", help="Which GPU; `warpsight gpus` lists them.")] = "a100",
    check: Annotated[str | None, typer.Option(metavar="lenient|strict", help=CHECK_HELP)] = None,
    no_times: Annotated[bool, typer.Option("--no-times", help=TIMES_HELP)] = False,
    out: Annotated[Path | None, typer.Option(metavar="FOLDER", help=OUT_HELP)] = None,
    make: Annotated[list[str] | None, typer.Option(metavar="WORD", help="A word for make or nvcc; repeat it.")] = None,
    show: Annotated[
        list[Path] | None, typer.Option(metavar="PATH", help="Show this to the program, read-only.")
    ] = None,
    limit: Annotated[float | None, typer.Option(min=0.1, metavar="S", help=LIMIT_HELP)] = None,
    cpu_limit: Annotated[float | None, typer.Option(min=0.1, metavar="S", help=CPU_LIMIT_HELP)] = None,
    cores: Annotated[int, typer.Option(min=0, help="CPU cores to use; 0 for all.")] = 0,
    driver: Annotated[bool, typer.Option("--driver", help=DRIVER_HELP)] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document, output included.")] = False,
) -> None:
    """Run a CUDA program on the virtual GPU. Our options come first; all words after PROGRAM are for the program.

    \b
    Examples:
      warpsight run saxpy.cu 1000000
      warpsight run --check strict saxpy.cu
      warpsight run --gpu h100 --json saxpy.cu
      warpsight run script.py
    """
    from warpsight.cli.text.run_program import show_run
    from warpsight.programs.build import BuildFailed
    from warpsight.programs.run import NEVER_S
    from warpsight.verbs.run_program import ProgramQuestion, arguments_of, run_whole, to_streams

    if check not in (None, "lenient", "strict"):
        raise UsageError(f"expected --check lenient or strict, found {check!r}")
    target, arguments = arguments_of(words)
    question = ProgramQuestion(
        target, arguments, gpu=gpu, check=check, times=not no_times, cores=cores,
        limit_s=limit or NEVER_S, cpu_limit_s=cpu_limit or NEVER_S, make=tuple(make or ()),
        show=tuple(show or ()), out=out, driver=driver,
        tell=(lambda text: None) if as_json else _tell,
    )  # fmt: skip
    printed: dict[str, bytearray] = {"output": bytearray(), "errors": bytearray()}
    output, errors = (printed["output"].extend, printed["errors"].extend) if as_json else to_streams()
    try:
        found = run_whole(question, output=output, errors=errors)
    except BuildFailed as failed:
        sys.stderr.write(failed.said)
        raise
    if as_json:
        texts = {name: bytes(data).decode(errors="replace") for name, data in printed.items()}
        print(found.model_copy(update=texts).model_dump_json(indent=2))
    else:
        show_run(found)
    raise typer.Exit(1 if found.faulted else found.exit_code)


def _tell(text: str) -> None:
    sys.stderr.write(f"warpsight: {text}\n")
    sys.stderr.flush()
