"""A flashinfer definition as a task folder, where that is possible: the texts of its files, or the reason why not.

A task needs a kernel that is launched by one line, so a definition alone is not enough: the kernel comes from a
solution that was written from a task, or is given. A foreign reference is PyTorch and needs PyTorch where it runs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pydantic import ValidationError

from warpsight.nouns import Argument, Axis, Tolerance, Workload
from warpsight.nouns.dtypes import DTYPES
from warpsight.tasks.importers.flashinfer.host import original_reference
from warpsight.tasks.importers.flashinfer.read import FlashinferEntry
from warpsight.tasks.importers.flashinfer.schema import ConstAxis, TensorSpec
from warpsight.tasks.importers.flashinfer.toml import made_up, task_toml
from warpsight.tasks.importers.records import CannotImport

TOLERANCE = Tolerance(rtol=1e-2, atol=1e-2)  # what the format's own benchmark allows by default
KNOWN = tuple(name for name in DTYPES if not name.startswith(("bfloat", "float8")))  # those torch takes from NumPy
MAX_WORKLOADS = 32

_REFERENCE = """\
# The reference of the definition {name!r}, called with PyTorch tensors made of NumPy arrays.
import numpy as np
import torch

{text}


def reference({parameters}):
    def given(value, dtype):
        return torch.from_numpy(np.ascontiguousarray(value)).to(dtype) if isinstance(value, np.ndarray) else value

    found = run({calls})
    found = list(found.values()) if isinstance(found, dict) else found
    found = found if isinstance(found, (tuple, list)) else [found]
    return {{name: one.detach().double().numpy() for name, one in zip({outputs!r}, found)}}
"""


def task_files(entry: FlashinferEntry, kernel: str | None = None) -> dict[str, str]:
    """The files of a task folder by name."""
    for solution in entry.solutions:
        files = {source.path: source.content for source in solution.sources}
        reference = original_reference(entry.definition.reference)
        if kernel is None and reference is not None and {"task.toml", "kernel.cu"} <= set(files):
            return {"task.toml": files["task.toml"], "kernel.cu": files["kernel.cu"], "reference.py": reference}
    if kernel is None:
        languages = ", ".join(sorted({one.spec.language for one in entry.solutions})) or "none"
        raise CannotImport(
            f"a task needs a kernel with a launch line, and its solutions ({languages}) bring host code of their own; "
            "give one with --kernel"
        )
    return _foreign(entry, kernel)


def task_name(name: str) -> str:
    """A name that a task may have."""
    plain = re.sub(r"[^a-z0-9_-]+", "_", name.lower()).strip("_-")[:64]
    return plain if plain[:1].isalpha() else f"task_{plain}"[:64]


def _foreign(entry: FlashinferEntry, kernel: str) -> dict[str, str]:
    definition = entry.definition
    found = re.search(r"__global__[^;{]*?\b([A-Za-z_]\w*)\s*\(", kernel)
    if found is None:
        raise CannotImport('the kernel given has no `extern "C" __global__ void name(...)`')
    fixed = {name: axis.value for name, axis in definition.axes.items() if isinstance(axis, ConstAxis)}
    workloads = _workloads(entry, fixed)
    try:
        arguments = _arguments(entry)
        axes = [_axis(name, fixed, workloads) for name in definition.axes]
    except ValidationError as problem:
        raise CannotImport(problem.errors()[0]["msg"]) from None
    text = task_toml(
        name=task_name(definition.name),
        description=definition.description or f"{definition.op_type}, from a flashinfer definition",
        entry=found[1],
        gpu="a100",
        arch="sm_80",
        axes=axes,
        arguments=arguments,
        tolerance=TOLERANCE,
        workloads=[*workloads, made_up(axes, workloads)],
    )
    return {"task.toml": text, "kernel.cu": kernel, "reference.py": _reference(entry)}


def _arguments(entry: FlashinferEntry) -> list[Argument]:
    """Inputs, outputs, then the sizes: the order in which the kernel takes them."""
    definition = entry.definition
    found = [_argument(entry, name, spec, "in") for name, spec in definition.inputs.items()]
    found += [_argument(entry, name, spec, "out") for name, spec in definition.outputs.items()]
    taken = {one.name for one in found}
    sizes = [name for name, axis in definition.axes.items() if not isinstance(axis, ConstAxis) and name not in taken]
    return [*found, *(Argument(name=name, dtype="int32", role="scalar", value=name) for name in sizes)]


def _argument(entry: FlashinferEntry, name: str, spec: TensorSpec, role: str) -> Argument:
    if spec.dtype not in KNOWN:
        raise CannotImport(f"{name}: {spec.dtype} is not a type of a task ({', '.join(KNOWN)})")
    if spec.shape is None:
        return Argument.model_validate(
            {"name": name, "dtype": spec.dtype, "role": "scalar", "value": _scalar(entry, name)}
        )
    recorded = [one for one in entry.workloads if name in one.workload.inputs]
    from_file = any(one.workload.inputs[name].type == "safetensors" for one in recorded)
    if role == "in" and spec.dtype.startswith("int") and from_file:
        raise CannotImport(f"{name}: recorded whole numbers, such as indices, cannot be made up")
    shape = spec.shape or ("1",)
    return Argument.model_validate({"name": name, "dtype": spec.dtype, "role": role, "shape": shape})


def _scalar(entry: FlashinferEntry, name: str) -> int | float:
    values = {one.workload.inputs[name].value for one in entry.workloads if name in one.workload.inputs}
    if len(values) != 1 or None in values:
        raise CannotImport(f"{name}: a task has one value for a scalar, the workloads have {len(values)}")
    (value,) = values
    assert value is not None
    return int(value) if isinstance(value, bool) else value


def _workloads(entry: FlashinferEntry, fixed: Mapping[str, int]) -> list[Workload]:
    sizes = list(dict.fromkeys(tuple(sorted({**fixed, **one.workload.axes}.items())) for one in entry.workloads))
    if not sizes:
        raise CannotImport("a task needs a workload, and the data set has none for this definition")
    known = set(entry.definition.axes)
    for one in sizes:
        if {name for name, _ in one} != known:
            raise CannotImport(
                f"a workload gives the axes {', '.join(name for name, _ in one)}, not all of the definition's"
            )
    chosen = sorted(sizes, key=_volume)[:MAX_WORKLOADS]
    return [Workload(name=f"w{at}", axes=dict(one), profile=at == len(chosen) - 1) for at, one in enumerate(chosen)]


def _axis(name: str, fixed: Mapping[str, int], workloads: Sequence[Workload]) -> Axis:
    if name in fixed:
        return Axis(name=name, min=fixed[name], max=fixed[name])
    smallest = min(one.axes[name] for one in workloads)
    return Axis(name=name, min=min(1, smallest))


def _reference(entry: FlashinferEntry) -> str:
    definition = entry.definition
    names = list(definition.inputs)
    calls = [
        f"given({name}, torch.{spec.dtype})" if spec.shape is not None else name
        for name, spec in definition.inputs.items()
    ]
    return _REFERENCE.format(
        name=definition.name,
        text=definition.reference.rstrip(),
        parameters=", ".join(names),
        calls=", ".join(calls),
        outputs=list(definition.outputs),
    )


def _volume(sizes: tuple[tuple[str, int], ...]) -> int:
    total = 1
    for _, value in sizes:
        total *= max(value, 1)
    return total
