"""Writes a task as flashinfer-trace: its definition, its kernel as a solution, its workloads, traces of evaluations.

The reference is wrapped so that PyTorch tensors go in and come out; the kernel goes with a host function that compiles
and launches it through cuda-core (not run on a GPU by us). A shape that is an expression becomes an axis of its own,
with a constraint that says what it is. Hidden workloads are never written.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from warpsight.errors import UsageError
from warpsight.nouns import Argument, Candidate, Task, Workload
from warpsight.tasks.importers.flashinfer.host import reference_text, solution_text
from warpsight.tasks.importers.flashinfer.schema import (
    BuildSpec,
    ConstAxis,
    Definition,
    FlashinferTrace,
    FlashinferWorkload,
    InputSpec,
    Solution,
    SourceFile,
    TensorSpec,
    VarAxis,
)  # fmt: skip
from warpsight.tasks.importers.flashinfer.toml import shown_toml
from warpsight.tasks.shapes import number_of, shape_of

SPACE = uuid.UUID("6f1d8a52-6a53-5c39-9a0f-5f0f3b1f8a11")  # names of workloads become the same ids everywhere
TAG = "source:warpsight"
DTYPES = (
    "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float4_e2m1",
    "int64", "int32", "int16", "int8", "bool",
)  # fmt: skip
"""All that a definition may name (`DType` in flashinfer-bench): no float64 and nothing unsigned."""
HARDWARE = {"a100": "NVIDIA_A100", "h100": "NVIDIA_H100", "b200": "NVIDIA_B200"}


def axis_of(extent: str) -> str:
    """The axis for one extent of a shape: its own name, or one made of the expression."""
    if re.fullmatch(r"[A-Za-z_]\w*", extent):
        return extent
    words = {"*": "_times_", "+": "_plus_", "-": "_minus_", "//": "_div_", "/": "_div_", "%": "_mod_"}
    for sign, word in words.items():
        extent = extent.replace(sign, word)
    return "n_" + re.sub(r"\W+", "_", extent).strip("_")


def definition_of(task: Task) -> Definition:
    """The task as a definition. Axes of the task that no input has as an extent are inputs of their own.

    UsageError names the arguments whose type the format does not have.
    """
    if unknown := [f"{one.name} is {one.dtype}" for one in task.arguments if one.dtype not in DTYPES]:
        raise UsageError(
            f"expected types that flashinfer-trace has, in {task.name} {', '.join(unknown)}",
            hint=f"it has {', '.join(DTYPES)}",
        )
    extents = dict.fromkeys(extent for argument in task.arguments for extent in argument.shape)
    fixed = {axis.name: axis.min for axis in task.axes if axis.min == axis.max}
    axes: dict[str, ConstAxis | VarAxis] = {
        axis_of(extent): ConstAxis(value=int(extent)) if extent.isdecimal() else _axis(extent, fixed)
        for extent in extents
    }
    made = [
        f"{axis_of(extent)} == {extent}" for extent in extents if axis_of(extent) != extent and not extent.isdecimal()
    ]
    inputs = {one.name: _spec(one) for one in task.arguments if one.role in ("in", "inout")}
    inputs |= {name: TensorSpec(shape=None, dtype="int32") for name in unbound_axes(task)}
    inputs |= {one.name: _spec(one) for one in task.arguments if one.role == "scalar" and one.name not in inputs}
    outputs = {one.name: _spec(one) for one in task.arguments if one.role == "out"}
    outputs |= {f"{one.name}_after": _spec(one) for one in task.arguments if one.role == "inout"}
    return Definition(
        name=task.name,
        op_type=task.name,
        axes=axes,
        inputs=inputs,
        outputs=outputs,
        reference=reference_text(task, unbound_axes(task)),
        tags=(TAG, f"tolerance:rtol={task.tolerance.rtol:g},atol={task.tolerance.atol:g}"),
        description=task.description,
        constraints=tuple(made) or None,
    )


def solution_of(task: Task, candidate: Candidate, name: str, author: str = "warpsight") -> Solution:
    """A kernel as a solution: its text as it is, and the host function that launches it."""
    if candidate.language != "cuda":
        raise UsageError(f"expected a CUDA kernel to write, got a {candidate.language} kernel")
    return Solution(
        name=name,
        definition=task.name,
        author=author,
        description="The kernel is launched as its first line says; the host function was not run on a GPU by us.",
        spec=BuildSpec(
            language="python",
            target_hardware=(HARDWARE.get(task.gpu, "cuda"),),
            entry_point="main.py::run",
            dependencies=("torch", "cuda-core", "cuda-bindings"),
            destination_passing_style=False,
        ),
        sources=(
            SourceFile(path="main.py", content=solution_text(task, candidate, unbound_axes(task))),
            SourceFile(path="kernel.cu", content=candidate.source),
            SourceFile(path="task.toml", content=shown_toml(task)),
        ),
    )


def workload_of(task: Task, workload: Workload) -> FlashinferTrace:
    """One size of the task."""
    axes: dict[str, int] = {}
    for argument in task.arguments:
        for extent, value in zip(argument.shape, shape_of(argument, workload.axes), strict=True):
            if not extent.isdecimal():
                axes[axis_of(extent)] = value
    inputs = {one.name: InputSpec(type="random") for one in task.arguments if one.role in ("in", "inout")}
    inputs |= {name: InputSpec(type="scalar", value=workload.axes[name]) for name in unbound_axes(task)}
    for one in task.arguments:
        if one.role == "scalar" and one.name not in inputs and one.value is not None:
            inputs[one.name] = InputSpec(type="scalar", value=number_of(one.value, workload.axes))
    fixed = {axis.name for axis in task.axes if axis.min == axis.max}
    named = {name: value for name, value in axes.items() if name not in fixed}
    identity = str(uuid.uuid5(SPACE, json.dumps([task.name, workload.name, dict(sorted(workload.axes.items()))])))
    return FlashinferTrace(definition=task.name, workload=FlashinferWorkload(axes=named, inputs=inputs, uuid=identity))


def write_trace_set(
    task: Task, candidates: Mapping[str, Candidate], folder: Path, traces: Iterable[FlashinferTrace] = ()
) -> tuple[Path, ...]:
    """Write a data set of one task into `folder`; files that are there already are refused."""
    place = f"{task.name}/{task.name}"
    files = {f"definitions/{place}.json": _json(definition_of(task))}
    for name, candidate in candidates.items():
        files[f"solutions/{task.name}/{name}.json"] = _json(solution_of(task, candidate, name))
    shown = [workload_of(task, workload) for workload in task.workloads if not workload.hidden]
    files[f"workloads/{place}.jsonl"] = _json_lines(shown)
    if lines := list(traces):
        files[f"traces/{place}.jsonl"] = _json_lines(lines)
    written: list[Path] = []
    for name, text in files.items():
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8") as stream:
                stream.write(text)
        except OSError as problem:
            raise UsageError(f"expected to write {path}: {problem.strerror}", hint="choose a new folder") from None
        written.append(path)
    return tuple(written)


def unbound_axes(task: Task) -> tuple[str, ...]:
    """Axes that no input's extent gives: they are passed as numbers."""
    bound = {extent for one in task.arguments if one.role in ("in", "inout") for extent in one.shape}
    return tuple(axis.name for axis in task.axes if axis.name not in bound)


def _axis(extent: str, fixed: Mapping[str, int]) -> ConstAxis | VarAxis:
    return ConstAxis(value=fixed[extent]) if extent in fixed else VarAxis()


def _spec(argument: Argument) -> TensorSpec:
    shape = None if argument.role == "scalar" else tuple(axis_of(extent) for extent in argument.shape)
    return TensorSpec(shape=shape, dtype=argument.dtype)


def _json(record: Definition | Solution) -> str:
    return json.dumps(_without_unsaid(json.loads(record.model_dump_json())), indent=2) + "\n"


def _without_unsaid(value: Any) -> Any:
    """Optional fields that say nothing are left out; a shape of null says that it is a number."""
    if isinstance(value, list):
        return [_without_unsaid(one) for one in cast(list[Any], value)]
    if isinstance(value, dict):
        pairs = cast(dict[str, Any], value).items()
        return {key: _without_unsaid(one) for key, one in pairs if one is not None or key == "shape"}
    return value


def _json_lines(records: Sequence[FlashinferTrace]) -> str:
    return "".join(one.model_dump_json() + "\n" for one in records)
