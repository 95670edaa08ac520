"""`warpsight rewrite TASK [CAUSE]`: the known rewrites of a kernel, tried; without a cause all of them, ranked.

Without a cause this is what trying everything by rule gives, no model. Exit code 0 when a right and faster kernel was
found, 1 when not.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from warpsight.cli.check import TASK_HELP
from warpsight.cli.compare import UNSAFE_HELP
from warpsight.cli.output import ExitCode, emit
from warpsight.cli.profile import GPU_HELP
from warpsight.cli.text.rewrite import is_draft, ratio, render, search_document

if TYPE_CHECKING:
    from warpsight.session.search import RewriteSearch

CAUSE_HELP = "What is wrong with the kernel: the name of a finding, such as bank_conflicts; without it all are tried."
OUT_HELP = "Where to write the new kernel; by default a file named after its id, in this folder."


def rewrite(
    task: Annotated[str, typer.Argument(metavar="TASK", help=TASK_HELP)],
    cause: Annotated[str | None, typer.Argument(metavar="[CAUSE]", help=CAUSE_HELP)] = None,
    kernel: Annotated[
        Path | None, typer.Option("--kernel", "--candidate", metavar="FILE", help="Rewrite this kernel, and beat it.")
    ] = None,
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
    from warpsight.causes import require_named
    from warpsight.cli.asked import asked
    from warpsight.nouns import kernel_id
    from warpsight.rewrite import rewritable

    added = cause is not None and cause in rewritable()
    named = list(rewritable()) if cause is None else [cause] if added else list(require_named(cause))
    with asked(task, kernel, device="virtual", gpu=gpu, seed=seed, unsafe=unsafe, cores=cores) as question:
        if cause is None:
            searched = question.session.rewrite_all(tuple(named))
        else:
            searched: dict[str, RewriteSearch] = {}
            for one in named:
                question.session.say(f"trying {one}")
                searched[one] = question.session.rewrite(one)
    name, file = question.session.task.name, question.file
    ranked = sorted(searched, key=lambda one: (is_draft(searched[one]), -ratio(searched[one]), one))
    best = searched[ranked[0]].winner
    written = None
    if best is not None:
        written = (out or Path(f"{kernel_id(best.rewrite.text)}.cu")).resolve()
        written.write_text(best.rewrite.text, encoding="utf-8")
    document = {
        "task": name,
        "kernel": file,
        "causes": {one: search_document(searched[one]) for one in ranked},
        "best": ranked[0] if best is not None else None,
        "file": None if written is None else str(written),
    }
    emit(document, as_json=as_json, render=lambda console: render(console, searched, ranked, file, written))
    raise typer.Exit(int(ExitCode.WRONG if best is None else ExitCode.FINE))
