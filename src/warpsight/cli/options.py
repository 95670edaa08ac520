"""Options that several verbs share, with the words that help shows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
CpuLimit = Annotated[
    float | None,
    typer.Option(min=0.1, metavar="S", help="Of a program: end it after so many seconds of processor time."),
]
LaunchLimit = Annotated[
    float | None,
    typer.Option(
        min=0.05, metavar="S", help="Of a program: cut launches off after so many seconds. Its results are then wrong."
    ),
]
TraceFile = Annotated[
    Path | None,
    typer.Option("--trace", metavar="FILE", help="Of a program: write its timeline for Perfetto or Chrome."),
]
HtmlFile = Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Of a program: write a page of it.")]
ProfileWorkload = Annotated[str | None, typer.Option(metavar="NAME", help="By default the task's profile workload.")]
On = Annotated[
    str | None,
    typer.Option("--on", metavar="WHERE", help="Where to work: processes (the default), ray, or ray://HOST:PORT."),
]
FirstTasks = Annotated[int | None, typer.Option(min=1, help="Only the first tasks.")]
