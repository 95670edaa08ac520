"""What `make run` passes to a program, read from its Makefile, and made smaller. Pure functions.

A Makefile may run its program several times, with words of make and of the shell around it. What is not understood is
left out: then a program has no arguments.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

_RULE = re.compile(r"^run:.*\n((?:\t.*\n?|[ \t]*#.*\n|[ \t]*\n)*)", re.MULTILINE)
_VARIABLE = re.compile(r"^(\w+)\s*[:?]?=[ \t]*([^#\n]*)", re.MULTILINE)
_PROGRAM = re.compile(r"\./.+|\.\./\$\(.+|\$\((?!LAUNCHER\)|PYTHON_CMD\)).+")
_NUMBER = re.compile(r"(--?[\w-]+=)?(\d+)")
_SHELL = frozenset({"&&", "||", "|", ";", ">", ">>", "<", "&"})
_OTHERS = frozenset({"diff", "cmp", "cat", "cp", "rm", "mkdir", "echo", "python3"})
LEAST_SIZE = 256  # a number from here on is a size


def lines_of(folder: Path) -> list[list[str]]:
    """The arguments of each run that a Makefile makes."""
    file = folder / "Makefile"
    text = file.read_text(errors="replace").replace("\\\n", " ") if file.is_file() else ""
    rule = _RULE.search(text)
    values = {name: value.strip() for name, value in _VARIABLE.findall(text)}
    found: list[list[str]] = []
    for line in rule[1].splitlines() if rule else []:
        words = _split(line.strip().lstrip("@-"))
        at = next((i for i, word in enumerate(words) if _PROGRAM.fullmatch(word)), None)
        if line.strip().startswith("#") or at is None or words[0] in _OTHERS:
            continue
        end = next((i for i, word in enumerate(words) if i > at and word in _SHELL), len(words))
        found.append([own for word in words[at + 1 : end] for own in _split(_expanded(word, values))])
    return found


def arguments_of(folder: Path, *, least: bool = False) -> list[str]:
    """Of the last run; or of the one with the least numbers, where there are several."""

    def total(words: list[str]) -> int:
        return sum(int(found[2]) for word in words if (found := _NUMBER.fullmatch(word)))

    lines = lines_of(folder) or [[]]
    return min(lines, key=total) if least else lines[-1]


def reduced(arguments: list[str], by: int) -> list[str]:
    """The last number, most often how many times it repeats, at most 2; sizes divided."""
    places = [(i, found) for i, word in enumerate(arguments) if (found := _NUMBER.fullmatch(word))]
    plain = [i for i, found in places if not found[1]]
    small = list(arguments)
    for i, found in places:
        value = int(found[2])
        if plain and i == plain[-1]:
            small[i] = str(min(2, value))
        elif by > 1 and value >= LEAST_SIZE:
            small[i] = f"{found[1] or ''}{max(32, value // by)}"
    return small


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _expanded(word: str, values: dict[str, str]) -> str:
    for _ in range(3):
        word = re.sub(r"\$\((\w+)\)", lambda found: values.get(found[1], found[0]), word)
    return shlex.quote(word) if " " in word and not word.startswith("-") and "$" not in word and ";" in word else word
