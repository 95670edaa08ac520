"""`warpsight runs`: the runs that are stored, newest first. Reads the store, changes nothing."""

from __future__ import annotations

from typing import Annotated

import typer

from warpsight.cli.output import emit
from warpsight.cli.text.runs import render


def runs(
    task: Annotated[str | None, typer.Option(metavar="NAME", help="Only runs of this task.")] = None,
    model: Annotated[str | None, typer.Option(metavar="NAME", help="Only runs of this model.")] = None,
    outcome: Annotated[
        str | None,
        typer.Option(metavar="OUTCOME", help="submitted, at_roofline, budget_spent, gave_up, stopped, open."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 20,
    attempts: Annotated[bool, typer.Option("--attempts", help="Also the attempts that make up a larger run.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """The runs that are stored, newest first.

    \b
    Examples:
      warpsight runs
      warpsight runs --task transpose --outcome submitted
    """
    from warpsight.runs.sqlite import SqliteStore

    with SqliteStore() as store:
        found = store.list_runs(task=task, model=model, outcome=outcome)
        folder = str(store.folder)
    shown = [line for line in found if attempts or line.parent is None][:limit]
    document = {"folder": folder, "runs": [line.model_dump() for line in shown]}
    emit(document, as_json=as_json, render=lambda console: render(console, shown, folder))
