"""An AMD GPU of this machine through HIP, in the shape of the CUDA device: real launches, timed by events.

Thin: CUDA C++ that HIP's runtime compiler takes as it is (most kernels without NVIDIA's own instructions or a warp size
of 32 built in); no look at clocks or foreign processes. A Build is NVIDIA's code, so the text must come along: by
`learn`, or with `execute` or `profile`; a lane then finds it by its hash. Not run on a GPU by us.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from importlib import util
from pathlib import Path
from typing import Any, ClassVar, Self

from warpsight.devices.cuda import (
    WARM_UP_LAUNCHES,
    all_missing,
    event_profile,
    outside,
    replay_request,
    timed_launches,
)
from warpsight.devices.cuda_lane import GpuLane
from warpsight.devices.device import Execution, Value
from warpsight.devices.opencl_build import worker_argv
from warpsight.devices.opencl_lane import LaneSettings
from warpsight.errors import GpuPackageMissing, UsageError
from warpsight.nouns import Build, Language, Profile, Source
from warpsight.tasks import LaunchSize

WORKER = Path(__file__).with_name("hip_worker.py")
UNWATCHED = "clocks and other processes on the GPU were not looked at"
NOT_LOOKED = "reads out of bounds, races and unset memory were not looked for: there is no checker for this device"
INSTALL = "pip install 'warpsight[hip]', and ROCm's driver and runtime"


class HipDevice:
    """One AMD GPU; `gpu` is its index or UUID as ROCR_VISIBLE_DEVICES takes it, else the first that is set there."""

    name = "hip"
    source: Source = "measured"
    ladder: ClassVar[str] = "amd"
    languages: ClassVar[tuple[Language, ...]] = ("cuda",)

    def __init__(self, *, gpu: str | None = None, deadline_seconds: float = 60.0, memory_bytes: int = 8 << 30) -> None:
        self.gpu = os.environ.get("ROCR_VISIBLE_DEVICES", "0").split(",")[0].strip() if gpu is None else gpu
        self.settings = LaneSettings(threads=1, deadline_s=deadline_seconds, memory_bytes=memory_bytes, unsafe=True)
        self._texts: dict[str, str] = {}
        self._lane: GpuLane | None = None
        self._lanes: list[GpuLane] = []
        self._walls: set[str] = set()

    @property
    def caveats(self) -> tuple[str, ...]:
        """What results of this device must say: walls that were not there, what was not looked at."""
        return (*outside(self._walls), UNWATCHED, NOT_LOOKED)

    @property
    def missing_walls(self) -> tuple[str, ...]:
        """Walls that every worker goes without, and those that a worker so far really ran without."""
        return all_missing(self._walls)

    def learn(self, text: str) -> None:
        """Keep a kernel's text, for lanes of its build."""
        self._texts[hashlib.sha256(text.encode()).hexdigest()] = text

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

    def execute(
        self, build: Build, entry: str, values: Sequence[Value], size: LaunchSize, *, check: bool, source_text: str = ""
    ) -> Execution:
        self.learn(source_text)
        ran = self._lane_of(build, entry).run_untimed(values, size)
        return Execution(arrays=ran.arrays, faults=ran.faults, printed=ran.printed, refused=ran.refused)

    def profile(
        self, build: Build, entry: str, values: Sequence[Value], size: LaunchSize, *, source_text: str
    ) -> Profile:
        self.learn(source_text)
        lane = self.open_lane(build, entry)
        try:
            times_us = timed_launches(lane, values, size)
        finally:
            lane.close()
        notes = (UNWATCHED, *outside(self._walls))
        return event_profile(self, entry, times_us[WARM_UP_LAUNCHES:], size, f"AMD GPU {self.gpu}", notes)

    def open_lane(self, build: Build, entry: str) -> GpuLane:
        lane = GpuLane(
            build,
            entry,
            self.settings,
            worker=WORKER,
            words=[self.gpu],
            request=(self._opening(build, entry), []),
            watch=lambda: tuple,
            walls=self._walls,
        )
        self._lanes = [*(other for other in self._lanes if not other.ended), lane]
        return lane

    def replay_argv(
        self, build: Build, entry: str, values: Sequence[Value], size: LaunchSize, *, folder: Path, launches: int = 3
    ) -> list[str]:
        """A program that launches this kernel on these values, for a profiler to run; its request lies in `folder`."""
        path = folder / f"{entry}.launch"
        path.write_bytes(replay_request((self._opening(build, entry), [b""]), values, size, launches=launches))
        return worker_argv(WORKER, self.gpu, "--replay", str(path))

    def close(self) -> None:
        for lane in self._lanes:
            lane.close()
        self._lanes, self._lane = [], None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _opening(self, build: Build, entry: str) -> dict[str, Any]:
        """The `open` message: the kernel's text, compiled where it runs."""
        if build.language != "cuda" or not build.ok:
            raise UsageError(f"the HIP device runs kernels in CUDA C++, a {build.language} build came")
        text = self._texts.get(build.source_sha256)
        if text is None:
            raise UsageError(
                "expected the kernel's text, which an AMD GPU is compiled for on the spot; it did not come yet",
                hint="call learn, execute or profile with the text first",
            )
        if util.find_spec("hip") is None:
            raise GpuPackageMissing("expected the package hip-python, it is not installed", hint=INSTALL)
        options = [option for option in build.options if option.startswith("-D")]
        return {"op": "open", "entry": entry, "text": text, "options": options}

    def _lane_of(self, build: Build, entry: str) -> GpuLane:
        kept = self._lane
        if kept is not None and not kept.ended and kept.build == build and kept.entry == entry:
            return kept
        if kept is not None:
            kept.close()
        self._lane = self.open_lane(build, entry)
        return self._lane
