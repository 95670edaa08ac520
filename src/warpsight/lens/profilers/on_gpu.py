"""A kernel on this machine's GPU under the vendors' tools: profile by the ladder, faults by the sanitizer.

The tools run a small program of ours that launches the kernel on given values; the candidate has no host code, so there
is none to trust. What must stay true: a check that could not be made is told with its reason, never counted as passed.
Not run on a GPU by us.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from warpsight.devices.cuda import CheckerResult
from warpsight.devices.device import Device, ReplayedDevice, Value, teach
from warpsight.lens.profilers import compute_sanitizer
from warpsight.lens.profilers.calibration import believed, known_wrong
from warpsight.lens.profilers.compute_sanitizer import CHECKS, Check, SanitizerReport
from warpsight.lens.profilers.failures import ProfilerError
from warpsight.lens.profilers.ladder import LadderResult, climb, device_rung, has_ladder, rungs_for
from warpsight.lens.profilers.on_processor import ProcessorDevice, profile_on_processor
from warpsight.nouns import Build, Fault, Profile
from warpsight.tasks import LaunchSize
from warpsight.toolchain.cache import cache_folder

PROFILER_S = 300.0
LOOKS_FOR: dict[Check, str] = {
    "memcheck": "reads out of bounds",
    "racecheck": "races in shared memory",
    "initcheck": "reads of memory that was never set",
    "synccheck": "barriers that only a part of a block reaches",
}


@dataclass(frozen=True)
class Sanitized:
    """The reports of the checks that ran, and why the others did not."""

    reports: tuple[SanitizerReport, ...]
    not_run: tuple[tuple[Check, str], ...]

    @property
    def faults(self) -> tuple[Fault, ...]:
        return tuple(fault for report in self.reports for fault in report.faults)


def best_profile(
    device: Device,
    build: Build,
    entry: str,
    values: Sequence[Value],
    size: LaunchSize,
    *,
    source_text: str,
    folder: Path | None = None,
) -> Profile:
    """The best profile that the device can have: by the ladder on a real GPU, else its own. `folder` is where the
    profilers' own files go."""
    ladder = getattr(device, "ladder", None)
    if ladder == "processor":
        return profile_on_processor(cast(ProcessorDevice, device), build, entry, values, size, source_text=source_text)
    if not has_ladder(ladder):
        return device.profile(build, entry, values, size, source_text=source_text)
    teach(device, source_text)
    return profile_on_gpu(
        cast(ReplayedDevice, device),
        build,
        entry,
        values,
        size,
        source_text=source_text,
        folder=folder or reports_folder(build),
    ).profile


def reports_folder(build: Build) -> Path:
    """Where the profilers' own files of a kernel are kept, for their viewers."""
    cache = cache_folder()
    if cache is None:
        return Path(tempfile.mkdtemp(prefix="warpsight-profile-"))
    folder = cache / "profiler-reports" / build.source_sha256[:16]
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def profile_on_gpu(
    device: ReplayedDevice,
    build: Build,
    entry: str,
    values: Sequence[Value],
    size: LaunchSize,
    *,
    source_text: str,
    folder: Path,
    deadline_s: float = PROFILER_S,
) -> LadderResult:
    """The best profile to be had: counters where a profiler gives them, else a trace, else the GPU's own events."""
    program = device.replay_argv(build, entry, values, size, folder=folder)
    rungs = rungs_for(device.ladder, program, entry, folder=folder, deadline_s=deadline_s)
    last = device_rung(lambda: device.profile(build, entry, values, size, source_text=source_text))
    found = climb((*rungs, last))
    uuid = getattr(getattr(device, "gpu", None), "uuid", None)  # calibrated are NVIDIA's alone
    wrong = () if uuid is None else known_wrong(uuid)
    told = tuple(note for note in getattr(device, "replay_notes", ()) if note not in found.profile.notes)
    profile = found.profile.model_copy(update={"notes": (*found.profile.notes, *told)})
    return replace(found, profile=believed(profile, wrong))


def look_for_faults(program: Sequence[str], entry: str, text: str) -> CheckerResult:
    """The sanitizer as the checker of a CUDA device: faults with their lines, and what could not be looked for."""
    found = sanitize(program, entry)
    lines = text.splitlines()

    def shown(fault: Fault) -> Fault:
        known = fault.line is not None and 0 < fault.line <= len(lines)
        return fault.model_copy(update={"line_text": lines[(fault.line or 1) - 1]}) if known else fault

    faults = tuple(shown(fault) for fault in found.faults)
    return CheckerResult(
        faults, tuple(f"{LOOKS_FOR[check]} were not looked for: {why}" for check, why in found.not_run)
    )


def sanitize(
    program: Sequence[str], entry: str, *, deadline_s: float = PROFILER_S, checks: Sequence[Check] = CHECKS
) -> Sanitized:
    """The checks on a program that launches the kernel (`CudaDevice.replay_argv` makes one)."""
    reports: list[SanitizerReport] = []
    not_run: list[tuple[Check, str]] = []
    for check in checks:
        try:
            reports.append(compute_sanitizer.measure(program, check, deadline_s=deadline_s, kernel=entry))
        except ProfilerError as problem:
            not_run.append((check, problem.message))
    return Sanitized(tuple(reports), tuple(not_run))
