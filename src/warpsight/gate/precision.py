"""Tells fewer bits than the task declares, where each element may lie inside a loose tolerance, by two questions.

1. Are errors far beyond rounding common? An element is suspect when its error is more than SUSPECT_UNITS of its own
   rounding: half a unit of itself and of the mean output, and its movement. Honest single precision is wrong by 0.1 to
   10 of them, a sum of a million terms in one loop by 200; tf32 and half are by 2^10 and more, bfloat16 by 2^13.
2. Do the suspect elements follow their inputs? All inputs are moved by a sixteenth of a step of the next lower
   precision, which is a thousand steps of the declared one; then by less, where sums are short. A kernel in the
   declared precision follows, fast math and split tensor-core products too, however far off they are; one that rounds
   to fewer bits does not see the move, or jumps. A move that one honest loop over a long sum would drown in the
   roundings of its partial sums says nothing, so such elements are not asked: shorter workloads are.

Both must say so, on at least a twentieth of the elements. A kernel that loses a thousand units by cancellation of its
own, inside a tolerance that loose, looks the same and is the price. Narrow types have no lower precision to tell:
there the tolerance alone decides. The same name is given to wrong values that are those of fewer bits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from warpsight.devices.device import Execution
from warpsight.errors import TaskError
from warpsight.gate.families import DECLARED, SPREAD, family_inputs
from warpsight.gate.initial import CONTENTS, free_contents
from warpsight.gate.movement import movement
from warpsight.gate.placement import PLACEMENTS, longest_sum
from warpsight.gate.run import Subject, Trial, prepare, run
from warpsight.gate.tolerance import NEARLY_EXACT, is_exact, without_signs
from warpsight.nouns import Task, Workload, WorkloadResult
from warpsight.nouns.dtypes import float_info, is_float
from warpsight.tasks.inputs import default_fill
from warpsight.tasks.shapes import number_of

LOWER_STEP = {"float32": 2.0**-10, "float64": 2.0**-23}
"""The step of the next precision that hardware has: half and tf32 below single, single below double."""
NUDGES = (1 / 16, 1 / 128)  # of that step; the smaller one shows what is rounded after large parts cancelled
MOST_TERMS = 512  # in a problem, for the smaller one: a longer sum in one loop may be as noisy as that by itself
SUSPECT_UNITS = 64.0
SUSPECT_SHARE = 0.05
FOLLOWS = 0.6  # of the oracle's move, at the median: a value that does not move at all is off by 1
LEAST_SUSPECTS = 8
MOST_DRAWS = 12  # of inputs, where one launch has too few outputs
MOST_DRAWN_ELEMENTS = 1 << 20
LEAST_BITS = 8
LEAST_STEP = 2.0**-24  # half precision holds nothing smaller
ROOM = 4.0  # how errors of one operation add up in the operations after it
SPREAD_SHARE = 0.25
NAMED = "precision_too_low"


def named_precision(subject: Subject, trial: Trial, execution: Execution, result: WorkloadResult) -> WorkloadResult:
    """The result, `precision_too_low` where errors, allowed or not, are those of fewer bits than declared."""
    if result.ok and trial.family in (DECLARED, SPREAD) and _has_fewer_bits(subject, trial, execution):
        detail = "the errors are within the tolerance, and are those of fewer bits than the task declares"
        return result.model_copy(update={"ok": False, "reason": NAMED, "detail": detail})
    if trial.family in PLACEMENTS:
        return result  # the numbers are the declared ones, whose precision was looked at
    if result.reason == "wrong_values" and _is_right_but_for_bits(subject, trial, execution):
        detail = f"{result.detail}; the errors are those of fewer bits than the task declares"
        return result.model_copy(update={"reason": NAMED, "detail": detail})
    return result


@dataclass
class _Seen:
    """Suspect elements over several launches: how many of how many, and how far each was from following."""

    suspects: int = 0
    elements: int = 0
    residuals: dict[float, list[np.ndarray]] = field(default_factory=dict[float, list[np.ndarray]])


def _has_fewer_bits(subject: Subject, trial: Trial, execution: Execution) -> bool:
    task = subject.task
    wanted = [a.name for a in task.arguments if a.name in trial.want.outputs and a.dtype in LOWER_STEP]
    if not wanted or not _nudgeable(task):
        return False
    if not any(bool(_suspects(task, trial, execution, name, None).any()) for name in wanted):
        return False  # nearly always: nothing more is computed
    seen = _Seen()
    for draw in range(MOST_DRAWS):
        if draw:
            again = _drawn_again(subject, trial, draw)
            if again is None:
                break
            trial, execution = again
        _look(subject, trial, execution, wanted, seen)
        if seen.suspects < SUSPECT_SHARE * seen.elements or seen.suspects >= LEAST_SUSPECTS:
            break
    if seen.suspects < max(LEAST_SUSPECTS, SUSPECT_SHARE * seen.elements):
        return False
    pooled = [np.concatenate(residuals) for residuals in seen.residuals.values()]
    return any(r.size >= LEAST_SUSPECTS and float(np.median(r)) > FOLLOWS for r in pooled)


def _drawn_again(subject: Subject, trial: Trial, draw: int) -> tuple[Trial, Execution] | None:
    """The same workload with other declared inputs."""
    if sum(array.size for array in trial.inputs.values()) > MOST_DRAWN_ELEMENTS:
        return None
    other = prepare(subject, trial.workload, family=trial.family, seed=trial.seed + 7919 * draw)
    if not isinstance(other, Trial):
        return None
    execution, result = run(subject, other, checked=False)
    return None if result is None or execution.faults else (other, execution)


def _look(subject: Subject, trial: Trial, execution: Execution, wanted: list[str], seen: _Seen) -> None:
    """Add what one launch and its nudged twin show."""
    task = subject.task
    moved = movement(task, trial.workload, trial.inputs, subject.values)
    marked = {name: _suspects(task, trial, execution, name, moved[name]) for name in wanted}
    seen.suspects += sum(int(np.count_nonzero(mark)) for mark in marked.values())
    seen.elements += sum(int(np.count_nonzero(_telling(trial.want.outputs[name]))) for name in wanted)
    if seen.suspects < SUSPECT_SHARE * seen.elements:
        return
    noise = _noise(subject, trial, wanted)
    for nudge in NUDGES[: 2 if _terms(trial) <= MOST_TERMS else 1]:
        inputs = _nudged(task, trial.workload, trial.inputs, trial.seed, nudge)
        try:
            expected = subject.values.of(task, inputs, trial.workload.axes)
        except TaskError:
            return
        after = run(subject, replace(trial, inputs=inputs), checked=False)[0]
        if after.refused or after.faults:
            return
        for name, mark in marked.items():
            should = (expected[name] - trial.want.outputs[name])[mark]
            did = after.arrays[name][mark].astype(np.float64) - execution.arrays[name][mark].astype(np.float64)
            tells = np.isfinite(should) & np.isfinite(did) & (np.abs(should) > noise[name][mark])
            seen.residuals.setdefault(nudge, []).append(np.abs(did - should)[tells] / np.abs(should)[tells])


def _noise(subject: Subject, trial: Trial, wanted: list[str]) -> dict[str, np.ndarray]:
    """What one loop over all terms of an element may lose, or gain, by rounding each partial sum.

    Roundings of independent size add up to their square root. Partial sums are as large as the element where its terms
    have one sign; where they cancel, as a walk of that many steps, whose length is that of the sum without signs.
    """
    dtypes = {argument.name: argument.dtype for argument in subject.task.arguments}
    steps = math.sqrt(max(_terms(trial), longest_sum(subject.task, trial.inputs)))
    try:
        unsigned = subject.values.of(subject.task, without_signs(trial.inputs), trial.workload.axes)
    except TaskError:
        unsigned = trial.want.outputs
    made: dict[str, np.ndarray] = {}
    for name in wanted:
        partial = np.maximum(steps * np.abs(trial.want.outputs[name]), np.abs(unsigned[name]))
        made[name] = float_info(dtypes[name]).eps / 2 * partial
    return made


def _terms(trial: Trial) -> float:
    """How many float inputs a problem has, at most: how long its sums may be."""
    problems = min((len(e) for e in trial.want.outputs.values() if e.ndim > 1), default=1)
    if all(e.ndim == 1 for e in trial.want.outputs.values()):
        problems = max(len(e) for e in trial.want.outputs.values())
    return sum(a.size for a in trial.inputs.values() if is_float(a.dtype)) / max(problems, 1)


def _suspects(task: Task, trial: Trial, execution: Execution, name: str, moved: np.ndarray | None) -> np.ndarray:
    """Where the error is many times the element's own rounding; without `moved`, where it may be."""
    expected = trial.want.outputs[name]
    dtype = next(a.dtype for a in task.arguments if a.name == name)
    with np.errstate(invalid="ignore"):
        error = np.abs(execution.arrays[name].astype(np.float64) - expected)
        size = np.abs(expected)
        mean = np.nanmean(size) if size.size else 0.0
        half = float_info(dtype).eps / 2
        if not (error > SUSPECT_UNITS * (half * mean)).any():  # as always: less than the least that would be suspect
            return np.zeros(expected.shape, bool)
        unit = half * (size + mean)
        marked = np.isfinite(expected) & (error > SUSPECT_UNITS * (unit if moved is None else unit + moved))
    marked &= _telling(expected)
    enough = np.count_nonzero(marked) >= SUSPECT_SHARE * np.count_nonzero(_telling(expected))
    return marked if enough else np.zeros_like(marked)


