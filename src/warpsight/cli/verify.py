"""`warpsight verify CERT`: does a certificate hold? Every hash and number again, offline; with --rerun on this machine.

The ledger is looked for beside the certificate, where it was written. The last line says what was shown and what was
not. Exit code 0 when a key that you know signed it or it came out again, 1 when anything does not hold, 4 when nothing
contradicts it and nobody known vouches for it.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from warpsight.cli.output import ExitCode, emit
from warpsight.errors import UsageError
from warpsight.verbs.verify import ledger_of

if TYPE_CHECKING:
    from warpsight.gate.verify import Verified
    from warpsight.nouns import Task
    from warpsight.nouns.certificate import Certificate

CODES = {
    "holds": ExitCode.FINE, "reproduced": ExitCode.FINE, "unproven": ExitCode.UNPROVEN, "broken": ExitCode.WRONG,
}  # fmt: skip
LEDGER_HELP = "The ledger file or its folder; by default the one the certificate was written beside."


def verify(
    certificate: Annotated[Path, typer.Argument(metavar="CERT", help="A certificate file.")],
    ledger: Annotated[Path | None, typer.Option(metavar="PATH", help=LEDGER_HELP)] = None,
    task: Annotated[str | None, typer.Option(metavar="TASK", help="Hold it to this task too.")] = None,
    rerun: Annotated[bool, typer.Option("--rerun", help="Run both kernels again here and compare.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Verify a certificate: recompute its hashes, its statistics and its place in the ledger, and say who signed it.

    \b
    Examples:
      warpsight verify runs/today/certificates/0a1b2c3d.json
      warpsight verify cert.json --ledger ledger.jsonl --task saxpy --rerun
    """
    from warpsight.cli.task_argument import find_task
    from warpsight.cli.text import timing as timing_text
    from warpsight.gate.certificate import BrokenCertificate, read_certificate
    from warpsight.gate.verdict import signer_words, verdict_of
    from warpsight.gate.verify import verify_bytes

    try:
        raw = certificate.read_bytes()
    except OSError as problem:
        raise UsageError(f"expected a certificate at {certificate}: {problem}") from None
    book = ledger_of(certificate, ledger)
    known = None if task is None else find_task(task)
    if rerun and known is None:  # what is run again must be the task that the certificate is for
        with contextlib.suppress(BrokenCertificate):
            known = find_task(read_certificate(raw).certificate.task)
    looked = verify_bytes(raw, book, known)
    again = _rerun(looked.certificate, known) if rerun and looked.certificate is not None and known else None
    verdict = verdict_of(looked, with_ledger=book is not None, rerun=again)
    findings = [*looked.findings, *([again] if again else [])]
    document = {
        "ok": verdict.kind != "broken",
        "verdict": verdict.kind,
        "shown": verdict.shown,
        "not_shown": verdict.not_shown,
        "signature": {"whose": looked.signer.whose, "key": looked.signer.fingerprint, "name": looked.signer.name},
        "certificate": str(certificate),
        "ledger": None if book is None else str(book),
        "looked_at": [{"name": one.name, "ok": one.ok, "detail": one.detail} for one in findings],
    }

    def render(console: object) -> None:
        from rich.console import Console

        assert isinstance(console, Console)
        timing_text.render_verified(console, looked.certificate, findings)
        console.print(signer_words(looked.signer), style=None if looked.signer.known else "yellow")
        if book is None:
            console.print("no ledger was looked at: give it with --ledger", style="yellow")
        console.print(f"\n{verdict.line}", style="bold", markup=False)

    emit(document, as_json=as_json, render=render)
    raise typer.Exit(int(CODES[verdict.kind]))


def _rerun(found: Certificate, task: Task) -> Verified:
    """The same seed on a simulated device must give the same numbers; on a measured one, FASTER again."""
    from warpsight.cli.progress import progress_on_stderr
    from warpsight.gate.rerun import rerun_certificate

    with progress_on_stderr() as say:
        return rerun_certificate(found, task, say)
