"""The types of numbers a task may declare, and what is known of the floats among them.

bfloat16 and the two 8-bit floats come from `ml_dtypes`, which makes NumPy know them by name once it is imported: the
package `tasks` does that. Records alone need neither. NumPy calls some of them void, so nobody may ask an array's
`dtype.kind` whether it holds floats: ask here. `float8_e4m3fn` is what CUDA calls `__nv_fp8_e4m3`: it has NaN and no
infinity.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, cast, get_args

from pydantic import BeforeValidator

if TYPE_CHECKING:
    import numpy as np

ALIASES = {
    "bf16": "bfloat16", "float8_e4m3": "float8_e4m3fn", "fp8_e4m3": "float8_e4m3fn", "fp8_e5m2": "float8_e5m2",
}  # fmt: skip


def _plain(value: object) -> object:
    return ALIASES.get(value, value) if isinstance(value, str) else value


_Name = Literal[
    "float16", "bfloat16", "float32", "float64", "float8_e4m3fn", "float8_e5m2",
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
]  # fmt: skip
DType = Annotated[_Name, BeforeValidator(_plain)]
DTYPES: tuple[str, ...] = get_args(_Name)
_FLOATS = ("float16", "bfloat16", "float32", "float64", "float8_e4m3fn", "float8_e5m2")


class FloatInfo(NamedTuple):
    """What a float type holds. `eps` is the distance from 1 to the next larger number."""

    eps: float
    bits: int  # of the mantissa, without the one that is not stored
    least_exponent: int
    most: float
    smallest_normal: float
    smallest_subnormal: float


def is_float(dtype: str | np.dtype[Any]) -> bool:
    """Whether a type, by name or as NumPy has it, is one of the floats of a task."""
    return (dtype if isinstance(dtype, str) else dtype.name) in _FLOATS


def wire_dtype(array: np.ndarray) -> str:
    """A type that plain NumPy knows and that has the same bytes: a worker without `ml_dtypes` passes them on."""
    plain = array.dtype.kind != "V" and not array.dtype.name.startswith("float8")
    return array.dtype.str if plain else f"<u{array.dtype.itemsize}"


def float_info(dtype: str | np.dtype[Any]) -> FloatInfo:
    import ml_dtypes
    import numpy as np

    info = cast(Any, ml_dtypes.finfo(np.dtype(dtype)))
    return FloatInfo(
        float(info.eps), int(info.nmant), int(info.minexp), float(info.max), float(info.smallest_normal),
        float(info.smallest_subnormal),
    )  # fmt: skip
