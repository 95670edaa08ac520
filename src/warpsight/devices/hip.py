"""An AMD GPU of this machine through HIP, in the shape of the CUDA device: real launches, timed by events.

Thin: CUDA C++ that HIP's runtime compiler takes as it is (most kernels without NVIDIA's own instructions or a warp size
of 32 built in); no look at clocks or foreign processes. A Build is NVIDIA's code, so the text must come along: with
`execute` or `profile`, and a lane then finds it by its hash. Not run on a GPU by us.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib import util
from pathlib import Path
from typing import Self

from warpsight.devices.cuda import OUTSIDE, WARM_UP_LAUNCHES, event_profile, timed_launches
from warpsight.devices.cuda_lane import GpuLane
from warpsight.devices.device import Execution, Value
from warpsight.devices.opencl_lane import Settings
from warpsight.errors import ToolMissing, UsageError
from warpsight.nouns import Build, Profile, Source
from warpsight.tasks import LaunchSize

WORKER = Path(__file__).with_name("hip_worker.py")
UNWATCHED = "clocks and other processes on the GPU were not looked at"


class HipDevice:
    """One AMD GPU; `gpu` is its index or UUID as ROCR_VISIBLE_DEVICES takes it."""

    name = "hip"
    source: Source = "measured"

    def __init__(self, *, gpu: str = "0", deadline_seconds: float = 60.0, memory_bytes: int = 8 << 30) -> None:
        self.gpu = gpu
        self.settings = Settings(threads=1, deadline_s=deadline_seconds, memory_bytes=memory_bytes, unsafe=True)
        self._texts: dict[str, str] = {}
        self._lanes: list[GpuLane] = []

    def execute(
        self, build: Build, entry: str, values: Sequence[Value], size: LaunchSize, *, check: bool, source_text: str = ""
    ) -> Execution:
        self._learn(source_text)
        lane = self.open_lane(build, entry)
        try:
            ran = lane.run(values, size)
        finally:
            lane.close()
        return Execution(arrays=ran.arrays, faults=ran.faults, printed=ran.printed, refused=ran.refused)

    def profile(
        self, build: Build, entry: str, values: Sequence[Value], size: LaunchSize, *, source_text: str
    ) -> Profile:
        self._learn(source_text)
        lane = self.open_lane(build, entry)
        try:
            times_us = timed_launches(lane, values, size)
        finally:
            lane.close()
        notes = (UNWATCHED, OUTSIDE)
        return event_profile(self, entry, times_us[WARM_UP_LAUNCHES:], size, f"AMD GPU {self.gpu}", notes)

    def open_lane(self, build: Build, entry: str) -> GpuLane:
        if build.language != "cuda" or not build.ok:
            raise UsageError(f"the HIP device runs kernels in CUDA C++, a {build.language} build came")
        text = self._texts.get(build.source_sha256)
        if text is None:
            raise UsageError(
                "expected the kernel's text, which an AMD GPU is compiled for on the spot; it did not come yet",
                hint="call execute or profile with source_text first",
            )
        if util.find_spec("hip") is None:
            raise ToolMissing("expected the package hip-python, it is not installed", hint="pip install hip-python")
        options = [option for option in build.options if option.startswith("-D")]
        request = {"op": "open", "entry": entry, "text": text, "options": options}
        lane = GpuLane(
            build, entry, self.settings, worker=WORKER, words=[self.gpu], request=(request, []), watch=lambda: tuple
        )
        self._lanes = [*(other for other in self._lanes if not other.ended), lane]
        return lane

    def close(self) -> None:
        for lane in self._lanes:
            lane.close()
        self._lanes = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _learn(self, text: str) -> None:
        self._texts[hashlib.sha256(text.encode()).hexdigest()] = text
