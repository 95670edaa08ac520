"""Take timed pairs of two kernels on a measured device, until the samples decide or cannot.

Each kernel is in a worker of its own (a Lane). The parent owns contents, order, which calls are verified, the wall
clock and the decision; a worker does not know that a call is timed, and not which calls are looked at. What a worker
says of its own time counts only as far as the parent's clock bears it out.

Not covered: which kernels differ by process rather than by code (compare_pair measures winners again), and work that
a native kernel leaves to a thread of its own after it said it was done, beyond the outputs that are verified.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from warpsight.devices.device import Lane, TimedCall
from warpsight.gate import statistics
from warpsight.gate.expected import ExpectedValues
from warpsight.gate.fresh import Contents, FreshContents
from warpsight.gate.statistics import LOOKS, Decided, Pairs
from warpsight.gate.values import verify_outputs
from warpsight.nouns import Task, Workload
from warpsight.nouns.dtypes import is_float
from warpsight.nouns.timing import Measurement, TimingReason
from warpsight.tasks import LaunchSize

WARM_UP_S = 0.15
WARM_UP_CALLS = 3
ALONE_CALLS = 24
VERIFIED_FIRST, VERIFIED_LATER = 3, 2
"""Candidate calls that are verified: of the first look, and of the pairs of each later one."""
SUSPECT_TIMES = 4.0
"""Outputs of the two kernels that are further apart than so many tolerances are verified besides."""
CLOCK_SLACK = 1.02
CLOCK_GRAIN_US = 5.0
Progress = Callable[[str], None]


class BadCall(Exception):
    """A timed call that ends the measurement: why, and what was seen."""

    def __init__(self, reason: TimingReason, detail: str) -> None:
        super().__init__(detail)
        self.reason: TimingReason = reason
        self.detail = detail


@dataclass(frozen=True)
class TimedSide:
    """A kernel that is timed: its lane and its launch."""

    lane: Lane
    size: LaunchSize


@dataclass
class _Samples:
    """What was taken so far."""

    candidate_us: list[float] = field(default_factory=list[float])
    baseline_us: list[float] = field(default_factory=list[float])
    candidate_wall_us: list[float] = field(default_factory=list[float])
    baseline_wall_us: list[float] = field(default_factory=list[float])
    candidate_total_us: list[float] = field(default_factory=list[float])
    baseline_total_us: list[float] = field(default_factory=list[float])
    candidate_first: list[bool] = field(default_factory=list[bool])
    alone_us: list[float] = field(default_factory=list[float])
    verified: int = 0
    warm_up: int = 0

    def add(self, mine: TimedCall, theirs: TimedCall, candidate_first: bool) -> None:
        self.candidate_first.append(candidate_first)
        self.candidate_us.append(mine.device_us)
        self.candidate_wall_us.append(mine.wall_us)
        self.candidate_total_us.append(mine.total_us)
        self.baseline_us.append(theirs.device_us)
        self.baseline_wall_us.append(theirs.wall_us)
        self.baseline_total_us.append(theirs.total_us)

    def pairs(self) -> Pairs:
        totals = self.baseline_total_us, self.candidate_total_us
        known = all(math.isfinite(total) for side in totals for total in side)
        return Pairs(
            tuple(self.baseline_us),
            tuple(self.candidate_us),
            tuple(self.baseline_wall_us),
            tuple(self.candidate_wall_us),
            *((tuple(side) if known else ()) for side in totals),
        )


class PairTimer:
    """One measurement of two lanes on one workload. `budget_s` ends it at the next look, never before the first."""

    def __init__(
        self,
        task: Task,
        workload: Workload,
        *,
        seed: int,
        budget_s: float = 3.0,
        contents: FreshContents | None = None,
        progress: Progress = lambda _: None,
    ) -> None:
        self.task, self.workload, self.budget_s, self.progress = task, workload, budget_s, progress
        self.seed = seed
        self.random = np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, 0x6F726465])))
        self.contents = contents or FreshContents(task, workload, seed)
        self.expected = ExpectedValues(memory_bytes=0)  # contents never come twice, so nothing is worth keeping

    def measure(self, baseline: TimedSide, candidate: TimedSide) -> Measurement:
        """Both lanes stay open, unless the candidate seems faster: then its lane is closed for the last check."""
        started, load, busy = time.monotonic(), os.getloadavg()[0], _cpu_ticks()
        taken, used, found = _Samples(), 0, Decided("AMBIGUOUS", "out_of_time")
        bootstrap_seed = self.seed % 2**63
        try:
            self._warm_up(baseline, candidate, taken)
            for pairs in LOOKS:
                self.progress(f"timing, pair {used} of at most {LOOKS[-1]}")
                kept = self._take_pairs(baseline, candidate, taken, pairs)
                self._verify(kept, taken)
                used, found = pairs, statistics.decide(taken.pairs().first(pairs), bootstrap_seed)
                if not statistics.can_still_decide(found, pairs):
                    break
                if time.monotonic() - started > self.budget_s:
                    found = Decided(found.decision, "out_of_time", found.detail, found.ratio, found.interval)
                    break
            if found.decision == "FASTER":
                found = self._beside_and_alone(baseline, candidate, taken, found)
        except BadCall as bad:
            found = Decided("REJECTED", bad.reason, bad.detail, found.ratio, found.interval)
        return Measurement(
            **vars(taken.pairs()),
            candidate_first=tuple(taken.candidate_first),
            alone_us=tuple(taken.alone_us),
            pairs_used=used,
            bootstrap_seed=bootstrap_seed,
            decision=found.decision,
            reason=found.reason,
            detail=found.detail,
            ratio=found.ratio,
            interval=found.interval,
            verified_calls=taken.verified,
            warm_up_calls=taken.warm_up,
            seconds=time.monotonic() - started,
            load_before=load,
            busy_share=_busy_since(busy),
        )

    def _warm_up(self, baseline: TimedSide, candidate: TimedSide, taken: _Samples) -> None:
        """By time, both alike: clocks rise, pages are touched, and code is compiled before anything is kept."""
        self.progress("warming up")
        until = time.monotonic() + WARM_UP_S
        while taken.warm_up < WARM_UP_CALLS or time.monotonic() < until:
            for side, who in ((baseline, "baseline"), (candidate, "candidate")):
                timed_call(side, self.contents.draw(), who)
            taken.warm_up += 1

    def _take_pairs(
        self, baseline: TimedSide, candidate: TimedSide, taken: _Samples, until: int
    ) -> list[tuple[Contents, TimedCall]]:
        """Pairs up to `until`, in random order; the candidate's calls that will be verified are kept."""
        start = len(taken.candidate_us)
        wanted = VERIFIED_FIRST if start == 0 else VERIFIED_LATER
        chosen = {start + int(k) for k in self.random.choice(until - start, size=wanted, replace=False)}
        kept: list[tuple[Contents, TimedCall]] = []
        for pair in range(start, until):
            candidate_first = bool(self.random.integers(2))
            # The same contents for both, so that a pair differs by the kernel alone.
            given = self.contents.draw()
            if candidate_first:
                mine = timed_call(candidate, given, "candidate")
                theirs = timed_call(baseline, given, "baseline")
            else:
                theirs = timed_call(baseline, given, "baseline")
                mine = timed_call(candidate, given, "candidate")
            taken.add(mine, theirs, candidate_first)
            if pair in chosen or (len(kept) < 2 * VERIFIED_FIRST and self._suspect(given, mine, theirs)):
                kept.append((given, mine))
        return kept

    def _suspect(self, given: Contents, mine: TimedCall, theirs: TimedCall) -> bool:
        """Whether the two outputs differ, or an input did change: then the oracle is asked, who alone decides.

        A kernel that leaves out its work in some calls would otherwise have to be met by chance.
        """
        tolerance = self.task.tolerance
        for argument in self.task.arguments:
            name = argument.name
            if argument.role == "in" and not np.array_equal(mine.arrays[name], given.inputs[name], equal_nan=True):
                return True
            if argument.role not in ("out", "inout"):
                continue
            if not is_float(argument.dtype):
                if not np.array_equal(mine.arrays[name], theirs.arrays[name]):
                    return True
                continue
            got, other = (call.arrays[name].astype(np.float64) for call in (mine, theirs))
            with np.errstate(invalid="ignore"):
                near = np.abs(got - other) <= SUSPECT_TIMES * (tolerance.atol + tolerance.rtol * np.abs(other))
            if not bool(near.all()):
                return True
        return False

    def _verify(self, kept: list[tuple[Contents, TimedCall]], taken: _Samples) -> None:
        """After the pairs of a look, so that the reference's work does not disturb them."""
        for given, call in kept:
            found = verify_outputs(self.task, self.workload, given.inputs, call.arrays, values=self.expected)
            taken.verified += 1
            if not found.ok:
                raise BadCall("wrong_in_timed_call", f"{found.reason} in a timed call: {found.detail}")

    def _beside_and_alone(self, baseline: TimedSide, candidate: TimedSide, taken: _Samples, found: Decided) -> Decided:
        """The baseline again with the candidate's process gone."""
        self.progress("timing the baseline alone")
        candidate.lane.close()
        for _ in range(ALONE_CALLS):
            taken.alone_us.append(timed_call(baseline, self.contents.draw(), "baseline").device_us)
        assert found.ratio is not None
        holds, told = statistics.faster_alone(taken.alone_us, taken.candidate_us, found.ratio)
        return found if holds else Decided("AMBIGUOUS", "not_faster_alone", told, found.ratio, found.interval)


