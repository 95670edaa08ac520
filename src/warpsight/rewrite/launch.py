"""The `// launch:` line of a kernel, read and written again: grid, block, shared."""

from __future__ import annotations

import re
from typing import NamedTuple

_LINE = re.compile(r"^([ \t]*//[ \t]*launch[ \t]*:)([^\n]*)$", re.MULTILINE)
_KEY = re.compile(r"\b(grid|block|shared)\s*=")
_NUMBER = re.compile(r"(?<![\w.])[0-9]+(?![\w.])")


class LaunchLine(NamedTuple):
    """A launch in texts; `start` and `end` are where what follows the colon stands."""

    start: int
    end: int
    grid: tuple[str, ...]
    block: tuple[str, ...]
    shared: str

    @property
    def threads(self) -> int | None:
        """Threads in a block, where the block is given in numbers."""
        dims = self.dims
        if dims is None:
            return None
        total = 1
        for one in dims:
            total *= one
        return total

    @property
    def dims(self) -> tuple[int, ...] | None:
        return tuple(map(int, self.block)) if all(one.isdecimal() for one in self.block) else None

    @property
    def numbers(self) -> set[int]:
        """Every number in grid and block."""
        return {int(one) for part in (*self.grid, *self.block) for one in _NUMBER.findall(part)}


def read_launch(text: str) -> LaunchLine | None:
    """The launch line above the first line of code, or None."""
    line = _LINE.search(text)
    if line is None or any(s.strip() and not s.lstrip().startswith("//") for s in text[: line.start()].split("\n")):
        return None
    keys = list(_KEY.finditer(line[2]))
    values: dict[str, str] = {}
    for key, end in zip(keys, [*(k.start() for k in keys[1:]), len(line[2])], strict=False):
        values[key[1]] = line[2][key.end() : end].strip()
    if "grid" not in values or "block" not in values:
        return None
    start, end = line.span(2)
    return LaunchLine(start, end, _parts(values["grid"]), _parts(values["block"]), values.get("shared", "0"))


def write_launch(text: str, launch: LaunchLine) -> str:
    """The text with this launch in place of its own."""
    grid, block = ", ".join(launch.grid), ", ".join(launch.block)
    return f"{text[: launch.start]} grid=({grid}) block=({block}) shared={launch.shared}{text[launch.end :]}"


def with_option(text: str, option: str) -> str | None:
    """The text with one more compile option; None where there is no launch line or the option is there."""
    line = _LINE.search(text)
    options = re.search(r"^[ \t]*//[ \t]*options[ \t]*:[^\n]*$", text, re.MULTILINE)
    if line is None or (options is not None and option.partition("=")[0] in options[0]):
        return None
    if options is not None:
        return f"{text[: options.end()]} {option}{text[options.end() :]}"
    return f"{text[: line.end()]}\n// options: {option}{text[line.end() :]}"


def renumbered(text: str, old: int, new: int) -> str:
    """A launch expression with one number in place of another."""
    return _NUMBER.sub(lambda found: str(new) if int(found[0]) == old else found[0], text)


def _parts(text: str) -> tuple[str, ...]:
    """`(a, f(b, c))` as its parts."""
    inner = text[1:-1] if text.startswith("(") and text.endswith(")") and _wrapped(text) else text
    parts, depth, start = list[str](), 0, 0
    for at, character in enumerate(inner):
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append(inner[start:at].strip())
            start = at + 1
    return (*parts, inner[start:].strip())


def _wrapped(text: str) -> bool:
    depth = 0
    for at, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return at == len(text) - 1
    return False
