"""Calls a task's reference function: the oracle, in float64, in a process that runs no other text.

Floats are widened to float64 after they were rounded to the kernel's dtype, so both start from the same numbers. What
comes back is held to the task's outputs. A reference that raises, exits, crashes or hangs is a TaskError; a candidate
has no part in any of this.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from warpsight.errors import TaskError
from warpsight.nouns import Argument, Task
from warpsight.nouns.dtypes import is_float
from warpsight.nouns.task import python_name
from warpsight.tasks.oracle import Oracle, ReferenceFailed, Returned, default_oracle
from warpsight.tasks.shapes import shape_of

REFERENCE_FUNCTION = "reference"


def is_kernel(reference_file: str) -> bool:
    """Whether a reference is a kernel, which runs on the virtual GPU, and no function of Python."""
    return reference_file.endswith(".cu")


def run_reference(
    task: Task,
    inputs: Mapping[str, np.ndarray],
    axes: Mapping[str, int],
    oracle: Oracle | None = None,
    *,
    narrow: bool = False,
) -> dict[str, np.ndarray]:
    """The expected outputs by name: float64 for float outputs, the declared dtype for integers.

    With `narrow` it computes in the declared precision, as NumPy does when its inputs are of it: no oracle then, but
    what the author's own formula makes of these inputs in as many bits as the kernel has.
    """
    file = str(task.folder / task.reference_file)
    values = {python_name(name): _unwidened(array) if narrow else widened(array) for name, array in inputs.items()}
    sizes = {python_name(name): size for name, size in axes.items()}
    try:
        # By the name of its file alone: where a task lies is nothing that expected values may depend on.
        name = Path(task.reference_file).name
        returned = (oracle or default_oracle()).call(task.reference, name, REFERENCE_FUNCTION, values, sizes)
    except ReferenceFailed as failed:
        key = f"{REFERENCE_FUNCTION}()"
        raise TaskError(file=file, key=key, expected="it to return", found=failed.found, line=failed.line) from None
    return _outputs(task, returned, axes, file)


def widened(array: np.ndarray) -> np.ndarray:
    """The same numbers, floats as float64."""
    return np.ascontiguousarray(array.astype(np.float64, copy=False) if is_float(array.dtype) else array).reshape(
        array.shape
    )


def _unwidened(array: np.ndarray) -> np.ndarray:
    """The same numbers in their own type, or in single precision where plain NumPy has no such type."""
    known = not is_float(array.dtype) or array.dtype.name in ("float16", "float32", "float64")
    return np.ascontiguousarray(array if known else array.astype(np.float32)).reshape(array.shape)


def _outputs(task: Task, returned: Returned, axes: Mapping[str, int], file: str) -> dict[str, np.ndarray]:
    wanted = {a.name: a for a in task.arguments if a.role in ("out", "inout")}
    arrays, unusable = dict(returned.arrays), dict(returned.unusable)
    if not returned.named:
        if len(wanted) != 1:
            expected = f"a dict with the arrays {', '.join(wanted)}"
            raise TaskError(file=file, key="return", expected=expected, found=returned.type)
        (only,) = wanted
        arrays = dict(zip([only], arrays.values(), strict=False))
        unusable = dict(zip([only], unusable.values(), strict=False))
    for name in wanted:  # `dict(in_=...)` is the same answer as `{"in": ...}`
        for found in (arrays, unusable):
            if name not in found and python_name(name) in found and python_name(name) not in wanted:
                found[name] = found.pop(python_name(name))  # pyright: ignore[reportArgumentType]
    names = [*arrays, *unusable]
    if set(names) != set(wanted):
        found = ", ".join(names) or "nothing"
        raise TaskError(file=file, key="return", expected=f"the outputs {', '.join(wanted)}", found=found)
    for name, dtype in unusable.items():
        found = returned.type if dtype == "object" else dtype
        raise TaskError(file=file, key=f"return.{name}", expected="an array of real numbers", found=found)
    return {name: _output(wanted[name], arrays[name], axes, file) for name in wanted}


def _output(argument: Argument, array: np.ndarray, axes: Mapping[str, int], file: str) -> np.ndarray:
    shape = shape_of(argument, axes)
    key = f"return.{argument.name}"
    if array.shape != shape:
        expected = f"shape {list(shape)} ({', '.join(argument.shape)})"
        raise TaskError(file=file, key=key, expected=expected, found=f"shape {list(array.shape)}")
    if is_float(argument.dtype):
        return np.ascontiguousarray(array, dtype=np.float64)
    narrow = array.astype(argument.dtype) if array.dtype.kind in "iub" else None
    if narrow is None or not np.array_equal(narrow, array):
        expected = f"integers that {argument.dtype} holds"
        raise TaskError(file=file, key=key, expected=expected, found=f"{array.dtype} outside of that")
    return np.ascontiguousarray(narrow)
