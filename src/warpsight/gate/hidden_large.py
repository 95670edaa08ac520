"""Large workloads that nobody wrote down: beside the largest declared one, and large in one axis alone.

Small secret sizes say nothing of what a kernel does with many blocks, and the one large size that is declared is known
to its author. So each check draws sizes near the largest workload, some below and one above it, some round and some
ragged; and for each axis that is larger there than in any small workload one size between, with the other axes small.
They are run once, with declared inputs, and not looked at for races. Not covered: sizes far beyond the largest
workload, and a fault at a few sizes only, which a draw may miss; the next check draws others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from warpsight.gate.hidden import DRAWS, allowed, elements_of, largest_axes, possible, ragged, small_workloads
from warpsight.nouns import Axis, Task, Workload

Draw = Callable[[], dict[str, int]]
BELOW, ABOVE = 0.6, 1.06  # of the largest workload: as many blocks or nearly so, and hardly longer sums
ROUND = 32
MOST_LONG = 3
ROOM = 1.25  # times the elements of the largest workload
COSTLY_ELEMENTS = 1 << 23  # beyond that one run near the largest workload must do


def large_workloads(task: Task, secret_seed: int) -> tuple[Workload, ...]:
    """Secret sizes of the scale of the task's largest workload."""
    random = np.random.Generator(np.random.PCG64(np.random.SeedSequence([secret_seed, 0x6C61726765])))
    largest = max(task.workloads, key=lambda w: (w.profile, elements_of(task, w) or 0))
    room = ROOM * (elements_of(task, largest) or 0)
    sides = [False, True]  # whether one axis lies above
    if room > ROOM * COSTLY_ELEMENTS:
        sides = [bool(random.integers(2))]
    rounded = bool(random.integers(2))
    most = largest_axes(task, small_workloads(task))
    longer = [axis for axis in task.axes if largest.axes[axis.name] > most[axis.name]]
    chosen = sorted(int(at) for at in random.permutation(len(longer))[:MOST_LONG])
    draws: dict[str, Draw] = {}
    for above in sides:
        draws["larger" if above else "large"] = partial(_near, task, random, largest, above, rounded != above)
    for axis in (longer[at] for at in chosen):
        draws[f"long-{axis.name.lower()}"] = partial(_long, task, random, axis, largest.axes[axis.name], most)
    found = (_first_possible(task, f"secret-{name}"[:64], room, draw) for name, draw in draws.items())
    return tuple(workload for workload in found if workload is not None)


def _first_possible(task: Task, name: str, room: float, draw: Draw) -> Workload | None:
    declared = [dict(w.axes) for w in task.workloads]
    for _ in range(DRAWS):
        axes = draw()
        workload = Workload(name=name, axes=axes, hidden=True)
        if axes not in declared and possible(task, workload, room):
            return workload
    return None


def _near(task: Task, random: np.random.Generator, largest: Workload, above: bool, rounded: bool) -> dict[str, int]:
    """All axes a little below those of the largest workload; `above` has one of them a little above."""
    can_rise = [a.name for a in task.axes if min(a.max, int(largest.axes[a.name] * ABOVE)) > largest.axes[a.name]]
    higher = can_rise[int(random.integers(len(can_rise)))] if above and can_rise else ""
    axes: dict[str, int] = {}
    for axis in task.axes:
        top = largest.axes[axis.name]
        low, high = (top + 1, top * ABOVE) if axis.name == higher else (top * BELOW, top)
        axes[axis.name] = _between(random, axis, math.ceil(low), math.floor(high), rounded)
    return axes


def _long(task: Task, random: np.random.Generator, axis: Axis, top: int, most: dict[str, int]) -> dict[str, int]:
    """One axis anywhere between the small workloads and the large one, by its order of magnitude; the others small."""
    axes = {other.name: ragged(random, other, most[other.name]) for other in task.axes}
    least = max(most[axis.name], 1)
    high = round(least * (top / least) ** random.uniform(0.25, 1.0))
    axes[axis.name] = _between(random, axis, least + 1, max(high, least + 1), bool(random.integers(2)))
    return axes


def _between(random: np.random.Generator, axis: Axis, low: int, high: int, rounded: bool) -> int:
    """A value of the axis in a range: a whole number of warps, or not divisible by two where there is such a one."""
    value = int(random.integers(low, max(low, high) + 1))
    if rounded and high - low >= 2 * ROUND:
        value = max(low, value // ROUND * ROUND)
    elif not rounded:
        value |= int(value < high)
    return allowed(axis, value)
