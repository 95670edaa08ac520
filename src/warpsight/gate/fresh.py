"""Fresh contents for every timed call, cheaply: a pool of generated inputs, turned by a random offset each time.

A kernel that remembers earlier answers finds nothing to reuse, and the parent can still say what any call should have
given. Only fills in which every element has the same meaning are turned (random values, indices, permutations); row
pointers and constants stay as generated. Addresses are the device's part.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from warpsight.devices.device import Value
from warpsight.gate.values import fresh_values, values_of
from warpsight.nouns import Task, Workload
from warpsight.tasks.inputs import default_fill

POOL_BYTES = 256 << 20
POOL_MOST = 6
TURNED = ("normal", "uniform", "integers", "index", "permutation")


@dataclass(frozen=True)
class Contents:
    """The inputs of one call and the arguments made of them."""

    inputs: Mapping[str, np.ndarray]
    values: tuple[Value, ...]


class FreshContents:
    """Draws contents for a workload. The stream of draws follows from the seed, which the worker does not know."""

    def __init__(self, task: Task, workload: Workload, seed: int, *, pool: int = POOL_MOST) -> None:
        self.task, self.workload = task, workload
        self.random = np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, 0x66726573])))
        first = fresh_values(task, workload, seed)[0]
        size = sum(array.nbytes for array in first.values())
        count = max(min(2, pool), min(pool, POOL_BYTES // max(1, size)))
        self.pool = [first, *(fresh_values(task, workload, seed + k)[0] for k in range(1, count))]
        self.turned = {
            a.name for a in task.arguments if a.role in ("in", "inout") and (a.fill or default_fill(a)) in TURNED
        }

    def draw(self) -> Contents:
        picked = self.pool[int(self.random.integers(len(self.pool)))]
        inputs = {name: self._turn(array) if name in self.turned else array for name, array in picked.items()}
        return Contents(inputs, values_of(self.task, self.workload, inputs))

    def _turn(self, array: np.ndarray) -> np.ndarray:
        if array.size < 2:
            return array
        flat = array.reshape(-1)
        offset = int(self.random.integers(array.size))
        return np.concatenate((flat[offset:], flat[:offset])).reshape(array.shape)
