"""What the verbs on a task share: finding the task, its kernel text and its workloads from the words of a command.

Only reads. What must stay true: a wrong word is a UsageError that names the words that would have worked.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpsight.errors import UsageError

if TYPE_CHECKING:
    from warpsight.nouns import Build, Candidate, Language, Noun, Task, Workload
    from warpsight.vgpu.gpu import Gpu


def find_task(word: str) -> Task:
    """The task in the folder `word`, or in the folder of that name under ./tasks."""
    from warpsight.session.opening import open_task

    return open_task(word)


def gpu_of(task: Task) -> Gpu:
    """The GPU that the task names. An unknown name is a UsageError that says where it stands and lists near ones."""
    from warpsight.vgpu.gpus import find_gpu, known_gpus

    known_gpus()  # first, so that what is wrong in the user's own file of GPUs is not blamed on the task
    try:
        return find_gpu(task.gpu)
    except UsageError as unknown:
        raise UsageError(f"{task.folder / 'task.toml'}: target.gpu: {unknown.message}", unknown.hint) from None


def read_kernel(task: Task, file: Path | None, language: Language = "cuda") -> tuple[str, Candidate]:
    """The kernel to run and the name it is shown by: the task's own in `language`, or the text of another file."""
    from warpsight.session.opening import given_kernel
    from warpsight.tasks import kernel_name

    found = given_kernel(task, "opencl" if language == "opencl" else "virtual", file)
    return kernel_name(task, found.language) if file is None else file.name, found


def choose_workloads(task: Task, names: Sequence[str]) -> tuple[Workload, ...]:
    """The workloads of these names, in the task's order; all when no name is given."""
    from warpsight.session.opening import near

    known = [workload.name for workload in task.workloads]
    for name in names:
        if name not in known:
            raise UsageError(f"task {task.name} has no workload {name!r}", hint=near(name, known))
    return tuple(workload for workload in task.workloads if not names or workload.name in names)


def profiled_workload(task: Task, name: str | None) -> Workload:
    """The named workload, else the one that is flagged to be profiled, else the last that is not hidden."""
    if name is not None:
        return choose_workloads(task, [name])[0]
    shown = [workload for workload in task.workloads if not workload.hidden] or list(task.workloads)
    return next((workload for workload in shown if workload.profile), shown[-1])


def sizes_text(workload: Workload) -> str:
    return " ".join(f"{name}={size}" for name, size in workload.axes.items())


def origin_lines(task: Task) -> list[str]:
    """Of a captured task: which launch of which program it is."""
    found = task.captured
    if found is None:
        return []
    where = found.file if found.line is None else f"{found.file}:{found.line}"
    program = " ".join((found.program, *found.arguments))
    return [f"captured from {program}: launch {found.launch} of {task.entry} ({where}), {found.date}"]


def document_of(record: Noun) -> dict[str, Any]:
    """A record as it is in JSON. Through text, since only there infinities and NaN become strings."""
    return json.loads(record.model_dump_json())


def usage_of(build: Build, entry: str) -> dict[str, Any] | None:
    """What the kernel needs of the machine, for a document; None when there is no program."""
    found = next((use for use in build.entries if use.name == entry), None)
    return None if found is None else document_of(found)
