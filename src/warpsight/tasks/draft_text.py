"""A drafted task as the files of its folder: sizes to try, tolerances by type, and what says which results are right.

That is the kernel itself as it was given (`original.cu`), unless a reference in NumPy is wanted. What must stay true:
the files can be read as a task; a reference that nobody has written yet says so when it is called.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from warpsight.nouns.dtypes import is_float
from warpsight.nouns.task import python_name
from warpsight.tasks.draft import DraftedArgument, TaskDraft
from warpsight.tasks.scaffold import require_new_folder, write_files

# Sizes for one, two, and three or more axes. The hidden ones are primes and the smallest there are.
SHOWN = {1: (1000, 1 << 20), 2: (64, 1024), 3: (24, 128)}
HIDDEN = {1: (4099, 257, 1), 2: (67, 33, 1), 3: (23, 11, 1)}
TOLERANCES = {"float64": 1e-9, "float32": 1e-4, "float16": 1e-2, "bfloat16": 2e-2}
LOOSEST = 5e-2
ORIGINAL, PYTHON = "original.cu", "reference.py"


def write_draft(
    folder: Path, name: str, draft: TaskDraft, reference: str | None = None, *, numpy: bool = False
) -> tuple[str, ...]:
    """Write the task into a new folder; the names of its files. `reference` is a text in Python; with `numpy` and
    without one, a frame for it is written."""
    require_new_folder(folder, name)
    kernel = draft.kernel if draft.kernel.endswith("\n") else draft.kernel + "\n"
    in_python = reference is not None or numpy
    law = {PYTHON: reference or _reference(draft)} if in_python else {ORIGINAL: kernel}
    (file,) = law
    files = {"task.toml": "\n".join(_toml(name, draft, file)) + "\n", "kernel.cu": kernel, **law}
    write_files(folder, files)
    return tuple(files)


def _toml(name: str, draft: TaskDraft, reference: str) -> Iterator[str]:
    floats = [one.dtype for one in draft.arguments if one.role in ("out", "inout") and is_float(one.dtype)]
    tolerance = max((TOLERANCES.get(dtype, LOOSEST) for dtype in floats), default=0.0)
    yield f'name = "{name}"'
    yield f'description = "what {draft.entry} computes"  # one sentence; a model reads it'
    yield 'kernel = "kernel.cu"'
    yield f'reference = "{reference}"  # says which results are right'
    yield f'entry = "{draft.entry}"'
    yield '\n[target]\ngpu = "a100"\narch = "sm_80"\n'
    yield "# Sizes that vary. Each workload below gives every axis a value within these bounds."
    yield "[axes]"
    yield from (f"{axis} = {{ min = 1, max = 67108864 }}" for axis in draft.axes)
    yield "\n# The parameters of the kernel, in order. Shapes are lists of expressions over the axes."
    for one in draft.arguments:
        yield from _argument(one)
    yield "# |got - expected| <= atol + rtol * |expected|, against the reference."
    yield f"[tolerance]\nrtol = {tolerance:g}\natol = {tolerance / 10:g}\n"
    yield from _workloads(draft.axes)


def _argument(one: DraftedArgument) -> Iterator[str]:
    yield f'[[arguments]]\nname = "{one.name}"\ndtype = "{one.dtype}"'
    if one.role != "scalar":
        yield "shape = [" + ", ".join(f'"{part}"' for part in one.shape) + "]"
    yield f'role = "{one.role}"'
    if one.role == "scalar":
        guess = f"value = {0.75 if is_float(one.dtype) else 1}  # change it to what you call the kernel with"
        yield f'value = "{one.name}"' if one.axis else guess
    elif one.role in ("in", "inout") and not is_float(one.dtype):
        yield 'fill = "integers"\nlow = 0\nhigh = 100'
    yield ""


def _workloads(axes: tuple[str, ...]) -> Iterator[str]:
    kind = min(len(axes), 3)
    for number, size in enumerate(SHOWN[kind]):
        yield f'[[workloads]]\nname = "{"profile" if number else "small"}"'
        yield f"axes = {{ {', '.join(f'{axis} = {size}' for axis in axes)} }}"
        yield "profile = true\n" if number else ""
    yield "# Hidden workloads are never shown to a model: other sizes, primes, edges."
    for size in HIDDEN[kind]:
        yield f'[[workloads]]\nname = "hidden-{size}"'
        yield f"axes = {{ {', '.join(f'{axis} = {size}' for axis in axes)} }}\nhidden = true\n"


def _reference(draft: TaskDraft) -> str:
    given = [one for one in draft.arguments if one.role in ("in", "inout", "scalar")]
    written = [one.name for one in draft.arguments if one.role in ("out", "inout")]
    parameters = ", ".join(f"{python_name(one.name)}: {_python_type(one)}" for one in given)
    gives = written[0] if len(written) == 1 else f"a tuple ({', '.join(written)})"
    return (
        f"import numpy as np\n\n\ndef reference({parameters}):\n"
        f'    """Return {gives}, as the kernel must compute it; arrays have the shapes of task.toml."""\n'
        f'    raise NotImplementedError("write here in NumPy what {draft.entry} computes")\n'
    )


def _python_type(one: DraftedArgument) -> str:
    return "np.ndarray" if one.role != "scalar" else "float" if is_float(one.dtype) else "int"
