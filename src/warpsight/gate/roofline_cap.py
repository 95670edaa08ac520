"""The least time a task can take: what must be moved, once, at the device's best; nothing faster is believed.

What must be moved is found by asking the reference, not by trusting declarations: an output must be written whole, and
an input counts when changing any one of a few randomly chosen elements changes the answer. An input that fails that
for one element counts as nothing, so an honest kernel that need not read it is never capped by it.

Simulated devices: bytes over the data sheet's peak bandwidth plus the launch. Measured devices: a copy kernel of ours
moves as many bytes in a worker of the same kind; half its best time is the cap, since reading alone may beat copying.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping

import numpy as np

from warpsight.errors import TaskError
from warpsight.gate.expected import shared_expected_values, task_key
from warpsight.gate.identity import task_sha256
from warpsight.gate.original import reference_outputs
from warpsight.nouns import Argument, Task, Workload
from warpsight.nouns.dtypes import float_info, is_float
from warpsight.nouns.timing import Roof
from warpsight.tasks import shape_of
from warpsight.tasks.inputs import default_fill, generate_inputs
from warpsight.vgpu.gpu import Gpu
from warpsight.vgpu.timemodel import LAUNCH_OVERHEAD_US

PROBES = 6
SEED = 20_260
MODEL_MARGIN = 0.7
"""The time model estimates traffic from some blocks; a cap must not catch its rounding."""
COPY_MARGIN = 0.5


def compulsory_bytes(task: Task, workload: Workload) -> int:
    """Bytes that every right kernel moves at least once on this workload."""
    needed = needed_inputs(task)
    return sum(
        int(np.prod(shape_of(a, workload.axes), dtype=np.int64)) * np.dtype(a.dtype).itemsize
        for a in task.arguments
        if a.role == "out" or a.name in needed
    )


def needed_inputs(task: Task) -> frozenset[str]:
    """The names of the array inputs of which every element matters, as far as the probes tell."""
    return _needed(_Keyed(task))


class _Keyed:
    """A task as a cache key: by its content."""

    def __init__(self, task: Task) -> None:
        self.task, self.key = task, task_sha256(task)

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Keyed) and other.key == self.key


@functools.lru_cache(maxsize=256)
def _needed(keyed: _Keyed) -> frozenset[str]:
    task = keyed.task
    workload = min(task.workloads, key=lambda w: _elements(task, w))

    def compute() -> bytes:
        inputs = generate_inputs(task, workload, SEED)
        before = reference_outputs(task, inputs, workload.axes)
        arrays = [a for a in task.arguments if a.role in ("in", "inout") and inputs[a.name].size > 0]
        return json.dumps([a.name for a in arrays if _every_probe_shows(task, workload, inputs, before, a)]).encode()

    key = task_key(task, workload.axes, "needed inputs", str(SEED), str(PROBES))
    return frozenset(str(name) for name in json.loads(shared_expected_values().kept(key, compute)))


def _every_probe_shows(
    task: Task,
    workload: Workload,
    inputs: Mapping[str, np.ndarray],
    before: Mapping[str, np.ndarray],
    argument: Argument,
) -> bool:
    random = np.random.Generator(np.random.PCG64(SEED))
    given = inputs[argument.name]
    for _ in range(PROBES):
        at = int(random.integers(given.size))
        changes = _changes(argument, given, at)
        if not any(_shows(task, workload, inputs, before, argument.name, changed) for changed in changes):
            return False
    return True


def _changes(argument: Argument, given: np.ndarray, at: int) -> list[np.ndarray]:
    """Copies that differ in one element, far up and far down: a maximum shows one of them, a sum both."""
    fill = argument.fill or default_fill(argument)
    if fill in ("csr_rows", "permutation"):
        return []  # one element alone cannot change and keep its meaning
    flat = given.reshape(-1)
    if is_float(given.dtype):
        away = min(1000.0, float_info(given.dtype).most / 4)
        new = [float(flat[at]) + away, float(flat[at]) - away]
    else:
        new = [value for value in (flat.max(), flat.min()) if value != flat[at]]
    changed: list[np.ndarray] = []
    for value in new:
        copy = given.copy()
        copy.reshape(-1)[at] = value
        changed.append(copy)
    return changed


def _shows(
    task: Task,
    workload: Workload,
    inputs: Mapping[str, np.ndarray],
    before: Mapping[str, np.ndarray],
    name: str,
    changed: np.ndarray,
) -> bool:
    try:
        after = reference_outputs(task, {**inputs, name: changed}, workload.axes)
    except TaskError:
        return False
    return any(not np.array_equal(after[key], before[key], equal_nan=True) for key in before)


def _elements(task: Task, workload: Workload) -> tuple[bool, int]:
    """Small first, but not so small that there is nothing to probe."""
    size = sum(int(np.prod(shape_of(a, workload.axes), dtype=np.int64)) for a in task.arguments if a.shape)
    return size < 64, size


def simulated_roof(task: Task, workload: Workload, gpu: Gpu) -> Roof:
    """By the data sheet, at the clock that is fastest."""
    moved = compulsory_bytes(task, workload)
    floor = MODEL_MARGIN * (moved / (gpu.dram_gb_per_s * 1e3) + LAUNCH_OVERHEAD_US)
    return Roof(
        floor_us=floor,
        compulsory_bytes=moved,
        gb_per_s=gpu.dram_gb_per_s,
        launch_us=LAUNCH_OVERHEAD_US,
        source=f"data sheet of {gpu.key}, times {MODEL_MARGIN}",
    )


def measured_roof(moved: int, copy_us: float, launch_us: float) -> Roof:
    """By what a copy of as many bytes took at best, and an almost empty launch, in a worker of the same kind."""
    return Roof(
        floor_us=COPY_MARGIN * max(copy_us, launch_us),
        compulsory_bytes=moved,
        gb_per_s=moved / copy_us / 1e3 if moved else None,
        launch_us=launch_us,
        source=f"measured copy kernel, times {COPY_MARGIN}",
    )
