"""`warpsight verify CERT`: does a certificate hold? Every hash and number again, offline; with --rerun on this machine.

The ledger is looked for beside the certificate, where it was written. Exit code 1 when anything does not hold.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from warpsight.cli.output import ExitCode, emit
from warpsight.errors import UsageError

if TYPE_CHECKING:
    from warpsight.gate.verify import Verified
    from warpsight.nouns import Task
    from warpsight.nouns.certificate import Certificate

LEDGER_HELP = "The ledger file or its folder; by default the one the certificate was written beside."


def verify(
    certificate: Annotated[Path, typer.Argument(metavar="CERT", help="A certificate file.")],
    ledger: Annotated[Path | None, typer.Option(metavar="PATH", help=LEDGER_HELP)] = None,
    task: Annotated[str | None, typer.Option(metavar="TASK", help="Hold it to this task too.")] = None,
    rerun: Annotated[bool, typer.Option("--rerun", help="Run both kernels again here and compare.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Verify a certificate: recompute its hashes, its statistics and its place in the ledger.

    \b
    Examples:
      warpsight verify runs/today/certificates/0a1b….json
      warpsight verify cert.json --ledger ledger.jsonl --task saxpy --rerun
    """
    from warpsight.cli import timing_text
    from warpsight.cli.task_argument import find_task
    from warpsight.gate.verify import Verified, verify_bytes

    try:
        raw = certificate.read_bytes()
    except OSError as problem:
        raise UsageError(f"expected a certificate at {certificate}: {problem}") from None
    book = _ledger_of(certificate, ledger)
    known = None if task is None else find_task(task)
    found, seen = verify_bytes(raw, book, known)
    looked = list(seen)
    if rerun and found is not None:
        looked.append(_rerun(found, known or find_task(found.task)))
    if book is None:
        looked.append(Verified("ledger", True, "none given: the chain was not looked at"))
    good = all(one.ok for one in looked)
    document = {
        "ok": good,
        "certificate": str(certificate),
        "ledger": None if book is None else str(book),
        "looked_at": [{"name": one.name, "ok": one.ok, "detail": one.detail} for one in looked],
    }

    def render(console: object) -> None:
        from rich.console import Console

        assert isinstance(console, Console)
        timing_text.render_verified(console, found, looked)
        if book is None:
            console.print("no ledger was looked at: give it with --ledger", style="yellow")
        console.print("\nthe certificate holds" if good else "\nthe certificate does not hold", style="bold")

    emit(document, as_json=as_json, render=render)
    raise typer.Exit(int(ExitCode.FINE if good else ExitCode.WRONG))


def _ledger_of(certificate: Path, given: Path | None) -> Path | None:
    from warpsight.gate.ledger import FILE_NAME

    if given is not None:
        path = given / FILE_NAME if given.is_dir() else given
        if not path.is_file():
            raise UsageError(f"expected a ledger at {path}, found none")
        return path
    beside = certificate.resolve().parent.parent / FILE_NAME
    return beside if beside.is_file() else None


def _rerun(found: Certificate, task: Task) -> Verified:
    """The same seed on a simulated device must give the same numbers; on a measured one, FASTER again."""
    from warpsight.cli.progress import progress_on_stderr
    from warpsight.gate.rerun import rerun_certificate

    with progress_on_stderr() as say:
        return rerun_certificate(found, task, say)
