"""Argument sizes and scalar values in numbers, for one workload.

Shapes are expressions over the axes; here they become tuples of ints. What must stay true: an array that is too large
to be meant, or of negative size, is refused before anything is allocated.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from warpsight.nouns import Argument, Number
from warpsight.nouns.dtypes import is_float
from warpsight.tasks.expressions import ExpressionError, evaluate

MAX_ARRAY_BYTES = 2**34
NOT_FINITE = ("inf", "+inf", "-inf", "nan", "+nan", "-nan")


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
    """A literal as it is, an expression by its value; `inf`, `-inf` and `nan` may be written as text too."""
    if isinstance(value, str):
        return float(value) if is_not_finite(value) and value not in axes else evaluate(value, axes)
    return value


def is_not_finite(text: str) -> bool:
    """Whether a text is one of the floats that TOML writes without digits."""
    return text in NOT_FINITE


def scalar_of(argument: Argument, axes: Mapping[str, int]) -> np.ndarray:
    """The value of a scalar argument as a 0-d array of its dtype; a value the dtype cannot hold is refused."""
    if argument.value is None:
        raise ExpressionError("a scalar argument", f"{argument.name}, whose role is {argument.role}")
    return held(number_of(argument.value, axes), argument.dtype)


def held(value: int | float, dtype: str) -> np.ndarray:
    """A number as a 0-d array of this type. A float that is too large becomes infinite; a whole number is refused."""
    if not is_float(dtype):
        limits = np.iinfo(dtype)
        if isinstance(value, float) or not limits.min <= value <= limits.max:
            raise ExpressionError(f"an integer that {dtype} holds", str(value))
    return np.array(value).astype(dtype)
