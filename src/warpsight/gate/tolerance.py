"""How far each element may be from the oracle, for inputs of any family.

The task's tolerance is the law: an element within rtol * |expected| + atol is right. With declared inputs that is all.
For other inputs atol shrinks only where ALL float inputs are small (tiny) and the whole output scales with them; never
for one element. What `exp(x) - 1` makes of a tiny x may be off by a rounding of 1, so there atol stays as it is. And
what is allowed is never less than honest rounding:

- the element's movement under half a unit in the last place of the inputs, times what the author's atol is in units of
  declared movements, and at least a few times: large terms that cancel;
- two units in the last place of the largest output: terms of its size may have cancelled;
- what flushing denormals to zero does, and half a unit in the last place of the output's own type;
- the largest error that the reference itself makes in the same problem when it computes in the declared precision.

Nothing at all is said of a problem that the reference itself gets wrong in the declared precision, or right in a few
digits only, or where denormal inputs make more of a difference than is allowed when they are zeros; nor of whole
numbers in it. The first axis of an output counts problems.

Families that only place things otherwise (placement.py) keep the law of declared inputs and add what rounding takes of
the longest sum: by the size of the whole output and by the number of terms, never by what one element is made of. The
same holds of sizes that were drawn, where rows and equal indices may be longer than any that the author declared.

`strict = true` asks for more: atol in proportion to each element's movement, whole numbers exact. What this does not
cover: telling fewer bits apart inside a loose tolerance, which is `precision`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from warpsight.errors import TaskError
from warpsight.gate.expected import Arrays, ExpectedValues, digest_of, packed, task_key, unpacked
from warpsight.gate.families import DECLARED, EXACT_FAMILIES, family_inputs
from warpsight.gate.movement import flushed, movement, usual_movement
from warpsight.gate.placement import PLACEMENTS, longest_sum, placed_arguments
from warpsight.nouns import Task, Workload
from warpsight.nouns.dtypes import float_info, is_float
from warpsight.tasks.compare import allowed_errors, rounding

NARROW_TIMES = 16.0  # one sample of the errors of an algorithm as stable: others scatter by as much
SINGULAR = 2.0**-8  # more than half of the digits of single precision are gone
LEAST_MOVES = 8.0  # a few roundings of intermediate results, each of half a unit
_WHOLE = b"\x00wanted"
NEARLY_EXACT = 0.01
# Sums of this size are still exact, with room for the order in which they are made.
EXACT_BITS = {"float16": 10, "bfloat16": 7, "float32": 22, "float64": 50, "float8_e4m3fn": 3, "float8_e5m2": 2}


@dataclass(frozen=True)
class Wanted:
    """The oracle's outputs and the error each element may have; `skip` says why a family says nothing here."""

    outputs: Mapping[str, np.ndarray]
    allowed: Mapping[str, np.ndarray]
    skip: str = ""


def wanted(
    task: Task,
    workload: Workload,
    inputs: Mapping[str, np.ndarray],
    values: ExpectedValues,
    *,
    family: str = DECLARED,
    seed: int = 0,
) -> Wanted:
    """What is expected of a kernel with these inputs. `seed` is that of the declared inputs that calibrate."""
    if family == DECLARED:
        outputs = values.of(task, inputs, workload.axes)
        if _may_be_longer(task, workload):
            return Wanted(outputs, _placed_allowed(task, workload, inputs, outputs, values))
        return Wanted(outputs, _declared_allowed(task, outputs))
    try:
        outputs = values.of(task, inputs, workload.axes)
        placed = family in PLACEMENTS
        if beyond := _out_of_range(task, outputs, infinite=placed):
            return Wanted(outputs, {}, beyond)
        allowed = (
            _placed_allowed(task, workload, inputs, outputs, values)
            if placed
            else _allowed(task, workload, inputs, outputs, values, family, seed)
        )
    except TaskError as refused:
        return Wanted({}, {}, f"the reference does not take it: {refused.found}")
    allowed = _with_whole_numbers(outputs, allowed)
    floats = {n: e for n, e in outputs.items() if e.dtype.kind == "f" and e.size}
    only_floats = len(floats) == len(outputs) and any(bool(e.any()) for e in floats.values())
    if only_floats and all(bool((abs(e) <= allowed[n]).all()) for n, e in floats.items()):
        return Wanted(outputs, allowed, "zeros would be within the error allowed")
    return Wanted(outputs, allowed)


