"""Check a candidate: compile it, run every workload on a device, compare with the reference, and give one verdict.

Every verdict but `right` has a named reason. Outputs start as poison, so a kernel that writes nothing is wrong, and one
that reads what it has not written is at fault. Inputs must come back unchanged. Expected values come from the task's
NumPy reference in float64; the candidate has no part in them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import numpy as np

from warpsight.devices.device import Device, Execution, Value
from warpsight.errors import ParameterMismatch, TaskError, UnsupportedInstruction
from warpsight.nouns import Build, Candidate, Check, Fault, Task, Workload, WorkloadResult
from warpsight.tasks import compare, evaluate_launch, generate_inputs, run_reference, shape_of
from warpsight.toolchain.compile import compile_cuda

POISON = 0xA5
Progress = Callable[[str], None]


def build_candidate(task: Task, candidate: Candidate, gpu_arch: str | None = None) -> Build:
    """The candidate compiled for `gpu_arch`, by default the task's own."""
    arch = task.gpu_arch if gpu_arch is None else gpu_arch
    return compile_cuda(
        candidate.source, gpu_arch=arch, options=candidate.options, entry=task.entry, name=task.kernel_file
    )


def kernel_values(task: Task, workload: Workload, seed: int) -> tuple[dict[str, np.ndarray], tuple[Value, ...]]:
    """The generated inputs, and the kernel's arguments in order: inputs, poisoned outputs, scalars."""
    inputs = generate_inputs(task, workload, seed)
    values: list[Value] = []
    for argument in task.arguments:
        if argument.role == "out":
            poison = np.full(shape_of(argument, workload.axes), 0, dtype=argument.dtype)
            poison.reshape(-1).view(np.uint8)[:] = POISON
            values.append(Value(argument.name, poison, writable=True, initialised=False))
        else:
            values.append(Value(argument.name, inputs[argument.name], writable=argument.role == "inout"))
    return inputs, tuple(values)


def check_candidate(
    task: Task,
    candidate: Candidate,
    device: Device,
    *,
    seed: int = 0,
    workloads: Sequence[Workload] | None = None,
    progress: Progress = lambda _: None,
    build: Build | None = None,
) -> Check:
    """The verdict over the given workloads (all of the task's when None). `build` is the candidate's, if at hand."""
    if build is None:
        progress("compiling")
        build = build_candidate(task, candidate)
    if not build.ok:
        errors = [d for d in build.diagnostics if d.severity == "error"]
        return Check(
            verdict="does_not_compile",
            reason=errors[0].message if errors else "the compiler gave no reason",
            diagnostics=build.diagnostics,
        )
    results: list[WorkloadResult] = []
    faults: list[Fault] = []
    try:
        for workload in task.workloads if workloads is None else workloads:
            progress(f"workload {workload.name}")
            execution, result = _run(task, candidate, build, device, workload, seed)
            if execution.refused:
                return Check(verdict="refused", reason=execution.refused, diagnostics=build.diagnostics)
            results.append(result)
            faults.extend(_new_faults(faults, execution.faults))
    except (UnsupportedInstruction, ParameterMismatch) as refused:
        return Check(verdict="refused", reason=refused.message, diagnostics=build.diagnostics)
    return _verdict(results, faults, build)


def _run(
    task: Task, candidate: Candidate, build: Build, device: Device, workload: Workload, seed: int
) -> tuple[Execution, WorkloadResult]:
    def failed(reason: str) -> WorkloadResult:
        return WorkloadResult(workload=workload.name, hidden=workload.hidden, seed=seed, ok=False, reason=reason)

    try:
        size = evaluate_launch(candidate, workload.axes)
    except TaskError as impossible:  # the text is well formed, its numbers are not: the candidate's fault, so a result
        numbers = f"{impossible.key}: expected {impossible.expected}, found {impossible.found}"
        refused = Execution(refused=f"{numbers}, with workload {workload.name}")
        return refused, failed(refused.refused)
    inputs, values = kernel_values(task, workload, seed)
    execution = device.execute(build, task.entry, values, size, check=True, source_text=candidate.source)
    if execution.refused or execution.faults:
        return execution, failed(execution.refused or execution.faults[0].kind)
    changed = [
        v.name
        for v in values
        if not v.writable and not v.is_scalar and execution.arrays[v.name].tobytes() != v.array.tobytes()
    ]
    if changed:
        return execution, failed(f"input {changed[0]} was changed")
    outputs = {a.name: execution.arrays[a.name] for a in task.arguments if a.role in ("out", "inout")}
    found = compare(task, outputs, run_reference(task, inputs, workload.axes))
    return execution, WorkloadResult(
        workload=workload.name,
        hidden=workload.hidden,
        seed=seed,
        ok=found.ok,
        reason=found.reason,
        wrong_elements=found.wrong_elements,
        total_elements=found.total_elements,
        worst=found.worst,
    )


def _new_faults(known: Sequence[Fault], found: Sequence[Fault]) -> Iterator[Fault]:
    """Each kind of fault at each line once, however many workloads show it."""
    seen = {(f.kind, f.line, f.instruction) for f in known}
    for fault in found:
        if (fault.kind, fault.line, fault.instruction) not in seen:
            yield fault


def _verdict(results: Sequence[WorkloadResult], faults: Sequence[Fault], build: Build) -> Check:
    def check(verdict: Literal["right", "wrong", "fault"], reason: str) -> Check:
        ran, seen = tuple(results), tuple(faults)
        return Check(verdict=verdict, reason=reason, workloads=ran, faults=seen, diagnostics=build.diagnostics)

    if faults:
        first = faults[0]
        return check("fault", f"{first.kind} at line {first.line}: {first.message}")
    bad = next((r for r in results if not r.ok), None)
    if bad is not None:
        return check("wrong", f"{bad.reason} with workload {bad.workload}")
    return check("right", "")
