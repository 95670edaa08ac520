"""The seam every device fills: run one kernel once on given arguments, and say what happened.

A kernel that misbehaves is a result (faults, a refusal); a device that does not work raises DeviceError. A device that
can be timed opens lanes: one kernel, built and warmed up in one disposable worker, called again and again on fresh
contents. What must stay true: `wall_us` is read by this process's clock, never by the worker's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, Self, cast

import numpy as np

from warpsight.errors import WarpsightError
from warpsight.nouns import Build, Fault, Profile, Source
from warpsight.tasks import LaunchSize
from warpsight.vgpu.gpu import Gpu
from warpsight.vgpu.stores import Unwritten

CHECK_FIRST = "`warpsight check` on it first: it names every fault with its line"


class CannotProfile(WarpsightError):
    """The kernel faults, or its launch is impossible: its counters would mean nothing. The kernel's fault, not ours."""


@dataclass(frozen=True)
class Value:
    """One kernel argument: a 0-d array for a scalar. Outputs start as the bytes given here (poison)."""

    name: str
    array: np.ndarray
    writable: bool
    initialised: bool = True

    @property
    def is_scalar(self) -> bool:
        return self.array.ndim == 0


@dataclass(frozen=True)
class Execution:
    """What one launch did. `refused` is set when the launch is impossible on this GPU, and then nothing ran.

    `unwritten` says of arrays with elements that nothing wrote which stores should have, where the device can tell.
    """

    arrays: Mapping[str, np.ndarray] = field(default_factory=dict[str, np.ndarray])
    faults: tuple[Fault, ...] = ()
    printed: str = ""
    refused: str = ""
    warp_instructions: int = 0
    unwritten: tuple[Unwritten, ...] = ()


def missing_walls(device: object) -> tuple[str, ...]:
    """Walls of the jail that the device's workers cannot live behind: GPU drivers open device files. Often none."""
    return tuple(getattr(device, "missing_walls", ()))


def caveats(device: object) -> tuple[str, ...]:
    """What every result of the device must say of how it was come by; often nothing."""
    return tuple(getattr(device, "caveats", ()))


def arch_of(device: object) -> str | None:
    """What to compile CUDA C++ for; None where any architecture will do."""
    return getattr(device, "gpu_arch", None) or None


def teach(device: object, text: str) -> None:
    """Devices that compile a kernel themselves are told its text before they get a build of it."""
    learn = getattr(device, "learn", None)
    if learn is not None:
        learn(text)


class Device(Protocol):
    """What every device has. Some have more, which is asked for by name and may be absent:

    `languages` (which kernels it runs, CUDA C++ by default), `gpu_arch`, `learn(text)`, `open_lane` (it measures: a
    TimedDevice), `observe` (it simulates: a Simulator), `copy_build()` (its own copy kernel, for the roof), `ladder`
    (which profilers of other vendors see it: a ReplayedDevice), `caveats`, `missing_walls`, `close`. Nobody asks for
    the class of a device.
    """

    @property
    def name(self) -> str: ...

    @property
    def source(self) -> Source: ...

    def execute(
        self, build: Build, entry: str, values: Sequence[Value], size: LaunchSize, *, check: bool, source_text: str = ""
    ) -> Execution:
        """Run the kernel. The given arrays are not changed; the result's are new. With `check`, look for races too.

        `source_text` is the kernel's own, for the lines that faults show.
        """
        ...

    def profile(
        self, build: Build, entry: str, values: Sequence[Value], size: LaunchSize, *, source_text: str
    ) -> Profile:
        """Run the kernel (or chosen blocks of it) and count. A kernel that cannot run raises CannotProfile."""
        ...


@dataclass(frozen=True)
class TimedCall:
    """One timed launch. `arrays` holds every array argument as it was after the call, inputs too.

    `device_us` is what the device says of itself: a native kernel can forge it. `wall_us` is from "go" to "done" by the
    parent's clock. `total_us`, by that clock too, covers the whole call, from the first byte of the inputs sent to the
    last byte of the arrays received: work that a kernel hides before "go" or after "done" is in there.
    A call with faults does not count: it may have no arrays, and a time that was not measured is NaN.
    """

    device_us: float
    wall_us: float
    arrays: Mapping[str, np.ndarray]
    faults: tuple[Fault, ...] = ()
    total_us: float = float("nan")


class Lane(Protocol):
    """One kernel, built and warmed up in one disposable worker."""

    def call(self, values: Sequence[Value], size: LaunchSize) -> TimedCall:
        """Launch once on these contents at fresh addresses. Inputs are in place and touched before the clock starts.

        After a call with a fault that ended the worker, every later call returns that fault.
        """
        ...

    def close(self) -> None:
        """End the worker; fine to call twice."""
        ...


class TimedDevice(Device, Protocol):
    def open_lane(self, build: Build, entry: str) -> Lane:
        """A lane for this kernel, in a worker of its own. A kernel that ends its worker shows so at the first call."""
        ...


class ReplayedDevice(Device, Protocol):
    """A device whose kernels profilers of other vendors can see: in a small program that launches one again."""

    @property
    def ladder(self) -> str:
        """Which profilers: `nvidia`, `amd`, or what a profiler of another package says of itself."""
        ...

    def replay_argv(
        self, build: Build, entry: str, values: Sequence[Value], size: LaunchSize, *, folder: Path
    ) -> list[str]:
        """The command that launches the kernel on these values; its files lie in `folder`."""
        ...


class SimulatedTime(Protocol):
    """What a simulator says of the time of one launch. `spread` is how far samples of the launch are apart;
    `failed_polls` counts waits for other blocks, of which no simulated time is known."""

    @property
    def time_us(self) -> float: ...

    @property
    def time_us_base(self) -> float: ...

    @property
    def spread(self) -> float: ...

    @property
    def bound(self) -> str: ...

    @property
    def failed_polls(self) -> int: ...


@dataclass(frozen=True)
class Observed:
    """A launch that ran whole: its profile, every array after it, its simulated time; whether the order matters."""

    profile: Profile
    arrays: Mapping[str, np.ndarray]
    time: SimulatedTime
    order_matters: int = 0


class Simulator(Device, Protocol):
    """A device that simulates time. What it says can win a verdict, so it keeps all of this; `VirtualGpu` is ours."""

    @property
    def gpu(self) -> Gpu | None:
        """The data sheet of the simulated GPU; without one it tells no time."""
        ...

    def profile(
        self,
        build: Build,
        entry: str,
        values: Sequence[Value],
        size: LaunchSize,
        *,
        source_text: str,
        blocks: Sequence[int] | None = None,
    ) -> Profile: ...

    def observe(
        self,
        build: Build,
        entry: str,
        values: Sequence[Value],
        size: LaunchSize,
        *,
        source_text: str,
        seed: int = 0,
        other_turns: bool = False,
    ) -> Observed:
        """The complete run of the machine code: its outputs, exact counters, and the time of that very run."""
        ...

    def limited(self, warp_instructions: int) -> Self:
        """The same device, which ends a launch that takes more."""
        ...

    def of_machine_code(self) -> Self:
        """The same device, which executes machine code instead of PTX."""
        ...

    def remembering(self) -> Self:
        """The same device, on which a module stays loaded from one launch to the next."""
        ...


def simulator(device: Device) -> Simulator | None:
    """The device where it simulates, whoever wrote it; None if it measures."""
    return cast(Simulator, device) if hasattr(device, "observe") else None
