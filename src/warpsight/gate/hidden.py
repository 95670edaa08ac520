"""Small workloads that nobody wrote down: sizes drawn from the task's axes with a seed the candidate cannot know.

Primes, ragged sizes, ones, and empty ones where the axes allow them; none much larger than the task's own small
workloads, so they cost no more (hidden_large.py draws the large ones). A draw that the task's own shapes or its own
kernel's launch do not take is drawn again and then left out: what an author's axes do not rule out, the author's kernel
must at least be able to launch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from warpsight.errors import TaskError
from warpsight.nouns import Axis, Task, Workload
from warpsight.tasks import evaluate_launch, read_candidate, shape_of
from warpsight.tasks.expressions import ExpressionError
from warpsight.tasks.shapes import scalar_of

DRAWS = 12
ROOM = 2  # times the elements of the largest small workload
Draw = Callable[[np.random.Generator, Axis, int], int]


def generated_workloads(task: Task, secret_seed: int) -> tuple[Workload, ...]:
    """A few hidden workloads of sizes of their own."""
    own = small_workloads(task)
    most = largest_axes(task, own)
    room = ROOM * max(elements_of(task, w) or 0 for w in own)
    random = np.random.Generator(np.random.PCG64(secret_seed))
    found: list[Workload] = []
    for name, draw in KINDS.items():
        for _ in range(DRAWS):
            axes = _drawn(task, name, draw, random, most)
            workload = None if axes is None else Workload(name=f"secret-{name}", axes=axes, hidden=True)
            if workload is not None and possible(task, workload, room):
                found.append(workload)
                break
    return tuple(found)


def small_workloads(task: Task) -> list[Workload]:
    """The task's own, without the profiled one where there are others."""
    return [w for w in task.workloads if not w.profile] or list(task.workloads)


def largest_axes(task: Task, workloads: Sequence[Workload]) -> dict[str, int]:
    """The largest value that each axis has in any of them."""
    return {axis.name: max(w.axes[axis.name] for w in workloads) for axis in task.axes}


def _drawn(
    task: Task, kind: str, draw: Draw, random: np.random.Generator, most: dict[str, int]
) -> dict[str, int] | None:
    axes = {axis.name: draw(random, axis, most[axis.name]) for axis in task.axes}
    if kind in ("one", "empty"):  # a single axis is special, the others are ragged
        special = [axis for axis in task.axes if axis.min == 0 or kind == "one"]
        if not special:
            return None
        axis = special[int(random.integers(len(special)))]
        axes[axis.name] = 0 if kind == "empty" else max(axis.min, axis.multiple_of)
    return axes


def ragged(random: np.random.Generator, axis: Axis, most: int) -> int:
    """Anything, or just beside a power of two."""
    value = int(random.integers(axis.min, most + 1))
    if random.random() < 0.5 and most >= 4:
        value = 2 ** int(random.integers(1, int(math.log2(most)) + 1)) + int(random.integers(-1, 2))
    return allowed(axis, min(value, most))


def _prime(random: np.random.Generator, axis: Axis, most: int) -> int:
    value = int(random.integers(max(axis.min, 2), max(most, axis.min, 2) + 1)) // axis.multiple_of
    while value > 2 and any(value % d == 0 for d in range(2, math.isqrt(value) + 1)):
        value -= 1
    return allowed(axis, value * axis.multiple_of)


def allowed(axis: Axis, value: int) -> int:
    """The nearest value below that the axis takes, or its least."""
    least = -(-max(axis.min, 1) // axis.multiple_of) * axis.multiple_of
    return max(least, min(value, axis.max) // axis.multiple_of * axis.multiple_of)


KINDS: dict[str, Draw] = {"primes": _prime, "ragged": ragged, "one": ragged, "empty": ragged}


def elements_of(task: Task, workload: Workload) -> int | None:
    """How many numbers the arguments hold; None where a shape has no meaning."""
    try:
        return sum(math.prod(shape_of(a, workload.axes)) for a in task.arguments if a.role != "scalar")
    except ExpressionError:
        return None


def possible(task: Task, workload: Workload, room: float) -> bool:
    """Whether shapes, scalars and the launch of the task's own kernel take these sizes, within `room` elements."""
    elements = elements_of(task, workload)
    if elements is None or elements > room:
        return False
    try:
        for argument in task.arguments:
            if argument.role == "scalar":
                scalar_of(argument, workload.axes)
        evaluate_launch(read_candidate(task.kernel, task, task.kernel_file), workload.axes)
    except (ExpressionError, TaskError):
        return False
    return True
