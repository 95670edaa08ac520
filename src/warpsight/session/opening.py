"""From words to what a session works on: the task, its device, its kernel. A wrong word is an error.

Only reads and opens; runs nothing yet. What must stay true: a kernel in one language is never given to a device for
another.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path

from warpsight.bundled import bundled, find_bundled
from warpsight.devices.device import Device
from warpsight.devices.registry import open_device
from warpsight.errors import UsageError
from warpsight.nouns import Candidate, Language, Task
from warpsight.tasks import read_candidate, read_task, written_in
from warpsight.vgpu.gpus import UnknownGpu

TASKS_FOLDER = Path("tasks")


def open_task(word: str | Path) -> Task:
    """The task in the folder `word`, in the folder of that name under ./tasks, or the example of that name."""
    example = find_bundled("tasks", word)
    for folder in (Path(word), TASKS_FOLDER / word, *([example] if example else [])):
        if (folder / "task.toml").is_file() or folder.name == "task.toml":
            return read_task(folder)
    if Path(word).is_dir():
        raise UsageError(f"expected a task folder, {word} has no task.toml", hint="warpsight new NAME makes a task")
    places = (TASKS_FOLDER, bundled("tasks") or TASKS_FOLDER)
    known = sorted({path.parent.name for place in places for path in place.glob("*/task.toml")})
    raise UsageError(
        f"no task {str(word)!r}: not a folder with a task.toml, nor the name of one under ./{TASKS_FOLDER}, "
        "nor of an example",
        hint=near(str(word), known, nothing="give the path of a task folder, or make one with `warpsight new NAME`"),
    )


def open_for(
    task: Task, name: str, gpu: str | None, *, cores: int | None, deadline_seconds: float, unsafe: bool
) -> Device:
    """The device for a task: a virtual GPU is of the task's kind unless another is asked for."""
    try:
        device = open_device(
            name, gpu=gpu, default_gpu=task.gpu, cores=cores, deadline_seconds=deadline_seconds, unsafe=unsafe
        )
    except UnknownGpu as unknown:
        where = "--gpu" if gpu is not None else f"{task.folder / 'task.toml'}: target.gpu"
        raise UsageError(f"{where}: {unknown.message}", unknown.hint) from None
    if hasattr(device, "checker"):  # a GPU's own checks need a profiler's tools, which devices do not know
        from warpsight.lens.profilers.on_gpu import look_for_faults  # here: most devices have no use for profilers

        device.checker = look_for_faults  # type: ignore[attr-defined]
    return device


def given_kernel(task: Task, device: Device | str, kernel: str | Path | Candidate | None = None) -> Candidate:
    """The kernel to beat on this device: the task's own in the language that the device runs, or another."""
    if isinstance(kernel, Candidate):
        return kernel
    if device_runs(device)[0] == "opencl":
        if kernel is None and not task.opencl_file:
            hint = 'add `opencl = "kernel.cl"` to its task.toml, or give a file with --kernel'
            raise UsageError(f"task {task.name} has no OpenCL kernel", hint=hint)
        return read_kernel(task, task.opencl if kernel is None else kernel, task.opencl_file or "kernel.cl", "opencl")
    if kernel is None:
        return read_candidate(task.kernel, task, task.kernel_file)
    return read_kernel(task, kernel, task.kernel_file)


def device_runs(device: Device | str) -> tuple[Language, ...]:
    """The languages of a device, by its name or itself; CUDA C++ where it does not say."""
    if isinstance(device, str):
        from warpsight.devices.registry import languages_of

        return languages_of(device)
    return tuple(getattr(device, "languages", ("cuda",)))


def read_kernel(task: Task, kernel: str | Path, file: str, language: Language | None = None) -> Candidate:
    """What stands in the file of a Path. A string is always a text, never a name: it may come from a model."""
    if isinstance(kernel, str):
        return read_candidate(kernel, task, file, written_in(kernel) if language is None else language)
    try:
        text = kernel.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise UsageError(f"expected a kernel file in UTF-8 at {kernel}: {problem}") from None
    return read_candidate(text, task, kernel.name)


def near(word: str, known: Sequence[str], nothing: str = "") -> str:
    """The words that would have worked, those like the wrong one if there are any."""
    if not known:
        return nothing
    found = difflib.get_close_matches(word, known, n=5, cutoff=0.5)
    return f"one of {', '.join(found or known)}"
