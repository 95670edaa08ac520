"""The stored runs as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from warpsight.runs.store import RunSummary


LONGEST = 40  # a model's name, which may be a path
WIDEST = 300  # an id is for copying: it is never cut, and a narrow terminal folds the line instead


def render(console: Console, lines: Sequence[RunSummary], folder: str) -> None:
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
            _cut(model_name(line.model)),
            line.outcome or "open",
            best,
            line.steps,
            line.spent.tool_calls,
            tokens,
        )
        table.add_row(*(escape(str(cell)) for cell in cells))
    console.width = max(console.width, WIDEST)
    console.print(table)


def _cut(name: str) -> str:
    shown = "".join(one if one.isprintable() else "?" for one in name)
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 1]}…"
