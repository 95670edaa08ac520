"""One translation unit as one text: the files of the program that it includes put in their place, each once.

System headers are named and left out, but for those that device code can use. A line of the text knows the file and
line it came from. What must stay true: no file outside the folder of the suite is read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from warpsight.tasks.importers.records import CannotImport, read_source

_INCLUDE = re.compile(r"^\s*#\s*include\s*([<\"])([^>\"]+)[>\"]")
_GUARD_LINES = re.compile(r"^\s*#\s*pragma\s+once")
# Headers of the CUDA packages that have device code in them.
DEVICE_HEADERS = re.compile(
    r"cuda_(fp16|bf16|fp8|fp6|fp4|pipeline\w*|awbarrier\w*)\.h|mma\.h|cooperative_groups(\.h|/.*)|cub/.*|cuda/.*"
    r"|math_constants\.h|vector_types\.h|vector_functions\.h|device_functions\.h|sm_\w+_intrinsics\.h|cuComplex\.h"
    r"|curand_kernel\.h|thrust/(tuple|pair|complex|functional|random)\.h"
)
MAX_DEPTH, MAX_LINES = 32, 200_000


@dataclass(frozen=True)
class TranslationUnit:
    """The text, where each of its lines comes from, and the system headers that were named."""

    file: str
    text: str
    places: tuple[tuple[str, int], ...]
    headers: tuple[str, ...]

    def place(self, line: int) -> str:
        """`kernels.h:12` for a line of the text, counted from 1."""
        if not 1 <= line <= len(self.places):
            return self.file
        file, number = self.places[line - 1]
        return f"{file}:{number}"


@dataclass
class _Reading:
    folder: Path
    suite: Path
    search: Sequence[Path]
    lines: list[str] = field(default_factory=list[str])
    places: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    headers: dict[str, None] = field(default_factory=dict[str, None])
    seen: set[Path] = field(default_factory=set[Path])


def read_unit(source: Path, folder: Path, include_folders: Sequence[str]) -> TranslationUnit:
    """The unit of one source file of the program in `folder`; header folders are relative to it."""
    folder = folder.resolve()
    search = [(folder / one).resolve() for one in include_folders]
    reading = _Reading(folder, folder.parent, search)
    _inline(source.resolve(), reading, 0)
    text = "\n".join(reading.lines) + "\n"
    return TranslationUnit(source.name, text, tuple(reading.places), tuple(reading.headers))


def _inline(file: Path, reading: _Reading, depth: int) -> None:
    if file in reading.seen:
        return
    reading.seen.add(file)
    if depth > MAX_DEPTH:
        raise CannotImport(f"expected includes at most {MAX_DEPTH} deep, found more at {file.name}")
    name = str(file.relative_to(reading.folder)) if file.is_relative_to(reading.folder) else f"../{file.name}"
    for number, line in enumerate(read_source(file).replace("\r\n", "\n").split("\n"), start=1):
        found = _INCLUDE.match(line)
        local = _located(found[2], file, reading) if found else None
        if local is not None:
            _inline(local, reading, depth + 1)
            continue
        if found:
            reading.headers[found[2]] = None
            line = line if DEVICE_HEADERS.fullmatch(found[2]) else f"// {line.strip()}"
        elif _GUARD_LINES.match(line):
            line = ""
        reading.lines.append(line)
        reading.places.append((name, number))
    if len(reading.lines) > MAX_LINES:
        raise CannotImport(f"expected at most {MAX_LINES} lines in a unit, found more")


def _located(name: str, beside: Path, reading: _Reading) -> Path | None:
    """A header of the program or its suite; None for a system header."""
    for folder in (beside.parent, *reading.search):
        path = (folder / name).resolve()
        if path.is_relative_to(reading.suite) and path.is_file():
            return path
    return None
