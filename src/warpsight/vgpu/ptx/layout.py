"""Where things are: constant rows, variables in their state spaces, relocations. Addresses of global memory are left
to the launch.

Constant rows 0 and 1 are zero (operand -1 reads as zero at any width). Only variables that the program reaches are
laid out; the start of dynamic shared memory follows the static part, which is why all static shared variables are
placed before code is lowered.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from warpsight.errors import UnsupportedInstruction
from warpsight.vgpu.bytecode import (
    CONST_WINDOW,
    FUNCTION_WINDOW,
    GRID_WORKSPACE,
    LOCAL_WINDOW,
    MOST_SHARED_SLOTS,
    SHARED_SLOT,
    SHARED_WINDOW,
    Relocation,
    Space,
    Symbol,
    T,
)
from warpsight.vgpu.ptx.decode import TYPES
from warpsight.vgpu.ptx.immediate import bits, integer
from warpsight.vgpu.ptx.parse import SIZES, Module, Variable

SPACES = {"global": Space.GLOBAL, "const": Space.CONST, "shared": Space.SHARED, "local": Space.LOCAL}
WINDOWS = {Space.SHARED: SHARED_WINDOW, Space.CONST: CONST_WINDOW, Space.LOCAL: LOCAL_WINDOW}
_ADDRESS = re.compile(r"(generic\s*\(\s*)?([A-Za-z_$%][\w$]*)\s*\)?\s*((?:[-+]\s*\w+\s*)?)$")
_MASKED = re.compile(r"(0[xX][0-9a-fA-F]+)\s*\((.*)\)$")


def align_up(value: int, align: int) -> int:
    return -(-value // align) * align


class PtxConstants:
    """The pool of constant rows; equal values share a row."""

    def __init__(self) -> None:
        self.rows: list[int] = [0, 0]
        self._words: dict[int, int] = {0: -1}
        self._pairs: dict[int, int] = {0: -1}

    def word(self, value: int) -> int:
        operand = self._words.get(value)
        if operand is None:
            operand = self._words[value] = ~len(self.rows)
            self.rows.append(value)
        return operand

    def pair(self, value: int) -> int:
        operand = self._pairs.get(value)
        if operand is None:
            operand = self._pairs[value] = self.fresh_pair(value)
        return operand

    def fresh_pair(self, value: int = 0) -> int:
        self.rows += (value & 0xFFFFFFFF, value >> 32)
        return ~(len(self.rows) - 2)


@dataclass(frozen=True)
class Place:
    """A variable's address: an offset in its space; for global ones an offset from the symbol, known at launch."""

    space: Space
    offset: int
    name: str = ""


