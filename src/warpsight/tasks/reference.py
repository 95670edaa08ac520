"""Calls a task's reference function: the oracle, in float64.

Floats are widened to float64 after they were rounded to the kernel's dtype, so both start from the same numbers. The
file is the task author's own and runs in this process, in a module of its own that is not left behind; a candidate
has no part in it.
"""

from __future__ import annotations

import contextlib
import inspect
import sys
import traceback
import types
from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from warpsight.errors import TaskError
from warpsight.nouns import Argument, Task
from warpsight.tasks.shapes import shape_of

REFERENCE_FUNCTION = "reference"


def run_reference(task: Task, inputs: Mapping[str, np.ndarray], axes: Mapping[str, int]) -> dict[str, np.ndarray]:
    """The expected outputs by name: float64 for float outputs, the declared dtype for integers."""
    file = str(task.folder / task.reference_file)
    module = types.ModuleType(f"_warpsight_reference_{task.name}")
    module.__file__ = file
    values: dict[str, Any] = {**axes, **{name: _widened(array) for name, array in inputs.items()}}
    try:
        with contextlib.redirect_stdout(sys.stderr):  # what it prints must not mix with our output
            exec(compile(task.reference, file, "exec"), module.__dict__)
            function = module.__dict__[REFERENCE_FUNCTION]
            returned = function(**{name: values[name] for name in inspect.signature(function).parameters})
    except (Exception, SystemExit) as error:  # whatever the author's file raises is about that file, not about us
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
        found = f"{type(error).__name__}: {error}"
        key, line = f"{REFERENCE_FUNCTION}()", lines[-1] if lines else None
        raise TaskError(file=file, key=key, expected="it to return", found=found, line=line) from error
    return _outputs(task, returned, axes, file)


def _widened(array: np.ndarray) -> Any:
    """A copy the reference may change; scalars as plain Python numbers."""
    wide = array.astype(np.float64) if array.dtype.kind == "f" else array.copy()
    return wide.item() if wide.ndim == 0 else wide


def _outputs(task: Task, returned: Any, axes: Mapping[str, int], file: str) -> dict[str, np.ndarray]:
    wanted = {a.name: a for a in task.arguments if a.role in ("out", "inout")}
    if not isinstance(returned, dict):
        if len(wanted) != 1:
            expected = f"a dict with the arrays {', '.join(wanted)}"
            raise TaskError(file=file, key="return", expected=expected, found=type(returned).__name__)
        returned = {next(iter(wanted)): returned}
    by_name = cast(dict[str, Any], returned)
    if set(by_name) != set(wanted):
        found = ", ".join(map(str, by_name)) or "nothing"
        raise TaskError(file=file, key="return", expected=f"the outputs {', '.join(wanted)}", found=found)
    return {name: _output(wanted[name], by_name[name], axes, file) for name in wanted}


def _output(argument: Argument, value: Any, axes: Mapping[str, int], file: str) -> np.ndarray:
    array = np.asarray(value)
    shape = shape_of(argument, axes)
    key = f"return.{argument.name}"
    if array.shape != shape:
        expected = f"shape {list(shape)} ({', '.join(argument.shape)})"
        raise TaskError(file=file, key=key, expected=expected, found=f"shape {list(array.shape)}")
    if argument.dtype.startswith("float"):
        if array.dtype.kind not in "fiub":
            raise TaskError(file=file, key=key, expected="real numbers", found=str(array.dtype))
        return np.ascontiguousarray(array, dtype=np.float64)
    narrow = array.astype(argument.dtype) if array.dtype.kind in "iub" else None
    if narrow is None or not np.array_equal(narrow, array):
        expected = f"integers that {argument.dtype} holds"
        raise TaskError(file=file, key=key, expected=expected, found=f"{array.dtype} outside of that")
    return np.ascontiguousarray(narrow)
