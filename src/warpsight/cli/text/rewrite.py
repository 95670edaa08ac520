"""The rewrites that were tried, as a document and as text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from warpsight.session.search import RewriteSearch


def ratio(found: RewriteSearch) -> float:
    return 0.0 if found.winner is None else found.winner.ratio or 0.0


def is_draft(found: RewriteSearch) -> bool:
    """Whether its winner was not judged by the gate: only the best of all causes is."""
    return found.winner is not None and found.winner.evaluation is None


def search_document(found: RewriteSearch) -> dict[str, Any]:
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


def render(
    console: Console, searched: dict[str, RewriteSearch], ranked: list[str], file: str, written: Path | None
) -> None:
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
