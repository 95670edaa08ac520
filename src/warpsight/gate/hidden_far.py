"""Workloads far beyond the declared ones: one axis as long as time allows, the others tiny or as in small workloads.

A row number in a byte, a row that must fit into a buffer, an index that a float no longer holds: such kernels are right
at every size near the declared ones. So for each axis two sizes are drawn from the upper quarter of what the axis, the
launch of the task's own kernel, and a budget of elements and instructions allow: with the other axes tiny, and not. A
kernel that may be given a certificate runs one more, of up to 2^24 elements: the axes of its output as long as they can
be, in a secret order. Where it has indices or the like (placement.py) it runs as many again, crowded into one place:
16 bits of a counter overflow only there.
How instructions grow with an axis is counted on the task's own kernel at small sizes.
What is asked there is whether the work is done: errors may grow with the length of sums, and a launch that is not
possible fails before anyone's eyes and is left out. So is a size at which the task's own kernel is wrong as well: there
the axes promise too much. `run_far.py` says what becomes of a candidate that takes very long there.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from warpsight.devices.virtual import VirtualGpu
from warpsight.errors import WarpsightError
from warpsight.gate.hidden import allowed, elements_of, largest_axes, possible, small_workloads
from warpsight.gate.placement import CROWDED, placed_arguments
from warpsight.gate.values import fresh_values
from warpsight.nouns import Argument, Axis, Build, Task, Workload
from warpsight.tasks import evaluate_launch, launch_of, read_candidate

BUDGETS = {
    "thin": (1 << 20, 1 << 21),
    "far": (1 << 21, 1 << 23),
    "farthest": (1 << 24, 1 << 24),
    CROWDED: (6 << 20, 1 << 24),
}
"""Elements, and instructions of warps: more of these where the declared workload takes more."""
SHARE = 1 / 3  # of what the largest declared workload takes
TINY = 4
NEAR_TOP = 0.75  # values are drawn from there to the top
ROOM = 16  # times the work of the task's own kernel that a candidate may take
MORE_ROOM = 256  # times, when it is run again because it took longer
PROBED = 4  # times the small size, to see how work grows
PROBED_ELEMENTS = 1 << 16


@dataclass(frozen=True)
class FarWorkload:
    """A workload; its long axis; how many times longer that is than any declared one; instructions it should take."""

    workload: Workload
    axis: Axis
    growth: float
    work: float
    family: str = ""  # of inputs, where a size is drawn for one

    def shorter(self, halvings: int) -> FarWorkload:
        """The same with the long axis halved so many times."""
        long = self.workload.axes[self.axis.name]
        value = allowed(self.axis, max(1, long >> halvings))
        named = f"{self.workload.name[:60]}-{halvings}"
        axes = {**self.workload.axes, self.axis.name: value}
        workload = self.workload.model_copy(update={"name": named, "axes": axes})
        return replace(self, workload=workload, growth=self.growth * value / long)


@dataclass(frozen=True)
class Growth:
    """Instructions of the task's own kernel at one size, and the power by which they grow with each axis."""

    axes: dict[str, int]
    work: float
    powers: dict[str, float]

    def work_at(self, axes: Mapping[str, int]) -> float:
        """Below the counted size it is taken to stay as it is: a block costs what it costs, however little it has."""
        return self.work * math.prod(max(1.0, axes[a] / self.axes[a]) ** power for a, power in self.powers.items())


def far_workloads(task: Task, own: Build, secret_seed: int, *, farthest: bool) -> tuple[FarWorkload, ...]:
    """For each axis sizes far beyond the declared ones, where there are such. `own` is the task's kernel, compiled."""
    growth = growth_of(task, own)
    if growth is None:
        return ()
    random = np.random.Generator(np.random.PCG64(np.random.SeedSequence([secret_seed, 0x666172])))
    found = [_far(task, [axis], growth, random, kind) for axis in task.axes for kind in ("far", "thin")]
    if farthest:
        written = [a for a in task.arguments if a.role in ("out", "inout")]
        found.append(_far(task, _in_secret_order(task, written, random), growth, random, "farthest"))
        if placed := placed_arguments(task):
            crowded = _far(task, _in_secret_order(task, placed, random), growth, random, CROWDED)
            found.append(None if crowded is None else replace(crowded, family=CROWDED))
    return tuple(far for far in found if far is not None)


