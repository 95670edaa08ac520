"""`warpsight export RUN`: a run in the form of others: ATIF JSON, a row of `messages` and `tools` for training, or the
kernel that it submitted as a flashinfer-trace data set with its evaluation."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from warpsight.cli.show import RUN_HELP
from warpsight.errors import UsageError
from warpsight.verbs.export import write_flashinfer

FORMAT_HELP = "atif: one document; hf: one line; flashinfer: a folder, for a run whose kernel was timed on a GPU."
OUTPUT_HELP = "Write it there instead of on stdout; flashinfer: the folder."


class ExportFormat(StrEnum):
    """The forms a run can take."""

    ATIF = "atif"
    HF = "hf"
    FLASHINFER = "flashinfer"


def export(
    run: Annotated[str, typer.Argument(metavar="RUN", help=RUN_HELP)],
    to: Annotated[ExportFormat, typer.Option("--format", help=FORMAT_HELP)] = ExportFormat.ATIF,
    output: Annotated[Path | None, typer.Option(metavar="FILE", help=OUTPUT_HELP)] = None,
) -> None:
    """Export a run as ATIF JSON (v1.7), as a row of Hugging Face `messages` and `tools` with a loss mask, or its kernel
    and evaluation as flashinfer-trace.

    \b
    Examples:
      warpsight export last --format atif --output run.trajectory.json
      warpsight export last --format hf >> rows.jsonl
      warpsight export last --format flashinfer --output trace-set
    """
    from warpsight.runs.atif import atif_of
    from warpsight.runs.find import find_run
    from warpsight.runs.hf import hf_row
    from warpsight.runs.sqlite import SqliteStore

    with SqliteStore() as store:
        found = store.read(find_run(store, run))
        records, times = store.records(found.id), store.times(found.id)
        attempts = [line.id for line in reversed(store.list_runs(parent=found.id))]
        kernel = store.get(found.submission.kernel_sha256).decode() if found.submission is not None else None
    if to is ExportFormat.FLASHINFER:
        for path in write_flashinfer(found, kernel, output):
            print(f"wrote {path}")
        return
    if not found.steps:
        hint = f"export its attempts: {', '.join(attempts)}" if attempts else "see `warpsight runs`"
        raise UsageError(f"run {found.id} has no steps of its own", hint=hint)
    if to is ExportFormat.ATIF:
        text = json.dumps(atif_of(found, records, times), indent=2, ensure_ascii=False, allow_nan=False)
    else:
        text = json.dumps(hf_row(found), ensure_ascii=False, allow_nan=False)
    if output is None:
        print(text)
    else:
        output.write_text(f"{text}\n", encoding="utf-8")
