"""An evaluation of ours as a flashinfer trace. Pure.

A trace that passed needs a latency, and a simulated time is none: only measured evaluations are written as passed. The
format compares with the reference of the definition, which is never timed here, so that time and the speed-up over it
are left out: our own baseline is another kernel. Hidden workloads are never written.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from warpsight.errors import UsageError
from warpsight.nouns import Check, Evaluation, Task, Workload
from warpsight.tasks.importers.flashinfer.schema import FlashinferEvaluation, FlashinferTrace
from warpsight.tasks.importers.flashinfer.write import workload_of

_STATUS = {"wrong_shape": "INCORRECT_SHAPE", "wrong_dtype": "INCORRECT_DTYPE"}
_HANGS = ("deadline", "endless_loop", "launch_too_large", "deadlock")


def trace_of(
    task: Task, workload: Workload, solution: str, evaluation: Evaluation, libraries: Mapping[str, str] | None = None
) -> FlashinferTrace:
    """What came of one kernel on one workload."""
    timing, check = evaluation.timing, evaluation.check
    numbers: dict[str, Any] = {"status": status_of(check, workload.name)}
    if check.verdict in ("right", "wrong") and numbers["status"] in ("PASSED", "INCORRECT_NUMERICAL"):
        numbers["correctness"] = _errors(check, workload.name)
    if check.verdict == "right":
        if timing is None or timing.source != "measured" or not timing.samples_us:
            raise UsageError(
                "expected a measured time: a trace that passed has a latency, and a simulated time is none",
                hint="evaluate the kernel on a GPU, or write the definition, solution and workloads alone",
            )
        numbers["performance"] = {"latency_ms": statistics.median(timing.samples_us) / 1e3}
    numbers["environment"] = {"hardware": timing.device if timing else "none", "libs": dict(libraries or {})}
    numbers["timestamp"] = datetime.now(UTC).isoformat(timespec="seconds")
    return FlashinferTrace(
        definition=task.name,
        workload=workload_of(task, workload).workload,
        solution=solution,
        evaluation=FlashinferEvaluation.model_validate(numbers),
    )


def traced_workload(task: Task, evaluation: Evaluation) -> Workload:
    """The workload that a trace of it is about: the one that was timed, else one that failed, among those shown."""
    failed = [result.workload for result in evaluation.check.workloads if not result.ok]
    named = failed if evaluation.timing is None else [evaluation.timing.workload]
    shown = [one for one in task.workloads if not one.hidden]
    for one in shown:
        if one.name in named or not named:
            return one
    raise UsageError(f"expected a workload that may be shown, the evaluation is of others of {task.name} alone")


def status_of(check: Check, workload: str) -> str:
    """The format's word for our verdict; of a wrong kernel, for what was wrong on the workload."""
    if check.verdict == "right":
        return "PASSED"
    if check.verdict in ("does_not_compile", "refused"):
        return "COMPILE_ERROR"
    if check.verdict == "fault":
        return "TIMEOUT" if any(fault.kind in _HANGS for fault in check.faults) else "RUNTIME_ERROR"
    wrong = [result for result in check.workloads if not result.ok]
    reason = next((one.reason for one in wrong if one.workload == workload), wrong[0].reason)
    return _STATUS.get(reason, "INCORRECT_NUMERICAL")


def _errors(check: Check, workload: str) -> dict[str, Any]:
    """The worst error seen on the workload; NaN, which the format allows, where none was kept."""
    worst = [one.worst for one in check.workloads if one.worst and one.workload == workload]
    if not worst:
        return {"max_absolute_error": math.nan, "max_relative_error": math.nan}
    relative = [one.error / abs(one.expected) if one.expected else math.inf if one.error else 0.0 for one in worst]
    return {"max_absolute_error": max(one.error for one in worst), "max_relative_error": max(relative)}
