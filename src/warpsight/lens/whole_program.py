"""A whole program's run with what its profiles say: kernels by share, findings by what they would bring the whole.

Pure. Amdahl's law turns a finding's gain on one kernel into one on the program: a gain of 3 on a tenth of the time is
1.07. The whole is kernels and copies one after the other, without the host.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from warpsight.lens.diagnosis import Diagnosis
from warpsight.nouns import Build, Finding, KernelLaunches, Noun, TimelineEvent, WholeRun

ProfiledSize = tuple[str, tuple[int, int, int], tuple[int, int, int], int]
"""Kernel, grid, block and dynamic shared memory."""


class ProgramFinding(Noun):
    """A finding of one kernel. `share` of the program's simulated time is spent there, `gain` is on all of it."""

    kernel: str
    share: float
    gain: float | None
    finding: Finding


@dataclass(frozen=True)
class ProgramProfile:
    """A run, what is known of each size of launches that has a profile, the texts of the kernels' files, and what the
    GPU did when."""

    run: WholeRun
    diagnoses: dict[ProfiledSize, Diagnosis]
    builds: dict[ProfiledSize, Build]
    sources: dict[str, str] = field(default_factory=dict[str, str])
    timeline: tuple[TimelineEvent, ...] = ()
    left_out: int = 0

    def of(self, row: KernelLaunches) -> Diagnosis | None:
        return self.diagnoses.get((row.kernel, row.grid, row.block, row.shared_bytes))

    @property
    def whole_us(self) -> float:
        """Kernels and copies one after the other, as the virtual GPU does them."""
        return self.run.kernel_us + self.run.copy_us

    @property
    def gap_us(self) -> float:
        """Of the kernels' time, what the launches themselves take."""
        return self.run.launch_gap_us

    def share(self, row: KernelLaunches) -> float:
        return (row.time_us or 0.0) / self.whole_us if self.whole_us else 0.0

    def findings(self) -> tuple[ProgramFinding, ...]:
        """By what they would bring the whole program, those without a number last."""
        found = list(self._findings())
        return tuple(sorted(found, key=lambda one: (-(one.gain or 0.0), -one.share)))

    def _findings(self) -> Iterator[ProgramFinding]:
        for row in self.run.kernels:
            diagnosis = self.of(row)
            if diagnosis is None or not self.whole_us:
                continue
            share = self.share(row)
            for finding in diagnosis.findings:
                gain = finding.estimated_gain
                whole = None if gain is None else 1.0 / (1.0 - share + share / gain)
                yield ProgramFinding(kernel=row.kernel, share=share, gain=whole, finding=finding)
