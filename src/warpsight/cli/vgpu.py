"""`warpsight vgpu ...`: questions about the virtual GPU itself. `coverage` tries every instruction form.

A census is a JSON file {"forms": {form: number of programs that use it}}; without one the built-in list of PTX forms is
tried. Forms of machine code are tried with `--isa sass`, and need a census. When that has also {"kernels": how many,
"base_operations": {operation: kernels that use it}}, the share of kernels that are read whole is given.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from warpsight.cli.output import ExitCode, emit
from warpsight.cli.text.coverage import coverage_document, render
from warpsight.errors import UsageError
from warpsight.verbs.census import kernels_of, read_census

if TYPE_CHECKING:
    from rich.console import Console


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
    document = coverage_document(found, programs)
    emit(document, as_json=as_json, render=lambda console: render(console, found, programs))
    raise typer.Exit(int(ExitCode.FINE if all(c.executed for c in found) else ExitCode.WRONG))


def _machine_code(census: Path, as_json: bool) -> int:
    """Which forms of machine code are read, and which kernels whole; returns the exit code."""
    from warpsight.vgpu.sass.coverage import refusal, whole_kernels

    programs = read_census(census)
    refused = {form: why for form in programs if (why := refusal(form)) is not None}
    totals = {"forms": len(programs), "lowers": len(programs) - len(refused)}
    missing = [{"form": form, "programs": programs[form], "reason": why} for form, why in refused.items()]
    kernels, used = kernels_of(census)
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
