"""An NVIDIA GPU of this machine: real launches, timed by the GPU's own events, each kernel in a worker of its own.

Of counters it has time alone; the profilers under `lens` add theirs. Writes out of bounds near an array are seen by
guard bytes, far ones by the driver; reads out of bounds and races by a `checker` (compute-sanitizer), where one is
given: what it could not look at is told. A lane's calls get fresh contents in slots that together exceed L2, on a cold
cache. Written against cuda-core's documented interface; not run on a GPU by us. What must stay true: kernels of two
texts never share a process, and a disturbed time is not reported.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from warpsight.devices.cuda_lane import GpuLane, cuda_request
from warpsight.devices.cuda_state import (
    GpuHere,
    GpuState,
    arch_for,
    choose,
    disturbances,
    driver_place,
    gpus_here,
    lock_gpu,
    read_state,
    runs,
    visible,
)
from warpsight.devices.device import Execution, Value
from warpsight.devices.opencl_build import worker_argv
from warpsight.devices.profiles import with_trust
from warpsight.devices.real_gpu import (
    MEMORY_BYTES,
    WARM_UP_LAUNCHES,
    RealGpu,
    event_profile,
    outside,
    replay_request,
    timed_launches,
)
from warpsight.devices.triton_lane import TRITON_WORKER, triton_request
from warpsight.errors import UsageError
from warpsight.jail.worker import told_unsafe
from warpsight.nouns import Build, Fault, Language, Profile
from warpsight.tasks import LaunchSize

WORKER = Path(__file__).with_name("cuda_worker.py")
NO_CHECKER = "reads out of bounds, races and unset memory were not looked for: no checker was given"
OWN_LAUNCH = (
    "the sanitizer and the profilers ran the program as it was compiled here, since Triton's Python is not run outside "
    "of the jail; Triton's own compile, which was timed, may differ"
)


@dataclass(frozen=True)
class CheckerResult:
    """What a checker saw in one launch, and what it could not look for, with the reason."""

    faults: tuple[Fault, ...] = ()
    not_looked: tuple[str, ...] = ()


Checker = Callable[[Sequence[str], str, str], CheckerResult]
"""From a program that launches a kernel, the entry and the kernel's text. It is in `lens`, which devices do not see."""


