"""The line table of a cubin (.debug_line): which source line each instruction comes from, and where it was inlined.

DWARF 2 to 4 as NVIDIA's assembler writes it, with its own opcode for inlined calls. A place is a chain of file and
line, innermost first. Only what a listing needs: no columns, no statement marks. What must stay true: where the table
has a form that is not known here it is refused, never guessed at.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

from warpsight.cubin.elf import Elf
from warpsight.errors import UsageError

_INLINED_CALL, _FUNCTION_NAME = 0x90, 0x91  # NVIDIA's own: the row of the call (from 1), the name of what was inlined
_END, _SET_ADDRESS, _DEFINE_FILE = 1, 2, 3
_COPY, _ADVANCE_PC, _ADVANCE_LINE, _SET_FILE, _SET_COLUMN, _NEGATE = range(1, 7)
_BLOCK, _CONST_PC, _FIXED_PC, _PROLOGUE, _EPILOGUE, _SET_ISA = range(7, 13)
_OPERANDS = (0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1)  # of the standard opcodes, from 1
_MOST_CHAINED = 1000

Place = tuple[tuple[str, int], ...]


@dataclass
class _Row:
    """One row of the table. `call` is the row of its function that it was inlined at, from 1; 0 for none."""

    section: int
    address: int
    file: int
    line: int
    call: int


@dataclass
class _State:
    section: int = 0
    address: int = 0
    file: int = 1
    line: int = 1
    call: int = 0


@dataclass
class _Unit:
    """The header of one unit: how its opcodes are to be read, and its files."""

    version: int
    program: int
    end: int
    least: int
    line_base: int
    line_range: int
    opcode_base: int
    files: list[str]
    functions: list[list[_Row]] = field(default_factory=lambda: [list[_Row]()])


def read_lines(elf: Elf) -> dict[str, list[tuple[int, Place]]]:
    """By the name of a section of code: addresses and, from each on, the place; in ascending order."""
    table = elf.section(".debug_line")
    found: dict[str, list[tuple[int, Place]]] = {}
    if table is None or not table.data:
        return found
    moves = {move.offset: move.symbol for move in elf.relocations(".debug_line")}
    reader = _Reader(table.data, {at: (symbol.section, symbol.value) for at, symbol in moves.items()})
    try:
        while reader.at < len(table.data):
            unit = reader.unit()
            for rows in filter(None, unit.functions):
                name = elf.sections[rows[0].section].name
                found.setdefault(name, []).extend((row.address, _place(unit, rows, row)) for row in rows)
    except (struct.error, IndexError) as error:
        raise UsageError(f"expected a whole line table, this one is damaged: {error}") from None
    return {name: _last_at_each(rows) for name, rows in found.items()}


def _last_at_each(rows: list[tuple[int, Place]]) -> list[tuple[int, Place]]:
    """Of several places at one address the last: those before are the calls that it was inlined at."""
    return sorted(dict(rows).items())


def _place(unit: _Unit, rows: Sequence[_Row], row: _Row) -> Place:
    chain = list[tuple[str, int]]()
    while len(chain) < _MOST_CHAINED:
        chain.append((unit.files[row.file - 1] if row.file else "", row.line))
        if row.call == 0:
            return tuple(chain)
        row = rows[row.call - 1]
    raise UsageError("expected calls that end, the line table has a circle of them")


class _Reader:
    def __init__(self, data: bytes, moves: dict[int, tuple[int, int]]) -> None:
        self.data, self.moves, self.at = data, moves, 0

    def number(self, form: str) -> int:
        (value,) = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return value

    def unsigned(self) -> int:
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def signed(self) -> int:
        start = self.at
        value = self.unsigned()
        bits = 7 * (self.at - start)
        return value - (1 << bits) if value >> (bits - 1) & 1 else value

    def text(self) -> str:
        end = self.data.index(b"\0", self.at)
        text, self.at = self.data[self.at : end].decode(errors="replace"), end + 1
        return text

    def unit(self) -> _Unit:
        unit = self._header()
        self.at = unit.program
        state = _State()
        while self.at < unit.end:
            opcode = self.data[self.at]
            self.at += 1
            if opcode >= unit.opcode_base:
                step = opcode - unit.opcode_base
                state.address += step // unit.line_range * unit.least
                state.line += unit.line_base + step % unit.line_range
                _add(unit, state)
            elif opcode == 0:
                state = self._extended(unit, state)
            else:
                self._standard(unit, state, opcode)
        return unit

    def _header(self) -> _Unit:
        length = self.number("<I")
        end, version = self.at + length, self.number("<H")
        if length >= 0xFFFFFFF0 or version not in (2, 3, 4) or end > len(self.data):
            raise UsageError(f"expected a line table of DWARF 2 to 4, got version {version}")
        length = self.number("<I")
        program, least = self.at + length, self.number("<B")
        if version == 4:
            self.number("<B")
        self.number("<B")
        line_base, line_range, opcode_base = self.number("<b"), self.number("<B"), self.number("<B")
        operands = self.data[self.at : self.at + opcode_base - 1]
        self.at += opcode_base - 1
        if tuple(operands) != _OPERANDS[: len(operands)]:
            raise UsageError("expected the usual opcodes in a line table, this one has others")
        folders = ["", *self._texts()]
        files = list[str]()
        while self.data[self.at]:
            name, folder, _, _ = self.text(), self.unsigned(), self.unsigned(), self.unsigned()
            files.append(name if not folders[folder] or name.startswith("/") else f"{folders[folder]}/{name}")
        return _Unit(version, program, end, least, line_base, line_range, opcode_base, files)

    def _texts(self) -> Sequence[str]:
        found = list[str]()
        while self.data[self.at]:
            found.append(self.text())
        self.at += 1
        return found

    def _extended(self, unit: _Unit, state: _State) -> _State:
        length = self.unsigned()
        end, opcode = self.at + length, self.data[self.at]
        self.at += 1
        if opcode == _END:
            unit.functions.append([])  # calls count the rows of their own function
            state = _State()
        elif opcode == _SET_ADDRESS:
            state.section, start = self.moves.get(self.at, (0, 0))
            state.address = start + self.number("<Q")
        elif opcode == _INLINED_CALL:
            state.call = self.unsigned()
        elif opcode == _DEFINE_FILE:
            raise UsageError("expected no files behind the header of a line table")
        elif opcode != _FUNCTION_NAME:
            raise UsageError(f"expected a known opcode in a line table, got {opcode:#x}")
        self.at = end
        return state

    def _standard(self, unit: _Unit, state: _State, opcode: int) -> None:
        if opcode == _COPY:
            _add(unit, state)
        elif opcode == _ADVANCE_PC:
            state.address += self.unsigned() * unit.least
        elif opcode == _ADVANCE_LINE:
            state.line += self.signed()
        elif opcode == _SET_FILE:
            state.file = self.unsigned()
        elif opcode == _CONST_PC:
            state.address += (255 - unit.opcode_base) // unit.line_range * unit.least
        elif opcode == _FIXED_PC:
            state.address += self.number("<H")
        elif opcode in (_SET_COLUMN, _SET_ISA):
            self.unsigned()


def _add(unit: _Unit, state: _State) -> None:
    unit.functions[-1].append(_Row(state.section, state.address, state.file, state.line, state.call))
