"""The sentences of a page, without its code, tables, headings and comments, and how long each is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

LONGEST = 35  # words
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_CODE = re.compile(r"`[^`]*`")
_ITEM = re.compile(r"(?:[-*>]|\d+\.) +")
_END = re.compile(r"(?<=[.!?])[)\"*]*\s+(?=[A-Z`*\"\[(])")


def sentences(text: str) -> Iterator[str]:
    """One by one. A code span counts as one word, a link as its words; an item of a list begins a sentence."""
    for paragraph in _paragraphs(text):
        plain = _LINK.sub(r"\1", _CODE.sub("`code`", " ".join(paragraph)))
        yield from (part.strip() for part in _END.split(plain) if part.strip())


def too_long(page: Path) -> list[str]:
    """Sentences of more than 35 words, each with how many it has."""
    found = ((len(sentence.split()), sentence) for sentence in sentences(page.read_text(encoding="utf-8")))
    return [f"{count} words: {sentence}" for count, sentence in found if count > LONGEST]


def _paragraphs(text: str) -> Iterator[list[str]]:
    fenced, some = False, list[str]()
    for line in [*_COMMENT.sub("", text).splitlines(), ""]:
        if line.startswith("```"):
            fenced = not fenced
        bare = line.strip()
        indented_code = line.startswith("    ") and not some
        if fenced or not bare or line.startswith(("```", "#", "|", "!")) or indented_code:
            if some:
                yield some
            some = []
            continue
        if (item := _ITEM.match(bare)) is not None:
            if some:
                yield some
            some = [bare[item.end() :]]
        else:
            some.append(bare)
