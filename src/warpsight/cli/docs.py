"""`warpsight docs [PAGE]`: the pages of docs/, which the package carries along. Prints; changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from warpsight.cli.output import emit

if TYPE_CHECKING:
    from rich.console import Console


def docs(
    page: Annotated[str | None, typer.Argument(metavar="PAGE", help="Its name; left out: all of them.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """List the pages, or print one, as Markdown.

    \b
    Examples:
      warpsight docs
      warpsight docs install
    """
    from warpsight.verbs.docs import read_page, titles

    if page is not None:
        found = read_page(page)
        document = {"page": found.name, "file": str(found.file), "text": found.text}
        emit(document, as_json=as_json, render=lambda console: print(found.text, end=""))
        return
    known = titles()

    def render(console: Console) -> None:
        for name, title in known.items():
            console.print(f"{name:<{max(map(len, known))}}  {title}", markup=False)
        console.print("\nwarpsight docs PAGE prints one.", markup=False)

    emit({"pages": known}, as_json=as_json, render=render)
