"""Elements that the inputs do not determine in the declared precision: a rounding to whole numbers at a half, a pivot
or a greatest among values that are equal but for rounding, a step.

The oracle decides there by its own last bit, an honest kernel by another. So an element that is wrong is right after
all where the oracle itself gives that answer for inputs a few units in the last place away, and nothing is said of a
problem in which it gives other whole numbers for them. Every third time the reference is asked in the declared
precision: beside a large number the differences between small ones are lost there, wherever the inputs lie. With other
than declared inputs a problem that is singular in the declared precision may come out as anything, and whole numbers
may be wrong in as many places as the reference turns them over in. Asked only of wrong elements, so a kernel that is
right pays nothing.
Where whole numbers depend on the order of the inputs alone, equal inputs stay equal: such a tie is determined, and the
wrong one of two equals stays wrong.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping

import numpy as np

from warpsight.errors import TaskError
from warpsight.gate.expected import Arrays, ExpectedValues
from warpsight.gate.families import DECLARED, EXACT_FAMILIES, family_inputs
from warpsight.gate.movement import flushed
from warpsight.gate.tolerance import NARROW_TIMES, Wanted, by_problem, is_exact, is_singular
from warpsight.nouns import Task, Workload, WorkloadResult
from warpsight.nouns.dtypes import float_info, is_float

UNITS = 4.0  # in the last place: what a few operations on the way to a decision may add up to
MOST_DRAWS = 64
DRAWS_IN_VAIN = 8
# A single near tie at the end of what rounding may do turns over in about a quarter of the draws, so eight in vain say
# nothing of few elements: a kernel that is wrong by itself is wrong in more of them.
FEW, DRAWS_FOR_FEW = 1e-3, 24
NARROW_SAMPLES = 6
NARROW, FLUSHED = 0, 1  # the first two draws


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
    if result.reason not in ("wrong_values", "non_finite") or not any(is_float(a.dtype) for a in inputs.values()):
        return result
    wrong = {name: _wrong(arrays[name], expected, want.allowed.get(name)) for name, expected in want.outputs.items()}
    if result.family in EXACT_FAMILIES and is_exact(task, workload, inputs, want.outputs, values):
        return result  # nothing is rounded
    if result.family != DECLARED and not task.tolerance.strict:
        _leave_out_singular(task, workload, inputs, arrays, want, wrong, values)
    alike = result.reason == "wrong_values" and _only_compares(task, workload, result.seed, values)
    in_vain, turned = 0, {name: np.zeros(e.shape, bool) for name, e in want.outputs.items() if e.dtype.kind != "f"}
    for draw in range(MOST_DRAWS):
        before = sum(int(np.count_nonzero(mark)) for mark in wrong.values())
        if before == 0:
            return result.model_copy(update={"ok": True, "reason": "", "detail": "", "wrong_elements": 0})
        few = before <= max(1.0, FEW * sum(mark.size for mark in wrong.values()))
        if in_vain == (DRAWS_FOR_FEW if few else DRAWS_IN_VAIN):
            break
        try:
            narrow = draw == NARROW or draw % 3 == 2
            near = values.of(task, _nearby(inputs, draw, alike), workload.axes, narrow=narrow)
        except TaskError:
            in_vain += 1
            continue
        _leave_out(wrong, arrays, want, near)
        for name, mark in turned.items():
            mark |= near[name] != want.outputs[name]
        if result.family != DECLARED and not task.tolerance.strict:
            _leave_out_as_many(wrong, turned)
        after = sum(int(np.count_nonzero(mark)) for mark in wrong.values())
        in_vain = 0 if after < before else in_vain + 1
    return result


def _leave_out_singular(
    task: Task,
    workload: Workload,
    inputs: Mapping[str, np.ndarray],
    arrays: Mapping[str, np.ndarray],
    want: Wanted,
    wrong: Arrays,
    values: ExpectedValues,
) -> None:
    """Problems that are singular in the declared precision, and errors that the reference makes in it.

    One sample of those errors went into what is allowed; where an element is wrong a few more are taken.
    """
    dtypes = {argument.name: argument.dtype for argument in task.arguments}
    most = {name: np.zeros(e.shape) for name, e in want.outputs.items() if e.dtype.kind == "f"}
    with contextlib.suppress(TaskError):
        for draw in range(NARROW_SAMPLES):
            given = {n: _moved(a, draw, False).astype(a.dtype) if a.ndim else a for n, a in _floats(inputs).items()}
            given = {**inputs, **given}
            exact, narrow = values.of(task, given, workload.axes), values.of(task, given, workload.axes, narrow=True)
            for name, error in most.items():
                error[...] = np.maximum(error, np.abs(narrow[name] - exact[name]))
    for name, error in most.items():
        expected, allowed = want.outputs[name], want.allowed[name] + NARROW_TIMES * by_problem(error, np.max)
        wrong[name] &= _wrong(arrays[name], expected, allowed) & ~is_singular(error, expected, dtypes[name])


def _floats(inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: array for name, array in inputs.items() if is_float(array.dtype)}


def _only_compares(task: Task, workload: Workload, seed: int, values: ExpectedValues) -> bool:
    """Whether whole numbers depend on the order of the inputs alone, as a greatest does: then ties are determined.

    Asked by cubing the declared inputs, which keeps their order and nothing else.
    """
    declared = family_inputs(task, workload, seed, DECLARED) or {}
    cubed = {n: a.astype(np.float64) ** 3 if is_float(a.dtype) and a.ndim else a for n, a in declared.items()}
    try:
        before, after = values.of(task, declared, workload.axes), values.of(task, cubed, workload.axes)
    except TaskError:
        return False
    return all(np.array_equal(before[name], after[name]) for name in before if before[name].dtype.kind != "f")


def _leave_out(wrong: Arrays, arrays: Mapping[str, np.ndarray], want: Wanted, near: Arrays) -> None:
    """Floats to which the oracle jumps nearby; and all of a problem in which it gives other whole numbers there."""
    for name, mark in wrong.items():
        if is_float(arrays[name].dtype):
            allowed = want.allowed.get(name)
            jumps = _wrong(near[name], want.outputs[name], allowed)
            mark &= ~jumps | _wrong(arrays[name], near[name], allowed)
            continue
        unstable = by_problem(near[name] != want.outputs[name], np.any)
        mark &= ~unstable
        for other, others in wrong.items():
            if unstable.ndim > 1 and others.ndim > 1 and len(others) == len(unstable) and other != name:
                others &= ~unstable.reshape(len(unstable), -1)[:, :1].reshape(-1, *[1] * (others.ndim - 1))


def _leave_out_as_many(wrong: Arrays, turned: Mapping[str, np.ndarray]) -> None:
    """Whole numbers that are wrong in fewer places than those in which the reference, too, gives others nearby.

    Which of two candidates that are equal but for the last bit wins depends on how sums are made, and no draw shows all
    ways. Their number is what the reference tells. With declared inputs nothing is left out so.
    """
    for name, mark in turned.items():
        if np.count_nonzero(wrong[name]) <= np.count_nonzero(mark & ~wrong[name]):
            wrong[name][...] = False


def _wrong(got: np.ndarray, expected: np.ndarray, allowed: np.ndarray | None) -> np.ndarray:
    bound = np.zeros(()) if allowed is None else allowed
    if not is_float(got.dtype):
        return (got != expected) & ~np.isposinf(bound)
    with np.errstate(invalid="ignore"):
        wide = got.astype(np.float64)
        near = (np.abs(wide - expected) <= bound) | np.isposinf(bound)
        return ~(wide == expected) & ~(near & np.isfinite(expected))


def _nearby(inputs: Mapping[str, np.ndarray], draw: int, alike: bool) -> Arrays:
    """As they are, to compute in the declared precision; then without denormals; then every float, scalars too, moved
    by up to a few units: where `alike`, equal numbers of one type by as much."""
    if draw == NARROW:
        return dict(inputs)
    if draw == FLUSHED:
        return flushed(inputs)
    return {name: _moved(array, draw, alike) if is_float(array.dtype) else array for name, array in inputs.items()}


def _moved(array: np.ndarray, draw: int, alike: bool) -> np.ndarray:
    wide = array.astype(np.float64)
    unit = float_info(array.dtype).eps
    if array.dtype == np.float64:
        unit *= 4  # the oracle's own rounding is as large
    if not alike:
        share = np.random.Generator(np.random.PCG64([draw, array.size])).uniform(-1.0, 1.0, array.shape)
        return wide * (1.0 + UNITS * unit * share)
    # A hash of the number itself (splitmix64): what two equal inputs become is equal.
    bits = np.ascontiguousarray(wide).view(np.uint64) + np.uint64((draw + 1) * 0x9E3779B97F4A7C15 % 2**64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    share = (bits ^ (bits >> np.uint64(31))).astype(np.float64) / 2.0**63 - 1.0
    return (wide * (1.0 + UNITS * unit * share)).reshape(array.shape)
