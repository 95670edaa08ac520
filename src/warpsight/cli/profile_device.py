"""`warpsight profile TASK --device opencl|cuda|hip`: a profile measured on this machine, by the best source there is.

On a GPU the vendors' profilers are asked first; the notes say which one answered, which did not and why (not run on a
GPU by us). The words and tables are those of a report that was read from a file.
"""

from __future__ import annotations

import time
from pathlib import Path

from warpsight.cli import profile_text
from warpsight.cli.device_argument import DeviceName, opened
from warpsight.cli.output import emit
from warpsight.cli.profile import does_not_compile, launch_size, what_ran
from warpsight.cli.progress import progress_on_stderr
from warpsight.cli.task_argument import document_of, profiled_workload, sizes_text
from warpsight.cli.time_text import measured_facts
from warpsight.errors import UsageError
from warpsight.gate.check import kernel_values
from warpsight.gate.evaluate import build_for
from warpsight.lens import find_findings
from warpsight.lens.profilers.on_gpu import best_profile, reports_folder
from warpsight.nouns import Candidate, Task
from warpsight.tasks import launch_of


def show_device(
    task: Task,
    candidate: Candidate,
    file: str,
    where: DeviceName,
    *,
    workload: str | None,
    gpu: str | None,
    lines: int | None,
    everything: bool,
    seed: int,
    deadline_s: float,
    cores: int | None,
    as_json: bool,
) -> None:
    """Build, run and profile there, and print it; `lines` None: all of them, in the order of the source."""
    if where is DeviceName.OPENCL and gpu is not None:
        raise UsageError("--gpu is for GPUs, OpenCL runs on this machine's processor")
    chosen = profiled_workload(task, workload)
    size = launch_size(candidate, chosen, file)
    with progress_on_stderr() as say, opened(where, cores=cores, deadline_s=deadline_s, gpu=gpu) as device:
        say("compiling")
        build = build_for(task, candidate, device)
        if not build.ok:
            does_not_compile(task, file, candidate, build, as_json)
        size = launch_of(build, size)
        say(f"measuring workload {chosen.name}")
        values = kernel_values(task, chosen, seed)[1]
        folder, began = reports_folder(build) if where in (DeviceName.CUDA, DeviceName.HIP) else None, time.time()
        found = best_profile(device, build, task.entry, values, size, source_text=candidate.source, folder=folder)
    findings = find_findings(found, build)
    kept = [] if folder is None else reports_since(folder, began)
    head = (
        f"{task.name}: {file}, kernel {found.kernel}, workload {chosen.name} ({sizes_text(chosen)})",
        f"device     {found.device}, measured",
        *(f"report     {path}" for path in kept),
    )
    document = {
        **document_of(found),
        **what_ran(task, file, candidate, build),
        "workload": {"name": chosen.name, "axes": dict(chosen.axes), "seed": seed},
        "launch": size._asdict(),
        "reports": [str(path) for path in kept],
        "findings": [document_of(finding) for finding in findings],
    }
    shown = profile_text.Shown(head, tuple(measured_facts(found)), findings, lines, everything)
    emit(document, as_json=as_json, render=lambda console: profile_text.render(console, found, shown))


def reports_since(folder: Path, began: float) -> list[Path]:
    """What the profilers left for their own viewers in this run; files of earlier ones are older."""
    found = [path for path in folder.rglob("*") if path.suffix in (".ncu-rep", ".nsys-rep", ".nvvp", ".csv")]
    return sorted(path for path in found if path.stat().st_mtime >= began)
