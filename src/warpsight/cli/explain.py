"""`warpsight explain COUNTER`: what a counter means, its unit, what each tool calls it. Without a name: all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from warpsight.cli.output import emit

if TYPE_CHECKING:
    from rich.console import Console

    from warpsight.lens.vocabulary import Entry

NAME_HELP = "A counter, by our name or another tool's. Left out: all of them."
NONE = "-"
UNCHECKED = "Not checked against that tool's documentation: {names}."


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
        emit(document, as_json=as_json, render=lambda console: _render_all(console, entries))
        return
    entry = find_entry(counter)
    emit(_document(entry), as_json=as_json, render=lambda console: _render_one(console, entry))


def _document(entry: Entry) -> dict[str, Any]:
    return entry.model_dump(mode="json")


def _render_all(console: Console, entries: list[Entry]) -> None:
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
    console.print("\n`warpsight explain COUNTER` says what each tool calls it")


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
