"""A kernel on this machine's processor: the device's own time, and what perf counts while the kernel runs again.

The counters are of the worker's whole process, with the copies of its arrays; they stand in the notes and no finding is
made of them. What must stay true: without perf, or without the right to count, the profile is the same but for a note.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from warpsight.devices.device import Device, Value
from warpsight.lens.profilers import perf_stat
from warpsight.lens.profilers.failures import ProfilerError
from warpsight.nouns import Build, Profile
from warpsight.tasks import LaunchSize

COUNTED_LAUNCHES = 15


class ProcessorDevice(Device, Protocol):
    """A device whose kernels run in one process of this machine."""

    @property
    def worker_pid(self) -> int | None: ...


def profile_on_processor(
    device: ProcessorDevice, build: Build, entry: str, values: Sequence[Value], size: LaunchSize, *, source_text: str
) -> Profile:
    """The device's profile, with perf's counters in its notes."""
    found = device.profile(build, entry, values, size, source_text=source_text)

    def launch() -> None:
        device.execute(build, entry, values, size, check=False)

    launch()  # starts the worker
    return found.model_copy(update={"notes": (*found.notes, *_counts(device.worker_pid, launch))})


def _counts(pid: int | None, launch: Callable[[], None]) -> tuple[str, ...]:
    if pid is None:
        return ("perf: the worker has ended",)
    with tempfile.TemporaryDirectory(prefix="warpsight-perf-") as folder:
        try:
            counted = perf_stat.measure_attached(
                pid, lambda: [launch() for _ in range(COUNTED_LAUNCHES)], folder=Path(folder)
            )
        except ProfilerError as problem:
            return (f"{problem.message}; {problem.hint}" if problem.hint else problem.message,)
    return counted.notes(f"of {COUNTED_LAUNCHES} launches with the copies of their arrays")
