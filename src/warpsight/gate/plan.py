"""Which runs a check is made of: a budget, so that a check stays a fraction of a second.

Declared inputs run on every workload. All families run on the smallest visible workload that is not trivial; each
other small workload gets one family more, in turn; the profiled one, which costs the most, gets two where it is not
too large, unchecked for races since they were looked for with declared inputs. Spikes look at one place of each row, so
they run where rows are longest and where there are most of them. Placements (placement.py) run only in tasks with
indices, integers or row pointers: all on the first workload, one on the profiled one. Where start contents are free,
they are tried on every workload.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from warpsight.gate.families import DECLARED
from warpsight.gate.initial import CONTENTS
from warpsight.gate.placement import PLACEMENTS, placed_arguments
from warpsight.nouns import Task, Workload
from warpsight.tasks import shape_of

LEAST_ELEMENTS = 200  # a workload of a few elements shows little
MOST_PROFILED_ELEMENTS = 1 << 20  # beyond that the oracle would cost more than the kernel
PROFILED_FAMILIES = ("bits", "wide")
SPIKES = "spikes"
LONG_ROWS = 3  # runs with spikes on the longest rows: a loop over blocks of a row goes wrong only in its later turns


@dataclass(frozen=True)
class PlannedRun:
    """One run: `checked` looks for races, `again` repeats it with other poison and order."""

    workload: Workload
    family: str
    seed: int
    checked: bool = True
    again: bool = False


def declared_plan(workloads: Sequence[Workload], seed: int) -> list[PlannedRun]:
    """Every workload with declared inputs; the small ones twice."""
    return [PlannedRun(w, DECLARED, seed, again=not w.profile) for w in workloads]


def families_plan(task: Task, workloads: Sequence[Workload], families: Sequence[str], seed: int) -> list[PlannedRun]:
    """The runs with other inputs, the cheapest first."""
    if not families or not workloads:
        return []
    small = sorted((w for w in workloads if not w.profile), key=lambda w: elements(task, w))
    telling = [w for w in small if elements(task, w) >= LEAST_ELEMENTS] or small
    first = next((w for w in telling if not w.hidden), telling[0] if telling else workloads[0])
    placements = placements_of(task, families)
    families = [family for family in families if family not in PLACEMENTS]
    plan = [PlannedRun(first, family, seed) for family in (*families, *placements)]
    if SPIKES in families:
        longest = max(telling, key=lambda w: row_length(task, w), default=first)
        plan += [
            PlannedRun(first, SPIKES, seed + 1),
            *(PlannedRun(longest, SPIKES, seed + 2 + n) for n in range(LONG_ROWS)),
        ]
    others = [w for w in small if w is not first]
    if families:
        plan += [PlannedRun(w, families[at % len(families)], seed + 1 + at) for at, w in enumerate(others)]
    extra = [family for family in PROFILED_FAMILIES if family in families][:1]
    extra += [SPIKES] if SPIKES in families else []
    extra += placements[:1]
    profiled = [w for w in workloads if w.profile and elements(task, w) <= MOST_PROFILED_ELEMENTS]
    plan += [PlannedRun(w, family, seed, checked=False) for w in profiled for family in extra]
    return plan


def placements_of(task: Task, families: Sequence[str]) -> list[str]:
    """Those of the families that place things otherwise, where the task has things to place."""
    return [family for family in families if family in PLACEMENTS] if placed_arguments(task) else []


def contents_plan(workloads: Sequence[Workload], seed: int) -> list[PlannedRun]:
    """Every workload with other start contents than the declared ones; the profiled one, which is timed, too."""
    return [PlannedRun(w, CONTENTS, seed, checked=False) for w in workloads]


def elements(task: Task, workload: Workload) -> int:
    """How many numbers the arguments of a workload hold."""
    return sum(math.prod(shape_of(a, workload.axes)) for a in task.arguments if a.role != "scalar")


def row_length(task: Task, workload: Workload) -> int:
    """The extent of the last axis of the widest input."""
    shapes = [shape_of(a, workload.axes) for a in task.arguments if a.role in ("in", "inout")]
    return max((shape[-1] for shape in shapes if shape), default=0)
