"""Refuses the names of the day and hour of a compile: the same text must give the same program at any time.

The compiler defines `__DATE__` and `__TIME__` itself and lets nobody define them otherwise; `__TIMESTAMP__` it does not
know. So they are refused by name, wherever they stand, also in comments. They can also be pasted of parts: a text that
has all the parts of such a name as words of their own is refused too, whoever does the pasting. `__COUNTER__` and
`__LINE__` depend on nothing but the text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from warpsight.nouns import Diagnostic

CLOCKS = ("__DATE__", "__TIME__", "__TIMESTAMP__")
_SPLICE = re.compile(r"(?:\\|\?\?/)[ \t]*\r?\n")
_UNIVERSAL = re.compile(r"\\u00([0-7][0-9a-fA-F])|\\U000000([0-7][0-9a-fA-F])")
_WORD = re.compile(r"\w+", re.ASCII)


def refused_clocks(source: str, options: Sequence[str], name: str) -> tuple[Diagnostic, ...]:
    """One error for each of the names that the text, or a definition beside it, spells or could paste together."""
    text = _UNIVERSAL.sub(lambda found: chr(int(found[1] or found[2], 16)), _SPLICE.sub("", source))
    words = set(_WORD.findall("\n".join((text, *(option.removeprefix("-D") for option in options)))))
    return tuple(_error(source, clock, name) for clock in CLOCKS if clock in words or _can_be_pasted(clock, words))


def _can_be_pasted(clock: str, words: Collection[str]) -> bool:
    reached = {0}  # lengths of the beginnings of the name that the words make
    for end in range(1, len(clock) + 1):
        if any(clock[start:end] in words for start in reached):
            reached.add(end)
    return len(clock) in reached


def _error(source: str, clock: str, name: str) -> Diagnostic:
    at = source.find(clock)
    line = None if at < 0 else source.count("\n", 0, at) + 1
    message = f"{clock} is not allowed: a kernel must be the same whenever it is compiled"
    return Diagnostic(severity="error", file=name, line=line, column=None, message=message)
