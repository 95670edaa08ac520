"""Long texts in pages: the first is shown, the rest is there under a handle.

A page is as many whole lines as fit the budget of tokens; a line that alone is too long is broken. A handle is made of
the text's hash, so the same text has the same handle everywhere. What must stay true: no page is over the budget, and
the pages put together are the text.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from warpsight.lens import tokens

PAGE_TOKENS = 600
_TRAILER_TOKENS = 40  # what the line under a page may take


class Page(NamedTuple):
    """One page of a text."""

    text: str
    number: int
    last: int


def handle_of(text: str) -> str:
    """The handle of a long text."""
    return "r" + hashlib.sha256(text.encode()).hexdigest()[:10]


def pages(text: str, budget: int = PAGE_TOKENS) -> tuple[str, ...]:
    """The text in pages, each within the budget with the line that stands under it."""
    if tokens(text) <= budget:
        return (text,)
    room = budget - _TRAILER_TOKENS
    made, lines = list[str](), list[str]()
    for line in _lines(text, room):
        if lines and tokens("\n".join((*lines, line))) > room:
            made.append("\n".join(lines))
            lines = []
        lines.append(line)
    return (*made, "\n".join(lines))


def page_of(text: str, number: int, budget: int = PAGE_TOKENS) -> Page:
    """One page with the line that says how to go on; a number past the end is the last page."""
    found = pages(text, budget)
    number = max(1, min(number, len(found)))
    if len(found) == 1:
        return Page(text, 1, 1)
    go_on = f'; next: more(handle="{handle_of(text)}", page={number + 1})' if number < len(found) else ""
    return Page(f"{found[number - 1]}\n[page {number} of {len(found)}{go_on}]", number, len(found))


def _lines(text: str, room: int) -> list[str]:
    """Lines, the longest of them broken: three characters are never more than two tokens and a bit."""
    width = max(1, room)
    made: list[str] = []
    for line in text.split("\n"):
        while tokens(line) > room:
            made.append(line[:width])
            line = line[width:]
        made.append(line)
    return made
