"""`warpsight rewrite TASK [CAUSE]`: the known rewrites of a kernel, tried; without a cause all of them, ranked.

Without a cause this is what trying everything by rule gives, no model. Exit code 0 when a right and faster kernel was
found, 1 when not.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from warpsight.cli.check import TASK_HELP
from warpsight.cli.compare import UNSAFE_HELP
from warpsight.cli.output import ExitCode, emit
from warpsight.cli.profile import GPU_HELP

if TYPE_CHECKING:
    from rich.console import Console

    from warpsight.session.search import Search

CAUSE_HELP = "What is wrong with the kernel, such as bank_conflicts; without it every cause is tried."
OUT_HELP = "Where to write the new kernel; by default a file named after its id, in this folder."


def rewrite(
    task: Annotated[str, typer.Argument(metavar="TASK", help=TASK_HELP)],
    cause: Annotated[str | None, typer.Argument(metavar="[CAUSE]", help=CAUSE_HELP)] = None,
    kernel: Annotated[Path | None, typer.Option(metavar="FILE", help="Rewrite this kernel, and beat it.")] = None,
    gpu: Annotated[str | None, typer.Option(metavar="NAME", help=GPU_HELP)] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help=OUT_HELP)] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the contents.")] = 0,
    unsafe: Annotated[bool, typer.Option("--unsafe", help=UNSAFE_HELP)] = False,
    cores: Annotated[int | None, typer.Option(min=1, help="CPU cores to use; all by default.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Rewrite a kernel by rule for a cause, or for all: the best is checked and timed by the gate (simulated).

    \b
    Examples:
      warpsight rewrite transpose_tiled bank_conflicts
      warpsight rewrite matmul_naive --out faster.cu
    """
    from warpsight.cli.asked import asked
    from warpsight.errors import UsageError
    from warpsight.rewrite import CAUSES
    from warpsight.nouns import kernel_id

    if cause is not None and cause not in CAUSES:
        raise UsageError(f"expected a cause, {cause!r} came", hint=f"one of {', '.join(CAUSES)}")
    with asked(task, kernel, device="virtual", gpu=gpu, seed=seed, unsafe=unsafe, cores=cores) as question:
        if cause is None:
            searched = question.session.rewrite_all(tuple(CAUSES))
        else:
            question.session.say(f"trying {cause}")
            searched = {cause: question.session.rewrite(cause)}
    name, file = question.session.task.name, question.file
    ranked = sorted(searched, key=lambda one: (-_ratio(searched[one]), one))
    best = searched[ranked[0]].winner
    written = None
    if best is not None:
        written = (out or Path(f"{kernel_id(best.rewrite.text)}.cu")).resolve()
        written.write_text(best.rewrite.text, encoding="utf-8")
    document = {
        "task": name,
        "kernel": file,
        "causes": {one: _document(searched[one]) for one in ranked},
        "best": ranked[0] if best is not None else None,
        "file": None if written is None else str(written),
    }
    emit(document, as_json=as_json, render=lambda console: _render(console, searched, ranked, file, written))
    raise typer.Exit(int(ExitCode.WRONG if best is None else ExitCode.FINE))


def _ratio(found: Search) -> float:
    return 0.0 if found.winner is None else found.winner.ratio or 0.0


def _document(found: Search) -> dict[str, Any]:
    winner = found.winner
    tried = [{"rewrite": one.rewrite, "kernel": one.kernel, "outcome": one.outcome} for one in found.tried]
    if winner is None:
        return {"found": False, "tried": tried}
    timing = None if winner.evaluation is None else winner.evaluation.timing
    return {
        "found": True,
        "rewrite": winner.rewrite.name,
        "ratio": winner.ratio,
        "judged": winner.evaluation is not None,
        "source": "simulated" if timing is None else timing.source,
        "tried": tried,
    }


def _render(console: Console, searched: dict[str, Search], ranked: list[str], file: str, written: Path | None) -> None:
    """A line for each cause that has a winner; the tries, where one cause was asked for; what became of the rest."""
    from rich.markup import escape

    for one in ranked:
        winner = searched[one].winner
        if winner is not None:
            timing = None if winner.evaluation is None else winner.evaluation.timing
            how = f"right, {timing.source}" if timing is not None else "draft: right at the small sizes, simulated"
            console.print(f"{winner.ratio or 0.0:.3f}x  {one}: {escape(winner.rewrite.name)} ({how})")
    if len(ranked) == 1:
        for tried in searched[ranked[0]].tried:
            console.print(f"  [dim]{escape(tried.rewrite)}: {escape(tried.outcome)}[/]")
    without = [one for one in ranked if searched[one].winner is None]
    if without:
        console.print(f"no rewrite of {escape(file)} is right and faster for: {', '.join(without)}")
    if written is not None:
        console.print(f"written: {escape(str(written))}")
