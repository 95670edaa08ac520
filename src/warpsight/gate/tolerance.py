"""How far each element may be from the oracle, for inputs of any family.

The task's tolerance is the law: an element within rtol * |expected| + atol is right. With declared inputs that is all.
For other inputs atol shrinks only where the WHOLE output is small beside what declared inputs give (tiny), never for
one element; and it is never less than honest rounding:

- the element's movement under half a unit in the last place of the inputs, times what the author's atol is in units of
  declared movements, and at least a few times: large terms that cancel;
- where the computation is not homogeneous, a few units in the last place of a declared output: `exp(x) - 1` of a tiny
  x is off by a rounding of 1;
- what flushing denormals to zero does, and half a unit in the last place of the output's own type.

`strict = true` asks for more: atol in proportion to each element's movement, whole numbers exact. What this does not
cover: telling fewer bits apart inside a loose tolerance, which is `precision`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from warpsight.errors import TaskError
from warpsight.gate.expected import Arrays, ExpectedValues, digest_of, packed, task_key, unpacked
from warpsight.gate.families import DECLARED, EXACT_FAMILIES, family_inputs
from warpsight.gate.movement import flushed, is_homogeneous, movement
from warpsight.nouns import Task, Workload
from warpsight.nouns.dtypes import float_info, is_float
from warpsight.tasks.compare import allowed_errors, rounding

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
        return Wanted(outputs, _declared_allowed(task, outputs))
    try:
        outputs = values.of(task, inputs, workload.axes)
        if beyond := _out_of_range(task, outputs):
            return Wanted(outputs, {}, beyond)
        allowed = _allowed(task, workload, inputs, outputs, values, family, seed)
    except TaskError as refused:
        return Wanted({}, {}, f"the reference does not take it: {refused.found}")
    floats = {n: e for n, e in outputs.items() if n in allowed and e.size}
    only_floats = len(floats) == len(outputs) and any(bool(e.any()) for e in floats.values())
    if only_floats and all(bool((abs(e) <= allowed[n]).all()) for n, e in floats.items()):
        return Wanted(outputs, allowed, "zeros would be within the error allowed")
    return Wanted(outputs, allowed)


def wanted_of_family(
    task: Task, workload: Workload, inputs: Mapping[str, np.ndarray], values: ExpectedValues, *, family: str, seed: int
) -> Wanted:
    """The same for inputs that `family_inputs` made from this seed: kept, so that a second check computes nothing."""

    def compute() -> bytes:
        found = wanted(task, workload, inputs, values, family=family, seed=seed)
        if found.skip:
            return found.skip.encode()
        allowed = (
            b"" if family == DECLARED else packed({n: found.allowed[n] for n in found.outputs if n in found.allowed})
        )
        return _WHOLE + len(allowed).to_bytes(8, "big") + allowed + packed(found.outputs)

    body = values.kept(task_key(task, workload.axes, "wanted 2", family, str(seed), digest_of(inputs)), compute)
    if not body.startswith(_WHOLE):
        return Wanted({}, {}, body.decode())
    start = len(_WHOLE) + 8
    end = start + int.from_bytes(body[len(_WHOLE) : start], "big")
    outputs = unpacked(task, body[end:], workload.axes)
    if family == DECLARED:
        return Wanted(outputs, _declared_allowed(task, outputs))
    return Wanted(outputs, unpacked(task, body[start:end], workload.axes, only_floats=True))


def _declared_allowed(task: Task, outputs: Mapping[str, np.ndarray]) -> Arrays:
    floats = [a for a in task.arguments if a.name in outputs and is_float(a.dtype)]
    return {a.name: allowed_errors(task.tolerance, outputs[a.name], a.dtype) for a in floats}


def _out_of_range(task: Task, outputs: Mapping[str, np.ndarray]) -> str:
    for argument in task.arguments:
        expected = outputs.get(argument.name)
        if expected is None or not is_float(argument.dtype):
            continue
        if not np.isfinite(expected).all():
            return "the reference is not finite"
        info = float_info(argument.dtype)
        room = 16 if info.bits > 3 else 1  # for intermediate results; a float of 8 bits is only ever stored
        if expected.size and float(np.abs(expected).max()) > info.most / room:
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
    typical = movement(task, workload, declared, values)
    usual = values.of(task, declared, workload.axes)
    of_flushed = values.of(task, flushed(inputs), workload.axes)
    scales = strict or is_homogeneous(task, workload, declared, values)
    allowed = Arrays()
    for name, dtype in floats.items():
        expected = outputs[name]
        bound = LEAST_MOVES * moved[name] if exact else _by_movement(task, moved[name], typical[name])
        if not strict:
            bound = np.maximum(bound, task.tolerance.atol * _shrunk(expected, usual[name]))
        floor = np.abs(of_flushed[name] - expected) + _smallest(dtype)
        floor += 0.0 if scales else LEAST_MOVES * float_info(dtype).eps * _mean(usual[name])
        allowed[name] = task.tolerance.rtol * np.abs(expected) + bound + floor + rounding(expected, dtype)
    return allowed


def _by_movement(task: Task, moved: np.ndarray, typical: np.ndarray) -> np.ndarray:
    """The author's atol as a multiple of the mean movement with declared inputs, and that many movements."""
    usual, atol = typical[typical > 0], task.tolerance.atol
    if not usual.size:
        return np.full_like(moved, atol)
    least = 0.0 if task.tolerance.strict else LEAST_MOVES
    return max(atol / float(usual.mean()), least) * moved


def _shrunk(expected: np.ndarray, declared: np.ndarray) -> float:
    """The factor by which atol shrinks: 1 unless the largest element is smaller than a usual one of declared inputs."""
    seen = np.abs(declared[declared != 0])
    return min(1.0, float(np.abs(expected).max(initial=0.0)) / float(np.median(seen))) if seen.size else 1.0


def _mean(array: np.ndarray) -> float:
    return float(np.abs(array).mean()) if array.size else 0.0


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
    sizes = {n: np.abs(array.astype(np.float64)) if is_float(array.dtype) else array for n, array in inputs.items()}
    largest = values.of(task, sizes, workload.axes)
    return all(float(np.abs(largest[n]).max(initial=0.0)) <= 2.0 ** EXACT_BITS[dtype] for n, dtype in floats.items())
