"""Argument sizes and scalar values in numbers, for one workload.

Shapes are expressions over the axes; here they become tuples of ints. What must stay true: an array that is too large
to be meant, or of negative size, is refused before anything is allocated.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from warpsight.nouns import Argument, Number
from warpsight.tasks.expressions import ExpressionError, evaluate

MAX_ARRAY_BYTES = 2**34


def shape_of(argument: Argument, axes: Mapping[str, int]) -> tuple[int, ...]:
    """The shape of an array argument, () for a scalar; ExpressionError where it does not add up."""
    shape = tuple(evaluate(expression, axes) for expression in argument.shape)
    if any(extent < 0 for extent in shape):
        raise ExpressionError("extents of zero or more", f"{list(shape)} from {list(argument.shape)}")
    size_bytes = math.prod(shape) * np.dtype(argument.dtype).itemsize
    if size_bytes > MAX_ARRAY_BYTES:
        raise ExpressionError(f"at most {MAX_ARRAY_BYTES} bytes", f"{size_bytes} bytes from {list(argument.shape)}")
    return shape


def number_of(value: Number, axes: Mapping[str, int]) -> int | float:
    """A literal as it is, an expression by its value."""
    return evaluate(value, axes) if isinstance(value, str) else value


def scalar_of(argument: Argument, axes: Mapping[str, int]) -> np.ndarray:
    """The value of a scalar argument as a 0-d array of its dtype; a value the dtype cannot hold is refused."""
    if argument.value is None:
        raise ExpressionError("a scalar argument", f"{argument.name}, whose role is {argument.role}")
    value = number_of(argument.value, axes)
    dtype = np.dtype(argument.dtype)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        if isinstance(value, float) or not limits.min <= value <= limits.max:
            raise ExpressionError(f"an integer that {dtype} holds", str(value))
    return np.array(value, dtype=dtype)
