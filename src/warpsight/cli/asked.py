"""From the words of a command to a Session: what every verb on one kernel of one task begins with."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from warpsight.cli.output import ExitCode, emit

if TYPE_CHECKING:
    from rich.console import Console

    from warpsight.nouns import Build, Candidate
    from warpsight.session.session import Session


@dataclass(frozen=True)
class AskedKernel:
    """An open session, the kernel that is asked about and the name it is shown by."""

    session: Session
    kernel: Candidate
    file: str

    @property
    def what_ran(self) -> dict[str, Any]:
        task, build = self.session.task, self.session.build(self.kernel)
        kernel = {"file": self.file, "entry": task.entry, "sha256": self.kernel.sha256}
        return {"task": task.name, "kernel": kernel, "gpu_arch": build.gpu_arch, "compiler": build.compiler}

    @property
    def workload(self) -> dict[str, Any]:
        chosen = self.session.workload
        return {"name": chosen.name, "axes": dict(chosen.axes), "seed": self.session.seed}


@contextmanager
def asked(
    task: str,
    kernel: Path | None,
    *,
    device: str | None = None,
    gpu: str | None = None,
    workload: str | None = None,
    seed: int = 0,
    deadline: float = 120.0,
    cores: int | None = None,
    unsafe: bool = False,
    ledger: Path | None = None,
    keep_reports: bool = False,
    baseline: Candidate | None = None,
) -> Generator[AskedKernel, None, None]:
    """The session that the words of a command ask for. `baseline` is the kernel to beat, by default the one asked."""
    from warpsight.cli.device_argument import device_for, language_for
    from warpsight.cli.progress import progress_on_stderr
    from warpsight.cli.task_argument import find_task, gpu_of, profiled_workload, read_kernel
    from warpsight.session.session import Session

    found = find_task(task)
    file, candidate = read_kernel(found, kernel, language_for(device))
    where = device_for(device, candidate, file)
    chosen = profiled_workload(found, workload)
    if gpu is None:
        gpu_of(found)  # a name that means no GPU is refused before anything is compiled
    with (
        progress_on_stderr() as say,
        Session(
            found, device=where, gpu=gpu, kernel=baseline or candidate, workload=chosen, seed=seed,
            deadline_seconds=deadline, cores=cores, unsafe=unsafe, ledger=ledger, keep_reports=keep_reports,
            tells_sizes=True, say=say,
        ) as session,
    ):  # fmt: skip
        yield AskedKernel(session, candidate, file)


def require_build(asked: AskedKernel, as_json: bool, outcome: str = "nothing to profile") -> Build:
    """The kernel compiled; where it does not, the compiler's messages are the result and the command ends."""
    build = asked.session.build(asked.kernel)
    if not build.ok:
        does_not_compile(asked, build, as_json, outcome)
    return build


def does_not_compile(asked: AskedKernel, build: Build, as_json: bool, outcome: str) -> NoReturn:
    """There is no program: the compiler's messages are the result."""
    from warpsight.cli.task_argument import document_of
    from warpsight.cli.text import check as check_text

    shown = check_text.ShownCheck(asked.session.task, asked.file, asked.kernel.source, (), build, 0)
    diagnostics = [document_of(diagnostic) for diagnostic in build.diagnostics]
    document = {**asked.what_ran, "verdict": "does_not_compile", "diagnostics": diagnostics}

    def render(console: Console) -> None:
        check_text.render_diagnostics(console, build.diagnostics, shown)
        console.print(f"\n[bold red]does not compile[/]: there is {outcome}")

    emit(document, as_json=as_json, render=render)
    raise typer.Exit(int(ExitCode.WRONG))
