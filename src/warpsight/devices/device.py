"""The seam every device fills: run one kernel once on given arguments, and say what happened.

A kernel that misbehaves is a result (faults, a refusal); a device that does not work raises DeviceError.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from warpsight.errors import WarpsightError
from warpsight.nouns import Build, Fault, Profile, Source
from warpsight.tasks import LaunchSize


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
    """What one launch did. `refused` is set when the launch is impossible on this GPU, and then nothing ran."""

    arrays: Mapping[str, np.ndarray] = field(default_factory=dict[str, np.ndarray])
    faults: tuple[Fault, ...] = ()
    printed: str = ""
    refused: str = ""
    warp_instructions: int = 0


class Device(Protocol):
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
