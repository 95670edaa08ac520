"""A small reader of the ELF file that a cubin is: sections, symbols, relocations, and the attributes in .nv.info.

Only what the machine needs; no DWARF, no notes. Must stay true: a file that is not such an ELF is refused; so is one
with two sections of a name, so that whoever looks one up by name cannot be shown another.
"""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass

from warpsight.errors import UsageError

_ABOUT_SOURCE = ("debug", "nv_debug", "rel.debug", "rel.nv_debug", "rela.debug", "rela.nv_debug", "note")
_SYMTAB, _RELA, _NOBITS, _REL = 2, 4, 8, 9


@dataclass(frozen=True)
class Section:
    name: str
    kind: int
    flags: int
    size: int
    align: int
    link: int
    info: int
    data: bytes


@dataclass(frozen=True)
class ElfSymbol:
    name: str
    value: int
    size: int
    kind: int
    section: int
    other: int = 0  # NVIDIA's own marks, such as the one of a kernel


@dataclass(frozen=True)
class ElfRelocation:
    """Put the address of `symbol` + `addend` at `offset` of the section it belongs to."""

    offset: int
    symbol: ElfSymbol
    kind: int
    addend: int


@dataclass(frozen=True)
class Attribute:
    """One entry of .nv.info: format 4 carries bytes, formats 2 and 3 a small number."""

    number: int
    value: int
    data: bytes


class Elf:
    """Sections by name and symbols of one cubin."""

    def __init__(self, data: bytes) -> None:
        if data[:6] != b"\x7fELF\x02\x01":
            raise UsageError(f"expected a cubin (a 64-bit ELF file), got {data[:6]!r}")
        self._head = data[:64]
        try:
            self.sections = _sections(data)
            self.symbols = self._read_symbols()
        except (struct.error, IndexError, ValueError) as error:
            raise UsageError(f"expected a whole cubin, this one is damaged: {error}") from None
        self._by_name = {section.name: section for section in self.sections}
        if len(self._by_name) != len(self.sections):
            raise UsageError("expected a cubin with one section of each name, this one has two of a name")

    @property
    def architecture(self) -> int:
        """Such as 80 for sm_80; 0 where the file is of a kind that says it otherwise."""
        abi, flags = self._head[7:9], struct.unpack_from("<I", self._head, 48)[0]
        if abi == b"\x33\x07":  # of the compilers of CUDA 12
            return flags & 0xFF
        return flags >> 8 & 0xFF if abi == b"\x41\x08" else 0

    def meaning(self) -> str:
        """A hash of all that decides what the kernels do: two files with the same one differ in debug lines alone."""
        digest = hashlib.sha256(self._head[:16] + self._head[48:52])
        for s in self.sections:
            if s.name.lstrip(".").startswith(_ABOUT_SOURCE) or s.name in (".strtab", ".shstrtab", ".symtab"):
                continue
            digest.update(f"{s.name} {s.kind} {s.flags} {s.size} {s.align}\n".encode() + s.data)
        for symbol in self.symbols:
            place = self.sections[symbol.section].name if symbol.section < len(self.sections) else str(symbol.section)
            if not place.lstrip(".").startswith(_ABOUT_SOURCE):
                told = f"{symbol.name} {symbol.value} {symbol.size} {symbol.kind} {place} {symbol.other}\n"
                digest.update(told.encode())
        return digest.hexdigest()

    def section(self, name: str) -> Section | None:
        return self._by_name.get(name)

    def _read_symbols(self) -> list[ElfSymbol]:
        table = next((s for s in self.sections if s.kind == _SYMTAB), None)
        if table is None:
            return []
        names = self.sections[table.link].data
        found = list[ElfSymbol]()
        for at in range(0, len(table.data), 24):
            name, info, other, section, value, size = struct.unpack_from("<IBBHQQ", table.data, at)
            found.append(ElfSymbol(_string(names, name), value, size, info & 15, section, other))
        return found

    def relocations(self, section: str) -> list[ElfRelocation]:
        """The relocations of one section, of both ELF kinds."""
        found = list[ElfRelocation]()
        for s in self.sections:
            if s.kind not in (_REL, _RELA) or s.name not in (f".rel{section}", f".rela{section}"):
                continue
            step = 24 if s.kind == _RELA else 16
            for at in range(0, len(s.data), step):
                offset, info = struct.unpack_from("<QQ", s.data, at)
                addend = struct.unpack_from("<q", s.data, at + 16)[0] if s.kind == _RELA else 0
                found.append(ElfRelocation(offset, self.symbols[info >> 32], info & 0xFFFFFFFF, addend))
        return found

    def attributes(self, section: str) -> list[Attribute]:
        s = self.section(section)
        found, at = list[Attribute](), 0
        data = s.data if s else b""
        while at + 4 <= len(data):
            form, number, value = struct.unpack_from("<BBH", data, at)
            at += 4
            body = b""
            if form == 4:
                body, at = data[at : at + value], at + value
            found.append(Attribute(number, value, body))
        return found


def _string(table: bytes, at: int) -> str:
    return table[at : table.index(b"\0", at)].decode()


def _sections(data: bytes) -> list[Section]:
    (start,) = struct.unpack_from("<Q", data, 40)
    size, count, names_at = struct.unpack_from("<HHH", data, 58)
    raw = [struct.unpack_from("<IIQQQQIIQQ", data, start + i * size) for i in range(count)]
    names = data[raw[names_at][4] : raw[names_at][4] + raw[names_at][5]]
    if any(kind != _NOBITS and offset + length > len(data) for _, kind, _, _, offset, length, *_ in raw):
        raise ValueError("a section ends behind the file")
    return [
        Section(
            _string(names, name),
            kind,
            flags,
            length,
            align,
            link,
            info,
            b"" if kind == _NOBITS else data[offset : offset + length],
        )
        for name, kind, flags, _, offset, length, link, info, align, _ in raw
    ]
