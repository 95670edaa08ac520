"""Machine code to a list of SASS instructions with their encoding and the kernel line they come from.

Texts are nvdisasm's, in the jail: one process for the words of all files that are asked for together (`words`), lines
from the table in the file (`cubin.lines`). A file whose code has relocations, notes (spills) or jumps through a
register is listed by a process of its own, which says more of them; the result is the same for all others. Branch
targets are given as addresses inside the function, not labels. Lines are those of the kernel file alone: code inlined
from a header counts for the innermost kernel line it was inlined at, and has no line when there is none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from warpsight.cubin.elf import Elf
from warpsight.cubin.lines import Place, read_lines
from warpsight.errors import ToolchainError, UsageError
from warpsight.nouns import SassInstruction
from warpsight.toolchain import packages, words
from warpsight.toolchain.cache import Cache, cache_folder, content_key
from warpsight.toolchain.process import run_to_end

SCHEMA = "sass-1"
DEADLINE_S = 60.0
OUTPUT_CAP_BYTES = 256 << 20
_TEXT = ".text."
_NOTES = 0x55  # EIATTR of notes on instructions, such as spills, which a listing shows behind them

_SECTION = re.compile(r"^\s*\.section\s+\.text\.([^,\s]+),")
_OTHER_SECTION = re.compile(r"^\s*\.section\s+(?!\.text\.)")
_LABEL = re.compile(r"^(\S+):\s*$")
_PLACE = re.compile(r'^\s*//## File "([^"]*)", line (\d+)')
_CODE = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*/\* 0x([0-9a-f]{16}) \*/\s*$")
_SECOND = re.compile(r"^\s*/\* 0x([0-9a-f]{16}) \*/\s*$")
_TARGET = re.compile(r"`\(([^()\s]+)\)")

_Row = tuple[str, int, str, int, int, int | None]


def disassemble(cubin: bytes, *, name: str = "kernel.cu", cache: Cache | None = None) -> tuple[SassInstruction, ...]:
    """Every instruction of every function, in file order; `name` is the file name the source was compiled under."""
    rows = _disassembled((cubin,), name, cache)[0]
    if isinstance(rows, ToolchainError):
        raise rows
    return tuple(
        SassInstruction(function=row[0], address=row[1], text=row[2], word_lo=row[3], word_hi=row[4], line=row[5])
        for row in rows
    )


def disassemble_ahead(cubins: Sequence[bytes], *, name: str = "kernel.cu", cache: Cache | None = None) -> None:
    """Have the listings of all these files made by one process, so that `disassemble` finds each; errors come there."""
    _disassembled(tuple(dict.fromkeys(cubins)), name, cache)


def _disassembled(cubins: Sequence[bytes], name: str, cache: Cache | None) -> list[list[_Row] | ToolchainError]:
    if cache is None:
        folder = cache_folder()
        cache = Cache(folder / "sass" if folder else None)
    version = packages.version(packages.DISASSEMBLER)
    keys = [content_key(SCHEMA, version, name, cubin) for cubin in cubins]
    found: dict[str, list[_Row] | ToolchainError] = {}
    for key in keys:
        if (stored := cache.get(key)) is not None:
            found[key] = [tuple(row) for row in json.loads(stored)]
    new = {key: cubin for key, cubin in zip(keys, cubins, strict=True) if key not in found}
    for key, rows in _listed(new, name).items():
        found[key] = rows
        if not isinstance(rows, ToolchainError):
            cache.put(key, json.dumps(rows).encode())
    return [found[key] for key in keys]


def _listed(cubins: Mapping[str, bytes], name: str) -> dict[str, list[_Row] | ToolchainError]:
    """The rows of each file, or why there are none."""
    files = {key: file for key, cubin in cubins.items() if (file := _plain_file(cubin)) is not None}
    wanted: dict[int, list[bytes]] = {}
    for architecture, elf, _ in files.values():
        wanted.setdefault(architecture, []).extend(word for _, code in _codes(elf) for word in words.words_of(code))
    texts: dict[int, words.Texts] = {}
    for architecture, some in wanted.items():
        try:
            texts[architecture] = words.texts_of(architecture, some)
        except ToolchainError:  # a word that nvdisasm takes no raw bytes for: each file by itself
            texts[architecture] = {}
    found: dict[str, list[_Row] | ToolchainError] = {}
    for key, cubin in cubins.items():
        try:
            rows = _rows_of(*files[key][1:], texts[files[key][0]], name) if key in files else None
            found[key] = list(parse_listing(_listing(cubin), name)) if rows is None else rows
            if not found[key]:
                raise ToolchainError("nvdisasm printed no instruction for this cubin", hint="warpsight doctor")
        except ToolchainError as refused:
            found[key] = refused
    return found


def _plain_file(cubin: bytes) -> tuple[int, Elf, Mapping[str, Sequence[tuple[int, Place]]]] | None:
    """Architecture, sections and lines; None for a file that takes a listing."""
    try:
        elf = Elf(cubin)
        if elf.architecture not in words.ARCHITECTURES or not _codes(elf):
            return None
        functions = [function for function, _ in _codes(elf)]
        if any(elf.relocations(_TEXT + function) for function in functions):
            return None
        if any(a.number == _NOTES for function in functions for a in elf.attributes(f".nv.info.{function}")):
            return None
        return elf.architecture, elf, read_lines(elf)
    except UsageError:
        return None


def _codes(elf: Elf) -> list[tuple[str, bytes]]:
    return [(s.name.removeprefix(_TEXT), s.data) for s in elf.sections if s.name.startswith(_TEXT)]


def _rows_of(
    elf: Elf, lines: Mapping[str, Sequence[tuple[int, Place]]], texts: words.Texts, name: str
) -> list[_Row] | None:
    rows = list[_Row]()
    for function, code in _codes(elf):
        places = dict(lines.get(_TEXT + function, ()))
        innermost: tuple[str, int] | None = None
        line: int | None = None
        for number, word in enumerate(words.words_of(code)):
            address = number * words.WORD_BYTES
            text = texts.get(word)
            if text is None:
                return None
            place = places.get(address)
            if place is not None and place[0] != innermost:  # the same line inlined elsewhere goes on: as listings say
                innermost, line = place[0], _kernel_line(place, name)
            low, high = int.from_bytes(word[:8], "little"), int.from_bytes(word[8:], "little")
            rows.append((function, address, text.at(address), low, high, line))
    return rows


def _kernel_line(chain: Sequence[tuple[str, int]], name: str) -> int | None:
    return next((number for file, number in chain if file.rpartition("/")[2] == name), None)


def _listing(cubin: bytes) -> str:
    program = packages.program("nvdisasm", packages.DISASSEMBLER)
    # -gi and not -g: it alone says where a header's code was inlined.
    argv = [program, "-c", "-gi", "-hex", "kernel.cubin"]
    output = run_to_end(
        argv, "nvdisasm", deadline_s=DEADLINE_S, cap_bytes=OUTPUT_CAP_BYTES, file=("kernel.cubin", cubin)
    )
    return output.decode(errors="replace")


def parse_listing(listing: str, name: str) -> Iterator[_Row]:
    """Rows of one `nvdisasm -c -gi -hex` listing, function after function."""
    function: str | None = None
    body: list[str] = []
    for text in listing.split("\n"):
        if found := _SECTION.match(text):
            yield from _function_rows(function, body, name)
            function, body = found[1], []
        elif _OTHER_SECTION.match(text):
            yield from _function_rows(function, body, name)
            function, body = None, []
        else:
            body.append(text)
    yield from _function_rows(function, body, name)


def _function_rows(function: str | None, body: Sequence[str], name: str) -> Iterator[_Row]:
    if function is None:
        return
    addresses = _label_addresses(body)
    places: list[tuple[str, int]] = []
    line: int | None = None
    first: tuple[int, str, int] | None = None
    for text in body:
        if place := _PLACE.match(text):
            # A run of places is one chain, innermost first.
            places.append((place[1], int(place[2])))
        elif code := _CODE.match(text):
            if places:
                line = _kernel_line(places, name)
                places = []
            first = (int(code[1], 16), _resolved(code[2], addresses), int(code[3], 16))
        elif first and (second := _SECOND.match(text)):
            yield (function, *first, int(second[1], 16), line)
            first = None


def _label_addresses(body: Sequence[str]) -> dict[str, int]:
    addresses: dict[str, int] = {}
    waiting: list[str] = []
    for text in body:
        if label := _LABEL.match(text):
            waiting.append(label[1])
        elif code := _CODE.match(text):
            addresses.update(dict.fromkeys(waiting, int(code[1], 16)))
            waiting = []
    return addresses


def _resolved(text: str, addresses: dict[str, int]) -> str:
    def target(match: re.Match[str]) -> str:
        return hex(addresses[match[1]]) if match[1] in addresses else match[0]

    return _TARGET.sub(target, text.rstrip("; \t")).strip()
