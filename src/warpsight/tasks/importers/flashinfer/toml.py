"""Writes `task.toml`: the records of a task as the text that `read_task` reads back to the same records."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from warpsight.nouns import Argument, Axis, Task, Tolerance, Workload


def task_toml(
    *,
    name: str,
    description: str,
    entry: str,
    gpu: str,
    arch: str,
    axes: Sequence[Axis],
    arguments: Sequence[Argument],
    tolerance: Tolerance,
    workloads: Sequence[Workload],
) -> str:
    """The whole text."""
    lines = [*_pairs({"name": name, "description": description, "kernel": "kernel.cu", "entry": entry}), ""]
    lines += ["[target]", *_pairs({"gpu": gpu, "arch": arch}), "", "[axes]"]
    for axis in axes:
        lines.append(f"{axis.name} = {_inline(axis.model_dump(exclude={'name'}, exclude_defaults=True))}")
    for argument in arguments:
        lines += ["", "[[arguments]]", *_pairs(argument.model_dump(exclude_none=True, exclude_defaults=True))]
    lines += ["", "[tolerance]", *_pairs(tolerance.model_dump())]
    for workload in workloads:
        fields = workload.model_dump(exclude_defaults=True)
        lines += ["", "[[workloads]]", *_pairs(fields)]
    return "\n".join(lines) + "\n"


def made_up(axes: Sequence[Axis], workloads: Sequence[Workload]) -> Workload:
    """A hidden workload beside the shown ones: the smallest of them, one step further along every axis that can."""
    smallest = min(workloads, key=lambda one: sum(one.axes.values()))
    sizes: dict[str, int] = {}
    for axis in axes:
        value, step = smallest.axes[axis.name], axis.multiple_of
        tried = (value + step, value - step, value)
        sizes[axis.name] = next(one for one in tried if axis.min <= one <= axis.max or one == value)
    return Workload(name="made-up", axes=sizes, hidden=True)


def shown_toml(task: Task) -> str:
    """A task as it may be given away: its hidden workloads replaced by one that is made up, and with CUDA alone."""
    shown = [one for one in task.workloads if not one.hidden]
    return task_toml(
        name=task.name,
        description=task.description,
        entry=task.entry,
        gpu=task.gpu,
        arch=task.gpu_arch,
        axes=task.axes,
        arguments=task.arguments,
        tolerance=task.tolerance,
        workloads=[*shown, made_up(task.axes, shown)],
    )


def _pairs(fields: Mapping[str, Any]) -> Iterable[str]:
    return [f"{name} = {_value(value)}" for name, value in fields.items()]


def _inline(fields: Mapping[str, Any]) -> str:
    return "{ " + ", ".join(_pairs(fields)) + " }" if fields else "{}"


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return _inline(value)  # pyright: ignore[reportUnknownArgumentType]
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(one) for one in value) + "]"  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value, ensure_ascii=False)  # strings, integers and booleans are the same in TOML
