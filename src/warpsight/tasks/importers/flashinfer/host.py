"""The Python that goes with a task when it is written as flashinfer-trace: a reference for tensors, and a launcher.

Texts only; nothing is run here. The launcher follows cuda-core's documented interface and was not run on a GPU by us.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from warpsight.errors import UsageError
from warpsight.nouns import Argument, Candidate, Task

END_OF_REFERENCE = "# --- end of reference.py; below, the same for PyTorch tensors (written by warpsight)"

_RUN = """
import inspect as _inspect

import numpy as _np
import torch as _torch


def _plain(value):
    if not isinstance(value, _torch.Tensor):
        return value
    array = value.detach().cpu().numpy()
    return array.astype(_np.float64) if array.dtype.kind == "f" else array


def run({parameters}):
    values = {{name: _plain(value) for name, value in {given}.items()}}
    values.update({axes})
    wanted = _inspect.signature(reference).parameters
    found = reference(**{{name: values[name] for name in wanted}})
    found = found if isinstance(found, dict) else {{{only!r}: found}}
    device = next((one.device for one in {given}.values() if isinstance(one, _torch.Tensor)), "cpu")
    outputs = [
        _torch.from_numpy(_np.ascontiguousarray(found[name]).astype(dtype)).to(device)
        for name, dtype in {outputs!r}
    ]
    return outputs[0] if len(outputs) == 1 else tuple(outputs)
"""

_LAUNCH = '''"""Compiles and launches kernel.cu as its first line says. Written by warpsight, not run on a GPU by us."""

from fractions import Fraction
from math import ceil, floor
from pathlib import Path

import numpy as np
import torch
from cuda.bindings import driver
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

ENTRY = {entry!r}
OPTIONS = {options!r}
_kernels = {{}}


def cdiv(a, b):
    return ceil(Fraction(a) / b)


def kernel(device):
    if device.device_id not in _kernels:
        text = Path(__file__).with_name("kernel.cu").read_text()
        options = ProgramOptions(arch=f"sm_{{device.arch}}", **OPTIONS)
        _kernels[device.device_id] = Program(text, code_type="c++", options=options).compile("cubin").get_kernel(ENTRY)
    return _kernels[device.device_id]


def allow_shared(code, device, size):
    attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    (status,) = driver.cuKernelSetAttribute(attribute, size, code.handle, device.device_id)
    if int(status) != 0:
        raise RuntimeError(f"the GPU does not give a block {{size}} bytes of shared memory: {{status}}")


def run({parameters}):
    {axes}
    {made}
    where = torch.cuda.current_device()
    device = Device(where)
    device.set_current()
    stream = device.create_stream()
    torch.cuda.synchronize(where)
    grid = tuple(int(one) for one in {grid})
    block = tuple(int(one) for one in {block})
    shared = int({shared})
    code = kernel(device)
    if shared:
        allow_shared(code, device, shared)
    config = LaunchConfig(grid=grid, block=block, shmem_size=shared)
    launch(stream, config, code, {arguments})
    stream.sync()
    return {returned}
'''
# Options of a candidate as fields of cuda-core's ProgramOptions.
_SWITCHES = {
    "use_fast_math": "use_fast_math",
    "restrict": "restrict",
    "extra-device-vectorization": "extra_device_vectorization",
    "device-as-default-execution-space": "device_as_default_execution_space",
    "default-device": "device_as_default_execution_space",
}
_TRUE_OR_FALSE = {"fmad": "fma", "ftz": "ftz", "prec-div": "prec_div", "prec-sqrt": "prec_sqrt"}


def reference_text(task: Task, unbound: Sequence[str]) -> str:
    """The task's reference, and a `run` over tensors that calls it."""
    names = _inputs(task, unbound)
    outputs = [(one.name, one.dtype) for role in ("out", "inout") for one in task.arguments if one.role == role]
    given = "{" + ", ".join(f"{name!r}: {name}" for name in names) + "}"
    axes = "{" + ", ".join(f"{name!r}: int({value})" for name, value in _axes(task, unbound).items()) + "}"
    body = _RUN.format(parameters=", ".join(names), given=given, axes=axes, only=outputs[0][0], outputs=outputs)
    return f"{task.reference.rstrip()}\n\n\n{END_OF_REFERENCE}\n{body}"


