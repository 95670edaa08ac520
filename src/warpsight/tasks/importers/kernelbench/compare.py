"""Are the outputs of a candidate those of the reference? As KernelBench asks it, with NumPy, in the parent.

Same number of outputs, same dtype, same shape, and |got - expected| <= tolerance * (1 + |expected|). Integers and
booleans are compared exactly. A NaN is never right, also where the reference has one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from warpsight.tasks.importers.kernelbench.session import Output

TOLERANCES = {"float64": 1e-4, "float32": 1e-4, "float16": 1e-2, "bfloat16": 1e-2}


@dataclass(frozen=True)
class Difference:
    """How far apart: empty `reason` when right; `worst` is the largest absolute error over all floats."""

    reason: str
    worst: float


def compare_outputs(expected: Sequence[Output], got: Sequence[Output], tolerance: float | None = None) -> Difference:
    """The first difference that counts, and the worst error seen."""
    if len(expected) != len(got):
        return Difference(f"expected {len(expected)} outputs, found {len(got)}", 0.0)
    worst = 0.0
    for at, (want, have) in enumerate(zip(expected, got, strict=True)):
        reason, error = _one(want, have, tolerance)
        worst = max(worst, error)
        if reason:
            return Difference(f"output {at}: {reason}", worst)
    return Difference("", worst)


def tolerance_of(outputs: Sequence[Output], given: float | None = None) -> float:
    """The tolerance that these outputs are held to, the widest of them."""
    found = [TOLERANCES.get(one.dtype, 0.0) for one in outputs]
    return given if given is not None else max(found, default=0.0)


def _one(want: Output, have: Output, given: float | None) -> tuple[str, float]:
    if want.array.shape != have.array.shape:
        return f"expected shape {list(want.array.shape)}, found {list(have.array.shape)}", 0.0
    if want.dtype != have.dtype:
        return f"expected {want.dtype}, found {have.dtype}", 0.0
    if want.array.dtype.kind != "f":
        wrong = int(np.count_nonzero(want.array != have.array))
        return (f"{wrong} of {want.array.size} elements differ", 0.0) if wrong else ("", 0.0)
    tolerance = given if given is not None else TOLERANCES.get(want.dtype, 1e-4)
    expected, found = want.array.astype(np.float64), have.array.astype(np.float64)
    with np.errstate(invalid="ignore"):
        error = np.abs(found - expected)
        same_infinity = np.isinf(expected) & (expected == found)
        right = (error <= tolerance * (1 + np.abs(expected))) & np.isfinite(expected) | same_infinity
    usable = error[np.isfinite(error)]
    worst = float(usable.max()) if usable.size else 0.0
    if bool(right.all()):
        return "", worst
    place = np.unravel_index(int(np.argmin(right)), right.shape)
    told = f"at {[int(one) for one in place]} expected {expected[place]:.6g}, found {found[place]:.6g}"
    return f"{int(np.count_nonzero(~right))} of {right.size} elements are off by more than {tolerance:g}; {told}", worst
