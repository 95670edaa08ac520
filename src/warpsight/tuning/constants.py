"""Named integer constants in a kernel's text: where they stand, and the text with other values in their places.

`#define TILE 16`, `constexpr int TILE = 16;` and `const int TILE = 16;`. Constants that are computed, wider than a
decimal integer, or defined twice are left alone: a value in one place would not be the value everywhere.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

_NUMBER = r"(?P<value>0|[1-9][0-9]{0,8})(?![\w.])"
_DEFINE = re.compile(
    rf"^[ \t]*#[ \t]*define[ \t]+(?P<name>[A-Za-z_]\w*)[ \t]+\(?{_NUMBER}\)?[ \t]*(?://.*|/\*.*)?$", re.MULTILINE
)
_CONST = re.compile(
    r"^[ \t]*(?:static[ \t]+)?(?:constexpr|const)[ \t]+(?:unsigned[ \t]+int|unsigned|int|size_t|uint|long|short)[ \t]+"
    rf"(?P<name>[A-Za-z_]\w*)[ \t]*=[ \t]*{_NUMBER}[ \t]*;",
    re.MULTILINE,
)
_ANY_DEFINITION = re.compile(r"^[ \t]*#[ \t]*(?:define|undef)[ \t]+([A-Za-z_]\w*)", re.MULTILINE)


@dataclass(frozen=True)
class NamedConstant:
    """A named constant: its value, its line (from 1) and where in the text the digits are."""

    name: str
    value: int
    line: int
    start: int
    end: int


def named_constants(text: str) -> dict[str, NamedConstant]:
    """The constants that may be given another value, by name, in the order of the text."""
    found = [_constant(text, match) for match in (*_DEFINE.finditer(text), *_CONST.finditer(text))]
    times = Counter(constant.name for constant in found)
    for name, count in Counter(_ANY_DEFINITION.findall(text)).items():
        times[name] = max(times[name], count)
    return {one.name: one for one in sorted(found, key=lambda one: one.start) if times[one.name] == 1}


def with_constants(text: str, values: Mapping[str, int]) -> str:
    """The text with these values; names that are no constant of it are passed over."""
    known = named_constants(text)
    for name in sorted((n for n in values if n in known), key=lambda n: known[n].start, reverse=True):
        text = f"{text[: known[name].start]}{values[name]}{text[known[name].end :]}"
    return text


def _constant(text: str, match: re.Match[str]) -> NamedConstant:
    start, end = match.span("value")
    return NamedConstant(match["name"], int(match["value"]), text.count("\n", 0, start) + 1, start, end)
