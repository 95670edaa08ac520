"""The lane bytecode as data: operations, types, fields, and the Program record that both executors run.

`core/ops.def` is the one list of operations; this module reads it. docs/bytecode.md says what each means. Nothing here
executes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import IntEnum, IntFlag
from functools import cached_property
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

NONE = -(2**31)
"""A destination that is discarded, an operand that is absent."""

SHARED_WINDOW = 0x7000_0000_0000
LOCAL_WINDOW = 0x7100_0000_0000
CONST_WINDOW = 0x7200_0000_0000
PARAM_WINDOW = 0x7300_0000_0000
FUNCTION_WINDOW = 0x7400_0000_0000
GLOBAL_BASE = 0x2_0000_0000
SHARED_SLOT = 1 << 20
"""A shared address is SHARED_SLOT * number of the array + place in shared memory: an index that leaves its array is
seen, wherever it lands. Number 0 names no array: all of shared memory."""
MOST_SHARED_SLOTS = 4096

INSTRUCTION = np.dtype(
    [
        ("op", "<u2"), ("sub", "u1"), ("ta", "u1"), ("tb", "u1"), ("mod", "u1"), ("width", "u1"), ("vec", "u1"),
        ("flags", "<u2"), ("pad", "<u2"), ("guard", "<i4"), ("d0", "<i4"), ("d1", "<i4"),
        ("a", "<i4"), ("b", "<i4"), ("c", "<i4"), ("e", "<i4"), ("list", "<i4"), ("target", "<i4"), ("imm", "<i8"),
    ]
)  # fmt: skip


class T(IntEnum):
    """Operand types; the number is what `ta` and `tb` hold."""

    B8, U8, S8, B16, U16, S16, B32, U32, S32, B64, U64, S64 = range(12)
    F16, BF16, F32, F64, F16X2, BF16X2, TF32, B128, B1, S4, U4, PRED, E4M3X2, E5M2X2, U16X2, S16X2 = range(12, 28)


TYPE_BYTES: dict[T, int] = {
    **dict.fromkeys((T.B8, T.U8, T.S8), 1),
    **dict.fromkeys((T.B16, T.U16, T.S16, T.F16, T.BF16, T.E4M3X2, T.E5M2X2), 2),
    **dict.fromkeys((T.B32, T.U32, T.S32, T.F32, T.F16X2, T.BF16X2, T.TF32, T.U16X2, T.S16X2), 4),
    **dict.fromkeys((T.B64, T.U64, T.S64, T.F64), 8),
    T.B128: 16,
}


class Round(IntEnum):
    RN, RZ, RM, RP, RNA = range(5)


class Mod(IntFlag):
    FTZ = 8
    SAT = 16
    RELU = 32


class Flag(IntFlag):
    HIDDEN = 1
    VOLATILE = 2
    UNUSED_RESULT = 4
    WIDE32 = 8
    WIDE64 = 16
    ADDRESS32 = 32


class Space(IntEnum):
    GENERIC, GLOBAL, SHARED, LOCAL, CONST, PARAM = range(6)


class Cmp(IntEnum):
    EQ, NE, LT, LE, GT, GE, EQU, NEU, LTU, LEU, GTU, GEU, NUM, NAN = range(14)


class Atomic(IntEnum):
    ADD, MIN, MAX, AND, OR, XOR, EXCH, CAS, INC, DEC = range(10)


SPECIALS = [
    "tid.x", "tid.y", "tid.z", "ntid.x", "ntid.y", "ntid.z",
    "ctaid.x", "ctaid.y", "ctaid.z", "nctaid.x", "nctaid.y", "nctaid.z",
    "laneid", "warpid", "nwarpid", "smid", "nsmid", "gridid",
    "lanemask_eq", "lanemask_le", "lanemask_lt", "lanemask_ge", "lanemask_gt",
    "dynamic_smem_size", "total_smem_size", "clock", "clock_hi", "globaltimer_lo", "globaltimer_hi", "envreg0",
]  # fmt: skip


@dataclass(frozen=True)
class OpInfo:
    name: str
    number: int
    mix: str
    signature: str
    meaning: str


def _read_ops() -> dict[str, OpInfo]:
    text = (resources.files("warpsight.vgpu") / "core" / "ops.def").read_text(encoding="utf-8")
    rows = re.findall(r'^OP\((\w+),\s*(\w+),\s*"([^"]*)",\s*"([^"]*)"\)', text, re.MULTILINE)
    return {name: OpInfo(name, n, mix, sig, meaning) for n, (name, mix, sig, meaning) in enumerate(rows)}


OPS: dict[str, OpInfo] = _read_ops()
OP_NAMES: tuple[str, ...] = tuple(OPS)


@dataclass(frozen=True)
class Symbol:
    """A named region: `space` says in which window; global ones get their address when memory is laid out."""

    name: str
    space: Space
    size: int
    align: int
    offset: int = 0
    data: bytes = b""

    @property
    def slot(self) -> int:
        """Of a shared array: its number in shared addresses, 0 for none."""
        return self.offset // SHARED_SLOT

    @property
    def start(self) -> int:
        """Of a shared array: where in shared memory it starts."""
        return self.offset % SHARED_SLOT


GRID_WORKSPACE = "(grid workspace)"
"""The symbol of the memory at which the blocks of a cooperative launch meet."""


@dataclass(frozen=True)
class Relocation:
    """Put the address of global `symbol` + addend in constant rows (row, row+1), or in the bytes of another symbol."""

    symbol: str
    addend: int
    row: int = -1
    in_symbol: str = ""
    at: int = 0
    generic: bool = True


@dataclass(frozen=True)
class Param:
    name: str
    offset: int
    size: int
    type: str


@dataclass(frozen=True)
class Program:
    """One kernel, ready to run by either executor. Constant rows hold u32 values (broadcast to all lanes)."""

    entry: str
    code: NDArray[Any]
    lists: NDArray[np.int32]
    tables: NDArray[np.int32]
    consts: NDArray[np.uint32]
    n_rows: int
    n_preds: int
    params: tuple[Param, ...]
    param_bytes: int
    shared_bytes: int
    local_bytes: int
    lines: NDArray[np.int32]
    texts: tuple[str, ...]
    symbols: tuple[Symbol, ...] = ()
    relocations: tuple[Relocation, ...] = ()
    functions: tuple[int, ...] = ()
    const_data: bytes = b""
    uses_dynamic_shared: bool = False
    order_sensitive: bool = False
    notes: tuple[str, ...] = field(default=())
    sched: NDArray[Any] | None = None
    """Of machine code: per instruction its address and control bits (sass.read.SCHED)."""
    isa: str = "ptx"
    bank0: tuple[tuple[int, int], ...] = ()
    """Of machine code: (constant row, byte offset in constant bank 0), filled at launch."""
    param_base: int = 0
    """Of machine code: where in bank 0 the parameters start."""

    @cached_property
    def shared_slots(self) -> dict[int, tuple[int, int | None]]:
        """(start, size) in shared memory of each numbered array; no size for dynamic shared memory: it has the rest."""
        arrays = [s for s in self.symbols if s.space is Space.SHARED and s.slot]
        return {s.slot: (s.start, s.size or None) for s in arrays}
