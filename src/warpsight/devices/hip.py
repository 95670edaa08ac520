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
from typing import Any, ClassVar

from warpsight.devices.cuda_lane import GpuLane
from warpsight.devices.device import Execution, Value
from warpsight.devices.opencl_build import worker_argv
from warpsight.devices.real_gpu import (
    MEMORY_BYTES,
    WARM_UP_LAUNCHES,
    RealGpu,
    event_profile,
    outside,
    replay_request,
    timed_launches,
)
from warpsight.errors import GpuPackageMissing, UsageError
from warpsight.nouns import Build, Language, Profile
from warpsight.tasks import LaunchSize

WORKER = Path(__file__).with_name("hip_worker.py")
UNWATCHED = "clocks and other processes on the GPU were not looked at"
NOT_LOOKED = "reads out of bounds, races and unset memory were not looked for: there is no checker for this device"
INSTALL = "pip install 'warpsight[hip]', and ROCm's driver and runtime"


class HipDevice(RealGpu):
    """One AMD GPU; `gpu` is its index or UUID as ROCR_VISIBLE_DEVICES takes it, else the first that is set there."""

    name = "hip"
    ladder: ClassVar[str] = "amd"
    languages: ClassVar[tuple[Language, ...]] = ("cuda",)

    def __init__(
        self, *, gpu: str | None = None, deadline_seconds: float = 60.0, memory_bytes: int = MEMORY_BYTES
    ) -> None:
        super().__init__(gpu=gpu, deadline_seconds=deadline_seconds, memory_bytes=memory_bytes)
        first = os.environ.get("ROCR_VISIBLE_DEVICES", "0").split(",")[0].strip()
        self.gpu = first if gpu is None else gpu
        self._texts: dict[str, str] = {}

    @property
    def caveats(self) -> tuple[str, ...]:
        """What results of this device must say: walls that were not there, what was not looked at."""
        return (*outside(self._walls), UNWATCHED, NOT_LOOKED)

    def learn(self, text: str) -> None:
        """Keep a kernel's text, for lanes of its build."""
        self._texts[hashlib.sha256(text.encode()).hexdigest()] = text

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
        return self._opened(build, entry, WORKER, [self.gpu], (self._opening(build, entry), []), lambda: tuple)

    def replay_argv(
        self, build: Build, entry: str, values: Sequence[Value], size: LaunchSize, *, folder: Path, launches: int = 3
    ) -> list[str]:
        """A program that launches this kernel on these values, for a profiler to run; its request lies in `folder`."""
        path = folder / f"{entry}.launch"
        path.write_bytes(replay_request((self._opening(build, entry), [b""]), values, size, launches=launches))
        return worker_argv(WORKER, self.gpu, "--replay", str(path))

    def _opening(self, build: Build, entry: str) -> dict[str, Any]:
        """The `open` message: the kernel's text, compiled where it runs."""
        if build.language != "cuda" or not build.ok:
            raise UsageError(f"the HIP device runs kernels in CUDA C++, got a {build.language} build")
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
