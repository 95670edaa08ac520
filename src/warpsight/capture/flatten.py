"""A program's source as one text: local headers in place, lines that conditions leave out gone, macros as they are.

Only conditions are evaluated, with the macros that are known so far, those of `-D` and the compiler's own for device
code. What the headers of the system define is not known here; a condition about it counts as false. Each line knows
where it stood. What stays of directives are `#define`, `#undef`, `#pragma` and `#include <...>`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

MOST_LINES = 200_000
MOST_DEPTH = 40
COMPILER = {
    "__CUDACC__": "1", "__NVCC__": "1", "__CUDA_ARCH__": "800", "__cplusplus": "201703", "__GNUC__": "11",
    "__linux__": "1", "__x86_64__": "1", "CUDART_VERSION": "12080", "CUDA_VERSION": "12080", "NDEBUG": "",
    "__CUDACC_VER_MAJOR__": "12", "__CUDACC_VER_MINOR__": "8", "__CUDA__": "1",
}  # fmt: skip
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*([a-z]+)\b[ \t]*(.*)$", re.DOTALL)
_DEFINE = re.compile(r"([A-Za-z_]\w*)(\([^)]*\))?[ \t]*(.*)", re.DOTALL)
_COMMENT = re.compile(r'("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_DEFINED = re.compile(r"defined\s*(?:\(\s*(\w+)\s*\)|(\w+))")
_NO_NUMBERS = re.compile(r"\*\*|<<|>>|\b[A-Za-z_]")
_SAFE = re.compile(r"[\w\s()+\-*/%<>=!&|^~?:]*")


@dataclass(frozen=True)
class PlacedLine:
    """A line of the flat text and where it stood."""

    text: str
    file: Path
    line: int


@dataclass
class FlatText:
    """The lines in order, and the includes that no file was found for."""

    lines: list[PlacedLine] = field(default_factory=list[PlacedLine])
    macros: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def text(self) -> str:
        return "".join(f"{line.text}\n" for line in self.lines)


@dataclass
class _Branch:
    """An open condition: whether its lines count, whether one of its branches has counted, and the state outside."""

    active: bool
    taken: bool
    outside: bool


class _Flattener:
    """Walks through files; `once` are those that are not taken twice."""

    def __init__(self, folders: Sequence[Path], macros: Mapping[str, str]) -> None:
        self.folders = list(folders)
        self.found = FlatText(macros={**COMPILER, **macros})
        self.once: set[Path] = set()

    def take(self, file: Path, depth: int = 0) -> None:
        if depth > MOST_DEPTH or file in self.once:
            return
        branches: list[_Branch] = []
        active = True
        for number, text in _logical_lines(without_comments(file.read_text(encoding="utf-8", errors="replace"))):
            matched = _DIRECTIVE.match(text)
            if matched is None:
                if active and len(self.found.lines) < MOST_LINES:
                    self.found.lines.append(PlacedLine(text, file, number))
                continue
            word, rest = matched[1], matched[2].replace("\\\n", " ").strip()
            active = self._condition(word, rest, branches, active)
            if active and word not in ("if", "ifdef", "ifndef", "elif", "else", "endif"):
                self._directive(word, rest, PlacedLine(text, file, number), depth)

    def _condition(self, word: str, rest: str, branches: list[_Branch], active: bool) -> bool:
        if word in ("if", "ifdef", "ifndef"):
            holds = self._holds(rest) if word == "if" else (rest.split()[0] in self.found.macros) == (word == "ifdef")
            branches.append(_Branch(active and holds, holds, active))
        elif word in ("elif", "else") and branches:
            top = branches[-1]
            holds = not top.taken and (word == "else" or self._holds(rest))
            top.active, top.taken = top.outside and holds, top.taken or holds
        elif word == "endif" and branches:
            return branches.pop().outside
        return branches[-1].active if branches else active

    def _directive(self, word: str, rest: str, line: PlacedLine, depth: int) -> None:
        if word == "include":
            target = self._local(rest, line.file)
            if target is not None:
                self.take(target, depth + 1)
                return
        elif word == "define" and (matched := _DEFINE.match(rest)):
            self.found.macros[matched[1]] = "" if matched[2] else matched[3]
        elif word == "undef":
            self.found.macros.pop(rest, None)
        elif word == "pragma" and rest == "once":
            self.once.add(line.file)
            return
        elif word not in ("pragma",):
            return
        self.found.lines.append(line)

    def _local(self, rest: str, file: Path) -> Path | None:
        named = re.match(r'[<"]([^">]+)[">]', rest)
        if named is None:
            return None
        places = [file.parent, *self.folders] if rest.startswith('"') else self.folders
        return next((p for folder in places if (p := (folder / named[1]).resolve()).is_file()), None)

    def _holds(self, condition: str) -> bool:
        try:
            return bool(self._value(condition, 0))
        except (SyntaxError, ValueError, ZeroDivisionError, TypeError, RecursionError, MemoryError, OverflowError):
            return False

    def _value(self, condition: str, depth: int) -> int:
        """A condition of the preprocessor by its value: names that nobody defined are 0."""
        macros = self.found.macros
        text = _DEFINED.sub(lambda m: str(int((m[1] or m[2]) in macros)), condition)
        for _ in range(20):
            changed = re.sub(r"\b[A-Za-z_]\w*\b(?!\s*\()", lambda m: macros.get(m[0], "0") or "0", text)
            if changed == text:
                break
            text = changed
        text = re.sub(r"\b(\d+|0[xX][0-9a-fA-F]+)[uUlL]+\b", r"\1", text)
        if _SAFE.fullmatch(text) is None or len(text) > 2000 or _NO_NUMBERS.search(text):
            raise ValueError(condition)
        text = text.replace("&&", " and ").replace("||", " or ").replace("/", "//")
        text = re.sub(r"!(?!=)", " not ", text)
        return int(eval(compile(text.strip(), "condition", "eval"), {"__builtins__": {}}))  # digits and operators


def without_comments(text: str) -> str:
    """A text without its comments, every line in its place."""
    return _COMMENT.sub(lambda m: m[1] if m[1] is not None else "\n" * m[0].count("\n") or " ", text)


def _logical_lines(text: str) -> list[tuple[int, str]]:
    """Lines with those that a backslash joins; the number is that of the first."""
    found: list[tuple[int, str]] = []
    held, start = "", 0
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.rstrip("\r")
        if not held:
            start = number
        held += line
        if line.endswith("\\"):
            held += "\n"
            continue
        found.append((start, held))
        held = ""
    return found


def flatten(file: Path, folders: Sequence[Path], macros: Mapping[str, str]) -> FlatText:
    """The text of a source file and of the local headers that it includes."""
    walk = _Flattener(folders, macros)
    walk.take(file)
    return walk.found
