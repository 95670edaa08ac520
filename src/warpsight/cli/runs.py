"""`warpsight runs`: the runs that are stored, newest first. Reads the store, changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from warpsight.cli.output import emit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from warpsight.runs.store import RunSummary


WIDEST = 300  # an id is for copying: it is never cut, and a narrow terminal folds the line instead


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
    emit(document, as_json=as_json, render=lambda console: _render(console, shown, folder))


def _render(console: Console, lines: Sequence[RunSummary], folder: str) -> None:
    from rich.markup import escape
    from rich.table import Table

    from warpsight.report.story import model_name

    if not lines:
        console.print(f"no such runs in {escape(folder)}")
        return
    table = Table(box=None, pad_edge=False)
    for title in ("run", "task", "model", "outcome", "best", "steps", "calls", "tokens"):
        right = title in ("best", "steps", "calls", "tokens")
        table.add_column(title, justify="right" if right else "left", no_wrap=True, overflow="fold")
    for line in lines:
        best = "" if line.best_ratio is None else f"{line.best_ratio:.2f}x {line.best_source}"
        tokens = line.spent.input_tokens + line.spent.output_tokens
        cells = (
            line.id,
            line.task,
            model_name(line.model),
            line.outcome or "open",
            best,
            line.steps,
            line.spent.tool_calls,
            tokens,
        )
        table.add_row(*(escape(str(cell)) for cell in cells))
    console.width = max(console.width, WIDEST)
    console.print(table)
