"""A counter or a finding, or all of them, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from warpsight.causes import Cause
    from warpsight.lens.vocabulary import Entry


NONE = "-"


UNCHECKED = "Not checked against that tool's documentation: {names}."


def render_all(console: Console, entries: list[Entry], known: list[Cause]) -> None:
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


def render_causes(console: Console, found: list[Cause]) -> None:
    from rich.text import Text

    for cause in found:
        console.print(Text.assemble((cause.name, "bold"), f": {cause.meaning}"))
        console.print(Text(f"  first: {cause.advice}"))
        if cause.behind:
            console.print(Text(f"  often behind it: {', '.join(cause.behind)}"))
        if cause.aliases:
            console.print(Text(f"  also called: {', '.join(cause.aliases)}"))


def render_one(console: Console, entry: Entry) -> None:
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