@dataclass
class Layout:
    """Collects what a program touches while its functions are lowered."""

    module: Module
    constants: PtxConstants = field(default_factory=PtxConstants)
    places: dict[str, Place] = field(default_factory=dict[str, Place])
    symbols: list[Symbol] = field(default_factory=list[Symbol])
    relocations: list[Relocation] = field(default_factory=list[Relocation])
    function_index: dict[str, int] = field(default_factory=dict[str, int])
    address_taken: set[str] = field(default_factory=set[str])
    const_data: bytearray = field(default_factory=bytearray)
    shared_bytes: int = 0
    uses_dynamic_shared: bool = False
    _global_rows: dict[tuple[str, int], int] = field(default_factory=dict[tuple[str, int], int])

    def place_shared(self, variables: list[Variable]) -> None:
        """Static variables in source order, then the start of dynamic shared memory."""
        for v in (v for v in variables if not v.unsized):
            self.shared_bytes = align_up(self.shared_bytes, v.align)
            self._add(v, Space.SHARED, self._shared_address())
            self.shared_bytes += v.size
        dynamic = [v for v in variables if v.unsized]
        if dynamic:
            self.uses_dynamic_shared = True
            self.shared_bytes = align_up(self.shared_bytes, max(16, *(v.align for v in dynamic)))
        address = self._shared_address()
        for v in dynamic:  # all of them name the same memory
            self._add(v, Space.SHARED, address)

    def _shared_address(self) -> int:
        """The next free place in shared memory, with the number of the array that will be there."""
        slot = len(self.symbols) + 1  # shared arrays are placed before anything else
        return self.shared_bytes + (SHARED_SLOT * slot if slot < MOST_SHARED_SLOTS else 0)

    def _add(self, v: Variable, space: Space, offset: int, data: bytes = b"") -> Place:
        place = self.places[v.name] = Place(space, offset, v.name)
        self.symbols.append(Symbol(v.name, space, v.size, v.align, offset, data))
        return place

    def find(self, name: str) -> Place | None:
        """The place of a module variable, laid out when first asked for."""
        place = self.places.get(name)
        if place is not None:
            return place
        v = self.module.variable(name)
        if v is None:
            return None
        if v.type.endswith("ref"):
            raise UnsupportedInstruction(f".{v.space} .{v.type} {name}", hint="textures and surfaces are not supported")
        if v.space == "const":
            self.const_data.extend(bytes(align_up(len(self.const_data), v.align) - len(self.const_data)))
            place = self._add(v, Space.CONST, len(self.const_data))
            at = len(self.symbols) - 1
            self.const_data.extend(bytes(v.size))
            data = self._initial(v)
            self.const_data[place.offset : place.offset + v.size] = data
        else:
            place = self._add(v, SPACES[v.space], 0)
            at = len(self.symbols) - 1
            data = self._initial(v) if v.init else b""
        self.symbols[at] = Symbol(v.name, place.space, v.size, v.align, place.offset, data)
        return place

    def address_operand(self, place: Place, addend: int = 0) -> int:
        """A constant pair holding the address inside its own space."""
        if place.space is not Space.GLOBAL:
            return self.constants.pair((place.offset + addend) & (2**64 - 1))
        key = (place.name, addend)
        operand = self._global_rows.get(key)
        if operand is None:
            operand = self._global_rows[key] = self.constants.fresh_pair()
            self.relocations.append(Relocation(place.name, addend, row=~operand))
        return operand

    def workspace_operand(self) -> int:
        """A constant pair for the address of the grid's workspace, known at launch."""
        return self.address_operand(Place(Space.GLOBAL, 0, GRID_WORKSPACE))

    def function_address(self, name: str) -> int:
        self.address_taken.add(name)
        return FUNCTION_WINDOW + 16 * self.function_index[name]

    def _initial(self, v: Variable) -> bytes:
        data = bytearray(v.size)
        width, kind = SIZES[v.type], TYPES[v.type]
        items = [item for item in v.init.replace("{", " ").replace("}", " ").split(",") if item.strip()]
        for i, item in enumerate(items):
            self._store(v, data, i * width, width, kind, item.strip())
        return bytes(data)

    def _store(self, v: Variable, data: bytearray, at: int, width: int, kind: T, item: str) -> None:
        value = bits(item, kind)
        if value is None:
            value = self._address_value(v, at, width, item)
        data[at : at + width] = value.to_bytes(width, "little")

    def _address_value(self, v: Variable, at: int, width: int, item: str) -> int:
        shift, mask = 0, 2 ** (8 * width) - 1
        if m := _MASKED.match(item):  # one byte of an address: 0xFF00(symbol)
            wanted = int(m[1], 16)
            shift, item = (wanted & -wanted).bit_length() - 1, m[2]
        m = _ADDRESS.match(item)
        if m is None:
            raise UnsupportedInstruction(f"{v.name} = {item}", hint="initialisers are numbers or addresses")
        addend = integer(m[3].replace(" ", "")) or 0 if m[3].strip() else 0
        name = self.module.aliases.get(m[2], m[2])
        if name in self.function_index:
            return ((self.function_address(name) + addend) >> shift) & mask
        place = self.find(name)
        if place is None:
            raise UnsupportedInstruction(f"{v.name} = {item}", hint=f"`{name}` is not defined in this module")
        if place.space is Space.GLOBAL:
            return self._relocate(
                Relocation(name, addend, in_symbol=v.name, at=at - shift // 8, generic=bool(m[1])), width, shift
            )
        window = WINDOWS[place.space] if m[1] else 0
        return ((window + place.offset + addend) >> shift) & mask

    def _relocate(self, move: Relocation, width: int, shift: int) -> int:
        """Leave an address to the launch: all of its eight bytes, or byte after byte from the lowest on."""
        if width == 8 or (width == 1 and shift == 0):
            self.relocations.append(move)
        elif width != 1 or move not in self.relocations:
            raise UnsupportedInstruction(
                f"{move.in_symbol} = {move.symbol}", hint="an address takes eight bytes in order"
            )
        return 0
