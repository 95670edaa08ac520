"""Whether a changed kernel ever gives another bit than the kernel it came from.

A change that never does is no mistake, and no check could find it: a padding that is not stored, a guard that saves
work. That is not decided by reading but by launches: many sizes (small, whole tiles, beside a power of two, any others)
with most families of inputs, outputs compared bit for bit, without any tolerance and without the reference. These are
other launches than a check makes, and many more. It is no proof: what differs at none of them is called the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from warpsight.devices.device import Execution
from warpsight.devices.virtual import VirtualGpu
from warpsight.errors import TaskError
from warpsight.gate.families import family_inputs
from warpsight.gate.values import POISONS, values_of
from warpsight.nouns import Axis, Build, Candidate, Task, Workload
from warpsight.tasks import evaluate_launch, shape_of
from warpsight.tasks.expressions import ExpressionError

LAUNCHES = 150
MOST_ELEMENTS = 8_000
MOST_INSTRUCTIONS = 50_000_000
SEED = 7_700_417
FAMILIES = ("declared", "spikes", "integers", "spikes", "wide", "structured", "spikes", "bits", "sparse")
TILES = (4, 8, 16, 32, 64, 128, 256)


def same_bits(task: Task, own: tuple[Candidate, Build], changed: tuple[Candidate, Build]) -> bool:
    """True where no launch shows a difference, and at least half of them could be made."""
    made = 0
    for at, workload in enumerate(_workloads(task)):
        inputs = family_inputs(task, workload, SEED + at, FAMILIES[at % len(FAMILIES)])
        if inputs is None:
            inputs = family_inputs(task, workload, SEED + at, "declared")
        assert inputs is not None
        first, second = (_launched(task, workload, inputs, *kernel, POISONS[at % 2]) for kernel in (own, changed))
        if first is None or first.faults or first.refused:
            continue
        if second is None or second.faults or second.refused or _differs(task, first, second):
            return False
        made += 1
    return made >= LAUNCHES // 2


def _workloads(task: Task) -> Iterator[Workload]:
    random = np.random.Generator(np.random.PCG64(SEED))
    made = 0
    for _ in range(20 * LAUNCHES):
        axes = {axis.name: _drawn(random, axis) for axis in task.axes}
        try:
            elements = sum(int(np.prod(shape_of(a, axes))) for a in task.arguments if a.role != "scalar")
        except ExpressionError:
            continue
        if elements <= MOST_ELEMENTS:
            made += 1
            yield Workload(name=f"same-{made}", axes=axes)
        if made == LAUNCHES:
            return


def _drawn(random: np.random.Generator, axis: Axis) -> int:
    kind = int(random.integers(4))
    if kind == 0:
        value = int(random.integers(1, 8))
    elif kind == 1:
        value = int(random.choice(TILES)) * int(random.integers(1, 5))
    elif kind == 2:
        value = 2 ** int(random.integers(1, 12)) + int(random.integers(-1, 2))
    else:
        value = int(random.integers(1, 3000))
    value = min(max(value, axis.min), axis.max)
    return max(value // axis.multiple_of, 1) * axis.multiple_of


def _launched(
    task: Task, workload: Workload, inputs: Mapping[str, np.ndarray], kernel: Candidate, build: Build, poison: int
) -> Execution | None:
    try:
        size = evaluate_launch(kernel, workload.axes)
    except TaskError:
        return None
    device = VirtualGpu(cores=1, max_instructions=MOST_INSTRUCTIONS, deadline_seconds=20)
    return device.execute(build, task.entry, values_of(task, workload, inputs, poison=poison), size, check=False)


def _differs(task: Task, first: Execution, second: Execution) -> bool:
    return any(
        first.arrays[a.name].tobytes() != second.arrays[a.name].tobytes() for a in task.arguments if a.role != "scalar"
    )
