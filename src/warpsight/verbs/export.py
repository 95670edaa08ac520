"""A run as a flashinfer-trace data set: the kernel that it submitted, with its evaluation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from warpsight.errors import UsageError

if TYPE_CHECKING:
    from warpsight.nouns import Run


def write_flashinfer(run: Run, kernel: str | None, folder: Path | None) -> tuple[Path, ...]:
    """The task, its own kernel, the submitted one and its trace; a task that has changed since is refused."""
    from warpsight.gate.identity import task_sha256
    from warpsight.tasks import kernel_name, read_candidate, read_task, written_in
    from warpsight.tasks.importers.flashinfer.traces import trace_of, traced_workload
    from warpsight.tasks.importers.flashinfer.write import write_trace_set

    settings = cast(dict[str, Any], run.job.get("settings") or {})
    if folder is None:
        raise UsageError("expected a folder to write to", hint="--output DIR")
    if kernel is None or run.submitted is None or "folder" not in settings:
        raise UsageError(f"expected a run that submitted a kernel of a task, {run.id} did not")
    task = read_task(Path(settings["folder"]))
    if task_sha256(task) != run.job.get("task_sha256"):
        raise UsageError(f"expected the task of the run, {task.folder} has changed since", hint="restore it")
    language = "opencl" if settings.get("device") == "opencl" else written_in(kernel)
    candidates = {
        "baseline": read_candidate(task.kernel, task, task.kernel_file),
        run.id: read_candidate(kernel, task, kernel_name(task, language), language),
    }
    trace = trace_of(task, traced_workload(task, run.submitted), run.id, run.submitted)
    return write_trace_set(task, candidates, folder, [trace])
