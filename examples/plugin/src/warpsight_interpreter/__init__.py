"""A device of another package: kernels run by Warpsight's interpreter, timed by this machine's clock.

It measures, so it opens lanes; the gate then holds its times to the copy kernel like those of every measured device.
A kernel is interpreted, never run as native code, so it needs no worker process.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence

from warpsight.devices.device import CannotProfile, Execution, TimedCall, Value
from warpsight.devices.virtual import VirtualGpu
from warpsight.nouns import Build, Profile
from warpsight.tasks import LaunchSize

TIMED_LAUNCHES = 5


class InterpreterLane:
    """One kernel, called again and again."""

    def __init__(self, device: InterpreterDevice, build: Build, entry: str) -> None:
        self.device, self.built, self.entry = device, build, entry

    def call(self, values: Sequence[Value], size: LaunchSize) -> TimedCall:
        began = time.perf_counter()
        done = self.device.execute(self.built, self.entry, values, size, check=False)
        took_us = (time.perf_counter() - began) * 1e6
        return TimedCall(took_us, took_us, done.arrays, done.faults, took_us)

    def close(self) -> None:
        """Nothing is held."""


class InterpreterDevice:
    """The class that the entry point names."""

    name = "interpreter"
    source = "measured"
    languages = ("cuda",)

    def __init__(self, *, cores: int | None = None, deadline_seconds: float = 60.0) -> None:
        self._machine = VirtualGpu(cores=cores, deadline_seconds=deadline_seconds)

    @classmethod
    def open(
        cls,
        *,
        gpu: str | None = None,
        default_gpu: str | None = None,
        cores: int | None = None,
        deadline_seconds: float = 60.0,
        unsafe: bool = False,
    ) -> InterpreterDevice:
        """There is no GPU to choose, and no wall to take down."""
        return cls(cores=cores, deadline_seconds=deadline_seconds)

    def execute(
        self, build: Build, entry: str, values: Sequence[Value], size: LaunchSize, *, check: bool, source_text: str = ""
    ) -> Execution:
        return self._machine.execute(build, entry, values, size, check=check, source_text=source_text)

    def profile(
        self, build: Build, entry: str, values: Sequence[Value], size: LaunchSize, *, source_text: str
    ) -> Profile:
        """Time alone: an interpreter has none of a GPU's counters."""
        lane = self.open_lane(build, entry)
        calls = [lane.call(values, size) for _ in range(TIMED_LAUNCHES)]
        if calls[0].faults:
            raise CannotProfile(f"the kernel faulted: {calls[0].faults[0].message}")
        blocks = size.grid[0] * size.grid[1] * size.grid[2]
        return Profile(
            kernel=entry,
            device=self.name,
            source="measured",
            isa="native",
            counters={"duration_us": statistics.median(call.device_us for call in calls)},
            units={"duration_us": "us"},
            sampled_blocks=blocks,
            total_blocks=blocks,
        )

    def open_lane(self, build: Build, entry: str) -> InterpreterLane:
        return InterpreterLane(self, build, entry)
