"""`warpsight resume RUN`: go on with a run that was interrupted, killed, or whose model could not be had."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from warpsight.cli.output import ExitCode, emit
from warpsight.cli.show import RUN_HELP
from warpsight.cli.text.run import render_ending

if TYPE_CHECKING:
    from warpsight.reason.resume import OpenBox

INTERRUPTED = 130  # what shells give a program that Ctrl-C ended
# Other boxes of tools that a run may have been started with than those of `optimize`, by `settings["box"]` of its job.
BOXES: dict[str, OpenBox] = {}


def resume(
    run: Annotated[str, typer.Argument(metavar="RUN", help=RUN_HELP)],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where to write the new kernel, as with `optimize`.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Go on with a run where it stopped. What was recorded is not done again, and costs nothing again.

    \b
    Examples:
      warpsight resume last
    """
    from warpsight.cli.optimize import run_and_report
    from warpsight.cli.progress import progress_on_stderr
    from warpsight.reason.job import job_of
    from warpsight.reason.optimize import BOX, FEW_BOX, SMALL_BOX
    from warpsight.reason.resume import resume as go_on
    from warpsight.runs.find import find_run
    from warpsight.runs.sqlite import SqliteStore
    from warpsight.runs.store import RESUMABLE

    with SqliteStore() as store:
        stored = store.read(find_run(store, run))
    if stored.outcome in RESUMABLE and job_of(stored).settings.get("box") in (BOX, SMALL_BOX, FEW_BOX):
        run_and_report(job_of(stored), out, quiet=quiet, as_json=as_json)
    with SqliteStore() as store, progress_on_stderr() as say:
        found = go_on(store, find_run(store, run), BOXES, watch=lambda text, _progress: say(text))
    document = json.loads(found.model_dump_json(exclude={"job"}))
    emit(document, as_json=as_json, render=lambda console: render_ending(console, found))
    if found.outcome == "stopped":
        raise typer.Exit(INTERRUPTED if found.reason == "interrupted" else int(ExitCode.BROKEN))
