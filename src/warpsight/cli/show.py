"""`warpsight show RUN`: what was said and done in a run, step by step, and how it ended. Reads the store only."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from warpsight.cli.output import emit
from warpsight.cli.text.run import render_run
from warpsight.errors import UsageError

RUN_HELP = "A run: its id, the beginning of it, or `last`."


def show(
    run: Annotated[str, typer.Argument(metavar="RUN", help=RUN_HELP)],
    full: Annotated[bool, typer.Option("--full", help="All lines of every step.")] = False,
    kernel: Annotated[bool, typer.Option("--kernel", help="Only the text of its best kernel.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Show a run: every step as the model saw it, and how it ended.

    \b
    Examples:
      warpsight show last
      warpsight show 20261116-0041 --full
      warpsight show last --kernel > faster.cu
    """
    from warpsight.runs.find import find_run
    from warpsight.runs.sqlite import SqliteStore

    with SqliteStore() as store:
        found = store.read(find_run(store, run))
        best = None if found.best is None else store.get(found.best.candidate_sha256).decode()
        attempts = [line.id for line in reversed(store.list_runs(parent=found.id))]
    if kernel:
        if best is None:
            raise UsageError(
                f"run {found.id} has no kernel that is right and faster", hint=f"warpsight show {found.id}"
            )
        typer.echo(best, nl=not best.endswith("\n"))
        return
    document = {**json.loads(found.model_dump_json()), "attempts": attempts, "best_kernel": best}
    emit(document, as_json=as_json, render=lambda console: render_run(console, found, attempts, full=full))
