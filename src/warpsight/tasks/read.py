"""Reads a task folder: task.toml, the kernels and reference.py, all checked before anything runs.

Whatever is wrong comes out as one TaskError that names the file, the key, the line where known, what was expected and
what came. Neither the kernel nor the reference is executed here. What must stay true: a Task that was read can be
generated, launched and compared for each of its workloads without another look at its files.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import NoReturn

from pydantic import ConfigDict, Field, ValidationError

from warpsight.errors import TaskError
from warpsight.nouns import Argument, Axis, Captured, GpuArch, Identifier, Noun, Task, TaskName, Tolerance, Workload
from warpsight.tasks.consistency import check_task
from warpsight.tasks.locate import line_of

MAX_FILE_BYTES = 1024 * 1024


class _Target(Noun):
    gpu: str = Field(min_length=1)
    arch: GpuArch


class _AxisBounds(Noun):
    min: int = 1
    max: int = 2**31 - 1
    multiple_of: int = 1


class _TaskFile(Noun):
    """task.toml as it is written."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: TaskName
    description: str = Field(min_length=1)
    kernel: str = Field(min_length=1)
    opencl: str = ""
    entry: Identifier
    reference: str = "reference.py"
    target: _Target
    axes: dict[str, _AxisBounds]
    arguments: list[Argument] = Field(min_length=1)
    tolerance: Tolerance
    workloads: list[Workload] = Field(min_length=1)
    captured: Captured | None = None


def read_task(path: Path | str) -> Task:
    """The task in a folder (or at its task.toml)."""
    given = Path(path)
    folder = given.parent if given.name == "task.toml" else given
    file = folder / "task.toml"
    text = _read_text(file, "task.toml", "run `warpsight new NAME` to start one")
    try:
        data = tomllib.loads(text)
    except RecursionError:
        raise TaskError(file=str(file), key="(syntax)", expected="TOML", found="values nested too deeply") from None
    except tomllib.TOMLDecodeError as error:
        raise TaskError(file=str(file), key="(syntax)", expected="TOML", found=str(error)) from None
    try:
        written = _TaskFile.model_validate(data)
    except ValidationError as error:
        _raise_first(error, file, text)
    task = Task(
        name=written.name,
        description=written.description,
        folder=folder,
        kernel_file=written.kernel,
        kernel=_read_beside(folder, written.kernel, "kernel", file, text),
        entry=written.entry,
        opencl_file=written.opencl,
        opencl=_read_beside(folder, written.opencl, "opencl", file, text) if written.opencl else "",
        reference_file=written.reference,
        reference=_read_beside(folder, written.reference, "reference", file, text),
        gpu=written.target.gpu,
        gpu_arch=written.target.arch,
        axes=tuple(_axis(name, bounds, file, text) for name, bounds in written.axes.items()),
        arguments=tuple(written.arguments),
        tolerance=written.tolerance,
        workloads=tuple(written.workloads),
        captured=written.captured,
    )
    check_task(task, text)
    return task


def _axis(name: str, bounds: _AxisBounds, file: Path, text: str) -> Axis:
    try:
        return Axis(name=name, **bounds.model_dump())
    except ValidationError as error:
        _raise_first(error, file, text, ("axes", name))


def _read_beside(folder: Path, name: str, key: str, file: Path, text: str) -> str:
    """A file of the task; it must lie in the task's own folder."""
    if Path(name).name != name or name in (".", ".."):
        line = line_of(text, [key])
        raise TaskError(file=str(file), key=key, expected="a file name in this folder", found=repr(name), line=line)
    return _read_text(folder / name, key, f"write it, or change `{key}` in {file}")


def _read_text(path: Path, key: str, hint: str) -> str:
    try:
        with path.open("rb") as stream:
            content = stream.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        found = error.strerror or "no such file"
        raise TaskError(file=str(path), key=key, expected="a readable file", found=found, hint=hint) from None
    if len(content) > MAX_FILE_BYTES:
        raise TaskError(file=str(path), key=key, expected=f"at most {MAX_FILE_BYTES} bytes", found="more")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise TaskError(file=str(path), key=key, expected="UTF-8 text", found=str(error)) from None


def _raise_first(error: ValidationError, file: Path, text: str, inside: tuple[str | int, ...] = ()) -> NoReturn:
    """The first complaint of the schema in our words."""
    first = error.errors(include_url=False)[0]
    path = [*inside, *first["loc"]]
    kind, value = first["type"], first["input"]
    line = line_of(text, path)
    if kind == "missing":
        expected, found = "this key", "none"
        line = line_of(text, path[:-1])
    elif kind == "extra_forbidden":
        expected, found = "only known keys", f"unknown key {str(path[-1])!r}"
    elif kind == "value_error":
        expected, found = "a consistent entry", first["msg"].removeprefix("Value error, ")
    else:
        expected, found = first["msg"][0].lower() + first["msg"][1:], repr(value)[:200]
    raise TaskError(file=str(file), key=_dotted(path), expected=expected, found=found, line=line) from None


def _dotted(path: list[str | int]) -> str:
    """`arguments[1].dtype`"""
    out = ""
    for part in path:
        out += f"[{part}]" if isinstance(part, int) else f".{part}" if out else part
    return out or "(file)"
