"""How an oracle's outputs answer to small changes of its inputs: the conditioning of each element, seen from outside.

A computation in the declared precision is wrong by a modest multiple of what half a unit in the last place of the
inputs does to the outputs. Nothing here judges; `tolerance` and `precision` do. What must stay true: the same inputs
give the same movement, so that what is kept stays valid.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from warpsight.errors import TaskError
from warpsight.gate.expected import Arrays, ExpectedValues
from warpsight.nouns import Task, Workload
from warpsight.nouns.dtypes import float_info, is_float

MOVES = 4
SCALED_DOWN = 2.0**-20
SAME_RATIO = 1e-6


def movement(task: Task, workload: Workload, inputs: Mapping[str, np.ndarray], values: ExpectedValues) -> Arrays:
    """How far each float output moves when every float input moves by up to half a unit in its last place."""
    at_rest = values.of(task, inputs, workload.axes)
    moved = {name: np.zeros(array.shape) for name, array in at_rest.items() if array.dtype.kind == "f"}
    random = np.random.Generator(np.random.PCG64(2026))
    for _ in range(MOVES):
        nearby = values.of(task, {name: _moved(array, random) for name, array in inputs.items()}, workload.axes)
        for name, most in moved.items():
            with np.errstate(invalid="ignore"):  # an infinity that stays one did not move
                np.maximum(most, np.nan_to_num(np.abs(nearby[name] - at_rest[name])), out=most)
    return moved


def _moved(array: np.ndarray, random: np.random.Generator) -> np.ndarray:
    if not is_float(array.dtype) or array.ndim == 0:
        return array
    # The oracle is float64 itself: there a move has to stand out from its own rounding.
    half_unit = float_info(array.dtype).eps * (4 if array.dtype == np.float64 else 0.5)
    # Never near zero: a move that happens to be small would say that an element is better conditioned than it is.
    by = random.uniform(0.5, 1.0, array.shape) * random.choice([-half_unit, half_unit], array.shape)
    return array.astype(np.float64) * (1.0 + by)


def flushed(inputs: Mapping[str, np.ndarray]) -> Arrays:
    """The inputs with denormals as zeros, as GPUs may take them."""

    def flush(array: np.ndarray) -> np.ndarray:
        if not is_float(array.dtype) or array.ndim == 0:
            return array
        wide = array.astype(np.float64)
        return np.where(np.abs(wide) < float_info(array.dtype).smallest_normal, 0.0, wide)

    return {name: flush(array) for name, array in inputs.items()}


def degree(
    task: Task, workload: Workload, declared: Mapping[str, np.ndarray], values: ExpectedValues
) -> dict[str, float]:
    """For each float output that scales as a power of the inputs' scale, that power; the others are left out.

    Where it scales, nothing of a fixed size is added on the way: with small inputs all that is computed is small.
    Where it does not (`exp(x) - 1`), a rounding of the size of that constant is honest, however small the output.
    """
    small = {n: a.astype(np.float64) * SCALED_DOWN if is_float(a.dtype) and a.ndim else a for n, a in declared.items()}
    try:
        before, after = values.of(task, declared, workload.axes), values.of(task, small, workload.axes)
    except TaskError:
        return {}
    factors = {name: _factor(before[name], after[name]) for name in before if before[name].dtype.kind == "f"}
    return {name: math.log(factor) / math.log(SCALED_DOWN) for name, factor in factors.items() if factor is not None}


def _factor(before: np.ndarray, after: np.ndarray) -> float | None:
    """What all elements were multiplied by, where that is one number."""
    seen = before != 0
    if not seen.any() or not (np.isfinite(before).all() and np.isfinite(after).all()):
        return None
    middle = float(np.median(after[seen] / before[seen]))
    # An element that nearly cancels is rounded differently; it must still be near in the size of the whole output.
    near = np.abs(after - middle * before) <= SAME_RATIO * middle * float(np.abs(before).mean())
    return middle if middle > 0 and bool(near.all()) else None
