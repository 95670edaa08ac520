"""`warpsight compare TASK --candidate B [--baseline A]`: is B right, and is it faster than A? The whole gate.

Exit code 0 when the question was answered, also by SLOWER; 1 when the candidate is wrong or its time is rejected.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from warpsight.cli.check import TASK_HELP
from warpsight.cli.device_argument import DEVICE_HELP, DEVICES
from warpsight.cli.output import ExitCode, emit
from warpsight.cli.profile import GPU_HELP
from warpsight.errors import UsageError

if TYPE_CHECKING:
    from warpsight.cli.asked import AskedKernel
    from warpsight.nouns import Candidate
    from warpsight.session.session import Session

LEDGER_HELP = "Folder of a ledger: the seed is committed there first, and a winner gets a certificate."
UNSAFE_HELP = "Run without the protections that this system lacks; every result says so."


def compare(
    task: Annotated[str, typer.Argument(metavar="TASK", help=TASK_HELP)],
    candidate: Annotated[
        Path, typer.Option("--candidate", "--kernel", metavar="FILE", help="The kernel that may be faster.")
    ],
    baseline: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The kernel to beat; by default the task's own.")
    ] = None,
    workload: Annotated[str | None, typer.Option(metavar="NAME", help="By default the profile workload.")] = None,
    device: Annotated[str | None, typer.Option(metavar=DEVICES, help=DEVICE_HELP)] = None,
    gpu: Annotated[str | None, typer.Option(metavar="NAME", help=GPU_HELP)] = None,
    ledger: Annotated[Path | None, typer.Option(metavar="FOLDER", help=LEDGER_HELP)] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of all that is random; secret by default.")] = None,
    unsafe: Annotated[bool, typer.Option("--unsafe", help=UNSAFE_HELP)] = False,
    deadline: Annotated[float, typer.Option(min=0.1, help="Seconds that one launch may take.")] = 120.0,
    cores: Annotated[int | None, typer.Option(min=1, help="CPU cores to use; all by default.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Compare two kernels: check the candidate, then time both; winners on a measured device are measured twice.

    \b
    Examples:
      warpsight compare saxpy --candidate mine.cu
      warpsight compare saxpy --baseline a.cl --candidate b.cl --ledger runs/today
    """
    from warpsight.cli.asked import asked
    from warpsight.cli.task_argument import document_of, find_task, read_kernel
    from warpsight.cli.text import timing as timing_text

    theirs_of = read_kernel(find_task(task), candidate)[1].language
    their_file, theirs = read_kernel(find_task(task), baseline, "opencl" if theirs_of == "opencl" else "cuda")
    with asked(
        task, candidate, device=device, gpu=gpu, workload=workload, deadline=deadline, cores=cores, unsafe=unsafe,
        ledger=ledger, baseline=theirs,
    ) as question:  # fmt: skip
        session = question.session
        _require_pair(question, theirs, their_file)
        if baseline is not None:
            _require_right(session, their_file)
        result = session.compare(question.kernel, seed=seed)
    where = f"workload {session.workload.name}, {session.device.name}"
    header = f"{session.task.name}: {question.file} against {their_file}, {where}"
    file = session.certificate_file(result)
    document = {
        **document_of(result.model_copy(update={"profile": None})),
        "task": session.task.name,
        "candidate": {"file": question.file, "sha256": question.kernel.sha256},
        "baseline": {"file": their_file, "sha256": theirs.sha256},
        "certificate_file": None if file is None else str(file),
    }
    booked = ledger is not None
    emit(
        document,
        as_json=as_json,
        render=lambda console: timing_text.render_comparison(console, result, header, file, booked=booked),
    )
    rejected = result.timing is None or result.timing.decision == "REJECTED"
    raise typer.Exit(int(ExitCode.WRONG if rejected else ExitCode.FINE))


def _require_pair(asked: AskedKernel, theirs: Candidate, their_file: str) -> None:
    if (theirs.language == "opencl") != (asked.kernel.language == "opencl"):
        told = f"{their_file} is {theirs.language}, {asked.file} is {asked.kernel.language}"
        raise UsageError(f"expected two kernels for one device, {told}")


def _require_right(session: Session, file: str) -> None:
    """Beating a wrong kernel means nothing."""
    session.say("checking the baseline")
    found = session.quick_check()
    if found.verdict != "right":
        raise UsageError(
            f"expected a right baseline, {file} is {found.verdict}: {found.reason}", "warpsight check on it"
        )
