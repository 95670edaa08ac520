"""A kernel on this machine's NVIDIA GPU under the vendors' tools: profile by the ladder, faults by the sanitizer.

The tools run a small program of ours that launches the kernel on given values; the candidate has no host code, so there
is none to trust. What must stay true: a check that could not be made is told with its reason, never counted as passed.
Not run on a GPU by us.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from warpsight.devices.cuda import CudaDevice
from warpsight.devices.device import Value
from warpsight.lens.profilers import compute_sanitizer
from warpsight.lens.profilers.compute_sanitizer import CHECKS, Check, Report
from warpsight.lens.profilers.failures import ProfilerError
from warpsight.lens.profilers.ladder import Climbed, climb, device_rung, nvidia_rungs
from warpsight.nouns import Build, Fault
from warpsight.tasks import LaunchSize

PROFILER_S = 300.0


@dataclass(frozen=True)
class Sanitized:
    """The reports of the checks that ran, and why the others did not."""

    reports: tuple[Report, ...]
    not_run: tuple[tuple[Check, str], ...]

    @property
    def faults(self) -> tuple[Fault, ...]:
        return tuple(fault for report in self.reports for fault in report.faults)


def profile_on_gpu(
    device: CudaDevice,
    build: Build,
    entry: str,
    values: Sequence[Value],
    size: LaunchSize,
    *,
    source_text: str,
    folder: Path,
    deadline_s: float = PROFILER_S,
) -> Climbed:
    """The best profile to be had: counters where a profiler gives them, else a trace, else the GPU's own events."""
    program = device.replay_argv(build, entry, values, size, folder=folder)
    rungs = nvidia_rungs(program, entry, folder=folder, deadline_s=deadline_s)
    last = device_rung(lambda: device.profile(build, entry, values, size, source_text=source_text))
    return climb((*rungs, last))


def sanitize(
    program: Sequence[str], entry: str, *, deadline_s: float = PROFILER_S, checks: Sequence[Check] = CHECKS
) -> Sanitized:
    """The checks on a program that launches the kernel (`CudaDevice.replay_argv` makes one)."""
    reports: list[Report] = []
    not_run: list[tuple[Check, str]] = []
    for check in checks:
        try:
            reports.append(compute_sanitizer.measure(program, check, deadline_s=deadline_s, kernel=entry))
        except ProfilerError as problem:
            not_run.append((check, problem.message))
    return Sanitized(tuple(reports), tuple(not_run))
