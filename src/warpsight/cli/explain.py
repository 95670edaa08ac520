"""`warpsight explain NAME`: what a counter or a finding means. Without a name: all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from warpsight.cli.output import emit
from warpsight.cli.text.explain import render_all, render_causes, render_one

if TYPE_CHECKING:
    from warpsight.lens.vocabulary import Entry

NAME_HELP = "A counter, by our name or another tool's, or a finding. Left out: all of them."


def explain(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help=NAME_HELP)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """What a counter means and where it comes from, or what a finding means and what to change first.

    \b
    Examples:
      warpsight explain
      warpsight explain global_load_efficiency
      warpsight explain gld_efficiency
      warpsight explain bank_conflicts
    """
    from warpsight.causes import causes, named
    from warpsight.errors import UsageError
    from warpsight.lens.vocabulary import find_entry, vocabulary

    if name is None:
        entries, known = list(vocabulary().values()), list(causes().values())
        document = {
            "counters": [_document(entry) for entry in entries],
            "causes": [cause.model_dump(mode="json") for cause in known],
        }
        emit(document, as_json=as_json, render=lambda console: render_all(console, entries, known))
        return
    try:
        entry = find_entry(name)
    except UsageError:
        found = [causes()[one] for one in named(name)]
        if not found:
            raise
        document = {"causes": [cause.model_dump(mode="json") for cause in found]}
        emit(document, as_json=as_json, render=lambda console: render_causes(console, found))
        return
    emit(_document(entry), as_json=as_json, render=lambda console: render_one(console, entry))


def _document(entry: Entry) -> dict[str, Any]:
    return entry.model_dump(mode="json")
