"""The records of flashinfer-trace as its documentation lays them out (Definition, Solution, Workload, Trace).

Fields we do not know are kept, so that what is read can be written back. Rules that the format states are held here:
shapes name axes, a reference has `run`, only a passed evaluation has a time.
"""

from __future__ import annotations

import ast
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from warpsight.nouns.base import require

Text = Annotated[str, Field(min_length=1)]


class FlashinferRecord(BaseModel):
    """Frozen, unknown fields kept, infinities as text because JSON has none."""

    model_config = ConfigDict(frozen=True, extra="allow", ser_json_inf_nan="strings")


class ConstAxis(FlashinferRecord):
    type: Literal["const"] = "const"
    value: int = Field(ge=0)
    description: str | None = None


class VarAxis(FlashinferRecord):
    type: Literal["var"] = "var"
    description: str | None = None


AnyAxis = Annotated[ConstAxis | VarAxis, Field(discriminator="type")]


class TensorSpec(FlashinferRecord):
    """A tensor by the names of its axes; `None` is a plain number."""

    shape: tuple[Text, ...] | None
    dtype: Text
    description: str | None = None


class Definition(FlashinferRecord):
    """What a kernel computes: axes, inputs, outputs, and a reference in PyTorch with a function `run`."""

    name: Text
    op_type: Text
    axes: dict[str, AnyAxis] = Field(min_length=1)
    inputs: dict[str, TensorSpec] = Field(min_length=1)
    outputs: dict[str, TensorSpec] = Field(min_length=1)
    reference: Text
    tags: tuple[str, ...] | None = None
    description: str | None = None
    constraints: tuple[str, ...] | None = None

    @model_validator(mode="before")
    @classmethod
    def _old_name_of_the_type(cls, data: Any) -> Any:
        """Early files say `type` where later ones say `op_type`."""
        if isinstance(data, dict) and "op_type" not in data and "type" in data:
            return {("op_type" if key == "type" else key): value for key, value in data.items()}  # pyright: ignore
        return data  # pyright: ignore[reportUnknownVariableType]

    @model_validator(mode="after")
    def _shapes_name_axes(self) -> Self:
        for name, spec in (*self.inputs.items(), *self.outputs.items()):
            for axis in spec.shape or ():
                require(axis in self.axes, f"{name}: its shape names {axis!r}, which is no axis")
        return self

    @model_validator(mode="after")
    def _reference_has_run(self) -> Self:
        try:
            tree = ast.parse(self.reference)
        except (SyntaxError, ValueError, RecursionError) as problem:
            raise ValueError(f"the reference is not Python: {problem}") from None
        names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
        require("run" in names, "the reference has no function `run`")
        return self


class SourceFile(FlashinferRecord):
    path: Text
    content: str


class BuildSpec(FlashinferRecord):
    language: Text
    target_hardware: tuple[Text, ...] = Field(min_length=1)
    entry_point: Annotated[str, Field(pattern=r"^[^:]+::[^:]+$")]
    dependencies: tuple[str, ...] | None = None
    destination_passing_style: bool = True
    binding: str | None = None


class Solution(FlashinferRecord):
    """One implementation of a definition, with all of its files."""

    name: Text
    definition: Text
    author: Text
    spec: BuildSpec
    sources: tuple[SourceFile, ...] = Field(min_length=1)
    description: str | None = None

    @model_validator(mode="after")
    def _entry_is_there(self) -> Self:
        paths = [source.path for source in self.sources]
        require(len(set(paths)) == len(paths), "two sources have the same path")
        entry = self.spec.entry_point.partition("::")[0]
        require(entry in paths, f"the entry file {entry!r} is not among the sources")
        return self


class InputSpec(FlashinferRecord):
    """Where an input comes from: random numbers, a plain number, or a recorded file."""

    type: Literal["random", "scalar", "safetensors"]
    value: int | float | bool | None = None
    path: str | None = None
    tensor_key: str | None = None


class FlashinferWorkload(FlashinferRecord):
    axes: dict[str, Annotated[int, Field(ge=0)]]
    inputs: dict[str, InputSpec]
    uuid: Text


class FlashinferEvaluation(FlashinferRecord):
    """How a solution did on a workload; only a passed one has a time."""

    status: Literal[
        "PASSED",
        "INCORRECT_SHAPE",
        "INCORRECT_NUMERICAL",
        "INCORRECT_DTYPE",
        "RUNTIME_ERROR",
        "COMPILE_ERROR",
        "TIMEOUT",
    ]
    environment: dict[str, Any]
    timestamp: Text
    log: str = ""
    correctness: dict[str, Any] | None = None
    performance: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _numbers_belong_to_the_status(self) -> Self:
        passed, near = self.status == "PASSED", self.status == "INCORRECT_NUMERICAL"
        require(passed == (self.performance is not None), f"{self.status} and performance do not belong together")
        require(
            (passed or near) == (self.correctness is not None), f"{self.status} and correctness do not belong together"
        )
        return self


class FlashinferTrace(FlashinferRecord):
    """A workload of a definition; with a solution and its evaluation where it was run."""

    definition: Text
    workload: FlashinferWorkload
    solution: str | None = None
    evaluation: FlashinferEvaluation | None = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        require((self.solution is None) == (self.evaluation is None), "a solution and its evaluation come together")
        return self
