"""`warpsight vgpu ...`: questions about the virtual GPU itself. `coverage` tries every instruction form.

A census is a JSON file {"forms": {form: number of programs that use it}}; without one the built-in list of PTX forms is
tried. Forms of machine code are tried with `--isa sass`, and need a census. When that has also {"kernels": how many,
"base_operations": {operation: kernels that use it}}, the share of kernels that are read whole is given.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from warpsight.cli.output import ExitCode, emit
from warpsight.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from warpsight.vgpu.coverage import Coverage

vgpu = typer.Typer(no_args_is_help=True, epilog="Example: warpsight vgpu coverage")
CENSUS_HELP = 'Forms of real programs to try instead: {"forms": {form: programs}}.'


class Isa(StrEnum):
    PTX = "ptx"
    SASS = "sass"


@vgpu.callback()
def _about() -> None:  # with a callback, one command stays a sub-command
    """The virtual GPU: which instructions it runs."""


@vgpu.command()
def coverage(
    census: Annotated[Path | None, typer.Option(metavar="FILE", help=CENSUS_HELP)] = None,
    isa: Annotated[Isa, typer.Option(help="PTX, or machine code (SASS).")] = Isa.PTX,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Try every PTX form: does it lower, do core and definition run it, and do they agree bit for bit?

    Forms of machine code are only lowered: that their meaning is right is shown by running whole kernels both ways.
    Exit code 1 when a form is not executed.

    \b
    Examples:
      warpsight vgpu coverage
      warpsight vgpu coverage --census forms.json --json
      warpsight vgpu coverage --isa sass --census sass_forms.json
    """
    if isa is Isa.SASS:
        if census is None:
            raise UsageError("--isa sass needs --census FILE", hint='a JSON file {"forms": {"IADD3.X": 239, ...}}')
        raise typer.Exit(_machine_code(census, as_json))
    from warpsight.cli.progress import progress_on_stderr
    from warpsight.vgpu.coverage import cover
    from warpsight.vgpu.ptx.forms import listed_forms

    programs = {} if census is None else read_census(census)
    with progress_on_stderr() as say:
        found = cover(programs or listed_forms(), say)
    document = _document(found, programs)
    emit(document, as_json=as_json, render=lambda console: _render(console, found, programs))
    raise typer.Exit(int(ExitCode.FINE if all(c.executed for c in found) else ExitCode.WRONG))


def _machine_code(census: Path, as_json: bool) -> int:
    """Which forms of machine code are read, and which kernels whole; returns the exit code."""
    from warpsight.vgpu.sass.coverage import refusal, whole_kernels

    programs = read_census(census)
    refused = {form: why for form in programs if (why := refusal(form)) is not None}
    totals = {"forms": len(programs), "lowers": len(programs) - len(refused)}
    missing = [{"form": form, "programs": programs[form], "reason": why} for form, why in refused.items()]
    kernels, used = _kernels_of(census)
    whole = whole_kernels(programs, refused, used, kernels) if kernels else None
    document: dict[str, Any] = {"isa": "sass", "totals": totals, "not_read": missing}
    if whole is not None:
        document["kernels"] = {"all": kernels, "whole_at_least": whole.at_least, "whole_at_most": whole.at_most}

    def render(console: Console) -> None:
        share = 100 * totals["lowers"] / totals["forms"]
        console.print(f"{totals['lowers']} of {totals['forms']} forms of machine code are read ({share:.1f} %)")
        if whole is not None:
            console.print(whole.sentence(kernels))
        for entry in sorted(missing, key=lambda e: -int(e["programs"])):
            console.print(f"  not read: {entry['form']} ({entry['programs']} programs)", markup=False)

    emit(document, as_json=as_json, render=render)
    return int(ExitCode.WRONG if refused else ExitCode.FINE)


def _kernels_of(file: Path) -> tuple[int, dict[str, int]]:
    """How many kernels the census has, and how many of them use each operation; (0, {}) when it does not say."""
    data: Any = json.loads(file.read_text(encoding="utf-8"))
    kernels, used = data.get("kernels"), data.get("base_operations")
    return (kernels, cast("dict[str, int]", used)) if isinstance(kernels, int) and isinstance(used, dict) else (0, {})


def read_census(file: Path) -> dict[str, int]:
    """Form -> number of programs, from a census file."""
    try:
        data: Any = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise UsageError(f"expected a census in JSON at {file}: {problem}") from None
    forms: Any = cast("dict[str, Any]", data).get("forms") if isinstance(data, dict) else None
    counts = cast("dict[str, Any]", forms) if isinstance(forms, dict) else {}
    if not counts or not all(isinstance(count, int) and count >= 0 for count in counts.values()):
        raise UsageError(f'{file}: expected {{"forms": {{form: count, ...}}}} with at least one form')
    return counts


def _totals(found: list[Coverage]) -> dict[str, int]:
    return {
        "forms": len(found),
        "executed": sum(c.executed for c in found),
        "lowers": sum(c.lowers for c in found),
        "core": sum(c.core for c in found),
        "definition": sum(c.definition for c in found),
        "agrees": sum(c.agrees for c in found),
    }


def _document(found: list[Coverage], programs: Mapping[str, int]) -> dict[str, Any]:
    forms = [asdict(c) | {"executed": c.executed, "programs": programs.get(c.form)} for c in found]
    return {"totals": _totals(found), "forms": forms}


def _render(console: Console, found: list[Coverage], programs: Mapping[str, int]) -> None:
    from rich.table import Table
    from rich.text import Text

    totals = _totals(found)
    bases = len({c.form.split(".")[0] for c in found})
    console.print(f"{totals['forms']} PTX forms of {bases} instructions, each tried as a kernel of one instruction")
    meanings = (
        ("lowers", "the front end turns it into bytecode"),
        ("core", "the C++ core runs that bytecode"),
        ("definition", "the NumPy definition says what it means"),
        ("executed", "all three"),
        ("agrees", "core and definition give the same bits"),
    )
    table = Table(box=None, pad_edge=False, show_header=False)
    for name, meaning in meanings:
        share = f"{100 * totals[name] / totals['forms']:.1f} %"
        table.add_row(f"  {name}", Text(str(totals[name]), justify="right"), Text(share, justify="right"), meaning)
    console.print(table)
    missing = sorted((c for c in found if not c.executed), key=lambda c: (-programs.get(c.form, 0), c.form))
    if not missing:
        return
    console.print("\nnot executed:")
    rows = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("form", "programs", "why") if programs else ("form", "why"):
        rows.add_column(title, overflow="fold")
    for c in missing:
        cells = [Text(c.form), str(programs.get(c.form, 0)), Text(c.reason)]
        rows.add_row(*(cells if programs else (cells[0], cells[2])))
    console.print(rows, soft_wrap=False)
