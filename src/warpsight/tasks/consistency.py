"""Whether the parts of a task agree: names, shapes, workloads, kernel parameters, launch, reference.

The schema of each record is checked where it is built; here are the rules between records. Every rule raises a
TaskError with the key it is about. Sizes are tried with each workload's real numbers, nothing is allocated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NoReturn

import numpy as np

from warpsight.errors import TaskError
from warpsight.nouns import Argument, Axis, Language, Task, Workload
from warpsight.nouns.task import python_name
from warpsight.tasks import triton_header
from warpsight.tasks.candidate import evaluate_launch, read_candidate
from warpsight.tasks.expressions import RESERVED_NAMES, ExpressionError, parse_expression
from warpsight.tasks.inputs import default_fill, generate_argument
from warpsight.tasks.locate import line_of
from warpsight.tasks.reference import REFERENCE_FUNCTION, is_kernel
from warpsight.tasks.shapes import is_not_finite, scalar_of, shape_of
from warpsight.tasks.signature import has_c_linkage, kernel_parameters, reference_parameters

Fail = Callable[[Sequence[str | int], str, str, str], NoReturn]


def check_task(task: Task, toml_text: str) -> None:
    """Raise the first disagreement; `toml_text` is only used to say on which line it stands."""
    file = str(task.folder / "task.toml")

    def fail(path: Sequence[str | int], key: str, expected: str, found: str) -> NoReturn:
        raise TaskError(file=file, key=key, expected=expected, found=found, line=line_of(toml_text, path))

    _check_names(task, fail)
    _check_workload_set(task, fail)
    for at, workload in enumerate(task.workloads):
        _check_axis_values(task.axes, workload, at, fail)
    for at, argument in enumerate(task.arguments):
        _check_argument(task, argument, at, fail)
    if task.kernel_file.endswith(".py"):
        _check_triton(task)
    else:
        _check_kernel(task, task.kernel, task.kernel_file, "cuda")
    if task.opencl_file:
        _check_kernel(task, task.opencl, task.opencl_file, "opencl")
    if is_kernel(task.reference_file):
        _check_kernel(task, task.reference, task.reference_file, "cuda")
    else:
        _check_reference(task)


def _duplicate(names: Iterable[str]) -> tuple[int, str] | None:
    seen: set[str] = set()
    for at, name in enumerate(names):
        if name in seen:
            return at, name
        seen.add(name)
    return None


def _check_names(task: Task, fail: Fail) -> None:
    named = {"arguments": [a.name for a in task.arguments], "workloads": [w.name for w in task.workloads]}
    for key, names in named.items():
        if (twice := _duplicate(names)) is not None:
            fail([key, twice[0], "name"], f"{key}[{twice[0]}].name", "a name of its own", f"a second {twice[1]!r}")
    axes = {axis.name for axis in task.axes}
    for name in sorted(axes & RESERVED_NAMES):
        fail(["axes", name], f"axes.{name}", f"a name other than {', '.join(sorted(RESERVED_NAMES))}", repr(name))
    for at, argument in enumerate(task.arguments):
        # `int N` next to axis N is what kernels look like; anything else by that name would mean two things.
        if argument.name in axes and not (argument.role == "scalar" and argument.value == argument.name):
            expected = f'a name that is no axis, or a scalar with value = "{argument.name}"'
            fail(["arguments", at, "name"], f"arguments[{at}].name", expected, repr(argument.name))
    for at, argument in enumerate(task.arguments):
        if argument.python_name != argument.name and any(a.name == argument.python_name for a in task.arguments):
            expected = f"no argument {argument.python_name}: a reference calls {argument.name} so"
            fail(["arguments", at, "name"], f"arguments[{at}].name", expected, f"{argument.name} and {argument.name}_")
    if not any(argument.role in ("out", "inout") for argument in task.arguments):
        fail(["arguments"], "arguments", "at least one with role out or inout", "none")


def _check_workload_set(task: Task, fail: Fail) -> None:
    hidden = sum(workload.hidden for workload in task.workloads)
    if hidden == 0:
        fail(["workloads"], "workloads", "at least one with hidden = true", "none")
    if hidden == len(task.workloads):
        fail(["workloads"], "workloads", "at least one that is not hidden", "none")
    profiled = [at for at, workload in enumerate(task.workloads) if workload.profile]
    if len(profiled) > 1:
        at = profiled[1]
        expected, found = "at most one workload with profile = true", f"{len(profiled)}"
        fail(["workloads", at, "profile"], f"workloads[{at}].profile", expected, found)


def _check_axis_values(axes: Sequence[Axis], workload: Workload, at: int, fail: Fail) -> None:
    key, path = f"workloads[{at}].axes", ["workloads", at, "axes"]
    for axis in axes:
        if axis.name not in workload.axes:
            fail(path, f"{key}.{axis.name}", f"a value for axis {axis.name}", "none")
        value = workload.axes[axis.name]
        if not axis.min <= value <= axis.max or value % axis.multiple_of:
            allowed = f"{axis.min} to {axis.max}"
            allowed += f", a multiple of {axis.multiple_of}" if axis.multiple_of > 1 else ""
            fail(path, f"{key}.{axis.name}", allowed, str(value))
    for name in workload.axes:
        if name not in {axis.name for axis in axes}:
            fail(path, f"{key}.{name}", f"one of the axes {', '.join(a.name for a in axes)}", repr(name))


def _check_argument(task: Task, argument: Argument, at: int, fail: Fail) -> None:
    names = frozenset(axis.name for axis in task.axes)
    texts = [(f"shape[{i}]", "shape", text) for i, text in enumerate(argument.shape)]
    for key in ("value", "low", "high"):
        value = getattr(argument, key)
        if isinstance(value, str) and not (is_not_finite(value) and value not in names):
            texts.append((key, key, value))
    for shown, key, text in texts:
        try:
            parse_expression(text, names)
        except ExpressionError as error:
            fail(["arguments", at, key], f"arguments[{at}].{shown}", error.expected, error.found)
    for workload in task.workloads:
        try:
            _try_sizes(argument, workload)
        except ExpressionError as error:
            found = f"{error.found} (argument {argument.name}, workload {workload.name})"
            fail(["arguments", at], f"arguments[{at}]", error.expected, found)


def _try_sizes(argument: Argument, workload: Workload) -> None:
    """What generating this argument would refuse, found on a one-element array where that is enough."""
    if argument.role == "scalar":
        scalar_of(argument, workload.axes)
        return
    shape = shape_of(argument, workload.axes)
    if argument.role == "out":
        return
    fill = argument.fill or default_fill(argument)
    if fill in ("recorded", "resampled"):
        return  # looked at when it is read, and compared with its hash
    if fill in ("permutation", "csr_rows"):
        if int(np.prod(shape)) <= 1_000_000:
            generate_argument(argument, workload.axes, 0)
    elif int(np.prod(shape)) > 0:
        generate_argument(argument.model_copy(update={"shape": ("1",)}), workload.axes, 0)


def _check_kernel(task: Task, source: str, name: str, language: Language) -> None:
    file = str(task.folder / name)
    parameters = kernel_parameters(source, task.entry, language)
    if parameters is None:
        declared = "__kernel" if language == "opencl" else 'extern "C" __global__'
        expected = f"{declared} void {task.entry}(...)"
        raise TaskError(file=file, key="entry", expected=expected, found="no kernel of that name")
    if language == "cuda" and not has_c_linkage(source):
        raise TaskError(file=file, key="entry", expected='extern "C" before __global__', found='no extern "C"')
    names = [name for name, _ in parameters]
    wanted = [argument.name for argument in task.arguments]
    if names != wanted:
        expected = f"the parameters {', '.join(wanted)} (the arguments in order)"
        raise TaskError(file=file, key=f"{task.entry}()", expected=expected, found=", ".join(names) or "none")
    for (name, is_pointer), argument in zip(parameters, task.arguments, strict=True):
        if is_pointer == (argument.role == "scalar"):
            expected = "a value" if argument.role == "scalar" else "a pointer"
            found = "a pointer" if is_pointer else "a value"
            raise TaskError(file=file, key=f"{task.entry}({name})", expected=expected, found=found)
    candidate = read_candidate(source, task, file, language)
    for workload in task.workloads:
        evaluate_launch(candidate, workload.axes, file)


def _check_triton(task: Task) -> None:
    file = str(task.folder / task.kernel_file)
    try:
        found = triton_header.kernel_parameters(task.kernel, task.entry)
    except SyntaxError as error:
        found_text = str(error.msg)
        raise TaskError(file=file, key="entry", expected="Python", found=found_text, line=error.lineno) from None
    if found is None:
        expected = f"`@triton.jit def {task.entry}(...)` at the top level"
        raise TaskError(file=file, key="entry", expected=expected, found="no function of that name")
    wanted = [argument.python_name for argument in task.arguments]
    if found[0] != wanted:
        expected = f"the parameters {', '.join(wanted)} (the arguments in order), then tl.constexpr ones"
        raise TaskError(file=file, key=f"{task.entry}()", expected=expected, found=", ".join(found[0]) or "none")
    candidate = read_candidate(task.kernel, task, file, "triton")
    for workload in task.workloads:
        evaluate_launch(candidate, workload.axes, file)


def _check_reference(task: Task) -> None:
    file = str(task.folder / task.reference_file)
    key = f"{REFERENCE_FUNCTION}()"
    try:
        found = reference_parameters(task.reference, REFERENCE_FUNCTION)
    except SyntaxError as error:
        raise TaskError(file=file, key=key, expected="Python", found=str(error.msg), line=error.lineno) from None
    except ValueError as error:
        raise TaskError(file=file, key=key, expected="named parameters", found=str(error)) from None
    if found is None:
        expected = f"a function `def {REFERENCE_FUNCTION}(...)` at the top level"
        raise TaskError(file=file, key=key, expected=expected, found="none")
    names, line = found
    known = {python_name(axis.name) for axis in task.axes}
    known |= {a.python_name for a in task.arguments if a.role not in ("out", "scratch")}
    needed = [a.python_name for a in task.arguments if a.role in ("in", "inout")]
    for name in names:
        if name not in known:
            expected = f"parameters among {', '.join(sorted(known))}"
            raise TaskError(file=file, key=key, expected=expected, found=f"parameter {name!r}", line=line)
    missing = [name for name in needed if name not in names]
    if missing:
        raise TaskError(
            file=file, key=key, expected=f"the inputs {', '.join(needed)}", found=f"no {', '.join(missing)}", line=line
        )