class CudaDevice(RealGpu):
    """One NVIDIA GPU, locked from the first use until `close`. `gpu` chooses it by index, UUID or name."""

    name = "cuda"
    ladder: ClassVar[str] = "nvidia"
    languages: ClassVar[tuple[Language, ...]] = ("cuda", "triton")

    def __init__(
        self,
        *,
        gpu: str | None = None,
        deadline_seconds: float = 60.0,
        memory_bytes: int = MEMORY_BYTES,
        checker: Checker | None = None,
    ) -> None:
        super().__init__(gpu=gpu, deadline_seconds=deadline_seconds, memory_bytes=memory_bytes)
        self.checker = checker
        self.not_looked: dict[str, None] = {}  # in the order they came up
        self._looked: dict[tuple[str, tuple[str, ...], str, LaunchSize], CheckerResult] = {}
        self._own_launch: tuple[str, ...] = ()
        self._gpu: GpuHere | None = None
        self._lock: Any = None

    @property
    def gpu(self) -> GpuHere:
        """The GPU that is used; the first call chooses and locks it."""
        if self._gpu is None:
            setting, order = (os.environ.get(name) for name in ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"))
            chosen = choose(visible(gpus_here(), setting, order), self.wanted)
            self._lock = lock_gpu(chosen.uuid)
            self._gpu = chosen
        return self._gpu

    @property
    def gpu_arch(self) -> str:
        """What to compile for."""
        return arch_for(self.gpu.capability)

    @property
    def caveats(self) -> tuple[str, ...]:
        """What results of this device must say: walls that were not there, faults that were not looked for."""
        told = () if self._gpu is None else self._gpu.told
        return (*told, *outside(self._walls), *self._own_launch, *self.not_looked)

    @property
    def replay_notes(self) -> tuple[str, ...]:
        """What a profiler's numbers of `replay_argv` must say: whether there was a GPU, and whose launch it was."""
        return (*self.gpu.told, *self._own_launch)

    def execute(
        self, build: Build, entry: str, values: Sequence[Value], size: LaunchSize, *, check: bool, source_text: str = ""
    ) -> Execution:
        ran = self._lane_of(build, entry).run_untimed(values, size)
        faults = ran.faults
        if check and not ran.refused and not faults:
            faults = self._looked_for(build, entry, values, size, source_text)
        return Execution(arrays=ran.arrays, faults=faults, printed=ran.printed, refused=ran.refused)

    def profile(
        self, build: Build, entry: str, values: Sequence[Value], size: LaunchSize, *, source_text: str
    ) -> Profile:
        lane = self.open_lane(build, entry)
        try:
            times_us = timed_launches(lane, values, size)
        finally:
            lane.close()
        state = read_state(self.gpu.uuid)
        notes = (*self.gpu.told, _clocks(state), *_again(lane), *outside(self._walls))
        found = event_profile(self, entry, times_us[WARM_UP_LAUNCHES:], size, self.gpu.name, notes)
        return with_trust(found, build)

    def open_lane(self, build: Build, entry: str) -> GpuLane:
        if build.language == "opencl" or not build.ok:
            raise UsageError(
                f"the CUDA device runs good builds of CUDA C++ and Triton, got a {build.language} build",
                hint="give a CUDA kernel that compiles",
            )
        worker, request = worker_for(build, entry, fits=runs(build.gpu_arch, self.gpu.capability))
        words = [f"GPU-{self.gpu.uuid}", *driver_place()]
        return self._opened(build, entry, worker, words, request, self._watch)

    def replay_argv(
        self, build: Build, entry: str, values: Sequence[Value], size: LaunchSize, *, folder: Path, launches: int = 3
    ) -> list[str]:
        """A program that launches this kernel on these values, for a profiler to run; its request lies in `folder`.

        Profilers run it outside of the jail, so it is never the candidate's own Python; where Triton launches the
        kernel itself, results say that this is another launch.
        """
        path, fits = folder / f"{entry}.launch", runs(build.gpu_arch, self.gpu.capability)
        if worker_for(build, entry, fits=fits)[0] == TRITON_WORKER:
            self._own_launch = (OWN_LAUNCH,)
        path.write_bytes(replay_request(cuda_request(build, entry, fits=fits), values, size, launches=launches))
        return worker_argv(WORKER, f"GPU-{self.gpu.uuid}", "--replay", str(path))

    def close(self) -> None:
        super().close()
        if self._lock is not None:
            self._lock.release()
            self._lock = self._gpu = None

    def _looked_for(
        self, build: Build, entry: str, values: Sequence[Value], size: LaunchSize, text: str
    ) -> tuple[Fault, ...]:
        """What the checker sees in one launch; without one that is told.

        A checker takes seconds, so each kernel is looked at once with each size of launch, not with every input; what
        was found then holds for every later launch of that size.
        """
        if self.checker is None:
            self.not_looked[NO_CHECKER] = None
            return ()
        launch = build.source_sha256, build.options, entry, size
        if launch not in self._looked:
            with tempfile.TemporaryDirectory(prefix="warpsight-check-") as folder:
                program = self.replay_argv(build, entry, values, size, folder=Path(folder), launches=1)
                self._looked[launch] = self.checker(program, entry, text)
        looked = self._looked[launch]
        self.not_looked |= dict.fromkeys(looked.not_looked)
        return looked.faults

    def _watch(self) -> Callable[[], tuple[str, ...]]:
        before, uuid = read_state(self.gpu.uuid), self.gpu.uuid

        def finish() -> tuple[str, ...]:
            own = {pid for lane in self._lanes if (pid := lane.worker_pid) is not None}
            return disturbances(before, read_state(uuid), own)

        return finish


def worker_for(build: Build, entry: str, *, fits: bool) -> tuple[Path, tuple[dict[str, Any], list[Any]]]:
    """The program that runs a build, and what it is told first.

    Triton launches its own kernels only where WARPSIGHT_UNSAFE is set: the candidate's Python runs in that worker,
    behind few walls. Else a Triton build's program is launched like any other.
    """
    if build.language == "triton" and told_unsafe():
        return TRITON_WORKER, triton_request(build, entry)
    return WORKER, cuda_request(build, entry, fits=fits)


def _clocks(state: GpuState) -> str:
    """What the GPU tells of the three; one that it does not tell is left out."""
    parts = (
        ("SM clock", state.sm_mhz, "MHz"),
        ("memory clock", state.memory_mhz, "MHz"),
        ("at", state.temperature_c, "C"),
    )
    told = [f"{name} {value} {unit}" for name, value, unit in parts if value is not None]
    return f"after it: {', '.join(told) or 'clocks and temperature are not told'}"


def _again(lane: GpuLane) -> tuple[str, ...]:
    told = "; ".join(dict.fromkeys(lane.disturbed))
    return (f"{len(lane.disturbed)} disturbances, those launches were done again: {told}",) if told else ()
