"""What GPUs of this machine share, whoever made them: their workers, the walls those lack, and times by their events.

A device of one maker says how a lane is opened. What must stay true: a lane that was opened is closed with its device.
"""

from __future__ import annotations

import math
import statistics
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from warpsight.devices.cuda_lane import LEFT_OUT, GpuLane
from warpsight.devices.device import CannotProfile, Value
from warpsight.devices.opencl_lane import LaneSettings
from warpsight.errors import UsageError
from warpsight.jail import wire
from warpsight.nouns import Build, Profile, Source
from warpsight.nouns.dtypes import wire_dtype
from warpsight.tasks import LaunchSize

MEMORY_BYTES = 8 << 30
WARM_UP_LAUNCHES, TIMED_LAUNCHES = 3, 15
OUTSIDE = (
    f"the worker ran without these walls of the jail, which a GPU driver cannot live behind: {', '.join(LEFT_OUT)}"
)
Watch = Callable[[], Callable[[], tuple[str, ...]]]


class RealGpu(ABC):
    """A GPU of this machine, with a worker for each kernel that runs on it; `close` ends them all."""

    source: Source = "measured"

    def __init__(
        self, *, gpu: str | None = None, deadline_seconds: float = 60.0, memory_bytes: int = MEMORY_BYTES
    ) -> None:
        self.wanted = gpu
        self.settings = LaneSettings(threads=1, deadline_s=deadline_seconds, memory_bytes=memory_bytes, unsafe=True)
        self._walls: set[str] = set()
        self._lane: GpuLane | None = None
        self._lanes: list[GpuLane] = []

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
        """`gpu` is one of this machine's."""
        del default_gpu, cores, unsafe  # a GPU is what it is, and no worker of it lives behind all walls
        return cls(gpu=gpu, deadline_seconds=deadline_seconds)

    @property
    def missing_walls(self) -> tuple[str, ...]:
        """Walls that every worker goes without, and those that a worker so far really ran without."""
        return all_missing(self._walls)

    @abstractmethod
    def open_lane(self, build: Build, entry: str) -> GpuLane: ...

    def close(self) -> None:
        for lane in self._lanes:
            lane.close()
        self._lanes, self._lane = [], None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _lane_of(self, build: Build, entry: str) -> GpuLane:
        kept = self._lane
        if kept is not None and not kept.ended and kept.build == build and kept.entry == entry:
            return kept
        if kept is not None:
            kept.close()
        self._lane = self.open_lane(build, entry)
        return self._lane

    def _opened(
        self,
        build: Build,
        entry: str,
        worker: Path,
        words: Sequence[str],
        request: tuple[dict[str, Any], list[Any]],
        watch: Watch,
    ) -> GpuLane:
        lane = GpuLane(
            build, entry, self.settings, worker=worker, words=words, request=request, watch=watch, walls=self._walls
        )
        self._lanes = [*(other for other in self._lanes if not other.ended), lane]
        return lane


def all_missing(walls: Collection[str]) -> tuple[str, ...]:
    """The walls left out on purpose, then the others that a worker lacked."""
    return (*LEFT_OUT, *sorted(set(walls) - set(LEFT_OUT)))


def outside(walls: Collection[str]) -> tuple[str, ...]:
    """What results say of the walls that workers lacked."""
    more = all_missing(walls)[len(LEFT_OUT) :]
    return (OUTSIDE, f"a worker also ran without these walls of the jail: {', '.join(more)}") if more else (OUTSIDE,)


def replay_request(
    request: tuple[dict[str, Any], list[Any]], values: Sequence[Value], size: LaunchSize, *, launches: int
) -> bytes:
    """What `--replay` reads: what the worker is told first, the arguments, the launch."""
    opened, code = request
    load, blobs = launch_message(values, size)
    return wire.pack({"open": opened, "load": load, "launches": launches}, [*code, *blobs])


def launch_message(values: Sequence[Value], size: LaunchSize) -> tuple[dict[str, Any], list[Any]]:
    """Arguments and launch, for a worker that gives each array an allocation of its own."""
    described: list[dict[str, Any]] = []
    blobs: list[Any] = []
    for value in values:
        blobs.append(np.ascontiguousarray(value.array).reshape(-1).view(np.uint8))
        scalar = {"dtype": wire_dtype(value.array)}
        described.append(scalar if value.is_scalar else {"initialised": value.initialised})
    whole = [grid * block for grid, block in zip(size.grid, size.block, strict=True)]
    return {"values": described, "shared": size.shared_bytes, "global": whole, "local": list(size.block)}, blobs


def event_profile(
    device: Any, entry: str, times_us: Sequence[float], size: LaunchSize, gpu: str, notes: Sequence[str]
) -> Profile:
    """A Profile of a device that knows the time alone."""
    from warpsight.devices.machine_code import RANGE, TIME_UNITS
    from warpsight.vgpu import counters

    blocks = math.prod(size.grid)
    spread = f"{min(times_us):.2f} to {max(times_us):.2f} us"
    return Profile(
        kernel=entry,
        device=device.name,
        source=device.source,
        isa="native",
        gpu=_sheet(gpu),
        notes=(f"median of {len(times_us)} launches on a cold cache by the GPU's events, {spread}", *notes),
        counters={"duration_us": statistics.median(times_us)},
        units={"duration_us": "us"},
        sampled_blocks=blocks,
        total_blocks=blocks,
        not_measured=tuple(sorted((set(counters.UNITS) | set(TIME_UNITS)) - {"duration_us", *RANGE})),
    )


def _sheet(name: str) -> str:
    """The key of the GPU's data sheet, or its name where there is none."""
    from warpsight.vgpu.gpus import find_gpu

    try:
        return find_gpu(name).key
    except UsageError:
        return name


def timed_launches(lane: GpuLane, values: Sequence[Value], size: LaunchSize) -> list[float]:
    """The times of all launches of a profile, those to warm up first."""
    times_us: list[float] = []
    for _ in range(WARM_UP_LAUNCHES + TIMED_LAUNCHES):
        ran = lane.run(values, size)
        if ran.refused or ran.faults:
            why = ran.refused or f"{ran.faults[0].kind}: {ran.faults[0].message}"
            raise CannotProfile(f"the kernel cannot be timed: {why}", hint="`warpsight check` on it first")
        times_us.append(ran.device_us)
    return times_us
