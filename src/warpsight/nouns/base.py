"""What all records share: frozen, no unknown fields, exact in JSON; and the types of their fields."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Identifier = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=128)]
TaskName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]*$", max_length=64)]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
GpuArch = Annotated[str, StringConstraints(pattern=r"^(sm|compute)_[0-9]{2,3}[af]?$")]
Count = Annotated[int, Field(ge=0)]
Dim3 = tuple[int, int, int]
Number = int | float | str  # a str is an expression over the axes
Source = Literal["measured", "simulated", "replayed"]
Language = Literal["cuda", "opencl", "triton"]
Trust = Literal["kernel", "host_code"]
"""How far a result can be trusted to be of the candidate's text. `kernel`: nothing of the candidate ran on the host.
`host_code`: its own Python ran, jailed, to make the program, and could have made another than its text shows."""
HOST_CODE_NOTE = "lower trust (host_code): the candidate's own Python made this program, in the jail"
Fill = Literal[
    "normal", "uniform", "integers", "index", "permutation", "csr_rows", "zeros", "ones", "constant", "recorded",
    "resampled",
]  # fmt: skip


class Noun(BaseModel):
    """What all records share: they do not change and have no unknown fields."""

    # A command uses a few of the many records: each is worked out at its first use and not when it is imported.
    model_config = ConfigDict(
        frozen=True, extra="forbid", ser_json_bytes="base64", val_json_bytes="base64", ser_json_inf_nan="strings",
        defer_build=True,
    )  # fmt: skip


def trust_field() -> Any:
    """A `trust` that is written only where it is not the usual one, so records from before it keep their hashes."""
    return Field(default="kernel", exclude_if=_is_usual)


def later_field() -> Any:
    """A field that came later: written only where it has a value, so records from before it keep their hashes."""
    return Field(default=None, exclude_if=_is_none)


def _is_none(value: object) -> bool:
    return value is None


def _is_usual(trust: object) -> bool:
    return trust == "kernel"


def require(condition: bool, message: str) -> None:
    if not condition:
        raise ValueError(message)
