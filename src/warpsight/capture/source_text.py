"""Finds the source of a kernel that was launched: its file, the folders of its headers, the macros of its build.

A program says where its code was compiled; there is no telling how, so macros and folders are read from what builds it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from warpsight.capture.recording import CannotCapture
from warpsight.errors import WarpsightError
from warpsight.toolchain.process import run_to_end
from warpsight.vgpu.faults import kernel_name
from warpsight.vgpu.ptx.lines import own_file
from warpsight.vgpu.ptx.parse import parse_module

SOURCES = (".cu", ".cuh", ".h", ".hpp", ".hh", ".inl", ".cpp", ".cc", ".c", ".cxx", ".hxx")
BUILD_FILES = ("Makefile", "makefile", "GNUmakefile", "CMakeLists.txt")
MOST_FILES = 5000
FILTER = Path("/usr/bin/c++filt")
_MACRO = re.compile(r"(?<![\w-])-D\s*([A-Za-z_]\w*)(?:=([\w.+-]*))?")
_SETTING = re.compile(r"^\s*([A-Za-z_]\w*)\s*[:?]?=\s*(.*?)\s*$", re.MULTILINE)
_LOC = re.compile(r"\.loc\s+(\d+)\s+(\d+)\s+\d+(.*)")


def find_source(told: Path | None, target: Path) -> Path:
    """The file on this machine that the program was compiled from."""
    if told is None:
        raise CannotCapture("the program does not say which source its kernel is from", "compile it with -lineinfo")
    folder = target if target.is_dir() else target.parent
    if told.is_file() and told.resolve().is_relative_to(folder.resolve()):
        return told.resolve()
    found = [p for p in _files(folder) if p.name == told.name] + [p for p in _beside(folder) if p.name == told.name]
    if not found:
        raise CannotCapture(f"the source {told.name} was not found in {folder}", "name the folder of the sources")
    return max(found, key=lambda path: _alike(path, told)).resolve()


def _alike(path: Path, told: Path) -> int:
    """How many names at the end two paths have in common."""
    pairs = zip(reversed(path.parts), reversed(told.parts), strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(path.parts), len(told.parts)))


def _files(folder: Path) -> Iterator[Path]:
    for count, path in enumerate(sorted(folder.rglob("*"))):
        if count > MOST_FILES:
            return
        if path.suffix in SOURCES and path.is_file():
            yield path


def _beside(folder: Path) -> Iterator[Path]:
    """The sources of folders beside this one that its files name with `../`."""
    named = set[Path]()
    for path in [*_files(folder), *(folder / name for name in BUILD_FILES if (folder / name).is_file())]:
        for up, name in re.findall(r"((?:\.\./)+)([\w+-][\w.+-]*)", path.read_text(errors="replace")):
            for start in (path.parent, folder):
                named.add((start / up / name).resolve())
    for place in sorted(named):
        if place.is_dir() and place != folder.resolve() and not folder.resolve().is_relative_to(place):
            yield from _files(place)
        elif place.is_file():
            yield place


def header_folders(target: Path) -> list[Path]:
    """Every folder with sources, so that an include is found whatever `-I` it was built with."""
    folder = target if target.is_dir() else target.parent
    found = dict.fromkeys([folder.resolve()])
    for path in [*_files(folder), *_beside(folder)]:
        found.setdefault(path.parent.resolve())
    for path in list(found):
        found.setdefault(path.parent)
    return list(found)


def build_macros(target: Path, words: Sequence[str]) -> dict[str, str]:
    """The macros that a build defines: `-D` in what builds the program, with the settings of make put in."""
    texts = list(words)
    if target.is_dir():
        texts += [(target / name).read_text(errors="replace") for name in BUILD_FILES if (target / name).is_file()]
    text = "\n".join(texts)
    settings = dict(_SETTING.findall(text))
    for _ in range(3):
        text = re.sub(r"\$[({](\w+)[)}]", lambda m: settings.get(m[1], ""), text)
    return {name: value or "1" for name, value in _MACRO.findall(text)}


def code_lines(ptx: str, entry: str) -> dict[str, set[int]]:
    """The lines that a kernel's own code stands in, by the name of the file."""
    parsed = parse_module(ptx)
    body = parsed.functions[entry].body or ""
    own, found = own_file(body), dict[str, set[int]]()
    for number, line, rest in _LOC.findall(body):
        file = parsed.files.get(int(number))
        if file is not None and int(number) == own and "inlined_at" not in rest:
            found.setdefault(Path(file).name, set()).add(int(line))
    return found


def plain_and_arguments(mangled: str) -> tuple[str, tuple[str, ...]]:
    """A kernel's name in the source, and the arguments of its template."""
    plain = kernel_name(mangled)
    if not mangled.startswith("_Z"):
        return mangled, ()
    try:
        told = run_to_end(
            [FILTER, mangled], "c++filt", deadline_s=10.0, cap_bytes=1 << 20,
            readable=[Path("/usr/bin/c++filt"), *(p for p in (Path("/lib"), Path("/usr/lib")) if p.exists())],
        ).decode().strip()  # fmt: skip
    except WarpsightError as problem:
        raise CannotCapture(f"its name {mangled} could not be read: {problem}", "apt install binutils") from None
    found = re.search(rf"\b{re.escape(plain)}<", told)
    return plain, () if found is None else tuple(_split(told[found.end() :]))


def _split(text: str) -> Iterator[str]:
    """The parts of a list up to the bracket that closes it."""
    depth, part = 0, ""
    for char in text:
        if char == ">" and depth == 0:
            break
        if char == "," and depth == 0:
            yield part.strip()
            part = ""
            continue
        depth += (char in "<([") - (char in ">)]")
        part += char
    if part.strip():
        yield part.strip()
