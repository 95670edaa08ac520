"""How far each element may be from the oracle, for inputs of any family.

The task's rtol and atol hold for declared inputs: there its author said what rounding may do. For other inputs the
same atol would be far too much (tiny) or too little (wide), so it is measured in units of the conditioning: the oracle
is run again on inputs moved by half a unit in the last place, and an element may be wrong by

    rtol * |expected| + atol * (its movement / the mean movement with declared inputs)

Why this is sound: a stable algorithm in the declared precision is wrong by a modest multiple of that movement, and the
author's atol is that multiple. Not the median: where most outputs are next to nothing, as in a softmax, the median is
too, and what is allowed in units of it would hide everything. A lower precision is wrong by 2^13 (half, tf32) or 2^16
(bfloat16) movements and fails. Whole numbers whose sums stay exact must come out exact but for a hundredth. Denormals
may be flushed to zero, as GPUs do: the difference that makes is allowed, no more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from warpsight.errors import TaskError
from warpsight.gate.expected import Arrays, ExpectedValues, digest_of, packed, task_key, unpacked
from warpsight.gate.families import DECLARED, EXACT_FAMILIES, family_inputs
from warpsight.nouns import Task, Workload
from warpsight.tasks.compare import allowed_errors

MOVES = 4
_WHOLE = b"\x00wanted"
NEARLY_EXACT = 0.01
# Sums of this size are still exact, with room for the order in which they are made.
EXACT_LIMIT = {"float16": 2.0**10, "float32": 2.0**22, "float64": 2.0**50}


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
        return Wanted(outputs, {n: allowed_errors(task.tolerance, e) for n, e in outputs.items()})
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

    body = values.kept(task_key(task, workload.axes, "wanted", family, str(seed), digest_of(inputs)), compute)
    if not body.startswith(_WHOLE):
        return Wanted({}, {}, body.decode())
    start = len(_WHOLE) + 8
    end = start + int.from_bytes(body[len(_WHOLE) : start], "big")
    outputs = unpacked(task, body[end:], workload.axes)
    if family == DECLARED:
        return Wanted(outputs, {n: allowed_errors(task.tolerance, e) for n, e in outputs.items()})
    return Wanted(outputs, unpacked(task, body[start:end], workload.axes, only_floats=True))


def _out_of_range(task: Task, outputs: Mapping[str, np.ndarray]) -> str:
    for argument in task.arguments:
        expected = outputs.get(argument.name)
        if expected is None or not argument.dtype.startswith("float"):
            continue
        if not np.isfinite(expected).all():
            return "the reference is not finite"
        if expected.size and float(np.abs(expected).max()) > float(np.finfo(argument.dtype).max) / 16:
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
    floats = {a.name: a.dtype for a in task.arguments if a.name in outputs and a.dtype.startswith("float")}
    if not floats:
        return {}
    if family in EXACT_FAMILIES and _is_exact(task, workload, inputs, outputs, floats, values):
        return {name: np.full(outputs[name].shape, NEARLY_EXACT) for name in floats}
    moved = movement(task, workload, inputs, values)
    declared = family_inputs(task, workload, seed, DECLARED)
    assert declared is not None
    typical = movement(task, workload, declared, values)
    flushed = values.of(task, _flushed(inputs), workload.axes)
    allowed = Arrays()
    for name, dtype in floats.items():
        usual = typical[name][typical[name] > 0]
        scale = moved[name] / usual.mean() if usual.size else np.ones_like(moved[name])
        floor = np.abs(flushed[name] - outputs[name]) + _smallest(dtype)
        allowed[name] = task.tolerance.rtol * np.abs(outputs[name]) + task.tolerance.atol * scale + floor
    return allowed


def movement(
    task: Task, workload: Workload, inputs: Mapping[str, np.ndarray], values: ExpectedValues
) -> dict[str, np.ndarray]:
    """How far each float output moves when every float input moves by up to half a unit in its last place."""
    at_rest = values.of(task, inputs, workload.axes)
    moved = {name: np.zeros(array.shape) for name, array in at_rest.items() if array.dtype.kind == "f"}
    random = np.random.Generator(np.random.PCG64(2026))
    for _ in range(MOVES):
        nearby = values.of(task, {name: _moved(array, random) for name, array in inputs.items()}, workload.axes)
        for name, most in moved.items():
            np.maximum(most, np.nan_to_num(np.abs(nearby[name] - at_rest[name])), out=most)
    return moved


def _moved(array: np.ndarray, random: np.random.Generator) -> np.ndarray:
    if array.dtype.kind != "f" or array.ndim == 0:
        return array
    # The oracle is float64 itself: there a move has to stand out from its own rounding.
    half_unit = float(np.finfo(array.dtype).eps) * (4 if array.dtype == np.float64 else 0.5)
    # Never near zero: a move that happens to be small would say that an element is better conditioned than it is.
    by = random.uniform(0.5, 1.0, array.shape) * random.choice([-half_unit, half_unit], array.shape)
    return array.astype(np.float64) * (1.0 + by)


def _flushed(inputs: Mapping[str, np.ndarray]) -> Arrays:
    def flush(array: np.ndarray) -> np.ndarray:
        if array.dtype.kind != "f" or array.ndim == 0:
            return array
        return np.where(np.abs(array) < np.finfo(array.dtype).smallest_normal, np.zeros((), array.dtype), array)

    return {name: flush(array) for name, array in inputs.items()}


def _smallest(dtype: str) -> float:
    """What an output may lose to flushing. Half precision is not flushed by GPUs."""
    info = np.finfo(dtype)
    return float(info.smallest_subnormal if dtype == "float16" else info.smallest_normal)


def _is_exact(
    task: Task,
    workload: Workload,
    inputs: Mapping[str, np.ndarray],
    outputs: Mapping[str, np.ndarray],
    floats: Mapping[str, str],
    values: ExpectedValues,
) -> bool:
    """Whether the oracle is whole everywhere, and stays small when nothing cancels."""
    if any(not bool((outputs[name] == np.rint(outputs[name])).all()) for name in floats):
        return False
    sizes = {name: np.abs(array) if array.dtype.kind == "f" else array for name, array in inputs.items()}
    largest = values.of(task, sizes, workload.axes)
    return all(float(np.abs(largest[n]).max(initial=0.0)) <= EXACT_LIMIT[dtype] for n, dtype in floats.items())