def timed_call(side: TimedSide, given: Contents, who: str) -> TimedCall:
    """One timed call that can be believed as far as its clocks go, or BadCall."""
    done = side.lane.call(given.values, side.size)
    if done.faults:
        first = done.faults[0]
        raise BadCall("fault_in_timed_call", f"{who}: {first.kind}: {first.message}")
    if not (math.isfinite(done.device_us) and math.isfinite(done.wall_us) and done.device_us > 0):
        raise BadCall("clock_disagrees", f"{who}: {done.device_us} us by its own clock is no time")
    if done.device_us > CLOCK_SLACK * done.wall_us + CLOCK_GRAIN_US:
        raise BadCall(
            "clock_disagrees", f"{who}: {done.device_us:.1f} us by its own clock, {done.wall_us:.1f} us by the parent's"
        )
    return done


def _cpu_ticks() -> tuple[int, int]:
    """(busy, all) ticks of all cores so far; zeros where the system does not say."""
    try:
        ticks = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    except (OSError, ValueError):
        return 0, 0
    return sum(ticks) - ticks[3] - ticks[4], sum(ticks)


def _busy_since(before: tuple[int, int]) -> float:
    busy, total = _cpu_ticks()
    return round((busy - before[0]) / (total - before[1]), 3) if total > before[1] else 0.0
