"""How long a candidate took, all of its work counted. Pure.

A candidate is Python in the process that is timed, and is handed its inputs before the clock starts: it could work
then, or after the clock has stopped, or on more processors than it was given. So the time of a sample is what the clock
says, or its processor time over the threads it was given where that is more, and all processor time of the sample
outside of the timed question that is more than the reference spends there, at the pace of the clock: on a busy machine
a second of processor time takes the reference longer than a second. What the reference's own samples vary by is not
charged: nobody can tell it from chance, and the candidate has no part in it.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from warpsight.tasks.importers.kernelbench.session import TimedQuestion


@dataclass(frozen=True)
class ChargedSample:
    """One sample of one side: the timed question, and the processor time of all that came before and after it."""

    timed: TimedQuestion
    outside_s: float


def usual_outside_s(reference: Sequence[ChargedSample]) -> float:
    """What handing inputs over and taking outputs costs the reference, and how much that varies."""
    outside = [one.outside_s for one in reference]
    middle = statistics.median(outside)
    return middle + statistics.median(abs(one - middle) for one in outside)


def pace(reference: Sequence[ChargedSample], threads: int) -> float:
    """Seconds on the clock for a second of work on all threads, as the reference had it; never less than one."""
    paces = [one.timed.wall_s * threads / one.timed.cpu_s for one in reference if one.timed.cpu_s > 0]
    return max(1.0, statistics.median(paces)) if paces else 1.0


def charged_s(
    candidate: Sequence[ChargedSample], reference: Sequence[ChargedSample], threads: int
) -> list[tuple[float, float]]:
    """Of each sample the seconds that count, and how many of them were not on the clock."""
    usual_s, slower = usual_outside_s(reference), pace(reference, threads)
    found: list[tuple[float, float]] = []
    for one in candidate:
        hidden = max(0.0, one.timed.cpu_s / threads - one.timed.wall_s) + slower * max(0.0, one.outside_s - usual_s)
        found.append((one.timed.wall_s + hidden, hidden))
    return found
