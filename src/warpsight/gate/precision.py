"""Tells a kernel that computes the right thing in too few bits from one that computes something else.

Both are wrong; the name of the reason differs, since what to do about it differs. Fewer bits means: the same workload
comes out right on minus ones, zeros and ones, which every precision holds, and no error is larger than what eight bits
of mantissa (bfloat16, the least there is) would make. Where those inputs are not exact, because the task divides or
takes roots, the errors must be spread over the output instead: a mistake in an index hits some elements hard.
"""

from __future__ import annotations

import numpy as np

from warpsight.devices.device import Execution
from warpsight.gate.run import Subject, Trial, prepare, run
from warpsight.gate.tolerance import NEARLY_EXACT, movement
from warpsight.nouns import WorkloadResult

LEAST_BITS = 8
LEAST_STEP = 2.0**-24  # half precision holds nothing smaller
ROOM = 4.0  # how errors of one operation add up in the operations after it
SPREAD_SHARE = 0.25
NAMED = "precision_too_low"


def named_precision(subject: Subject, trial: Trial, execution: Execution, result: WorkloadResult) -> WorkloadResult:
    """The result, its reason changed where wrong values are those of too low a precision."""
    if result.reason != "wrong_values":
        return result
    spread = _errors_of_few_bits(subject, trial, execution)
    if spread is None:
        return result
    bits = prepare(subject, trial.workload, family="bits", seed=trial.seed)
    if trial.family != "bits" and isinstance(bits, Trial) and _is_exact(bits):
        right = run(subject, bits, checked=False)[1]
        few = right is not None and right.ok
    else:
        few = spread >= SPREAD_SHARE
    if not few:
        return result
    detail = f"{result.detail}; the errors are those of fewer bits than the task declares"
    return result.model_copy(update={"reason": NAMED, "detail": detail})


def _errors_of_few_bits(subject: Subject, trial: Trial, execution: Execution) -> float | None:
    """The share of elements beyond their own precision's rounding, or None where some are beyond any precision's."""
    task = subject.task
    moved = movement(task, trial.workload, trial.inputs, subject.values)
    beyond, total = 0, 0
    for argument in task.arguments:
        if argument.name not in moved:
            if argument.role in ("out", "inout"):
                return None  # whole numbers have no precision
            continue
        expected, got = trial.want.outputs[argument.name], execution.arrays[argument.name].astype(np.float64)
        unit = float(np.finfo(argument.dtype).eps) / 2
        # A move may be small by chance; the median is not, and a name need not be as sharp as a verdict.
        rounding = unit * np.abs(expected) + moved[argument.name] + np.median(moved[argument.name])
        error = np.abs(got - expected)
        if not bool((error <= ROOM * rounding * 2.0**-LEAST_BITS / unit + LEAST_STEP).all()):
            return None
        beyond += int(np.count_nonzero(error > 2 * ROOM * rounding))
        total += expected.size
    return beyond / total if total else None


def _is_exact(bits: Trial) -> bool:
    return all(bool((allowed == NEARLY_EXACT).all()) for allowed in bits.want.allowed.values())
