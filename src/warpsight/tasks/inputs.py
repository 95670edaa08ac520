"""Inputs for a workload, by seed: the same seed, task and workload give the same bytes, as long as NumPy keeps its
streams (it may change them between releases).

Each argument has its own random stream (from the seed and its name), so adding an argument does not change the
others. Outputs are not made here: whoever runs the kernel allocates and poisons them.
"""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Callable, Mapping

import numpy as np

from warpsight.errors import TaskError
from warpsight.nouns import Argument, Task, Workload
from warpsight.nouns.dtypes import is_float
from warpsight.tasks.expressions import ExpressionError
from warpsight.tasks.recorded import read_recorded
from warpsight.tasks.shapes import held, number_of, scalar_of, shape_of

Axes = Mapping[str, int]
Shape = tuple[int, ...]
MOST_KEPT_ELEMENTS = 1 << 20
Filler = Callable[[np.random.Generator, Argument, Shape, Axes], np.ndarray]


def generate_inputs(task: Task, workload: Workload, seed: int) -> dict[str, np.ndarray]:
    """Arrays for `in`, `inout` and `scratch` arguments and 0-d arrays for scalars, by name."""
    inputs: dict[str, np.ndarray] = {}
    for argument in task.arguments:
        if argument.role == "out":
            continue
        try:
            made = recorded_contents(task, argument, workload, seed)
            inputs[argument.name] = generate_argument(argument, workload.axes, seed) if made is None else made
        except ExpressionError as error:
            where = f"arguments.{argument.name} with workload {workload.name}"
            file = str(task.folder / "task.toml")
            raise TaskError(file=file, key=where, expected=error.expected, found=error.found) from None
    return inputs


def recorded_contents(task: Task, argument: Argument, workload: Workload, seed: int) -> np.ndarray | None:
    """What was recorded, or drawn from it; None where this argument of this workload is made by its fill."""
    if argument.recorded is None or not (workload.recorded or argument.fill in ("recorded", "resampled")):
        return None
    shape = shape_of(argument, workload.axes)
    size = math.prod(shape)
    found = read_recorded(task.folder, argument.recorded, argument.dtype)
    if found.size < size or (workload.recorded and found.size != size):
        raise ExpressionError(f"at most the {found.size} elements that were recorded", f"shape {list(shape)}")
    if workload.recorded or argument.fill == "recorded":
        return found[:size].reshape(shape).copy()
    drawn = _stream(argument, seed).integers(0, max(found.size, 1), size)
    return np.ascontiguousarray(found[drawn].reshape(shape))


def generate_argument(argument: Argument, axes: Axes, seed: int) -> np.ndarray:
    """One input. Raises ExpressionError where shape, bounds and fill do not fit one another."""
    if argument.role == "scalar":
        return scalar_of(argument, axes)
    shape = shape_of(argument, axes)
    if math.prod(shape) > MOST_KEPT_ELEMENTS:
        return _generated(argument, axes, shape, seed)
    return _kept(_Exact(argument), tuple(axes.items()), shape, seed).copy()


class _Exact:
    """An argument as a key: by its text, in which 0 and 0.0 differ."""

    def __init__(self, argument: Argument) -> None:
        self.argument, self.text = argument, repr(argument)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Exact) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


@functools.lru_cache(maxsize=16)
def _kept(exact: _Exact, axes: tuple[tuple[str, int], ...], shape: Shape, seed: int) -> np.ndarray:
    """A check asks for the same declared inputs again for each family; a copy costs less than random numbers."""
    return _generated(exact.argument, dict(axes), shape, seed)


def _generated(argument: Argument, axes: Axes, shape: Shape, seed: int) -> np.ndarray:
    filler = FILLERS[argument.fill or default_fill(argument)]
    return np.ascontiguousarray(
        filler(_stream(argument, seed), argument, shape, axes).astype(argument.dtype, copy=False)
    )


def _stream(argument: Argument, seed: int) -> np.random.Generator:
    name = np.frombuffer(hashlib.sha256(argument.name.encode()).digest(), dtype="<u4")
    entropy = [seed, *(int(word) for word in name)]
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy)))


def default_fill(argument: Argument) -> str:
    """What an argument without `fill` is filled with: floats are normal, integers need a range, scratch is zeros."""
    if argument.role == "scratch":
        return "zeros"
    return "normal" if is_float(argument.dtype) else "integers"


