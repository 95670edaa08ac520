"""The arguments of a captured task: what each parameter held, of which type, and how fresh contents are drawn.

Fresh contents stay within the values that were seen and keep their order where they have one. For each array there is a
ladder of ways, the freest first: which step holds is found by running the original (see `fresh.py`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes  # noqa: F401  # pyright: ignore[reportUnusedImport]  NumPy knows bfloat16 from here on
import numpy as np

from warpsight.capture.cut import CutKernel
from warpsight.capture.element_types import ElementType, element_type
from warpsight.capture.recording import CannotCapture, LaunchRecord, RecordedArray
from warpsight.nouns.dtypes import is_float

Fields = Mapping[str, Any]
LEAST_ROWS = 3
UNEVEN = 1e6
WHOLE_SPREAD = 1  # integers of one value are drawn from it and the next one


@dataclass
class KernelArgument:
    """One parameter: a scalar with its value, or an array with what it held before and after."""

    name: str
    dtype: str
    value: int | float | str | None = None
    before: np.ndarray | None = None
    after: np.ndarray | None = None
    opaque: bool = False
    constant: bool = False
    role: str = "inout"
    ladder: list[Fields] = field(default_factory=list[Fields])
    step: int = 0

    @property
    def is_array(self) -> bool:
        return self.before is not None

    @property
    def fill(self) -> Fields:
        return self.ladder[min(self.step, len(self.ladder) - 1)]


def kernel_arguments(record: LaunchRecord, cut: CutKernel) -> list[KernelArgument]:
    """All parameters in order. Raises CannotCapture for what a task has no words for."""
    found: list[KernelArgument] = []
    for number, (name, kind, pointer) in enumerate(cut.parameters):
        element = element_type(kind, cut.items, cut.types)
        raw = record.params[number]
        if pointer:
            found.append(_array(name, element, record, number))
        else:
            found.append(_scalar(name, kind, element, raw, number in record.arrays))
    _check_aliases(record, cut)
    return found


def _scalar(name: str, kind: str, element: ElementType, raw: bytes, points: bool) -> KernelArgument:
    if points:
        raise CannotCapture(f"the parameter {name} ({kind}) holds a pointer and is no pointer in the source")
    dtype = f"uint{8 * len(raw)}" if element.opaque else element.dtype
    value = np.frombuffer(raw, dtype)[0]
    if not is_float(dtype):
        return KernelArgument(name, dtype, value=int(value))
    if math.isnan(float(value)):
        raise CannotCapture(f"the parameter {name} is not a number")
    return KernelArgument(name, dtype, value=float(value) if math.isfinite(float(value)) else str(float(value)))


def _array(name: str, element: ElementType, record: LaunchRecord, number: int) -> KernelArgument:
    array = record.arrays.get(number)
    if array is None:
        raise CannotCapture(f"the parameter {name} points to no allocation of the device")
    end = _end(array, record)
    item = np.dtype(element.dtype).itemsize
    size = (end - array.address) // item * item
    before, after = (np.frombuffer(side.tobytes()[:size], element.dtype) for side in (array.before, array.after))
    return KernelArgument(name, element.dtype, before=before, after=after, opaque=element.opaque)


def _end(array: RecordedArray, record: LaunchRecord) -> int:
    """Where it ends: with its allocation, or where another parameter begins in it."""
    others = [other.address for other in record.arrays.values() if array.address < other.address < array.end]
    return min([array.end, *others])


def _check_aliases(record: LaunchRecord, cut: CutKernel) -> None:
    """Two parameters at one place are two arrays in a task: right only where neither is written."""
    seen: dict[int, int] = {}
    for number, array in record.arrays.items():
        first = seen.setdefault(array.address, number)
        if first != number and not np.array_equal(array.before, array.after):
            names = f"{cut.parameters[first][0]} and {cut.parameters[number][0]}"
            raise CannotCapture(f"the parameters {names} are one array, which is written")


def ladder(argument: KernelArgument, entries: int) -> list[Fields]:
    """The ways to draw fresh contents, the freest first; the last keeps what was recorded.

    `entries` is how many elements the largest other array has: row pointers end at most there.
    """
    before = argument.before
    assert before is not None
    kept: list[Fields] = [{"fill": "recorded"}]
    if argument.opaque or before.size == 0:
        return kept
    again: list[Fields] = [{"fill": "resampled"}, *kept]
    if is_float(argument.dtype):
        wide = before.astype(np.float64)
        if not np.isfinite(wide).all():
            return again
        low, high = _float_range(float(wide.min()), float(wide.max()))
        drawn: Fields = {"fill": "uniform", "low": low, "high": high}
        return [*again[:1], drawn, *again[1:]] if _is_uneven(wide) else [drawn, *again]
    return [*_whole(before, entries), *again]


def _is_uneven(wide: np.ndarray) -> bool:
    """Whether one number is so far beyond the usual ones that a range says nothing of them."""
    sizes = np.abs(wide[wide != 0.0])
    return sizes.size > 0 and float(sizes.max()) > UNEVEN * float(np.median(sizes))


def _float_range(low: float, high: float) -> tuple[float, float]:
    """The values that were seen. Where it is one alone, some around it: a constant would hide what depends on it."""
    if low < high:
        return low, high
    if low == 0.0:
        return 0.0, 1.0
    return min(low * 0.5, low * 1.5), max(low * 0.5, low * 1.5)


def _whole(before: np.ndarray, entries: int) -> list[Fields]:
    low, high = int(before.min()), int(before.max())
    if before.size >= LEAST_ROWS and low == 0:
        if high == before.size - 1 and bool((np.bincount(before.astype(np.int64), minlength=before.size) == 1).all()):
            return [{"fill": "permutation"}]
        if 1 < high <= entries and before[0] == 0 and bool((np.diff(before.astype(np.int64)) >= 0).all()):
            return [{"fill": "csr_rows", "high": high}]
    if low == high:
        high = min(low + WHOLE_SPREAD, int(np.iinfo(before.dtype).max))
        low = min(low, high)
    if high + 1 > 2**63 - 1 or low < -(2**63):
        return []
    return [{"fill": "integers", "low": low, "high": high + 1}]


def varied(arguments: Sequence[KernelArgument]) -> bool:
    """Whether any input has fresh contents in other launches than the recorded one."""
    return any(a.is_array and a.role != "out" and a.fill["fill"] != "recorded" for a in arguments)