def wanted_of_family(
    task: Task, workload: Workload, inputs: Mapping[str, np.ndarray], values: ExpectedValues, *, family: str, seed: int
) -> Wanted:
    """The same for inputs that `family_inputs` made from this seed: kept, so that a second check computes nothing."""
    if family == DECLARED:  # follows from the expected values alone, which are kept already
        return wanted(task, workload, inputs, values, family=family, seed=seed)

    def compute() -> bytes:  # what it takes is asked for once: only what comes of it is worth a place on disk
        found = wanted(task, workload, inputs, values.in_memory(), family=family, seed=seed)
        if found.skip:
            return found.skip.encode()
        allowed = packed({n: found.allowed[n] for n, e in found.outputs.items() if e.dtype.kind == "f"})
        return _WHOLE + len(allowed).to_bytes(8, "big") + allowed + packed(found.outputs)

    body = values.kept(task_key(task, workload.axes, "wanted 9", family, str(seed), digest_of(inputs)), compute)
    if not body.startswith(_WHOLE):
        return Wanted({}, {}, body.decode())
    start = len(_WHOLE) + 8
    end = start + int.from_bytes(body[len(_WHOLE) : start], "big")
    outputs = unpacked(task, body[end:], workload.axes)
    return Wanted(
        outputs, _with_whole_numbers(outputs, unpacked(task, body[start:end], workload.axes, only_floats=True))
    )


def _with_whole_numbers(outputs: Mapping[str, np.ndarray], allowed: Mapping[str, np.ndarray]) -> Arrays:
    """The same with whole numbers: exact, or anything where nothing is said of the floats of their problem."""
    made = dict(allowed)
    for name, array in outputs.items():
        alike = [a for a in allowed.values() if a.shape[:1] == array.shape[:1]]
        if name not in allowed and array.size and alike:
            unsaid = np.any([np.isposinf(a).reshape(len(a), -1).any(axis=1) for a in alike], axis=0)
            exact = np.where(unsaid, np.inf, 0.0).reshape(-1, *[1] * (array.ndim - 1))
            made[name] = np.broadcast_to(exact, array.shape)
    return made


def _declared_allowed(task: Task, outputs: Mapping[str, np.ndarray]) -> Arrays:
    floats = [a for a in task.arguments if a.name in outputs and is_float(a.dtype)]
    return {a.name: allowed_errors(task.tolerance, outputs[a.name], a.dtype) for a in floats}


def _may_be_longer(task: Task, workload: Workload) -> bool:
    """Whether sums may have more terms than the author thought of: at sizes that were drawn, by indices and rows."""
    return all(one.name != workload.name for one in task.workloads) and bool(placed_arguments(task))


def _placed_allowed(
    task: Task,
    workload: Workload,
    inputs: Mapping[str, np.ndarray],
    outputs: Mapping[str, np.ndarray],
    values: ExpectedValues,
) -> Arrays:
    """The declared law, and what one loop over the longest sum loses, in proportion to the whole output.

    Roundings of terms of one sign grow with the square root of their number, times the sum. Where signs cancel, partial
    sums are as large as such a root times one term: roundings add up to a unit of the largest sum without signs.
    """
    allowed = _declared_allowed(task, outputs)
    if not allowed:
        return allowed
    dtypes = {argument.name: argument.dtype for argument in task.arguments}
    terms = longest_sum(task, inputs)
    try:
        magnitudes = values.of(task, _magnitudes(inputs), workload.axes)
    except TaskError:
        magnitudes = outputs
    for name, law in allowed.items():
        longer = math.sqrt(terms) * _largest(outputs[name]) + _largest(magnitudes[name])
        allowed[name] = law + float_info(dtypes[name]).eps / 2 * longer
    return allowed


def _largest(array: np.ndarray) -> float:
    """The largest magnitude among finite elements: a maximum of nothing is infinite and says nothing of the others."""
    return float(np.abs(array).max(initial=0.0, where=np.isfinite(array)))


def _out_of_range(task: Task, outputs: Mapping[str, np.ndarray], *, infinite: bool) -> str:
    """Why nothing is said of such outputs. `infinite` ones may be meant: a maximum of nothing."""
    for argument in task.arguments:
        expected = outputs.get(argument.name)
        if expected is None or not is_float(argument.dtype):
            continue
        if not infinite and not np.isfinite(expected).all():
            return "the reference is not finite"
        info = float_info(argument.dtype)
        room = 16 if info.bits > 3 else 1  # for intermediate results; a float of 8 bits is only ever stored
        if _largest(expected) > info.most / room:
            return f"the reference is outside of what {argument.dtype} holds"
    return ""