def _normal(random: np.random.Generator, argument: Argument, shape: Shape, axes: Axes) -> np.ndarray:
    _floats_only(argument, "normal")
    return random.standard_normal(shape)


def _uniform(random: np.random.Generator, argument: Argument, shape: Shape, axes: Axes) -> np.ndarray:
    _floats_only(argument, "uniform")
    low = 0.0 if argument.low is None else number_of(argument.low, axes)
    high = 1.0 if argument.high is None else number_of(argument.high, axes)
    if not low <= high:
        raise ExpressionError("low <= high", f"low {low}, high {high}")
    return random.uniform(low, high, shape)


def _integers(random: np.random.Generator, argument: Argument, shape: Shape, axes: Axes) -> np.ndarray:
    low, high = _integer_range(argument, axes, None)
    _not_empty(low, high, shape)
    dtype = np.int64 if low < 0 else np.uint64
    return random.integers(low, high, shape, dtype=dtype) if low < high else np.zeros(shape, dtype)


def _index(random: np.random.Generator, argument: Argument, shape: Shape, axes: Axes) -> np.ndarray:
    low, high = _integer_range(argument, axes, 0)
    _not_empty(low, high, shape)
    return random.integers(low, high, shape) if low < high else np.zeros(shape, np.int64)


def _permutation(random: np.random.Generator, argument: Argument, shape: Shape, axes: Axes) -> np.ndarray:
    size = int(np.prod(shape))
    _holds(argument, 0, size)
    return random.permutation(size).reshape(shape)


def _csr_rows(random: np.random.Generator, argument: Argument, shape: Shape, axes: Axes) -> np.ndarray:
    """Row pointers from 0 to `high` that never fall; cutting at random makes some rows empty and some long."""
    _, total = _integer_range(argument, axes, 0)
    rows = shape[0] - 1
    if len(shape) != 1 or rows < 0 or total < 0 or (rows == 0 and total > 0):
        raise ExpressionError("csr_rows of shape [rows + 1] with high = the number of entries", f"{shape}, {total}")
    cuts = np.sort(random.integers(0, total + 1, max(rows - 1, 0)))
    ends = [total] if rows else []
    return np.concatenate([np.array([0], np.int64), cuts, np.array(ends, np.int64)])


def _zeros(random: np.random.Generator, argument: Argument, shape: Shape, axes: Axes) -> np.ndarray:
    return np.zeros(shape)


def _constant(random: np.random.Generator, argument: Argument, shape: Shape, axes: Axes) -> np.ndarray:
    if argument.value is None:
        raise ExpressionError("a value for fill 'constant'", "none")
    return np.full(shape, held(number_of(argument.value, axes), argument.dtype))


def _ones(random: np.random.Generator, argument: Argument, shape: Shape, axes: Axes) -> np.ndarray:
    return np.ones(shape)


FILLERS: dict[str, Filler] = {
    "normal": _normal,
    "uniform": _uniform,
    "integers": _integers,
    "index": _index,
    "permutation": _permutation,
    "csr_rows": _csr_rows,
    "zeros": _zeros,
    "ones": _ones,
    "constant": _constant,
}


def _floats_only(argument: Argument, fill: str) -> None:
    if not is_float(argument.dtype):
        raise ExpressionError(f"a float dtype for fill {fill!r}", argument.dtype)


def _integer_range(argument: Argument, axes: Axes, default_low: int | None) -> tuple[int, int]:
    """[low, high) of an integer fill, within what the dtype holds."""
    low = default_low if argument.low is None else number_of(argument.low, axes)
    if argument.high is None or low is None:
        raise ExpressionError("a declared range: low and high (exclusive)", "none")
    high = number_of(argument.high, axes)
    if is_float(argument.dtype) or isinstance(low, float) or isinstance(high, float):
        raise ExpressionError("an integer dtype and an integer range", f"{argument.dtype}, {low} to {high}")
    _holds(argument, low, high)
    return low, high


def _holds(argument: Argument, low: int, high: int) -> None:
    if is_float(argument.dtype):
        raise ExpressionError("an integer dtype", argument.dtype)
    limits = np.iinfo(argument.dtype)
    if low < limits.min or high - 1 > limits.max:
        raise ExpressionError(f"a range that {argument.dtype} holds", f"{low} to {high}")


def _not_empty(low: int, high: int, shape: Shape) -> None:
    if low >= high and int(np.prod(shape)) > 0:
        raise ExpressionError("low < high", f"low {low}, high {high}")