def _in_secret_order(task: Task, arguments: Sequence[Argument], random: np.random.Generator) -> list[Axis]:
    """The axes in the shapes of these arguments, or all axes where there are none."""
    named = re.findall(r"[A-Za-z_]\w*", " ".join(str(extent) for a in arguments for extent in a.shape))
    favoured = [axis for axis in task.axes if axis.name in named] or list(task.axes)
    return [favoured[int(at)] for at in random.permutation(len(favoured))]


def _far(
    task: Task, longer: Sequence[Axis], growth: Growth, random: np.random.Generator, kind: str
) -> FarWorkload | None:
    """The first of `longer` as long as fits, then the next with what the budget has left."""
    small, declared = largest_axes(task, small_workloads(task)), largest_axes(task, task.workloads)
    elements, work = BUDGETS[kind]
    work = max(work, SHARE * max(growth.work_at(w.axes) for w in task.workloads))
    axes: dict[str, int] = {}
    for axis in task.axes:
        most = min(TINY, small[axis.name]) if kind == "thin" else small[axis.name]
        least = 1 if kind == "thin" else math.ceil(NEAR_TOP * most)
        axes[axis.name] = allowed(axis, int(random.integers(least, most + 1)))

    def workload(axes: dict[str, int]) -> Workload:
        return Workload(name=f"secret-{kind}-{longer[0].name.lower()}"[:64], axes=axes, hidden=True)

    def fits(axes: dict[str, int]) -> bool:
        return growth.work_at(axes) <= work and possible(task, workload(axes), elements)

    for axis in longer:
        low, high = max(axes[axis.name], declared[axis.name] if axis is longer[0] else 0), min(axis.max, elements)
        while low < high:  # the longest that fits
            middle = (low + high + 1) // 2
            low, high = (middle, high) if fits({**axes, axis.name: middle}) else (low, middle - 1)
        least = max(axes[axis.name], math.ceil(NEAR_TOP * low))
        axes[axis.name] = allowed(axis, int(random.integers(least, max(least, low) + 1)))
    longest = max(longer, key=lambda axis: axes[axis.name] / declared[axis.name])
    beyond = axes[longest.name] / declared[longest.name]
    if beyond <= 1 or not fits(axes):
        return None
    return FarWorkload(workload(axes), longest, beyond, max(work, growth.work_at(axes)))


def growth_of(task: Task, own: Build) -> Growth | None:
    """How the instructions of the task's own kernel grow with each axis; None where it does not run at small sizes."""
    small = small_workloads(task)
    fitting = [w for w in small if (elements_of(task, w) or 0) <= PROBED_ELEMENTS]
    base = max(fitting, key=lambda w: elements_of(task, w) or 0, default=small[0]).axes
    try:
        work = _instructions(task, own, dict(base))
        powers: dict[str, float] = {}
        for axis in task.axes:
            value = allowed(axis, min(PROBED * base[axis.name], axis.max))
            if value > base[axis.name]:
                more = _instructions(task, own, {**base, axis.name: value})
                powers[axis.name] = math.log(max(more, work) / work) / math.log(value / base[axis.name])
    except (WarpsightError, ZeroDivisionError):
        return None
    return Growth(dict(base), work, powers)


def _instructions(task: Task, own: Build, axes: dict[str, int]) -> int:
    workload = Workload(name="probe", axes=axes, hidden=True)
    size = launch_of(own, evaluate_launch(read_candidate(task.kernel, task, task.kernel_file), axes))
    values = fresh_values(task, workload, 0)[1]
    done = VirtualGpu(cores=1).execute(own, task.entry, values, size, check=False)
    return 0 if done.refused or done.faults else done.warp_instructions
