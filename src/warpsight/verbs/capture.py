"""Capture one launch of a program as a task: run the program until it makes that launch, then write the folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from warpsight.capture.capture import CaptureWords, capture_task
from warpsight.capture.recording import (
    DEFAULT_CAP_BYTES,
    CannotCapture,
    LaunchRecord,
    LaunchRecorded,
    RecordingLauncher,
    Wanted,
)
from warpsight.errors import UsageError
from warpsight.nouns import Task
from warpsight.programs.device_memory import DeviceMemory
from warpsight.programs.jailed import Sink
from warpsight.programs.launches import LaunchAsked
from warpsight.verbs.run_program import ProgramQuestion, run_whole
from warpsight.vgpu.faults import kernel_name
from warpsight.vgpu.gpus import find_gpu


@dataclass(frozen=True)
class CaptureQuestion:
    """Which launch of which program. `number` counts the wanted launches that differ, from 1."""

    program: ProgramQuestion
    kernel: str
    number: int = 1
    cap_bytes: int = DEFAULT_CAP_BYTES
    wanted: Wanted | None = None


def capture(
    question: CaptureQuestion, folder: Path, *, name: str = "", output: Sink, errors: Sink, say: Callable[[str], None]
) -> Task:
    """The captured task, in `folder`."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(
            f"expected a new or empty folder, found that {folder} is there already", "choose another --out"
        )
    record = record_launch(question, output=output, errors=errors)
    program = question.program
    words = CaptureWords(program.target, program.arguments, program.make, name)
    return capture_task(record, words, find_gpu(program.gpu), folder, say)


def record_launch(question: CaptureQuestion, *, output: Sink, errors: Sink) -> LaunchRecord:
    """Run the program until the launch is made."""
    held: list[RecordingLauncher] = []

    def launcher(memory: DeviceMemory, cores: int) -> RecordingLauncher:
        held.append(
            RecordingLauncher(
                memory,
                cores=cores,
                wanted=question.wanted or named(question.kernel),
                number=question.number,
                cap_bytes=question.cap_bytes,
            )
        )
        return held[-1]

    program = replace(question.program, launcher=launcher, times=False, check=None)
    try:
        found = run_whole(program, output=output, errors=errors)
    except LaunchRecorded:
        assert held[0].record is not None
        return held[0].record
    seen = held[0].known if held else {}
    known = ", ".join(f"{kernel_name(name)} ({count})" for name, count in seen.items()) or "none"
    if found.refused:
        raise CannotCapture(f"a kernel of the program does not run here: {found.refused[0]}")
    missing = f"launch {question.number} of " if any(named(question.kernel)(n, None) for n in seen) else ""
    raise UsageError(
        f"expected {missing}the kernel {question.kernel!r}, the program ended ({found.end}) without it",
        f"its kernels, with how many different launches: {known}",
    )


def named(word: str) -> Callable[[str, LaunchAsked | None], bool]:
    """Launches of the kernel by this name, as in the source or as the compiler made it."""

    def wanted(name: str, asked: LaunchAsked | None) -> bool:
        del asked
        return word in (name, kernel_name(name))

    return wanted
