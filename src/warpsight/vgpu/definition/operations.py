"""The registry of pure operations and how one is evaluated: operands by the signature in ops.def, results back by it.

A pure operation is a function of its operand values only, one function per name (two when integers and floats differ).
Two 16-bit parts in one row (F16X2 ...) are evaluated as two operations on the parts; this is the only place that knows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from warpsight.errors import UnsupportedInstruction
from warpsight.vgpu.bytecode import OPS, T
from warpsight.vgpu.definition.lanes import FLOAT_TYPES, HALF_OF, Ins, Lanes, Registers, dtype_of

Family = Literal["any", "integer", "float"]
Result = Lanes | tuple[Lanes, ...]
Operation = Callable[..., Result]

_operations: dict[tuple[str, str], Operation] = {}
_NOT_IN_PARTS = frozenset(("CVT", "CVT2", "ATOM"))


def operation(name: str, of: Family = "any") -> Callable[[Operation], Operation]:
    """Register the meaning of operation `name` for a family of types."""
    if name not in OPS:
        raise KeyError(f"expected an operation of ops.def, got {name}")

    def register(function: Operation) -> Operation:
        _operations[name, of] = function
        return function

    return register


def find(x: Ins) -> Operation | None:
    family = "float" if HALF_OF.get(x.ta, x.ta) in FLOAT_TYPES else "integer"
    return _operations.get((x.op, family)) or _operations.get((x.op, "any"))


def _operand(x: Ins, registers: Registers, letter: str, operand: int) -> Lanes:
    if letter == "P":
        return registers.predicate(operand)
    return registers.value(operand, {"R": x.ta, "S": x.tb, "U": T.U32, "D": T.U64}[letter])


def compute(x: Ins, *values: Lanes) -> tuple[Lanes, ...]:
    """The results of one operation for given operand values, in all 32 lanes."""
    function = find(x)
    if function is None:
        raise UnsupportedInstruction(f"{x.op} on {x.ta.name}")
    if x.ta in HALF_OF and x.op not in _NOT_IN_PARTS:
        return _compute_parts(x, *values)
    result = function(x, *values)
    return result if isinstance(result, tuple) else (result,)


def _compute_parts(x: Ins, *values: Lanes) -> tuple[Lanes, ...]:
    part = HALF_OF[x.ta]
    letters = OPS[x.op].signature.split("=")[1]
    results: list[tuple[Lanes, ...]] = []
    for shift in (0, 16):
        parts = [
            (v >> np.uint32(shift)).astype(np.uint16).view(dtype_of(part)) if letter == "R" else v
            for letter, v in zip(letters, values, strict=True)
        ]
        results.append(compute(x._replace(ta=part), *parts))
    low, high = results[0][0], results[1][0]
    if low.dtype == np.bool_:
        return low, high
    return (low.view(np.uint16).astype(np.uint32) | high.view(np.uint16).astype(np.uint32) << np.uint32(16),)


def evaluate(x: Ins, registers: Registers, mask: int) -> None:
    """Run a pure operation on registers for the lanes of mask."""
    destinations, sources = OPS[x.op].signature.split("=")
    values = [_operand(x, registers, s, f) for s, f in zip(sources, (x.a, x.b, x.c, x.e), strict=False)]
    results = compute(x, *values)
    for letter, destination, result in zip(destinations, (x.d0, x.d1), results, strict=False):
        if letter == "P":
            registers.put_predicate(destination, result, mask)
        else:
            registers.put(destination, result, mask)


def lanewise(function: Callable[..., int], dtype: Any, *operands: Lanes) -> Lanes:
    """Apply a function of Python integers to each lane."""
    columns = [o.tolist() for o in operands]
    return np.array([function(*lane) for lane in zip(*columns, strict=True)], dtype=dtype)
