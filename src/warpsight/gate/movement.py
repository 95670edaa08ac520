"""How an oracle's outputs answer to small changes of its inputs: the conditioning of each element, seen from outside.

A computation in the declared precision is wrong by a modest multiple of what half a unit in the last place of the
inputs does to the outputs. Nothing here judges; `tolerance` and `precision` do. What must stay true: the same inputs
give the same movement, so that what is kept stays valid.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from warpsight.errors import TaskError
from warpsight.gate.expected import Arrays, ExpectedValues, digest_of, packed, task_key, unpacked
from warpsight.nouns import Task, Workload
from warpsight.nouns.dtypes import float_info, is_float

MOVES = 4
MOST_KEPT_ELEMENTS = 1 << 20  # of one set of inputs: 32 MB of factors
SCALED_DOWN = 2.0**-20
SAME_RATIO = 1e-6


def movement(task: Task, workload: Workload, inputs: Mapping[str, np.ndarray], values: ExpectedValues) -> Arrays:
    """How far each float output moves when every float input moves by up to half a unit in its last place."""
    at_rest = values.of(task, inputs, workload.axes)
    moved = {name: np.zeros(array.shape) for name, array in at_rest.items() if array.dtype.kind == "f"}
    for factors in _factors(tuple((array.dtype, array.shape) for array in inputs.values())):
        near = {
            n: a if f is None else a.astype(np.float64) * f for (n, a), f in zip(inputs.items(), factors, strict=True)
        }
        nearby = values.once(task, near, workload.axes)
        for name, most in moved.items():
            with np.errstate(invalid="ignore"):  # an infinity that stays one did not move
                np.maximum(most, np.nan_to_num(np.abs(nearby[name] - at_rest[name])), out=most)
    return moved


def usual_movement(
    task: Task, workload: Workload, declared: Mapping[str, np.ndarray], values: ExpectedValues
) -> tuple[Arrays, dict[str, float]]:
    """The movement with declared inputs, and their `degree`: kept in memory, since each family asks for them again."""

    def compute() -> bytes:
        powers = {} if task.tolerance.strict else degree(task, workload, declared, values)
        told = json.dumps(powers).encode()
        return len(told).to_bytes(4, "big") + told + packed(movement(task, workload, declared, values))

    key = task_key(task, workload.axes, "usual movement", digest_of(declared))
    body = values.in_memory().kept(key, compute)
    start = 4 + int.from_bytes(body[:4], "big")
    return unpacked(task, body[start:], workload.axes, only_floats=True), json.loads(body[4:start])


Shapes = tuple[tuple[np.dtype[Any], tuple[int, ...]], ...]
Factors = list[np.ndarray | None]


def _factors(shapes: Shapes) -> Iterable[Factors]:
    """What each input is multiplied by in each move; None for one that stays. They depend on types and shapes alone."""
    elements = sum(math.prod(shape) for _, shape in shapes)
    return _drawn_once(shapes) if elements <= MOST_KEPT_ELEMENTS else _drawn(shapes)


@functools.lru_cache(maxsize=2)
def _drawn_once(shapes: Shapes) -> tuple[Factors, ...]:
    return tuple(_drawn(shapes))


def _drawn(shapes: Shapes) -> Iterator[Factors]:
    random = np.random.Generator(np.random.PCG64(2026))
    for _ in range(MOVES):
        yield [_factor_of(dtype, shape, random) for dtype, shape in shapes]


def _factor_of(dtype: np.dtype[Any], shape: tuple[int, ...], random: np.random.Generator) -> np.ndarray | None:
    if not is_float(dtype) or not shape:
        return None
    # The oracle is float64 itself: there a move has to stand out from its own rounding.
    half_unit = float_info(dtype).eps * (4 if dtype == np.float64 else 0.5)
    # Never near zero: a move that happens to be small would say that an element is better conditioned than it is.
    return 1.0 + random.uniform(0.5, 1.0, shape) * random.choice([-half_unit, half_unit], shape)


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