def _telling(expected: np.ndarray) -> np.ndarray:
    """Elements large enough beside the mean that fewer bits in them would be seen: of a softmax, a few in each row."""
    size = np.abs(expected)
    with np.errstate(invalid="ignore"):
        return np.isfinite(size) & (size > 0) & (size >= (np.nanmean(size) if size.size else 0.0) / SUSPECT_UNITS)


def _nudgeable(task: Task) -> list[str]:
    """The inputs that may be moved by less than a step of a lower precision, and keep their meaning."""
    fills = ("normal", "uniform")
    arrays = [a for a in task.arguments if a.role in ("in", "inout") and a.dtype in LOWER_STEP]
    return [a.name for a in arrays if (a.fill or default_fill(a)) in fills]


def _nudged(
    task: Task, workload: Workload, inputs: Mapping[str, np.ndarray], seed: int, nudge: float
) -> dict[str, np.ndarray]:
    made = dict(inputs)
    random = np.random.Generator(np.random.PCG64([seed, 16]))
    movable = _nudgeable(task)
    for argument in task.arguments:
        if argument.name not in movable:
            continue
        given = inputs[argument.name]
        by = nudge * LOWER_STEP[argument.dtype] * random.choice([-1.0, 1.0], given.shape)
        moved = given * (1.0 + by)
        if argument.fill == "uniform":
            low = 0.0 if argument.low is None else number_of(argument.low, workload.axes)
            high = 1.0 if argument.high is None else number_of(argument.high, workload.axes)
            moved = np.clip(moved, low, high)
        made[argument.name] = np.ascontiguousarray(moved.astype(argument.dtype))
    return made


