"""`warpsight explain COUNTER`: what a counter means, its unit, what each tool calls it. Without a name: all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from warpsight.cli.output import emit
from warpsight.cli.text.explain import render_all, render_one

if TYPE_CHECKING:
    from warpsight.lens.vocabulary import Entry

NAME_HELP = "A counter, by our name or another tool's. Left out: all of them."


def explain(
    counter: Annotated[str | None, typer.Argument(metavar="COUNTER", help=NAME_HELP)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """What a counter means and where it comes from.

    \b
    Examples:
      warpsight explain
      warpsight explain global_load_efficiency
      warpsight explain gld_efficiency
    """
    from warpsight.lens.vocabulary import find_entry, vocabulary

    if counter is None:
        entries = list(vocabulary().values())
        document = {"counters": [_document(entry) for entry in entries]}
        emit(document, as_json=as_json, render=lambda console: render_all(console, entries))
        return
    entry = find_entry(counter)
    emit(_document(entry), as_json=as_json, render=lambda console: render_one(console, entry))


def _document(entry: Entry) -> dict[str, Any]:
    return entry.model_dump(mode="json")
