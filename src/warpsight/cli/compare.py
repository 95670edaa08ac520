"""`warpsight compare TASK --candidate B [--baseline A]`: is B right, and is it faster than A? The whole gate.

Exit code 0 when the question was answered, also by SLOWER; 1 when the candidate is wrong or its time is rejected.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from warpsight.cli.check import TASK_HELP
from warpsight.cli.device_argument import DEVICE_HELP, DeviceName
from warpsight.cli.output import ExitCode, emit
from warpsight.cli.profile import GPU_HELP
from warpsight.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from warpsight.devices.device import Device
    from warpsight.nouns import Candidate, Task

LEDGER_HELP = "Folder of a ledger: the seed is committed there first, and a winner gets a certificate."
UNSAFE_HELP = "Run without the protections that this system lacks; every result says so."


def compare(
    task: Annotated[str, typer.Argument(metavar="TASK", help=TASK_HELP)],
    candidate: Annotated[Path, typer.Option(metavar="FILE", help="The kernel that may be faster.")],
    baseline: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The kernel to beat; by default the task's own.")
    ] = None,
    workload: Annotated[str | None, typer.Option(metavar="NAME", help="By default the profile workload.")] = None,
    device: Annotated[DeviceName | None, typer.Option(help=DEVICE_HELP)] = None,
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
    from warpsight.cli import timing_text
    from warpsight.cli.device_argument import device_for
    from warpsight.cli.progress import progress_on_stderr
    from warpsight.cli.task_argument import document_of, find_task, profiled_workload, read_kernel
    from warpsight.cli.timed_device import timed_device
    from warpsight.gate.evaluate import evaluate
    from warpsight.gate.ledger import Ledger

    found = find_task(task)
    file, mine = read_kernel(found, candidate)
    where, chosen = device_for(device, mine, file), profiled_workload(found, workload)
    their_file, theirs = read_kernel(found, baseline, mine.language)
    if (theirs.language == "opencl") != (mine.language == "opencl"):
        told = f"{their_file} is {theirs.language}, {file} is {mine.language}"
        raise UsageError(f"expected two kernels for one device, {told}")
    book = None if ledger is None else Ledger(ledger)
    with (
        progress_on_stderr() as say,
        timed_device(where, found, gpu, cores=cores, deadline_s=deadline) as run_on,
    ):
        if baseline is not None:
            _right_baseline(found, theirs, their_file, run_on, say)
        result = evaluate(
            found, mine, theirs, run_on, seed=seed, ledger=book, workload=chosen, unsafe=unsafe, progress=say
        )
    header = f"{found.name}: {file} against {their_file}, workload {chosen.name}, {run_on.name}"
    document = {
        **document_of(result.model_copy(update={"profile": None})),
        "task": found.name,
        "candidate": {"file": file, "sha256": mine.sha256},
        "baseline": {"file": their_file, "sha256": theirs.sha256},
        "certificate_file": None if result.certificate is None else str(_file(book, result.certificate)),
    }
    emit(document, as_json=as_json, render=lambda console: timing_text.render_comparison(console, result, header))
    if result.certificate is not None and not as_json:
        print(f"certificate: {document['certificate_file']}")
    elif book is not None and not as_json and result.timing is not None and result.timing.decision == "LIKELY_FASTER":
        print(timing_text.certificate_line(result.timing, None))
    rejected = result.timing is None or result.timing.decision == "REJECTED"
    raise typer.Exit(int(ExitCode.WRONG if rejected else ExitCode.FINE))


def _file(book: object, found: str) -> Path:
    from warpsight.gate.ledger import Ledger

    assert isinstance(book, Ledger)
    return book.certificates / f"{found}.json"


def _right_baseline(task: Task, baseline: Candidate, file: str, device: Device, say: Callable[[str], None]) -> None:
    """Beating a wrong kernel means nothing."""
    from warpsight.gate.check import check_candidate
    from warpsight.gate.evaluate import build_for

    say("checking the baseline")
    found = check_candidate(task, baseline, device, build=build_for(task, baseline, device), families=(), progress=say)
    if found.verdict != "right":
        raise UsageError(
            f"expected a right baseline, {file} is {found.verdict}: {found.reason}", "warpsight check on it"
        )
