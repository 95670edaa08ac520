"""`warpsight report RUN`: one HTML file with everything about a run, to open in any browser. Reads the store only."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from warpsight.cli.output import emit
from warpsight.cli.show import RUN_HELP


def report(
    run: Annotated[str, typer.Argument(metavar="RUN", help=RUN_HELP)] = "last",
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Where to write it; default: RUN.html.")] = None,
    open_it: Annotated[bool, typer.Option("--open", help="Open it in a browser.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Write the report of a run: one HTML file that needs no network, with charts, changes, reasons and evidence.

    \b
    Examples:
      warpsight report last
      warpsight report 20261116-0041 --out result.html --open
    """
    from warpsight.report.write import write_report
    from warpsight.runs.find import find_run
    from warpsight.runs.sqlite import SqliteStore

    with SqliteStore() as store:
        found = find_run(store, run)
        file = (out or Path(f"{found}.html")).resolve()
        size = write_report(store, found, file)
    if open_it:
        webbrowser.open(file.as_uri())
    document = {"run": found, "file": str(file), "bytes": size}
    emit(
        document, as_json=as_json, render=lambda console: console.print(f"{file} ({size / 1024:.0f} kB)", markup=False)
    )
