"""What each kernel of a cubin needs of the machine, read from the cubin: registers, memory, barriers, spills.

Equal to what `cuobjdump -res-usage` and `ptxas -v` report, and unlike their text nothing that a source can write into.
Shared bytes leave out what the system takes of every block, which newer files count in. Spills are the loads and stores
that the assembler marks as such, in all of the kernel's code: functions that were not inlined count too, but not what
they save of their caller's registers. Dynamic shared memory is a matter of the launch.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from warpsight.cubin.elf import Attribute, Elf, ElfSymbol
from warpsight.errors import UsageError
from warpsight.nouns import EntryUsage

# Numbers of attributes in .nv.info, by the names that `cuobjdump -elf` gives them (EIATTR_...).
_MAX_THREADS, _REQUIRED_THREADS, _FRAME_SIZE, _MIN_STACK, _REGISTERS = 0x05, 0x10, 0x11, 0x12, 0x2F
_BARRIERS, _ANNOTATIONS = 0x4C, 0x55  # older assemblers put the barriers into the flags of the section
_INSTRUCTION_NOTE, _FUNCTION_NOTE = 2, 3  # annotations that carry a text; every other kind marks a spill
_KERNEL_MARK = 0x10  # in the "other" byte of a symbol
_RESERVED_SECTION, _RESERVED_BYTES = ".nv.shared.reserved.0", 1024
_BANK = re.compile(r"\.nv\.constant\d+\.(.+)")
_STORES, _LOADS = (0x387, 0x388), (0x983, 0x984)  # opcodes of STL and STS, LDL and LDS
_WIDTHS = (1, 1, 2, 2, 4, 8, 16, 16)
_UNKNOWN_STACK = 0xFFFFFFFF  # of kernels that recurse, since CUDA 13.5: what the kernel itself takes is told elsewhere
_INSTRUCTION_BYTES = 16


@dataclass(frozen=True)
class _File:
    """What is read once for all kernels: numbers of functions by the index of their symbol."""

    elf: Elf
    registers: dict[int, int]
    frames: dict[int, int]
    stacks: dict[int, int]


def read_entries(cubin: bytes) -> tuple[EntryUsage, ...]:
    """One record for each kernel of the file, in the order of its symbols."""
    elf = Elf(cubin)
    numbers: dict[int, dict[int, int]] = {_REGISTERS: {}, _FRAME_SIZE: {}, _MIN_STACK: {}}
    try:
        for attribute in elf.attributes(".nv.info"):
            if attribute.number in numbers:
                symbol, number = struct.unpack("<II", attribute.data)
                numbers[attribute.number][symbol] = number
        stacks = {symbol: number for symbol, number in numbers[_MIN_STACK].items() if number != _UNKNOWN_STACK}
        file = _File(elf, numbers[_REGISTERS], numbers[_FRAME_SIZE], stacks)
        kernels = [(at, s) for at, s in enumerate(elf.symbols) if s.other & _KERNEL_MARK and s.section]
        return tuple(_usage(file, at, symbol) for at, symbol in kernels)
    except (struct.error, IndexError) as error:
        raise UsageError(f"expected a whole cubin, this one is damaged: {error}") from None


def _usage(file: _File, index: int, kernel: ElfSymbol) -> EntryUsage:
    if index not in file.registers:
        raise UsageError(f"expected a cubin that tells the registers of {kernel.name}, this one does not")
    about, code = file.elf.attributes(f".nv.info.{kernel.name}"), file.elf.sections[kernel.section]
    stores, loads = _spills(code.data, about)
    return EntryUsage(
        name=kernel.name,
        registers=file.registers[index],
        spill_store_bytes=stores,
        spill_load_bytes=loads,
        shared_bytes=_shared_bytes(file.elf, kernel.name),
        local_bytes=max(file.frames.get(index, 0), file.stacks.get(index, 0)),
        const_bytes=sum(s.size for s in file.elf.sections if (m := _BANK.fullmatch(s.name)) and m[1] == kernel.name),
        barriers=max((a.value & 0xFF for a in about if a.number == _BARRIERS), default=code.flags >> 20 & 0x7F),
        max_threads=_max_threads(about),
    )


def _shared_bytes(elf: Elf, kernel: str) -> int:
    section = elf.section(f".nv.shared.{kernel}")
    if section is None:
        return 0
    reserved = _RESERVED_BYTES if elf.section(_RESERVED_SECTION) else 0
    return max(section.size - reserved, 0)


def _max_threads(about: list[Attribute]) -> int:
    bounds = [a.data for a in about if a.number in (_MAX_THREADS, _REQUIRED_THREADS)]
    counts = [x * y * z for x, y, z in (struct.unpack("<III", data) for data in bounds)]
    return min(counts, default=0)


def _spills(code: bytes, about: list[Attribute]) -> tuple[int, int]:
    """Bytes that the marked instructions store and load."""
    stores = loads = 0
    for offset in _spill_offsets(about):
        low, high = struct.unpack_from("<QQ", code, offset - offset % _INSTRUCTION_BYTES)
        width = _WIDTHS[high >> 9 & 7]
        stores += width if low & 0xFFF in _STORES else 0
        loads += width if low & 0xFFF in _LOADS else 0
    return stores, loads


def _spill_offsets(about: list[Attribute]) -> Iterator[int]:
    for attribute in about:
        at = 0
        while attribute.number == _ANNOTATIONS and at < len(attribute.data):
            kind, number = struct.unpack_from("<II", attribute.data, at)
            at += 8
            if kind == _FUNCTION_NOTE:
                at += -(-number // 4) * 4
            elif kind == _INSTRUCTION_NOTE:
                (length,) = struct.unpack_from("<I", attribute.data, at)
                at += 4 + -(-length // 4) * 4
            else:
                yield number
