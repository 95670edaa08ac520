"""A line of the kernel with a caret under the place that is meant, as compilers show it. Pure text."""

from __future__ import annotations

import re


def marked_line(source: str, line: int, column: int | None = None, word: str | None = None) -> str:
    """The numbered source line and a caret: at `column`, else under `word` where it stands, else at its first sign."""
    lines = source.splitlines()
    if not 1 <= line <= len(lines):
        return ""
    text = lines[line - 1].expandtabs(4)
    start, length = len(text) - len(text.lstrip()), 1
    if column is not None:
        start = len(lines[line - 1][: column - 1].expandtabs(4))
    elif word and (found := re.search(rf"\b{re.escape(word)}\b", text)):
        start, length = found.start(), len(word)
    number = f"{line:>5}"
    return f"{number} | {text}\n{' ' * len(number)} | {' ' * start}{'^' * length}"
