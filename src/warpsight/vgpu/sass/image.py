"""What a cubin says about one kernel besides its code: parameters, constant banks, memory sizes, symbols.

Banks: 0 launch sizes and parameters, 2 constants of the compiler, 3 `__constant__` data, 4 addresses of globals and
functions. Names of symbols are those of the PTX, so that programs of both kinds share one layout of global memory.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from warpsight.cubin.elf import Elf
from warpsight.errors import UsageError
from warpsight.vgpu.bytecode import Param, Relocation, Space, Symbol

_KPARAM, _PARAM_CBANK, _FRAME_SIZE, _MIN_STACK, _KPARAM_NEW = 0x17, 0x0A, 0x11, 0x12, 0x45
_NOBITS = 8
CALL_STACK_BYTES = 1024
RECURSION_BYTES = 64 * 1024


@dataclass(frozen=True)
class Address:
    """A word pair of bank 4: the address of a global symbol, or of a function (`symbol` is then its name)."""

    offset: int
    symbol: str
    addend: int
    is_function: bool
    value: int = 0


@dataclass(frozen=True)
class Image:
    entry: str
    params: tuple[Param, ...]
    param_base: int
    param_bytes: int
    bank2: bytes
    bank3: bytes
    addresses: tuple[Address, ...]
    symbols: tuple[Symbol, ...]
    relocations: tuple[Relocation, ...]
    shared_bytes: int
    local_bytes: int


def read_image(cubin: bytes, entry: str) -> Image:
    elf = Elf(cubin)
    if elf.section(f".text.{entry}") is None:
        names = [s.name[6:] for s in elf.sections if s.name.startswith(".text.")]
        raise UsageError(f"expected kernel `{entry}` in the machine code, found: {', '.join(names) or 'none'}")
    params, base, size = _params(elf, entry)
    symbols, relocations = _symbols(elf)
    shared = elf.section(f".nv.shared.{entry}")
    bank2, bank3 = elf.section(f".nv.constant2.{entry}"), elf.section(".nv.constant3")
    return Image(
        entry=entry,
        params=params,
        param_base=base,
        param_bytes=size,
        bank2=bank2.data if bank2 else b"",
        bank3=bank3.data if bank3 else b"",
        addresses=_addresses(elf, entry),
        symbols=symbols,
        relocations=relocations,
        shared_bytes=shared.size if shared else 0,
        local_bytes=_local_bytes(elf, entry),
    )


def variables_of(cubin: bytes) -> tuple[tuple[Symbol, ...], tuple[Relocation, ...]]:
    """The variables of a whole file, and where addresses of some stand in others."""
    return _symbols(Elf(cubin))


def _params(elf: Elf, entry: str) -> tuple[tuple[Param, ...], int, int]:
    found, base, size = dict[int, Param](), 0x160, 0
    for attribute in elf.attributes(f".nv.info.{entry}"):
        if attribute.number in (_KPARAM, _KPARAM_NEW) and len(attribute.data) >= 12:
            _, ordinal, offset, packed = struct.unpack_from("<IHHI", attribute.data)
            found[ordinal] = Param(f"{entry}_param_{ordinal}", offset, packed >> 18, "")
        elif attribute.number == _PARAM_CBANK:
            base, size = struct.unpack_from("<HH", attribute.data, 4)
    end = max((p.offset + p.size for p in found.values()), default=0)
    return tuple(found[i] for i in sorted(found)), base, end or size


def _local_bytes(elf: Elf, entry: str) -> int:
    """The kernel's frame and those of what it calls; a generous stack where calls may be deep."""
    frames, stack, recursive = dict[str, int](), 0, True
    for attribute in elf.attributes(".nv.info"):
        if attribute.number not in (_FRAME_SIZE, _MIN_STACK):
            continue
        index, size = struct.unpack_from("<II", attribute.data)
        name = elf.symbols[index].name
        if attribute.number == _FRAME_SIZE:
            frames[name] = size
        elif name == entry:
            stack, recursive = size, False
    called = [size for name, size in frames.items() if name != entry and not name.startswith("$__internal")]
    own = max(stack, frames.get(entry, 0))
    if called:  # a recursive function is not marked as such: its stack is not in the file
        return RECURSION_BYTES
    return -(-own // 16) * 16 if own or not recursive else CALL_STACK_BYTES


def _addresses(elf: Elf, entry: str) -> tuple[Address, ...]:
    text = next((i for i, s in enumerate(elf.sections) if s.name == f".text.{entry}"), -1)
    found = list[Address]()
    for move in elf.relocations(".nv.constant4"):
        s = move.symbol
        inside = s.section != 0 and elf.sections[s.section].name.startswith(".text.")
        value = s.value if s.section == text else -1
        found.append(Address(move.offset, s.name, move.addend, inside or s.section == 0, value))
    return tuple(found)


def _symbols(elf: Elf) -> tuple[tuple[Symbol, ...], tuple[Relocation, ...]]:
    symbols, moves = list[Symbol](), list[Relocation]()
    for s in elf.symbols:
        section = elf.sections[s.section] if 0 < s.section < len(elf.sections) else None
        if s.kind != 1 or section is None:
            continue
        data = b"" if section.kind == _NOBITS else section.data[s.value : s.value + s.size]
        if section.name in (".nv.global", ".nv.global.init"):
            symbols.append(Symbol(s.name, Space.GLOBAL, s.size, section.align, data=data))
        elif section.name == ".nv.constant3":
            symbols.append(Symbol(s.name, Space.CONST, s.size, section.align, s.value, data))
        else:
            continue
        for move in elf.relocations(section.name):
            if s.value <= move.offset < s.value + s.size:
                inside = int.from_bytes(section.data[move.offset : move.offset + 8], "little")
                moves.append(
                    Relocation(move.symbol.name, move.addend or inside, in_symbol=s.name, at=move.offset - s.value)
                )
    return tuple(symbols), tuple(moves)
