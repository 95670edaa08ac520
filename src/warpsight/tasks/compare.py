"""Whether outputs are right, element by element, and which element is furthest from it.

An element is right when |got - expected| <= atol + rtol * |expected|; written so that a NaN is never right by
accident. A NaN is right only where the oracle has one, an infinity only where the oracle has the same one, unless the
error allowed is itself infinite: then nothing is said of the element. Integers are compared exactly. Decides nothing
about faults or speed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from warpsight.nouns import Task, Tolerance, WorstElement
from warpsight.nouns.dtypes import float_info, is_float

STRETCH = 1 << 15
"""Elements that are compared at a time: what is computed of them stays in the processor's cache."""


@dataclass(frozen=True)
class Comparison:
    """`reason` is empty when all is right, else missing_output, wrong_dtype, wrong_shape, non_finite, wrong_values."""

    reason: str
    detail: str
    wrong_elements: int
    total_elements: int
    worst: WorstElement | None

    @property
    def ok(self) -> bool:
        return self.reason == ""


def compare(
    task: Task,
    got: Mapping[str, np.ndarray],
    expected: Mapping[str, np.ndarray],
    allowed: Mapping[str, np.ndarray] | None = None,
) -> Comparison:
    """Compare every output; the worst element is that of all outputs, also when all are right.

    `allowed` is the error each element of a float output may have; by default what the task's tolerance says.
    """
    total = sum(array.size for array in expected.values())
    wrong, found = 0, list[tuple[float, WorstElement]]()
    for argument in task.arguments:
        if argument.role not in ("out", "inout"):
            continue
        want = expected[argument.name]
        have = got.get(argument.name)
        if have is None:
            return Comparison("missing_output", f"no output {argument.name}", total, total, None)
        if have.dtype != np.dtype(argument.dtype):
            detail = f"{argument.name}: expected {argument.dtype}, found {have.dtype}"
            return Comparison("wrong_dtype", detail, total, total, None)
        if have.shape != want.shape:
            detail = f"{argument.name}: expected shape {list(want.shape)}, found {list(have.shape)}"
            return Comparison("wrong_shape", detail, total, total, None)
        if want.size:
            bound = None if allowed is None else allowed.get(argument.name)
            if allowed is None and is_float(argument.dtype):
                bound = allowed_errors(task.tolerance, want, argument.dtype)
            count, badness, worst = _compare_array(argument.name, have, want, bound)
            wrong += count
            found.append((badness, worst))
    return _summary(wrong, total, found)


def _summary(wrong: int, total: int, found: list[tuple[float, WorstElement]]) -> Comparison:
    worst = max(found, key=lambda pair: pair[0])[1] if found else None
    if wrong == 0 or worst is None:
        return Comparison("", "", 0, total, worst)
    reason = "non_finite" if not np.isfinite(worst.got) and np.isfinite(worst.expected) else "wrong_values"
    place = f"{worst.output}{list(worst.index)}"
    detail = f"{wrong} of {total} elements are wrong; worst {place}: got {worst.got}, expected {worst.expected}"
    return Comparison(reason, detail, wrong, total, worst)


def _compare_array(
    name: str, got: np.ndarray, expected: np.ndarray, allowed: np.ndarray | None
) -> tuple[int, float, WorstElement]:
    """(wrong elements, how bad the worst is in units of what is allowed, the worst)."""
    have, want = got.reshape(-1), expected.reshape(-1)
    bound = np.zeros(()) if allowed is None else allowed
    wrong, at, most, badness_there = 0, 0, -1.0, 0.0
    for start in range(0, have.size, STRETCH):
        part = slice(start, start + STRETCH)
        if is_float(got.dtype):
            right, badness = _floats(have[part], want[part], _part(bound, part))
        else:
            right, badness = _integers(have[part], want[part], _part(bound, part))
        wrong += right.size - int(np.count_nonzero(right))
        # The worst is looked for among the wrong ones first, so that rounding in `badness` cannot point elsewhere.
        rank = np.where(right, np.minimum(badness, 1.0), badness + 1.0)
        first = int(np.argmax(rank))
        if rank[first] > most:
            at, most, badness_there = start + first, float(rank[first]), float(badness[first])
    index = tuple(int(i) for i in np.unravel_index(at, got.shape))
    one, wanted = _plain(got[index]), expected[index].item()
    error = abs(float(one - wanted)) if np.isfinite(one) and np.isfinite(wanted) else float("inf")
    same = one == wanted or (one != one and wanted != wanted)
    worst = WorstElement(output=name, index=index, got=one, expected=wanted, error=0.0 if same else error)
    return wrong, badness_there, worst


def allowed_errors(tolerance: Tolerance, expected: np.ndarray, dtype: str = "float64") -> np.ndarray:
    """The error each element may have; where the oracle is not finite that is no number, and not used.

    An output can be no nearer than its type allows, so half a unit in its last place is always allowed.
    """
    with np.errstate(all="ignore"):
        return tolerance.atol + tolerance.rtol * np.abs(expected) + rounding(expected, dtype)


def rounding(expected: np.ndarray, dtype: str) -> np.ndarray:
    """Half a unit in the last place of each element in its type."""
    info = float_info(dtype)
    return np.maximum(info.eps / 2 * np.abs(expected), info.smallest_subnormal / 2)


def _plain(element: np.generic) -> float | int:
    """An element as Python's own number: NumPy's `item` gives none for the types it does not know itself."""
    return float(element) if is_float(element.dtype) else element.item()


def _floats(got: np.ndarray, expected: np.ndarray, allowed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    wide = got.astype(np.float64)
    finite = np.isfinite(expected)
    same = (wide == expected) | (np.isnan(wide) & np.isnan(expected))
    with np.errstate(all="ignore"):
        error = np.abs(wide - expected)
        unsaid = finite & np.isposinf(allowed)
        right = same | unsaid | (finite & (error <= allowed))
        badness = np.where(same | unsaid, 0.0, np.where(finite & np.isfinite(wide), error / allowed, np.inf))
    return right, np.nan_to_num(badness, nan=np.inf, posinf=np.inf)


def _part(bound: np.ndarray, part: slice) -> np.ndarray:
    return bound if bound.ndim == 0 else bound.reshape(-1)[part]


def _integers(got: np.ndarray, expected: np.ndarray, allowed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    right = (got == expected) | np.isposinf(allowed)
    return right, np.where(right, 0.0, np.abs(got.astype(np.float64) - expected.astype(np.float64)) + 1.0)
