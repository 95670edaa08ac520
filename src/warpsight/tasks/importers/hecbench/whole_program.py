"""From kernels to the whole program: which are hot, what a faster kernel can bring (Amdahl), and what it brought.

Pure functions of measured times, and one comparison that runs two builds of a program in turn through a function it is
given. On a GPU that function starts the program there: not run on a GPU by us. Tried here with programs of the CPU.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from warpsight.errors import UsageError
from warpsight.nouns.base import Noun
from warpsight.tasks.importers.hecbench.output import difference, self_check


class HotKernel(Noun):
    """One kernel in a run: all its launches together, and its share of GPU time and of the whole program's."""

    name: str
    launches: int = Field(ge=1)
    total_us: float = Field(ge=0)
    gpu_share: float = Field(ge=0, le=1)
    program_share: float | None = Field(default=None, ge=0, le=1)


@dataclass(frozen=True)
class ProgramRun:
    """One run of a program: what it printed, its exit status, and its time on the wall."""

    output: str
    status: int
    wall_s: float


class ProgramComparison(Noun):
    """A program before and after one of its files was changed. Times are measured, medians of whole runs."""

    verdict: Literal["right", "wrong", "failed"]
    reason: str = ""
    self_check: Literal["passed", "failed", "none"]
    before_s: float | None = None
    after_s: float | None = None
    before_samples_s: tuple[float, ...] = ()
    after_samples_s: tuple[float, ...] = ()
    source: Literal["measured", ""] = ""

    @property
    def speedup(self) -> float | None:
        return None if not self.before_s or not self.after_s else self.before_s / self.after_s


def hot_kernels(launches: Iterable[tuple[str, float]], program_s: float | None = None) -> tuple[HotKernel, ...]:
    """Kernels by their time in a trace of (name, microseconds) per launch, the hottest first."""
    times: dict[str, list[float]] = {}
    for name, duration_us in launches:
        times.setdefault(name, []).append(duration_us)
    whole_us = math.fsum(one for each in times.values() for one in each)
    found = [
        HotKernel(
            name=name,
            launches=len(each),
            total_us=math.fsum(each),
            gpu_share=math.fsum(each) / whole_us if whole_us else 0.0,
            program_share=min(1.0, math.fsum(each) / (program_s * 1e6)) if program_s else None,
        )
        for name, each in times.items()
    ]
    return tuple(sorted(found, key=lambda one: -one.total_us))


def amdahl(share: float, kernel_speedup: float) -> float:
    """How much faster the whole becomes when a part with this share of its time becomes this much faster."""
    if not 0 <= share <= 1:
        raise UsageError(f"expected a share from 0 to 1, got {share:g}")
    if kernel_speedup <= 0:
        raise UsageError(f"expected a speed-up above 0, got {kernel_speedup:g}")
    return 1 / ((1 - share) + share / kernel_speedup)


def amdahl_limit(share: float) -> float:
    """The whole with that part at no time at all; infinite when the part is everything."""
    if not 0 <= share <= 1:
        raise UsageError(f"expected a share from 0 to 1, got {share:g}")
    return math.inf if share == 1 else 1 / (1 - share)


def compare_programs(
    before: Callable[[], ProgramRun], after: Callable[[], ProgramRun], *, runs: int = 5, rtol: float = 1e-4
) -> ProgramComparison:
    """Run both in turn; right when the changed one ends well, passes its own check and prints the same."""
    pairs = [(before(), after()) if turn % 2 == 0 else _swapped(after(), before()) for turn in range(max(1, runs))]
    checks = {self_check(new.output) for _, new in pairs}
    check: Literal["passed", "failed", "none"] = (
        "failed" if "failed" in checks else "none" if "none" in checks else "passed"
    )
    for old, new in pairs:
        if old.status != 0:
            return ProgramComparison(
                verdict="failed", reason=f"the original ended with status {old.status}", self_check=check
            )
        if new.status != 0:
            return ProgramComparison(verdict="failed", reason=f"it ended with status {new.status}", self_check=check)
        if check == "failed":
            return ProgramComparison(verdict="wrong", reason="its own check failed", self_check=check)
        if parted := difference(old.output, new.output, rtol):
            return ProgramComparison(verdict="wrong", reason=f"its output is another: {parted}", self_check=check)
    times: Sequence[tuple[float, ...]] = [tuple(one.wall_s for one in side) for side in zip(*pairs, strict=True)]
    return ProgramComparison(
        verdict="right",
        self_check=check,
        before_s=statistics.median(times[0]),
        after_s=statistics.median(times[1]),
        before_samples_s=times[0],
        after_samples_s=times[1],
        source="measured",
    )


def _swapped(new: ProgramRun, old: ProgramRun) -> tuple[ProgramRun, ProgramRun]:
    return old, new
