"""The best few of a tuning, to be measured on a real card: a simulated time cannot tell near ones apart.

Every kernel in the list was found right by the gate, those too that the search had left unchecked since they would not
win. What must stay true: the list has no text twice, and its times are the gate's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from warpsight.devices.machine_code import RANGE
from warpsight.errors import WarpsightError
from warpsight.nouns import Candidate, Evaluation, Profile
from warpsight.nouns.base import Noun, Sha256, Source
from warpsight.nouns.timing import Decision
from warpsight.tuning.launches import launch_line
from warpsight.tuning.records import TuningTrial

Judge = Callable[[Candidate], Evaluation | WarpsightError]


class Shortlisted(Noun):
    """One kernel to measure. `likely_us` is where 90 % of measured times lie, for a simulated time."""

    config: dict[str, int]
    launch: str
    kernel: str
    kernel_sha256: Sha256
    time_us: float
    likely_us: tuple[float, float] | None = None
    ratio: float
    decision: Decision
    source: Source


class Tried(NamedTuple):
    """A trial with its kernel."""

    trial: TuningTrial
    kernel: Candidate


def shortlist(tried: Iterable[Tried], judge: Judge, count: int) -> tuple[Shortlisted, ...]:
    """The `count` fastest kernels that are right, the fastest first."""
    found: dict[str, Shortlisted] = {}
    for one in sorted((one for one in tried if one.trial.speed > 0), key=lambda one: -one.trial.speed):
        if len(found) >= count:
            break
        listed = None if one.kernel.sha256 in found else _listed(one, judge(one.kernel))
        if listed is not None:
            found[one.kernel.sha256] = listed
    return tuple(sorted(found.values(), key=lambda one: one.time_us))


def _listed(one: Tried, found: Evaluation | WarpsightError) -> Shortlisted | None:
    timing = None if isinstance(found, WarpsightError) else found.timing
    if isinstance(found, WarpsightError) or timing is None or timing.ratio is None or timing.decision is None:
        return None
    time_us = timing.time_us
    if timing.decision == "REJECTED" or time_us is None:
        return None
    return Shortlisted(
        config=one.trial.config,
        launch=launch_line(one.kernel.launch).removeprefix("// launch: "),
        kernel=one.kernel.source,
        kernel_sha256=one.kernel.sha256,
        time_us=time_us,
        likely_us=_likely_us(found.profile),
        ratio=timing.ratio,
        decision=timing.decision,
        source=timing.source,
    )


def _likely_us(profile: Profile | None) -> tuple[float, float] | None:
    """Only the profile of a simulated time has a range."""
    low, high = (None if profile is None else profile.counters.get(name) for name in RANGE)
    return None if low is None or high is None else (float(low), float(high))
