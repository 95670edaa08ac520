"""`warpsight guard`: keep a repository's kernels right and fast. Exit code 1 where a kernel fails."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from warpsight.cli.output import ExitCode, emit

guard = typer.Typer(
    no_args_is_help=True,
    epilog="Example: warpsight guard check --max-regression 5%",
)
LIST_HELP = "The list of kernels: a warpsight.toml, or the folder that it is in."
ONLY_HELP = "Only the kernel of this task."
List = Annotated[Path, typer.Option("--list", metavar="FILE", help=LIST_HELP)]
Only = Annotated[str, typer.Option(metavar="TASK", help=ONLY_HELP)]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
HERE = Path()


@guard.command("init")
def init(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where the list is written.")] = HERE,
    as_json: AsJson = False,
) -> None:
    """Write a warpsight.toml with every task below a folder; add programs by hand.

    \b
    Example: warpsight guard init
    """
    from warpsight.verbs.guard import start

    file = start(folder)
    next_step = "`warpsight guard update` accepts the kernels as they are; commit both files"
    emit({"file": str(file)}, as_json=as_json, render=lambda console: console.print(f"wrote {file}; next: {next_step}"))


@guard.command("update")
def update(listed: List = HERE, only: Only = "", as_json: AsJson = False) -> None:
    """Accept kernels and programs as they are now: check each, profile it, and write the baseline. Commit it.

    \b
    Example: warpsight guard update --only transpose
    """
    from warpsight.cli.progress import progress_on_stderr
    from warpsight.cli.task_argument import document_of
    from warpsight.cli.text import guard as text
    from warpsight.verbs.guard import update as accept_all

    with progress_on_stderr() as say:
        guarded, kept, wrong = accept_all(listed, only, say)
    document = {
        "baseline": str(guarded.baseline_file),
        "accepted": [document_of(one) for one in kept],
        "wrong": [document_of(one) for one in wrong],
    }
    emit(document, as_json=as_json, render=lambda console: text.render_update(console, guarded, kept, wrong))
    raise typer.Exit(int(ExitCode.WRONG if wrong else ExitCode.FINE))


@guard.command("check")
def check(
    listed: List = HERE,
    only: Only = "",
    max_regression: Annotated[
        str, typer.Option(metavar="SHARE", help='How much slower a kernel may get, such as "3%"; else as listed.')
    ] = "",
    strict: Annotated[bool, typer.Option(help="Fail also where it is only likely slower, or unclear.")] = False,
    markdown: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a table for a pull request.")] = None,
    junit: Annotated[Path | None, typer.Option(metavar="FILE", help="Write JUnit XML.")] = None,
    sarif: Annotated[Path | None, typer.Option(metavar="FILE", help="Write findings on source lines as SARIF.")] = None,
    as_json: AsJson = False,
) -> None:
    """Judge every changed kernel and program against the baseline: still right, and no slower (simulated)?

    \b
    Examples:
      warpsight guard check
      warpsight guard check --max-regression 5% --markdown summary.md
    """
    from warpsight.cli.progress import progress_on_stderr
    from warpsight.cli.task_argument import document_of
    from warpsight.cli.text import guard as text
    from warpsight.verbs.guard import check as judge_all
    from warpsight.verbs.guard import write_reports

    with progress_on_stderr() as say:
        guarded, rows = judge_all(listed, only, max_regression, say)
    write_reports(rows, strict, {"markdown": markdown, "junit": junit, "sarif": sarif})
    failed, kernels = any(row.fails(strict) for row in rows), [document_of(row) for row in rows]
    document = {"baseline": str(guarded.baseline_file), "failed": failed, "kernels": kernels, "source": "simulated"}
    emit(document, as_json=as_json, render=lambda console: text.render_check(console, rows, strict))
    raise typer.Exit(int(ExitCode.WRONG if failed else ExitCode.FINE))
