"""The few facts of a Makefile that an import needs: sources, flags, the program's name, how it is run.

Reads the dialect that benchmark suites are written in: assignments, conditionals on variables, plain rules. Nothing is
run: `$(shell ...)` and other functions come out empty and are listed in `skipped`. Not a make.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

_ASSIGN = re.compile(r"^\s*(?:export\s+|override\s+)?([A-Za-z_][\w.]*)\s*(:=|::=|\?=|\+=|=)\s*(.*?)\s*$")
_RULE = re.compile(r"^([^\t#=:][^=:]*?)\s*::?\s*(?!=)([^=]*)$")
_USE = re.compile(r"\$(?:\(([^()$]*)\)|\{([^{}$]*)\}|([@<^?*]))")
_TEST = re.compile(r"^(ifeq|ifneq)\s*(?:\(([^,]*),(.*)\)|[\"'](.*?)[\"']\s+[\"'](.*?)[\"'])\s*$")
_SOURCE_NAMES = ("source", "sources", "src", "srcs", "source_files", "cu_src", "cuda_src", "cufiles", "ccfiles")
_FLAG_NAMES = ("cflags", "nvccflags", "nvcc_flags", "cxxflags", "cuflags", "cuda_flags", "flags", "cppflags", "incs")
_MOST_EXPANSIONS = 2000
SOURCE_ENDINGS = (".cu", ".cpp", ".cc", ".cxx", ".c")


@dataclass(frozen=True)
class Makefile:
    """What was read. `flags` are the words of the compile flags in order; `run` the commands of the target `run`."""

    program: str
    sources: tuple[str, ...]
    flags: tuple[str, ...]
    libraries: tuple[str, ...]
    run: tuple[tuple[str, ...], ...]
    skipped: tuple[str, ...]


def read_makefile(text: str, given: Mapping[str, str] | None = None) -> Makefile:
    """The facts of a Makefile; `given` are variables as on make's command line, which win over assignments."""
    reader = _Reader(dict(given or {}))
    for line in _logical_lines(text):
        reader.take(line)
    values = {name.lower(): reader.expanded(value) for name, value in reader.values.items()}
    sources = [word for name in _SOURCE_NAMES for word in values.get(name, "").split()]
    if not sources:
        named = [reader.expanded(needed) for _, needed in reader.rules]
        sources = [word for words in named for word in words.split()]
    flags = _words(" ".join(values.get(name, "") for name in _FLAG_NAMES))
    links = _words(" ".join(values.get(name, "") for name in ("ldflags", "libs", "lib", "ldlibs", "libraries")))
    return Makefile(
        program=values.get("program", "").strip() or values.get("exe", "").strip() or "main",
        sources=tuple(dict.fromkeys(word for word in sources if word.endswith(SOURCE_ENDINGS) and "%" not in word)),
        flags=flags,
        libraries=tuple(dict.fromkeys(word for word in (*links, *flags) if re.fullmatch(r"-l[\w+.-]+", word))),
        run=tuple(command for line in reader.run for command in [_command(reader.expanded(line))] if command),
        skipped=tuple(dict.fromkeys(reader.skipped)),
    )


class _Reader:
    """Variables, rules and the recipe of `run`, line by line."""

    def __init__(self, given: dict[str, str]) -> None:
        self.given, self.values = given, dict(given)
        self.rules: list[tuple[str, str]] = []
        self.run: list[str] = []
        self.skipped: list[str] = []
        self._target = ""
        self._taken: list[tuple[bool, bool]] = []  # per open conditional: is this branch read, was any

    def take(self, line: str) -> None:
        if line.startswith("\t"):
            if self._reading() and "run" in self._target.split() and line.strip():
                self.run.append(line.strip())
            return
        line = re.sub(r"(?<!\\)#.*", "", line).rstrip()
        if not line.strip() or self._conditional(line.strip()) or not self._reading():
            return
        if assigned := _ASSIGN.match(line):
            self._assign(*assigned.groups())
        elif rule := _RULE.match(line):
            self._target = self.expanded(rule[1])
            self.rules.append((self._target, rule[2]))
        else:
            self.skipped.append(line.strip())

    def _reading(self) -> bool:
        return all(taken for taken, _ in self._taken)

    def _assign(self, name: str, how: str, value: str) -> None:
        if name in self.given or (how == "?=" and name in self.values):
            return
        value = self.expanded(value) if how in (":=", "::=") else value
        self.values[name] = f"{self.values.get(name, '')} {value}".strip() if how == "+=" else value

    def _conditional(self, line: str) -> bool:
        word, _, rest = line.partition(" ")
        word = "ifeq" if line.startswith("ifeq(") else "ifneq" if line.startswith("ifneq(") else word
        if word in ("ifeq", "ifneq", "ifdef", "ifndef"):
            holds = self._holds(word, line, rest.strip())
            self._taken.append((holds, holds))
        elif word == "else" and self._taken:
            _, before = self._taken.pop()
            chained = rest.strip()
            holds = not before and (not chained or self._holds(chained.split()[0], chained, chained.partition(" ")[2]))
            self._taken.append((holds, before or holds))
        elif word == "endif" and self._taken:
            self._taken.pop()
        else:
            return False
        return True

    def _holds(self, word: str, line: str, rest: str) -> bool:
        if word in ("ifdef", "ifndef"):
            return bool(self.values.get(rest, "").strip()) == (word == "ifdef")
        tested = _TEST.match(line)
        if not tested:
            self.skipped.append(line)
            return False
        left, right = (tested[2], tested[3]) if tested[2] is not None else (tested[4], tested[5])
        same = self.expanded(left).strip() == self.expanded(right or "").strip()
        return same == (tested[1] == "ifeq")

    def expanded(self, text: str) -> str:
        """The text with its variables replaced, innermost first; what is not a variable comes out empty."""
        for _ in range(_MOST_EXPANSIONS):
            used = _USE.search(text)
            if used is None:
                return text
            inside = used[1] if used[1] is not None else used[2]
            text = text[: used.start()] + ("" if inside is None else self._value(inside)) + text[used.end() :]
            if len(text) > 1 << 16:
                break
        self.skipped.append(text[:80])
        return ""

    def _value(self, inside: str) -> str:
        name, colon, change = inside.partition(":")
        if colon and "=" in change:
            old, _, new = change.partition("=")
            words = self._value(name).split()
            return " ".join(word.removesuffix(old) + new if word.endswith(old) else word for word in words)
        if " " in inside.strip():
            self.skipped.append(f"$({inside})")
            return ""
        return self.values.get(inside.strip(), "")


def _logical_lines(text: str) -> Iterator[str]:
    whole = ""
    for line in text.replace("\r\n", "\n").split("\n"):
        if line.endswith("\\"):
            whole += line[:-1] + " "
            continue
        yield whole + line
        whole = ""
    if whole:
        yield whole


def _words(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError:
        return tuple(text.split())


def _command(line: str) -> tuple[str, ...]:
    """One line of a recipe as words, without make's marks and without settings of the environment."""
    words: Sequence[str] = _words(line.lstrip("@-+ "))
    while words and re.fullmatch(r"[A-Za-z_]\w*=.*", words[0]):
        words = words[1:]
    return tuple(words)
