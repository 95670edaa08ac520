"""Elements that the inputs do not determine in the declared precision: a rounding to whole numbers at a half, a pivot
or a greatest among values that are equal but for rounding, a step.

The oracle decides there by its own last bit, an honest kernel by another. So an element that is wrong is right after
all where the oracle itself gives that answer for inputs a few units in the last place away. Asked only of wrong
elements, so a kernel that is right pays nothing. Equal inputs stay equal when whole numbers are asked about: a tie in
the inputs themselves is determined, and the wrong one of two equals stays wrong.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from warpsight.errors import TaskError
from warpsight.gate.expected import Arrays, ExpectedValues
from warpsight.gate.tolerance import Wanted
from warpsight.nouns import Task, Workload, WorkloadResult
from warpsight.nouns.dtypes import float_info, is_float

UNITS = 4.0  # in the last place: what a few operations on the way to a decision may add up to
MOST_DRAWS = 32
DRAWS_IN_VAIN = 6


def settled(
    task: Task,
    workload: Workload,
    inputs: Mapping[str, np.ndarray],
    arrays: Mapping[str, np.ndarray],
    want: Wanted,
    result: WorkloadResult,
    values: ExpectedValues,
) -> WorkloadResult:
    """The result, ok where every wrong element is one that the inputs do not determine."""
    if result.reason != "wrong_values" or not any(is_float(array.dtype) for array in inputs.values()):
        return result
    open_places = {
        name: _wrong(arrays[name], expected, want.allowed.get(name)) for name, expected in want.outputs.items()
    }
    in_vain = 0
    for draw in range(MOST_DRAWS):
        before = sum(int(np.count_nonzero(wrong)) for wrong in open_places.values())
        if before == 0:
            return result.model_copy(update={"ok": True, "reason": "", "detail": "", "wrong_elements": 0})
        if in_vain == DRAWS_IN_VAIN:
            break
        try:
            near = values.of(task, _nearby(inputs, draw), workload.axes)
        except TaskError:
            break
        for name, wrong in open_places.items():
            wrong &= _wrong(arrays[name], near[name], want.allowed.get(name))
        after = sum(int(np.count_nonzero(wrong)) for wrong in open_places.values())
        in_vain = 0 if after < before else in_vain + 1
    return result


def _wrong(got: np.ndarray, expected: np.ndarray, allowed: np.ndarray | None) -> np.ndarray:
    if allowed is None:
        return np.asarray(got != expected)
    with np.errstate(invalid="ignore"):
        return ~(np.abs(got.astype(np.float64) - expected) <= allowed)


def _nearby(inputs: Mapping[str, np.ndarray], draw: int) -> Arrays:
    """Every float, scalars too, moved by up to a few units; equal numbers of one type move alike."""
    return {name: _moved(array, draw) if is_float(array.dtype) else array for name, array in inputs.items()}


def _moved(array: np.ndarray, draw: int) -> np.ndarray:
    wide = array.astype(np.float64)
    unit = float_info(array.dtype).eps
    if array.dtype == np.float64:
        unit *= 4  # the oracle's own rounding is as large
    # A hash of the number itself (splitmix64): what two equal inputs become is equal.
    bits = np.ascontiguousarray(wide).view(np.uint64) + np.uint64((draw + 1) * 0x9E3779B97F4A7C15 % 2**64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    share = (bits ^ (bits >> np.uint64(31))).astype(np.float64) / 2.0**63 - 1.0
    return (wide * (1.0 + UNITS * unit * share)).reshape(array.shape)
