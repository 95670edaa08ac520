"""From a recorded launch to a task folder: find the source, cut the kernel, show that it is the one, write the task."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from warpsight.capture.arguments import KernelArgument, kernel_arguments, varied
from warpsight.capture.cut import CutKernel, cut_kernel
from warpsight.capture.flatten import flatten
from warpsight.capture.folder import ORIGINAL, launch_line, size_axes, write_task
from warpsight.capture.fresh import settle_fills
from warpsight.capture.given import with_given
from warpsight.capture.recording import CannotCapture, LaunchRecord
from warpsight.capture.source_text import (
    build_macros,
    code_lines,
    find_source,
    header_folders,
    plain_and_arguments,
)
from warpsight.capture.trial import (
    CutTrial,
    find_roles,
    replayed,
    require_numbers,
    require_order_free,
    tolerance,
)
from warpsight.capture.variables import with_values
from warpsight.nouns import Captured, Task
from warpsight.tasks import LaunchSize, read_task
from warpsight.toolchain.compile import compile_cuda
from warpsight.vgpu.gpu import Gpu

FOR_ALL = "--device-as-default-execution-space"
Say = Callable[[str], None]


@dataclass(frozen=True)
class CaptureWords:
    """What the user said: the program, its arguments, words of its build, the name of the task."""

    target: Path
    arguments: tuple[str, ...] = ()
    make: tuple[str, ...] = ()
    name: str = ""


def capture_task(record: LaunchRecord, words: CaptureWords, gpu: Gpu, folder: Path, say: Say) -> Task:
    """The task in `folder`. Raises CannotCapture, and leaves no folder, where the launch cannot be one."""
    _require_alone(record)
    say("cutting the kernel out of the source")
    cut, record = with_given(cut_source(record, words), record)
    text = launch_line([str(n) for n in record.grid], record.block, record.shared_bytes) + with_values(cut, record)
    arguments = kernel_arguments(record, cut)
    trial = _compiled(text, cut, record, gpu)
    say("running the cut kernel on what was recorded")
    done = replayed(trial, arguments)
    require_numbers_before(arguments)
    find_roles(trial, arguments)
    require_numbers(arguments, done)
    require_order_free(trial, arguments, done)
    law = tolerance(trial, arguments, done)
    axes, grid = size_axes(arguments, record.grid, record.block)
    text = launch_line(grid, record.block, record.shared_bytes) + trial.text.split("\n", 1)[1]
    captured = _origin(record, cut, words)
    name = words.name or task_name(cut.entry)
    existed = folder.exists()

    def written(free: bool) -> Task:
        write_task(
            folder, name=name, entry=cut.entry, text=text, arguments=arguments, axes=axes, free=free, law=law,
            gpu=(gpu.key, gpu.arch), captured=captured,
        )  # fmt: skip
        return read_task(folder)

    try:
        task = settle_fills(trial, arguments, written, say)
    except BaseException:
        if not existed:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    if not varied(arguments) and any(a.is_array and a.role != "out" for a in arguments):
        say("no input could be drawn anew: the check runs on what was recorded alone")
    return task


def cut_source(record: LaunchRecord, words: CaptureWords) -> CutKernel:
    """The kernel of a recorded launch, out of the program's source."""
    file = find_source(record.source, words.target)
    plain, instance = plain_and_arguments(record.kernel)
    flat = flatten(file, header_folders(words.target), build_macros(words.target, words.make))
    return cut_kernel(flat, plain, instance, code_lines(record.ptx, record.kernel))


def _require_alone(record: LaunchRecord) -> None:
    """What a launch depends on, or leaves, must be in its arguments."""
    if record.obstacles:
        raise CannotCapture(record.obstacles[0])
    if record.changed_variables:
        raise CannotCapture(f"the kernel writes the variable {record.changed_variables[0]} of the device")
    if record.elsewhere:
        raise CannotCapture(
            f"the kernel reaches {len(record.elsewhere)} arrays that no parameter points to",
            hint="it follows pointers that lie in its arrays or variables; such a kernel is no task",
        )


def require_numbers_before(arguments: Sequence[KernelArgument]) -> None:
    names = [a.name for a in arguments]
    if len(set(names)) != len(names):
        raise CannotCapture("two parameters have one name")


def _compiled(text: str, cut: CutKernel, record: LaunchRecord, gpu: Gpu) -> CutTrial:
    build = compile_cuda(text, gpu_arch=gpu.arch, entry=cut.entry, name=ORIGINAL)
    if not build.ok and any("execution space" in d.message for d in build.diagnostics):
        first, rest = text.split(
            "\n", 1
        )  # functions that nvcc takes for the host's and the device's: constexpr, lambdas
        text = f"{first}\n// options: {FOR_ALL}\n{rest}"
        build = compile_cuda(text, gpu_arch=gpu.arch, options=(FOR_ALL,), entry=cut.entry, name=ORIGINAL)
    if not build.ok:
        errors = [d for d in build.diagnostics if d.severity == "error"]
        first = errors[0].message if errors else "no reason given"
        lines = text.split("\n")
        at = errors[0].line if errors else None
        shown = f" (`{lines[at - 1].strip()[:80]}`)" if at is not None and at <= len(lines) else ""
        raise CannotCapture(f"the cut kernel does not compile alone: {first}{shown}")
    return CutTrial(build, cut.entry, LaunchSize(record.grid, record.block, record.shared_bytes), text)


def _origin(record: LaunchRecord, cut: CutKernel, words: CaptureWords) -> Captured:
    folder = words.target if words.target.is_dir() else words.target.parent
    file = cut.file.resolve()
    inside = file.is_relative_to(folder.resolve())
    return Captured(
        program=words.target.name, arguments=words.arguments,
        file=str(file.relative_to(folder.resolve())) if inside else file.name, line=cut.line, kernel=record.kernel,
        launch=record.number, grid=record.grid, block=record.block, shared_bytes=record.shared_bytes,
        date=datetime.now(UTC).date().isoformat(),
    )  # fmt: skip


def task_name(kernel: str) -> str:
    plain = "".join(c if c.isalnum() else "-" for c in kernel.lower()).strip("-")
    return (plain if plain[:1].isalpha() else f"k-{plain}")[:64].rstrip("-")