def original_reference(text: str) -> str | None:
    """The reference of the task in a text that was written here; None for any other text."""
    before, marker, _ = text.partition(END_OF_REFERENCE)
    return before.rstrip() + "\n" if marker else None


def _made(argument: Argument) -> str:
    """The line that makes the tensor that a launch writes to."""
    if argument.role == "inout":
        return f"{argument.name} = {argument.name}.clone()"
    shape = f"[int(n) for n in ({', '.join(argument.shape)},)]"
    how = f"dtype=torch.{argument.dtype}, device='cuda'"
    if argument.role == "out":
        return f"{argument.name} = torch.empty({shape}, {how})"
    start = {"ones": "1", "constant": str(argument.value)}.get(argument.fill or "", "0")
    return f"{argument.name} = torch.full({shape}, {start}, {how})"


def solution_text(task: Task, candidate: Candidate, unbound: Sequence[str]) -> str:
    """The host side of one kernel: sizes from the tensors, outputs made, one launch."""
    axes = [f"{name} = Fraction({value})" for name, value in _axes(task, unbound).items()]
    made = [_made(one) for one in task.arguments if one.role in ("out", "inout", "scratch")]
    arguments = [
        f"{one.name}.data_ptr()" if one.role != "scalar" else f"np.{one.dtype}({_scalar(one.name, one.value)})"
        for one in task.arguments
    ]
    returned = [one.name for one in task.arguments if one.role == "out"]
    returned += [one.name for one in task.arguments if one.role == "inout"]
    launch = candidate.launch
    return _LAUNCH.format(
        entry=task.entry,
        options=program_options(candidate.options),
        parameters=", ".join(_inputs(task, unbound)),
        axes="\n    ".join(axes),
        made="\n    ".join(made),
        grid=f"({', '.join(launch.grid)})",
        block=f"({', '.join(launch.block)})",
        shared=launch.shared,
        arguments=", ".join(arguments),
        returned=", ".join(returned),
    )


def program_options(options: Sequence[str]) -> dict[str, Any]:
    """Compile options as arguments of ProgramOptions; one that it has no field for is refused by name."""
    found: dict[str, Any] = {"std": "c++17"}
    macros: list[str | tuple[str, str]] = []
    for option in options:
        name, equals, value = option.removeprefix("-D").partition("=")
        word = name.lstrip("-")
        if option.startswith("-D") and name:
            macros.append((name, value) if equals else name)
        elif word in _SWITCHES and not equals:
            found[_SWITCHES[word]] = True
        elif word in _TRUE_OR_FALSE and value in ("true", "false"):
            found[_TRUE_OR_FALSE[word]] = value == "true"
        elif word == "maxrregcount" and value.isdecimal():
            found["max_register_count"] = int(value)
        elif word == "std" and value:
            found["std"] = value
        else:
            raise UsageError(f"expected compile options that cuda-core takes, {option!r} is none")
    return found | ({"define_macro": macros} if macros else {})


def _inputs(task: Task, unbound: Sequence[str]) -> list[str]:
    """The parameters of `run`, in the order of the definition's inputs."""
    names = [one.name for one in task.arguments if one.role in ("in", "inout")]
    names += [name for name in unbound if name not in names]
    return names + [one.name for one in task.arguments if one.role == "scalar" and one.name not in names]


def _axes(task: Task, unbound: Sequence[str]) -> dict[str, str]:
    """Where each axis of the task is read from: an extent of an input, or the number that was passed."""
    found: dict[str, str] = {}
    for one in task.arguments:
        for at, extent in enumerate(one.shape):
            if one.role in ("in", "inout"):
                found.setdefault(extent, f"{one.name}.shape[{at}]")
    return {axis.name: axis.name if axis.name in unbound else found[axis.name] for axis in task.axes}


def _scalar(name: str, value: object) -> str:
    """A scalar that is an expression is worked out from the axes; a plain number was passed under its name."""
    return f"int({value})" if isinstance(value, str) else name
