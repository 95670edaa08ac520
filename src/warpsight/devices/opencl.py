"""The processor of this machine as an OpenCL device (PoCL): real launches, really timed, each kernel in a jail.

A device in its own right and no stand-in for a GPU: it has no coalescing, no banks, no warps, so of counters there is
time alone. Writes out of bounds near a buffer, crashes and endless loops are seen; reads out of bounds and races are
not.
What must stay true: a kernel's native code never runs in this process, nor in a worker that has run another kernel.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import ClassVar, Self

from warpsight.devices.device import CannotProfile, Execution, Value
from warpsight.devices.opencl_build import compiler_identity, processor
from warpsight.devices.opencl_lane import LaneSettings, OpenClLane
from warpsight.errors import UsageError
from warpsight.nouns import Build, Language, Profile, Source
from warpsight.tasks import LaunchSize

WARM_UP_LAUNCHES, TIMED_LAUNCHES = 3, 15


class OpenClDevice:
    """One OpenCL device. It keeps the worker of the kernel it ran last; `close` ends it, as does leaving a `with`."""

    name = "opencl"
    source: Source = "measured"
    ladder: ClassVar[str] = "processor"
    languages: ClassVar[tuple[Language, ...]] = ("opencl",)

    def __init__(
        self,
        *,
        threads: int | None = None,
        deadline_seconds: float = 60.0,
        memory_bytes: int = 4 << 30,
        unsafe: bool = False,
    ) -> None:
        given = LaneSettings(deadline_s=deadline_seconds, memory_bytes=memory_bytes, unsafe=unsafe)
        self.settings = given if threads is None else LaneSettings(threads, deadline_seconds, memory_bytes, unsafe)
        self._lane: OpenClLane | None = None

    @classmethod
    def open(
        cls,
        *,
        gpu: str | None = None,
        default_gpu: str | None = None,
        cores: int | None = None,
        deadline_seconds: float = 120.0,
        unsafe: bool = False,
    ) -> Self:
        """On this machine's processor: there is no GPU to choose."""
        del default_gpu
        if gpu is not None:
            raise UsageError("--gpu is for GPUs, OpenCL runs on this machine's processor")
        return cls(threads=cores, deadline_seconds=deadline_seconds, unsafe=unsafe)

    def execute(
        self, build: Build, entry: str, values: Sequence[Value], size: LaunchSize, *, check: bool, source_text: str = ""
    ) -> Execution:
        ran = self._lane_of(build, entry).run(values, size)
        return Execution(arrays=ran.arrays, faults=ran.faults, printed=ran.printed, refused=ran.refused)

    def profile(
        self, build: Build, entry: str, values: Sequence[Value], size: LaunchSize, *, source_text: str
    ) -> Profile:
        lane = self.open_lane(build, entry)
        try:
            times_us = [self._timed(lane, values, size) for _ in range(WARM_UP_LAUNCHES + TIMED_LAUNCHES)]
        finally:
            lane.close()
        blocks = math.prod(size.grid)
        spread = f"{min(times_us[WARM_UP_LAUNCHES:]):.1f} to {max(times_us[WARM_UP_LAUNCHES:]):.1f} us"
        return Profile(
            kernel=entry,
            device=self.name,
            source=self.source,
            isa="native",
            gpu=processor(),
            notes=(
                f"median of {TIMED_LAUNCHES} launches after {WARM_UP_LAUNCHES} to warm up, {spread}",
                f"{self.settings.threads} threads, {compiler_identity()}",
            ),
            counters={"duration_us": statistics.median(times_us[WARM_UP_LAUNCHES:])},
            units={"duration_us": "us"},
            sampled_blocks=blocks,
            total_blocks=blocks,
            not_measured=_not_measured(),
        )

    def open_lane(self, build: Build, entry: str) -> OpenClLane:
        if build.language != "opencl" or not build.ok:
            raise UsageError(
                f"the OpenCL device runs good builds of OpenCL C, got a {build.language} build",
                hint="give an OpenCL kernel: a .cl file, or a task with `opencl` in its task.toml",
            )
        lane = OpenClLane(build, entry, self.settings)
        lane.start()  # two lanes opened one after the other load at the same time
        return lane

    @property
    def worker_pid(self) -> int | None:
        """The process that ran the last kernel, while it lives."""
        return None if self._lane is None else self._lane.worker_pid

    def close(self) -> None:
        if self._lane is not None:
            self._lane.close()
            self._lane = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _lane_of(self, build: Build, entry: str) -> OpenClLane:
        """The kept lane if it is this kernel's and lives, else a new one."""
        kept = self._lane
        if kept is not None and not kept.ended and kept.build == build and kept.entry == entry:
            return kept
        self.close()
        self._lane = self.open_lane(build, entry)
        return self._lane

    def _timed(self, lane: OpenClLane, values: Sequence[Value], size: LaunchSize) -> float:
        ran = lane.run(values, size)
        if ran.refused or ran.faults:
            why = ran.refused or f"{ran.faults[0].kind}: {ran.faults[0].message}"
            raise CannotProfile(f"the kernel cannot be timed: {why}", hint="`warpsight check` on it first")
        return ran.device_us


def _not_measured() -> tuple[str, ...]:
    from warpsight.devices.machine_code import RANGE, TIME_UNITS
    from warpsight.vgpu import counters

    return tuple(sorted((set(counters.UNITS) | set(TIME_UNITS)) - {"duration_us", *RANGE}))
