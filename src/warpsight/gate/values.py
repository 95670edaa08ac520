"""The numbers a launch gets and the judgement of what it gave back: inputs of a family, poisoned outputs, comparison.

Used by the check and by whoever times. Outputs start as one of two poisons, different in every byte, so no constant
can be right in both and what was never written is known. The inputs given must come back unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from warpsight.devices.device import Value
from warpsight.errors import UsageError
from warpsight.gate.expected import ExpectedValues, shared_expected_values
from warpsight.gate.families import ALL_FAMILIES, DECLARED, family_inputs
from warpsight.gate.tolerance import Wanted, wanted
from warpsight.gate.undetermined import settled
from warpsight.nouns import Task, Workload, WorkloadResult
from warpsight.nouns.dtypes import is_float
from warpsight.tasks import compare, shape_of

POISONS = (0xA5, 0x5B)


def fresh_values(
    task: Task, workload: Workload, seed: int, family: str = DECLARED, *, poison: int = POISONS[0]
) -> tuple[dict[str, np.ndarray], tuple[Value, ...]]:
    """The generated inputs, and the kernel's arguments in order: inputs, poisoned outputs, scalars."""
    known = (DECLARED, *ALL_FAMILIES)
    if family not in known:
        raise UsageError(f"expected a family of inputs among {', '.join(known)}; got {family!r}")
    inputs = family_inputs(task, workload, seed, family)
    if inputs is None:
        raise UsageError(f"no argument of task {task.name} takes the family {family}", hint="use declared")
    return inputs, values_of(task, workload, inputs, poison=poison)


def values_of(
    task: Task, workload: Workload, inputs: Mapping[str, np.ndarray], *, poison: int = POISONS[0]
) -> tuple[Value, ...]:
    """The kernel's arguments in order, with outputs full of poison."""
    values: list[Value] = []
    for argument in task.arguments:
        if argument.role == "out":
            array = poisoned(shape_of(argument, workload.axes), argument.dtype, poison)
            values.append(Value(argument.name, array, writable=True, initialised=False))
        else:
            values.append(Value(argument.name, inputs[argument.name], writable=argument.role in ("inout", "scratch")))
    return tuple(values)


def poisoned(shape: tuple[int, ...], dtype: str, poison: int) -> np.ndarray:
    """An array all of whose bytes are `poison`."""
    array = np.empty(shape, dtype=dtype)
    array.reshape(-1).view(np.uint8)[:] = poison
    return array


def verify_outputs(
    task: Task,
    workload: Workload,
    inputs: Mapping[str, np.ndarray],
    arrays: Mapping[str, np.ndarray],
    *,
    family: str = DECLARED,
    seed: int = 0,
    poison: int = POISONS[0],
    values: ExpectedValues | None = None,
) -> WorkloadResult:
    """Judge the arrays after a launch (inputs and outputs by name) against the oracle on the inputs that were given.

    `inputs`, `family`, `seed` and `poison` are those of `fresh_values`; `values` is where expected values are kept.
    """
    kept = values or shared_expected_values()
    want = wanted(task, workload, inputs, kept, family=family, seed=seed)
    result = judged(task, workload, inputs, arrays, want, family=family, seed=seed, poison=poison)
    return settled(task, workload, inputs, arrays, want, result, kept)


def judged(
    task: Task,
    workload: Workload,
    inputs: Mapping[str, np.ndarray],
    arrays: Mapping[str, np.ndarray],
    want: Wanted,
    *,
    family: str,
    seed: int,
    poison: int,
) -> WorkloadResult:
    """The same where what is wanted is known."""

    def result(reason: str, detail: str = "", **more: object) -> WorkloadResult:
        fields = {"workload": workload.name, "hidden": workload.hidden, "family": family, "seed": seed}
        return WorkloadResult.model_validate(
            {**fields, "ok": not reason, "reason": reason, "detail": detail if reason else "", **more}
        )

    for argument in task.arguments:
        if argument.role == "in" and not _same_bytes(arrays.get(argument.name), inputs[argument.name]):
            return result("input_changed", f"input {argument.name} was changed")
    outputs = {a.name: arrays[a.name] for a in task.arguments if a.role in ("out", "inout") and a.name in arrays}
    found = compare(task, outputs, want.outputs, want.allowed)
    reason, detail = found.reason, found.detail
    if reason in ("wrong_values", "non_finite") and (left := _left(task, outputs, want, poison)):
        reason, detail = "output_not_written", left
    return result(
        reason,
        detail,
        wrong_elements=found.wrong_elements,
        total_elements=found.total_elements,
        worst=found.worst,
    )


def _same_bytes(got: np.ndarray | None, given: np.ndarray) -> bool:
    if got is None or got.dtype != given.dtype or got.shape != given.shape:
        return False
    return np.array_equal(got.reshape(-1).view(np.uint8), given.reshape(-1).view(np.uint8))


def _left(task: Task, outputs: Mapping[str, np.ndarray], want: Wanted, poison: int) -> str:
    """Which elements still hold the poison, in words; nothing when all were written."""
    for argument in task.arguments:
        if argument.role != "out" or outputs[argument.name].size == 0:
            continue
        got = outputs[argument.name]
        mark = poisoned((1,), argument.dtype, poison)
        width = f"u{mark.dtype.itemsize}"
        left = got.view(width) == mark.view(width)[0]
        # The poison is a number that may be meant: of whole numbers, and of half precision, which has few.
        if not is_float(argument.dtype):
            left &= got != want.outputs[argument.name]
        else:
            error = np.abs(got.astype(np.float64) - want.outputs[argument.name])
            left &= ~(error <= want.allowed.get(argument.name, 0.0))
        if count := int(np.count_nonzero(left)):
            first = [int(i) for i in np.argwhere(left)[0]]
            return f"{count} of {got.size} elements of {argument.name} were never written, first {first}"
    return ""