def _allowed(
    task: Task,
    workload: Workload,
    inputs: Mapping[str, np.ndarray],
    outputs: Mapping[str, np.ndarray],
    values: ExpectedValues,
    family: str,
    seed: int,
) -> Arrays:
    floats = {a.name: a.dtype for a in task.arguments if a.name in outputs and is_float(a.dtype)}
    if not floats:
        return {}
    strict = task.tolerance.strict
    exact = family in EXACT_FAMILIES and is_exact(task, workload, inputs, outputs, values)
    if strict and exact:
        return {name: np.full(outputs[name].shape, NEARLY_EXACT) for name in floats}
    moved = movement(task, workload, inputs, values)
    declared = family_inputs(task, workload, seed, DECLARED)
    assert declared is not None
    typical, powers = usual_movement(task, workload, declared, values)
    of_flushed = values.of(task, flushed(inputs), workload.axes)
    shrunk = _shrunk(inputs, declared)
    narrow = outputs if strict else _narrow(task, workload, inputs, outputs, values)
    allowed = Arrays()
    for name, dtype in floats.items():
        expected = outputs[name]
        bound = LEAST_MOVES * moved[name] if exact else _by_movement(task, moved[name], typical[name])
        if not strict:
            bound = np.maximum(bound, task.tolerance.atol * shrunk ** max(0.0, powers.get(name, 0.0)))
            bound += 2 * float_info(dtype).eps * float(np.abs(expected).max(initial=0.0))
        law = task.tolerance.rtol * np.abs(expected) + bound + _smallest(dtype) + rounding(expected, dtype)
        apart = np.abs(of_flushed[name] - expected)
        if not strict:
            own = np.abs(narrow[name] - expected)
            open_question = by_problem(~(apart <= law) | ~(own <= law), np.any) | is_singular(own, expected, dtype)
            law = np.where(open_question, np.inf, law + NARROW_TIMES * by_problem(own, np.max))
        allowed[name] = law + apart
    return allowed


def by_problem(array: np.ndarray, over: Callable[..., np.ndarray]) -> np.ndarray:
    """What `over` says of all elements of a problem, for each of them. The first axis counts problems.

    Algorithms are stable by the norm of what they give, and what overflows on the way spreads: both within a problem.
    """
    if array.ndim < 2 or array.size == 0:
        return array
    return np.broadcast_to(over(array, axis=tuple(range(1, array.ndim)), keepdims=True), array.shape)


def is_singular(error: np.ndarray, expected: np.ndarray, dtype: str) -> np.ndarray:
    """Problems whose answer rounding alone moves by a good part of its size: another algorithm may give anything."""
    much = max(SINGULAR, 64 * float_info(dtype).eps)
    return ~(by_problem(error, np.max) <= much * by_problem(np.abs(expected), np.max))


def _narrow(
    task: Task,
    workload: Workload,
    inputs: Mapping[str, np.ndarray],
    outputs: Mapping[str, np.ndarray],
    values: ExpectedValues,
) -> Mapping[str, np.ndarray]:
    """The reference in the declared precision; the oracle's own where it does not run in it."""
    try:
        return values.of(task, inputs, workload.axes, narrow=True)
    except TaskError:
        return outputs


def _by_movement(task: Task, moved: np.ndarray, typical: np.ndarray) -> np.ndarray:
    """The author's atol as a multiple of the mean movement with declared inputs, and that many movements."""
    usual, atol = typical[typical > 0], task.tolerance.atol
    if not usual.size:
        return np.full_like(moved, atol)
    least = 0.0 if task.tolerance.strict else LEAST_MOVES
    return max(atol / float(usual.mean()), least) * moved


def _shrunk(inputs: Mapping[str, np.ndarray], declared: Mapping[str, np.ndarray]) -> float:
    """How small the inputs are beside the declared ones: 1 unless the largest of all is below a usual declared one."""
    ratios = [0.0]
    for name, array in inputs.items():
        if not is_float(array.dtype) or array.ndim == 0:
            continue
        usual = np.abs(declared[name].astype(np.float64))
        middle = float(np.median(usual[usual > 0])) if usual.any() else 0.0
        ratios.append(float(np.abs(array.astype(np.float64)).max(initial=0.0)) / middle if middle else 0.0)
    return min(1.0, max(ratios)) or 1.0


def _smallest(dtype: str) -> float:
    """What an output may lose to flushing. Only single precision and bfloat16 are flushed by GPUs."""
    info = float_info(dtype)
    return info.smallest_normal if dtype in ("float32", "bfloat16", "float64") else info.smallest_subnormal


def is_exact(
    task: Task,
    workload: Workload,
    inputs: Mapping[str, np.ndarray],
    outputs: Mapping[str, np.ndarray],
    values: ExpectedValues,
) -> bool:
    """Whether the oracle's floats are whole everywhere, and stay small when nothing cancels."""
    floats = {a.name: a.dtype for a in task.arguments if a.name in outputs and is_float(a.dtype)}
    if any(not bool((outputs[name] == np.rint(outputs[name])).all()) for name in floats):
        return False
    largest = values.of(task, _magnitudes(inputs), workload.axes)
    return all(float(np.abs(largest[n]).max(initial=0.0)) <= 2.0 ** EXACT_BITS[dtype] for n, dtype in floats.items())


def _magnitudes(inputs: Mapping[str, np.ndarray]) -> Arrays:
    """The inputs without signs, in which nothing cancels; scalars too."""
    return {n: np.abs(array.astype(np.float64)) if is_float(array.dtype) else array for n, array in inputs.items()}
