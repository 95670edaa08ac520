"""`warpsight optimize PROGRAM`: its most costly kernel faster, as a patch that the whole program was run with.

Exit code 0 when the program is faster, 1 when not.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console

from warpsight.cli.output import ExitCode, emit
from warpsight.errors import UsageError

if TYPE_CHECKING:
    from warpsight.verbs.optimize_program import FasterProgram


def optimize_if_program(
    target: str, arguments: Sequence[str] | None, *, kernel: Path | None, by_hand: Path | None, gpu: str | None,
    out: Path | None, quiet: bool, as_json: bool, asked: dict[str, Any],
) -> None:  # fmt: skip
    """Where the target is a program, make it faster, which ends the command; a task takes no arguments."""
    from warpsight.programs.recognise import is_program

    if not is_program(target):
        if arguments or by_hand is not None:
            raise UsageError(f"expected arguments for a program, {target} is a task", "leave them out")
        return
    from warpsight.programs.build import BuildFailed
    from warpsight.verbs.optimize_program import ProgramJob, optimize_program
    from warpsight.verbs.run_program import DEFAULT_GPU, ProgramQuestion

    path = Path(target)
    if not (path.is_dir() or path.suffix in (".cu", ".cpp")):
        raise UsageError(f"expected the sources of a program, {path} is a built one", "name its folder or .cu file")
    say = _quiet if quiet else _tell
    program = ProgramQuestion(path, tuple(arguments or ()), gpu=gpu or DEFAULT_GPU, tell=say)
    folder = out or Path(f"{path.resolve().stem}-faster")
    try:
        found = optimize_program(
            ProgramJob(program, folder, None if kernel is None else str(kernel), by_hand=by_hand, asked=asked), say
        )
    except BuildFailed as failed:
        sys.stderr.write(failed.said)
        raise
    emit(_document(found, folder), as_json=as_json, render=lambda console: _render(console, found, folder))
    raise typer.Exit(int(ExitCode.FINE if found.speedup is not None else ExitCode.WRONG))


def _tell(text: str) -> None:
    sys.stderr.write(f"warpsight: {text}\n")
    sys.stderr.flush()


def _quiet(text: str) -> None:
    """Nobody watches."""
    del text


def _document(found: FasterProgram, folder: Path) -> dict[str, Any]:
    from warpsight.cli.task_argument import document_of

    speedup = found.speedup
    return {
        "folder": str(folder),
        "not_faster": [{"kernel": name, "reason": reason} for name, reason in found.left],
        "speedup": None if speedup is None else {**document_of(speedup), "ratio": round(speedup.ratio, 4)},
        "patch_file": None if found.patch_file is None else str(found.patch_file),
        "evidence_file": None if found.evidence_file is None else str(found.evidence_file),
        "changed": [] if found.kernel is None else list(found.kernel.changed),
    }


def _render(console: Console, found: FasterProgram, folder: Path) -> None:
    for name, reason in found.left:
        console.print(f"{name}: {reason}", highlight=False)
    speedup = found.speedup
    if speedup is None:
        console.print("\nthe program was not made faster", highlight=False)
        return
    task = found.task
    at = "" if task is None or task.captured is None else f" at {task.captured.file}:{task.captured.line}"
    console.print(f"{speedup.kernel}{at}: {speedup.kernel_ratio:.2f}x (simulated), {speedup.decision}", highlight=False)
    for step in found.kernel.changed if found.kernel is not None else ():
        console.print(f"  {step}", highlight=False)
    console.print(
        f"whole program: {speedup.ratio:.2f}x (simulated: {speedup.before_us:.4g} us of kernels and copies before, "
        f"{speedup.after_us:.4g} us after)",
        highlight=False,
    )
    same = {"exact": "the same", "close": "the same but for last digits", "different": "different"}[speedup.output]
    console.print(f"its output: {same} ({speedup.output_lines} lines; lines about time left out)", highlight=False)
    console.print(f"its own check: {speedup.own_check_after}", highlight=False)
    console.print(f"\npatch: {found.patch_file}  (in its folder: patch -p1 < faster.patch)", highlight=False)
    if speedup.certificate:
        console.print(f"evidence: {folder}/certificate.json, {found.evidence_file}", highlight=False)
    else:
        why = "no certificate, since it is only likely that the kernel is faster on a GPU"
        console.print(f"evidence: {found.evidence_file} ({why})", highlight=False)
