"""The code being made: rows for registers, constants, temporaries; one visible instruction per machine instruction.

Registers are physical: R0.. are the first rows, uniform registers follow, one copy per lane. What one bytecode
operation cannot do becomes several, all but one HIDDEN. Must stay true: hidden ones before the visible one write
temporaries only, and an instruction that writes predicates does so last, so that a guard is still what it was.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from warpsight.errors import UnsupportedInstruction
from warpsight.vgpu.bytecode import INSTRUCTION, NONE, OPS, Flag, Space, T
from warpsight.vgpu.sass.image import Image
from warpsight.vgpu.sass.read import Operand, SassLine

Lowering = Callable[["SassBody", SassLine], None]
LOWERINGS: dict[str, Lowering] = {}

TRUE, FALSE = 0, 1
FIRST_P, FIRST_UP, FIRST_FREE_P, N_PREDS = 1, 8, 16, 32
UNIFORM_ROWS, BARRIER_ROWS, TEMP_ROWS = 66, 18, 48  # barriers: B0..B15, the result of BAR.RED, turns of YIELD
_FIELDS = INSTRUCTION.names or ()


class SassRefused(Exception):
    """This form is not known; becomes an UnsupportedInstruction with text and line."""


def lowers(*names: str) -> Callable[[Lowering], Lowering]:
    """Register the meaning of machine operations."""

    def register(function: Lowering) -> Lowering:
        LOWERINGS.update(dict.fromkeys(names, function))
        return function

    return register


class SassConstants:
    """Constant rows: numbers once each, then places for what is known at launch. Rows 0 and 1 are zero."""

    def __init__(self) -> None:
        self.rows: list[int] = [0, 0]
        self._known: dict[tuple[int, ...], int] = {(0,): 0, (0, 0): 0}

    def words(self, *values: int) -> int:
        """Operand of consecutive constant rows with these values."""
        key = tuple(v & 0xFFFFFFFF for v in values)
        if key not in self._known:
            self._known[key] = self.reserve(len(key))
            self.rows[self._known[key] :] = key
        return ~self._known[key]

    def reserve(self, count: int) -> int:
        self.rows += [0] * count
        return len(self.rows) - count


class SassBody:
    """The bytecode of one kernel while it is being made."""

    def __init__(self, image: Image, registers: int) -> None:
        self.image = image
        self.constants = SassConstants()
        self.uniform_base = registers
        self.barrier_base = registers + UNIFORM_ROWS
        self.temp_base = self.barrier_base + BARRIER_ROWS
        self.n_rows = self.temp_base + TEMP_ROWS
        self.bank0: dict[int, int] = {}
        self.bank0_row = self.constants.reserve((image.param_base + image.param_bytes + 3) // 4 + 2)
        self.bank4: dict[int, int] = {}
        self.const_data = bytearray(image.bank3)
        self.const_data += b"\0" * (-len(self.const_data) % 16)
        self.bank2_at = len(self.const_data)
        self.const_data += image.bank2
        self.code: list[dict[str, int]] = []
        self.owners: list[int] = []  # number of the machine instruction each bytecode one belongs to
        self.lists: list[int] = []
        self.jumps: list[tuple[int, int]] = []  # bytecode index, address
        self.indirect: list[int] = []  # bytecode indices of jumps through the table of all addresses
        self.line: SassLine | None = None
        self.number = 0
        self.visible = False
        self.exclusive: int | None = None  # row of the mask whose lanes alone run what follows (WARPSYNC.EXCLUSIVE)
        self._temps = 0
        self._temp_preds = 0

    # --- one instruction

    def lower(self, number: int, line: SassLine) -> None:
        self.number, self.line, self._temps, self._temp_preds, self.visible = number, line, 0, 0, False
        function = LOWERINGS.get(line.op)
        try:
            if function is None:
                raise SassRefused(line.op)
            function(self, line)
            if not self.visible:
                raise SassRefused("nothing was made of it")
        except (SassRefused, IndexError, KeyError, ValueError) as reason:
            raise UnsupportedInstruction(
                line.text, line=line.line, hint=f"machine code form not known: {reason}"
            ) from None

    def emit(self, op: str, *, hidden: int = False, guard: int | None = None, **fields: int) -> int:
        """Add one instruction; hidden ones are unguarded unless told. Returns its index."""
        assert self.line is not None
        record = {"op": OPS[op].number, "d0": NONE, "a": -1, "b": -1, "c": -1, "e": -1} | {
            k: int(v) for k, v in fields.items()
        }
        letters = OPS[op].signature.split("=")[1].replace("L", "")
        for letter, field in zip(letters, ("a", "b", "c", "e"), strict=False):
            if letter == "P" and field not in fields:
                record[field] = 0
        if OPS[op].signature.startswith("P") and "d0" not in fields:
            record["d0"] = 0
        own = self.pred(self.line.guard) if self.line.guard else TRUE
        record["guard"] = guard if guard is not None else (TRUE if hidden else own)
        if hidden:
            record["flags"] = record.get("flags", 0) | Flag.HIDDEN
        elif self.visible:
            raise SassRefused("two visible instructions")
        self.visible = self.visible or not hidden
        self.code.append(record)
        self.owners.append(self.number)
        return len(self.code) - 1

    def hide(self, op: str, **fields: int) -> int:
        """A hidden instruction into a new temporary row (pair for 64-bit types); returns the row."""
        row = self.temp(2)
        self.emit(op, hidden=True, d0=row, **fields)
        return row

    @property
    def guard(self) -> int:
        assert self.line is not None
        return self.pred(self.line.guard) if self.line.guard else TRUE

    def temp(self, count: int = 1) -> int:
        self._temps += count
        if self._temps > TEMP_ROWS:
            raise SassRefused("too many temporaries")
        return self.temp_base + self._temps - count

    def temp_pred(self) -> int:
        self._temp_preds += 1
        return FIRST_FREE_P + self._temp_preds - 1

    # --- operands

    def reg(self, file: str, index: int) -> int:
        """The row of a register; the zero registers are the constant zero."""
        if file == "r":
            return -1 if index == 255 else index
        return -1 if index == 63 else self.uniform_base + index

    def dest(self, o: Operand) -> int:
        if o.kind not in ("r", "ur"):
            raise SassRefused(f"destination `{o.text}`")
        row = self.reg(o.kind, o.number)
        return NONE if row < 0 else row

    def dests(self, o: Operand, count: int) -> list[int]:
        row = self.dest(o)
        return [NONE if row == NONE else row + i for i in range(count)]

    def pred(self, o: Operand | None) -> int:
        """Operand of a source predicate: 2 * index + negated."""
        if o is None:
            return TRUE
        if o.kind not in ("p", "up"):
            raise SassRefused(f"predicate `{o.text}`")
        index = 0 if o.number == 7 else o.number + (FIRST_P if o.kind == "p" else FIRST_UP)
        return 2 * index + o.negative

    def dest_pred(self, o: Operand) -> int:
        return self.pred(o) >> 1

    def number_of(self, o: Operand) -> int:
        if o.kind != "imm":
            raise SassRefused(f"`{o.text}` must be a number")
        return o.number

    def word(self, value: int) -> int:
        return self.constants.words(value)

    def row(self, o: Operand, words: int = 1) -> int:
        """The row (first of `words`) of an operand without its sign modifiers."""
        if o.kind in ("r", "ur"):
            return self.reg(o.kind, o.number)
        if o.kind == "imm":
            return self.constants.words(*((o.number >> 32 * i) & 0xFFFFFFFF for i in range(words)))
        if o.kind == "float":
            assert self.line is not None
            return self.constants.words(self.line.imm32) if words == 1 else self.constants.words(0, self.line.imm32)
        if o.kind == "const" and o.base < 0 and o.uniform < 0:
            return self.bank_row(o.bank, o.offset, words)
        raise SassRefused(f"operand `{o.text}`")

    def bank_row(self, bank: int, offset: int, words: int) -> int:
        """Constant rows that hold a fixed place of a bank."""
        if bank == 0 and offset % 4 == 0:
            for i in range(words):
                self.bank0[self.bank0_row + offset // 4 + i] = offset + 4 * i
            if offset // 4 + words > (self.image.param_base + self.image.param_bytes + 3) // 4:
                raise SassRefused(f"c[0x0][{offset:#x}] is past the parameters")
            return ~(self.bank0_row + offset // 4)
        if bank == 2 and offset % 4 == 0:
            data = self.image.bank2[offset : offset + 4 * words].ljust(4 * words, b"\0")
            return self.constants.words(*(int.from_bytes(data[4 * i : 4 * i + 4], "little") for i in range(words)))
        if bank == 4 and offset % 4 == 0:
            return ~(self.address_row(offset & ~7) + (offset >> 2 & 1))
        if bank == 3:
            rows = [self.temp() for _ in range(words)]
            self.load(Space.CONST, -1, offset, T.B32, rows, hidden=True)
            return rows[0]
        raise SassRefused(f"constant bank {bank} at {offset:#x}")

    def address_row(self, offset: int) -> int:
        """Number of the constant row pair that will hold the address at this place of bank 4."""
        if offset not in self.bank4:
            self.bank4[offset] = self.constants.reserve(2)
        return self.bank4[offset]

    def load(
        self,
        space: Space,
        a: int,
        offset: int,
        t: T,
        rows: Sequence[int],
        *,
        hidden: bool = False,
        flags: int = 0,
        vec: int = 0,
    ) -> None:
        width = {T.U8: 1, T.S8: 1, T.U16: 2, T.S16: 2}.get(t, 4)
        wide = Flag.WIDE32 if width < 4 else 0
        self.emit(
            "LD",
            hidden=hidden,
            sub=space,
            ta=t,
            width=width,
            vec=vec or len(rows),
            flags=flags | wide,
            a=a,
            imm=offset,
            list=self.new_list(rows),
        )

    def new_list(self, rows: Sequence[int]) -> int:
        self.lists += rows
        return len(self.lists) - len(rows)

    def integer(self, o: Operand, words: int = 1) -> int:
        """An integer operand with its modifiers done: -x, ~x, |x|."""
        row = self.row(o, words)
        t = T.S64 if words == 2 else T.S32
        if o.absolute:
            row = self.hide("ABS", ta=t, a=row)
        if o.negative:
            row = self.hide("NEG", ta=t, a=row)
        if o.inverted:
            row = self.hide("NOT", ta=T.B64 if words == 2 else T.B32, a=row)
        return row

    def real(self, o: Operand, t: T = T.F32) -> int:
        """A float operand with its modifiers done."""
        row = self.row(o, 2 if t is T.F64 else 1)
        if o.kind == "float":
            return row  # its sign is in the encoding
        if o.absolute:
            row = self.hide("ABS", ta=t, a=row)
        if o.negative:
            row = self.hide("NEG", ta=t, a=row)
        return row

    def jump(self, index: int, address: int) -> None:
        self.jumps.append((index, address))

    def records(self) -> np.ndarray:
        out = np.zeros(len(self.code), INSTRUCTION)
        for name in _FIELDS:
            out[name] = [record.get(name, 0) for record in self.code]
        return out
