"""`warpsight explain NAME`: what a counter or a finding means. Without a name: all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from warpsight.cli.output import emit

if TYPE_CHECKING:
    from rich.console import Console

    from warpsight.causes import Cause
    from warpsight.lens.vocabulary import Entry

NAME_HELP = "A counter, by our name or another tool's, or a finding. Left out: all of them."
NONE = "-"
UNCHECKED = "Not checked against that tool's documentation: {names}."


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
        emit(document, as_json=as_json, render=lambda console: _render_all(console, entries, known))
        return
    try:
        entry = find_entry(name)
    except UsageError:
        found = [causes()[one] for one in named(name)]
        if not found:
            raise
        document = {"causes": [cause.model_dump(mode="json") for cause in found]}
        emit(document, as_json=as_json, render=lambda console: _render_causes(console, found))
        return
    emit(_document(entry), as_json=as_json, render=lambda console: _render_one(console, entry))


def _document(entry: Entry) -> dict[str, Any]:
    return entry.model_dump(mode="json")


def _render_all(console: Console, entries: list[Entry], known: list[Cause]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("counter", no_wrap=True)
    table.add_column("unit", no_wrap=True)
    table.add_column("meaning", overflow="fold")
    for entry in entries:
        of = "" if entry.scope == "kernel" else f" (of a {entry.scope})"
        table.add_row(Text(entry.name), Text(entry.unit), Text(entry.meaning + of))
    console.print(table, soft_wrap=False)
    console.print("\n`warpsight explain COUNTER` says what each tool calls it\n")
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("finding", no_wrap=True)
    table.add_column("meaning", overflow="fold")
    for cause in known:
        table.add_row(Text(cause.name), Text(cause.meaning))
    console.print(table, soft_wrap=False)
    console.print("\n`warpsight explain FINDING` says what to change first")


def _render_causes(console: Console, found: list[Cause]) -> None:
    from rich.text import Text

    for cause in found:
        console.print(Text.assemble((cause.name, "bold"), f": {cause.meaning}"))
        console.print(Text(f"  first: {cause.advice}"))
        if cause.behind:
            console.print(Text(f"  often behind it: {', '.join(cause.behind)}"))
        if cause.aliases:
            console.print(Text(f"  also called: {', '.join(cause.aliases)}"))


def _render_one(console: Console, entry: Entry) -> None:
    from rich.table import Table
    from rich.text import Text

    from warpsight.lens.vocabulary import unchecked_names

    console.print(Text.assemble((entry.name, "bold"), f" ({entry.unit}): {entry.meaning}\n"))
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column("tool", no_wrap=True)
    table.add_column("name", overflow="fold")
    scopes = {"kernel": "kernels", "line": "source lines and instructions", "instruction": "instructions"}
    table.add_row("counted for", scopes[entry.scope])
    table.add_row("virtual GPU", Text(f"{entry.name}, from {entry.vgpu}"))
    table.add_row("Nsight Compute", Text("\nor ".join(entry.ncu) or NONE))
    if entry.ncu_per_instruction:
        table.add_row("", Text(f"from each instruction: {entry.ncu_per_instruction}"))
    table.add_row("nvprof", Text(entry.nvprof or NONE))
    table.add_row("rocprof", Text(entry.rocprof or NONE))
    console.print(table, soft_wrap=False)
    if names := unchecked_names(entry):
        console.print("\n" + UNCHECKED.format(names=", ".join(names)), markup=False)
