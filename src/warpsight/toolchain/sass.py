"""Machine code to a list of SASS instructions with their encoding and the kernel line they come from.

Uses the nvdisasm program of its pip package, in the jail. Branch targets are given as addresses inside the function,
not labels. Lines are those of the kernel file alone: code inlined from a header counts for the innermost kernel line it
was inlined at, and has no line when there is none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from warpsight.errors import ToolchainError
from warpsight.nouns import SassInstruction
from warpsight.toolchain import packages
from warpsight.toolchain.cache import Cache, cache_folder, content_key
from warpsight.toolchain.process import run_to_end

SCHEMA = "sass-1"
DEADLINE_S = 60.0
OUTPUT_CAP_BYTES = 256 << 20

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
    if cache is None:
        folder = cache_folder()
        cache = Cache(folder / "sass" if folder else None)
    key = content_key(SCHEMA, packages.version("nvidia-cuda-nvdisasm"), name, cubin)
    stored = cache.get(key)
    if stored is None:
        rows = list(parse_listing(_listing(cubin), name))
        if not rows:
            raise ToolchainError("nvdisasm printed no instruction for this cubin", hint="warpsight doctor")
        cache.put(key, json.dumps(rows).encode())
    else:
        rows = [tuple(row) for row in json.loads(stored)]
    return tuple(
        SassInstruction(function=row[0], address=row[1], text=row[2], word_lo=row[3], word_hi=row[4], line=row[5])
        for row in rows
    )


def _listing(cubin: bytes) -> str:
    program = packages.program("nvdisasm", "nvidia-cuda-nvdisasm")
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
                line = next((number for file, number in places if file.rpartition("/")[2] == name), None)
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
