"""A task and the candidates for it: texts, sizes, arguments, tolerance, launch."""

from __future__ import annotations

import hashlib
import keyword
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from warpsight.nouns.base import (
    Dim3,
    Fill,
    GpuArch,
    Identifier,
    Language,
    Noun,
    Number,
    Sha256,
    TaskName,
    later_field,
    require,
)
from warpsight.nouns.dtypes import DType


class Axis(Noun):
    """A named size. Every workload gives it one value inside these bounds."""

    name: Identifier
    min: int = Field(default=1, ge=0)
    max: int = Field(default=2**31 - 1, ge=0)
    multiple_of: int = Field(default=1, ge=1)

    @model_validator(mode="after")
    def _bounds(self) -> Self:
        require(self.min <= self.max, f"axis {self.name}: min {self.min} is greater than max {self.max}")
        return self


def python_name(name: str) -> str:
    return f"{name}_" if keyword.iskeyword(name) else name


class Argument(Noun):
    """One parameter of the kernel, in call order. `fill`, `low` and `high` say how inputs are generated.

    `scratch` memory starts as its constant fill in every launch, and what a kernel leaves in it is nobody's business.
    `value` is that of a scalar, or of every element where `fill` is constant. `high` is exclusive for integers and
    indices, and the last row pointer for csr_rows. `recorded` names contents that were recorded from a program, by
    their hash: workloads that are recorded begin with them; fill `recorded` keeps them in all workloads, `resampled`
    draws from them.
    """

    name: Identifier
    dtype: DType
    role: Literal["in", "out", "inout", "scratch", "scalar"]
    shape: tuple[str, ...] = ()
    value: Number | None = None
    fill: Fill | None = None
    low: Number | None = None
    high: Number | None = None
    recorded: Sha256 | None = later_field()

    @property
    def python_name(self) -> str:
        """What a reference or a Triton kernel calls it: `in` is a name in C and a keyword in Python, so `in_` there."""
        return python_name(self.name)

    @model_validator(mode="after")
    def _shape_and_value_fit_the_role(self) -> Self:
        if self.role == "scalar":
            require(self.shape == (), f"argument {self.name}: a scalar has no shape, found {list(self.shape)}")
            require(self.value is not None, f"argument {self.name}: a scalar needs a value")
        else:
            require(self.shape != (), f"argument {self.name}: role {self.role!r} needs a shape, a list of expressions")
            constant = self.fill == "constant"
            require(
                constant or self.value is None, f"argument {self.name}: only scalars and constant fills have a value"
            )
            require(not constant or self.value is not None, f"argument {self.name}: fill 'constant' needs a value")
        if self.role == "scratch":
            constant = self.fill in (None, "zeros", "ones", "constant")
            require(
                constant, f"argument {self.name}: scratch is filled with zeros, ones or a constant, not {self.fill}"
            )
        if self.fill in ("recorded", "resampled"):
            require(self.recorded is not None, f"argument {self.name}: fill {self.fill!r} needs `recorded`, a hash")
        if self.role in ("out", "scalar"):
            given = [key for key in ("fill", "low", "high", "recorded") if getattr(self, key) is not None]
            require(not given, f"argument {self.name}: role {self.role!r} takes no {', '.join(given)}")
        return self


def _is_off(strict: object) -> bool:
    """Written only where it is asked for, so records from before it keep their hashes."""
    return strict is False


class Tolerance(Noun):
    """An element is right when |got - expected| <= atol + rtol * |expected|. Integers are compared exactly.

    `strict` asks for more where inputs are not the declared ones: errors in proportion to each element's conditioning.
    """

    rtol: float = Field(ge=0, allow_inf_nan=False)
    atol: float = Field(ge=0, allow_inf_nan=False)
    strict: bool = Field(default=False, exclude_if=_is_off)


def _is_not_set(flag: object) -> bool:
    return flag is False


class Workload(Noun):
    """One size of the problem. Hidden ones are never shown to a model; `profile` marks the one that is profiled.

    With `recorded`, arguments that have recorded contents begin with them.
    """

    name: TaskName
    axes: Mapping[str, int]
    hidden: bool = False
    profile: bool = False
    recorded: bool = Field(default=False, exclude_if=_is_not_set)

    @model_validator(mode="after")
    def _profiled_is_visible(self) -> Self:
        require(not (self.hidden and self.profile), f"workload {self.name}: a profiled workload cannot be hidden")
        return self


class Launch(Noun):
    """Grid (in blocks), block and dynamic shared bytes as expressions over the axes; the same for both languages."""

    grid: tuple[str, str, str]
    block: tuple[str, str, str]
    shared: str = "0"


def kernel_id(text: str) -> str:
    """The short name of a kernel, from its content."""
    return "c" + hashlib.sha256(text.encode()).hexdigest()[:6]


class Candidate(Noun):
    """One kernel text. Its launch and options were read from its own first lines."""

    source: str
    language: Language = "cuda"
    launch: Launch
    options: tuple[str, ...] = ()
    sha256: Sha256

    @model_validator(mode="after")
    def _hash_is_of_the_source(self) -> Self:
        found = hashlib.sha256(self.source.encode()).hexdigest()
        require(self.sha256 == found, f"sha256 is not that of the source: given {self.sha256}, computed {found}")
        return self


class Captured(Noun):
    """Where a task comes from that was captured: one launch of a kernel in a program. `arguments` are the program's."""

    program: str
    arguments: tuple[str, ...] = ()
    file: str
    line: int | None = None
    kernel: str
    launch: int = Field(ge=1)
    grid: Dim3
    block: Dim3
    shared_bytes: int = 0
    date: str


class Task(Noun):
    """A kernel to make faster: what it computes, on what, how exactly. `kernel` and `reference` are texts.

    `opencl` is the text of the same kernel in OpenCL C, for tasks that give one; else it and its file name are empty.
    A reference that is a `.cu` file is a kernel itself, the one that was captured: see gate/original.py.
    """

    name: TaskName
    description: str
    folder: Path
    kernel_file: str
    kernel: str
    entry: Identifier
    opencl_file: str = ""
    opencl: str = ""
    reference_file: str
    reference: str
    gpu: str
    gpu_arch: GpuArch
    axes: tuple[Axis, ...]
    arguments: tuple[Argument, ...]
    tolerance: Tolerance
    workloads: tuple[Workload, ...]
    captured: Captured | None = later_field()
