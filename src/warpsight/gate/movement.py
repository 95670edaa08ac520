"""How an oracle's outputs answer to small changes of its inputs: the conditioning of each element, seen from outside.

A computation in the declared precision is wrong by a modest multiple of what half a unit in the last place of the
inputs does to the outputs. Nothing here judges; `tolerance` and `precision` do. What must stay true: the same inputs
give the same movement, so that what is kept stays valid.
"""

from __future__ import annotations

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


def is_homogeneous(task: Task, workload: Workload, declared: Mapping[str, np.ndarray], values: ExpectedValues) -> bool:
    """Whether inputs scaled down scale the outputs, all by one factor.

    Then nothing of a fixed size is added on the way, and what is computed with small inputs is small throughout. Where
    it is not so (`exp(x) - 1`), a rounding of the size of that constant is honest however small the output.
    """
    small = {n: a.astype(np.float64) * SCALED_DOWN if is_float(a.dtype) and a.ndim else a for n, a in declared.items()}
    try:
        before, after = values.of(task, declared, workload.axes), values.of(task, small, workload.axes)
    except TaskError:
        return False
    return all(_one_factor(before[name], after[name]) for name in before if before[name].dtype.kind == "f")


def _one_factor(before: np.ndarray, after: np.ndarray) -> bool:
    seen = before != 0
    if not (np.isfinite(before).all() and np.isfinite(after).all()) or bool(after[~seen].any()):
        return False
    ratios = after[seen] / before[seen]
    # An element that nearly cancels is rounded differently; it must still be near in the size of the whole output.
    middle = float(np.median(ratios)) if ratios.size else 0.0
    near = np.abs(after[seen] - middle * before[seen]) <= SAME_RATIO * abs(middle) * _mean(before)
    return bool(near.all())


def _mean(array: np.ndarray) -> float:
    return float(np.abs(array).mean()) if array.size else 0.0