def _is_right_but_for_bits(subject: Subject, trial: Trial, execution: Execution) -> bool:
    """Of wrong values: no error is beyond eight bits, and what every precision holds comes out right, or all is off."""
    spread = _errors_of_few_bits(subject, trial, execution)
    if spread is None:
        return False
    if free_contents(subject.task, subject.values) and not _few_bits_of_contents(subject, trial):
        return False  # what an array starts with is missing, which beside a large sum looks like rounding
    bits = family_inputs(subject.task, trial.workload, trial.seed, "bits")
    small = prepare(subject, trial.workload, family="bits", seed=trial.seed) if bits is not None else None
    if trial.family != "bits" and isinstance(small, Trial) and _holds_exactly(subject, small):
        execution, right = run(subject, small, checked=False)
        return right is not None and right.ok and _is_nearly_exact(small, execution)
    return spread >= SPREAD_SHARE


def _few_bits_of_contents(subject: Subject, trial: Trial) -> bool:
    """Whether errors are as small where start contents are a large part of the answer."""
    other = prepare(subject, trial.workload, family=CONTENTS, seed=trial.seed)
    if not isinstance(other, Trial):
        return True
    execution, result = run(subject, other, checked=False)
    return result is not None and (result.ok or _errors_of_few_bits(subject, other, execution) is not None)


def _is_nearly_exact(trial: Trial, execution: Execution) -> bool:
    wanted = {name: e for name, e in trial.want.outputs.items() if e.dtype.kind == "f"}
    errors = [np.abs(execution.arrays[name].astype(np.float64) - e) for name, e in wanted.items()]
    return all(bool((error <= NEARLY_EXACT).all()) for error in errors)


def _holds_exactly(subject: Subject, trial: Trial) -> bool:
    return is_exact(subject.task, trial.workload, trial.inputs, trial.want.outputs, subject.values)


def _errors_of_few_bits(subject: Subject, trial: Trial, execution: Execution) -> float | None:
    """The share of elements beyond their own precision's rounding, or None where some are beyond any precision's."""
    task = subject.task
    moved = movement(task, trial.workload, trial.inputs, subject.values)
    beyond, total = 0, 0
    for argument in task.arguments:
        if argument.name not in moved:
            if argument.role in ("out", "inout") and not is_float(argument.dtype):
                return None  # whole numbers have no precision
            continue
        expected, got = trial.want.outputs[argument.name], execution.arrays[argument.name].astype(np.float64)
        unit = float_info(argument.dtype).eps / 2
        # A move may be small by chance; the median is not, and a name need not be as sharp as a verdict.
        rounding = unit * np.abs(expected) + moved[argument.name] + np.median(moved[argument.name])
        error = np.abs(got - expected)
        if not bool((error <= ROOM * rounding * 2.0**-LEAST_BITS / unit + LEAST_STEP).all()):
            return None
        beyond += int(np.count_nonzero(error > 2 * ROOM * rounding))
        total += expected.size
    return beyond / total if total else None
