"""Small programs by hand: instructions from keyword fields, and one operation applied to given lane values.

For tests of either executor and for trying an operation at a prompt; nothing that runs kernels uses it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpsight.vgpu.bytecode import INSTRUCTION, NONE, OPS, Program, Relocation, Symbol, T
from warpsight.vgpu.definition.lanes import Ins, dtype_of
from warpsight.vgpu.definition.operations import compute

DEFAULTS = {"d0": NONE}


def instructions(*lines: dict[str, Any]) -> NDArray[Any]:
    code = np.zeros(len(lines), INSTRUCTION)
    for record, line in zip(code, lines, strict=True):
        for name, value in {**DEFAULTS, **line, "op": OPS[line["op"]].number}.items():
            record[name] = value
    return code


def program(
    *lines: dict[str, Any],
    rows: int = 16,
    preds: int = 8,
    consts: Iterable[int] = (0, 0),
    lists: Iterable[int] = (),
    tables: Iterable[int] = (),
    local_bytes: int = 0,
    shared_bytes: int = 0,
    param_bytes: int = 0,
    const_data: bytes = b"",
    functions: tuple[int, ...] = (),
    symbols: tuple[Symbol, ...] = (),
    relocations: tuple[Relocation, ...] = (),
) -> Program:
    code = instructions(*lines)
    return Program(
        entry="test",
        code=code,
        lists=np.array(list(lists), np.int32),
        tables=np.array(list(tables), np.int32),
        consts=np.array(list(consts), np.uint32),
        n_rows=rows,
        n_preds=preds,
        params=(),
        param_bytes=param_bytes,
        shared_bytes=shared_bytes,
        local_bytes=local_bytes,
        lines=np.zeros(len(code), np.int32),
        texts=tuple(line["op"] for line in lines),
        symbols=symbols,
        relocations=relocations,
        functions=functions,
        const_data=const_data,
    )


def ins(op: str, ta: T = T.U32, **fields: Any) -> Ins:
    record: dict[str, Any] = {**dict.fromkeys(Ins._fields, 0), "op": op, "ta": ta, "tb": ta, **fields}
    return Ins(**record)


def apply(op: str, ta: T, *operands: Sequence[int] | NDArray[Any], **fields: Any) -> list[Any]:
    """The first result of an operation for operands given per lane as bits (predicates as bools)."""
    return both(op, ta, *operands, **fields)[0]


def both(op: str, ta: T, *operands: Sequence[int] | NDArray[Any], **fields: Any) -> list[list[Any]]:
    """All results of an operation, as unsigned bits or bools."""
    x = ins(op, ta, **fields)
    letters = OPS[op].signature.split("=")[1]
    kinds = {"R": x.ta, "S": x.tb, "U": T.U32, "D": T.U64}
    values = [
        np.array(v, np.bool_) if letter == "P" else np.array(v, np.uint64).astype(dtype_of(kinds[letter]))
        for letter, v in zip(letters, operands, strict=True)
    ]
    with np.errstate(all="ignore"):
        results = compute(x, *values)
    return [r.tolist() if r.dtype == np.bool_ else r.view(f"u{r.dtype.itemsize}").tolist() for r in results]


def f32(*values: float) -> list[int]:
    return np.array(values, np.float32).view(np.uint32).tolist()


def f64(*values: float) -> list[int]:
    return np.array(values, np.float64).view(np.uint64).tolist()


def f16(*values: float) -> list[int]:
    return np.array(values, np.float16).view(np.uint16).tolist()
