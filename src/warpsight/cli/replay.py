"""`warpsight replay RUN`: make a stored run again from its records, with no model and no device, and compare."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from warpsight.cli.output import ExitCode, emit
from warpsight.cli.show import RUN_HELP

if TYPE_CHECKING:
    from rich.console import Console

    from warpsight.reason.replay import Replayed


def replay(
    run: Annotated[str, typer.Argument(metavar="RUN", help=RUN_HELP)],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Replay a run. Exit code 0 when transcript (to the byte) and evaluation are those that are stored, 1 otherwise.

    \b
    Examples:
      warpsight replay last
    """
    import hashlib

    from warpsight.reason.replay import replay as again
    from warpsight.reason.transcript import transcript_bytes
    from warpsight.runs.find import find_run
    from warpsight.runs.sqlite import SqliteStore

    with SqliteStore() as store:
        found = again(store, find_run(store, run))
    digest = hashlib.sha256(transcript_bytes(found.run.steps)).hexdigest()
    document = {
        "run": found.run.id,
        "same": found.same,
        "differs_at": found.differs_at,
        "same_ending": found.same_ending,
        "steps": len(found.run.steps),
        "transcript_sha256": digest,
    }
    emit(document, as_json=as_json, render=lambda console: _render(console, found, digest))
    raise typer.Exit(int(ExitCode.FINE if found.same else ExitCode.WRONG))


def _render(console: Console, found: Replayed, digest: str) -> None:
    if found.same:
        console.print(f"same: {len(found.run.steps)} steps to the byte (sha256 {digest}), and the same ending")
    elif found.differs_at is not None:
        console.print(f"[bold]differs[/] at step {found.differs_at}; see `warpsight show {found.run.id} --full`")
    else:
        console.print(f"[bold]differs[/]: the steps are the same, the ending is not ({found.run.outcome})")
