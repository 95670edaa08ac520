"""`profile` and `diagnose` of a whole program, where what is named is one and no task."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from warpsight.cli.output import emit
from warpsight.errors import UsageError

if TYPE_CHECKING:
    from warpsight.verbs.profile_program import ProgramProfile


def show_if_program(target: str, arguments: Sequence[str] | None, **asked: Any) -> None:
    """Where the target is a program, `show_program`, which ends the command; a task takes no arguments."""
    from warpsight.programs.recognise import is_program

    if is_program(target):
        show_program(target, arguments or (), **asked)
    if arguments:
        raise UsageError(f"expected arguments for a program, {target} is a task", "leave them out")


def show_program(
    target: str, arguments: Sequence[str], *, gpu: str | None, cores: int | None, as_json: bool,
    kernel: str | None = None, findings_alone: bool = False, lines: int | None = 10, everything: bool = False,
    cpu_limit: float | None = None, launch_limit: float | None = None, trace: Path | None = None,
    html: Path | None = None,
) -> None:  # fmt: skip
    """Run it and show its kernels; one of them in full with `kernel`; or the findings of all with `findings_alone`."""
    from warpsight.cli.text import profile_program as text
    from warpsight.programs.build import BuildFailed
    from warpsight.programs.run import NEVER_S
    from warpsight.verbs.profile_program import profile_whole
    from warpsight.verbs.run_program import DEFAULT_GPU, ProgramQuestion

    kind = gpu or DEFAULT_GPU
    question = ProgramQuestion(
        Path(target), tuple(arguments), gpu=kind, cores=cores or 0, tell=_tell,
        cpu_limit_s=cpu_limit or NEVER_S, launch_limit_s=launch_limit or NEVER_S,
    )  # fmt: skip
    try:
        found = profile_whole(question, output=_say, errors=_say)
    except BuildFailed as failed:
        sys.stderr.write(failed.said)
        raise
    _write(found, trace, html)
    _keep(found)
    if kernel is not None:
        text.show_one(found, _named(found, kernel), lines=lines, everything=everything, as_json=as_json)
    else:
        render = text.render_findings_of if findings_alone else text.render_kernels
        emit(_document(found), as_json=as_json, render=lambda console: render(console, found))
    interrupted = found.run.exit_code if found.run.end == "interrupted" else 0
    raise typer.Exit(1 if found.run.faulted else interrupted)


def _write(found: ProgramProfile, trace: Path | None, html: Path | None) -> None:
    """The files that were asked for."""
    from warpsight.report.chrome_trace import chrome_trace
    from warpsight.report.program_page import program_page
    from warpsight.report.write import write_page

    if trace is not None:
        write_page(chrome_trace(found), trace)
        _tell(f"timeline written to {trace}: open it at ui.perfetto.dev or in chrome://tracing")
    if html is not None:
        write_page(program_page(found), html)
        _tell(f"page written to {html}")


def _keep(found: ProgramProfile) -> None:
    """For `warpsight view`; what cannot be kept does not spoil the profile."""
    from warpsight.folders import data_folder
    from warpsight.runs.programs import keep_program
    from warpsight.runs.sqlite import SqliteStore

    try:
        keep_program(data_folder(), found)
        SqliteStore().close()  # `view` opens a store, which nobody may have made yet
    except OSError as problem:
        _tell(f"not kept for `warpsight view`: {problem}")


def _tell(text: str) -> None:
    _say(f"warpsight: {text}\n".encode())


def _say(data: bytes) -> None:
    sys.stderr.buffer.write(data)
    sys.stderr.flush()


def _named(found: ProgramProfile, name: str) -> int:
    """The row of the kernel's longest launches."""
    from warpsight.cli.text.run_program import plain
    from warpsight.vgpu.faults import kernel_name

    for number, row in enumerate(found.run.kernels):
        if name in (row.kernel, plain(row.kernel), kernel_name(row.kernel)) and found.of(row) is not None:
            return number
    known = dict.fromkeys(plain(row.kernel) for row in found.run.kernels if found.of(row) is not None)
    raise UsageError(f"expected one of {', '.join(known) or 'no kernel'}, found {name!r}", "leave --kernel-name out")


def _document(found: ProgramProfile) -> dict[str, Any]:
    from warpsight.cli.task_argument import document_of

    rows: list[dict[str, Any]] = []
    for row in found.run.kernels:
        diagnosis = found.of(row)
        share = (row.time_us or 0.0) / found.whole_us if found.whole_us else 0.0
        rows.append(
            {**document_of(row), "share": share, "profile": None if diagnosis is None else document_of(diagnosis)}
        )
    findings = [document_of(one) for one in found.findings()]
    return {**document_of(found.run), "whole_us": found.whole_us, "kernels": rows, "findings": findings}
