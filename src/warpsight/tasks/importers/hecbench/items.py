"""A C++ text cut into its top-level pieces: functions, types, declarations, directives, namespaces.

Pure. Reads structure, not meaning: comments and the insides of strings are blanked, brackets are matched. A text whose
brackets do not match, because macros make them, is cut as far as they do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["function", "type", "declaration", "directive", "open", "close"]

_BLANKED = re.compile(
    r"//(?:\\\n|[^\n])*|/\*.*?\*/|R\"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)\"|\"(?:\\.|[^\"\\\n])*\""
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'",
    re.DOTALL,
)
_DIRECTIVE = re.compile(r"[ \t]*#(?:\\\n|[^\n])*")
_ATTRIBUTES = re.compile(
    r"(?:__launch_bounds__|__align__|alignas|__attribute__|__declspec|__cluster_dims__|__block_size__)\s*"
    r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|\[\[[^\]]*\]\]"
)
_OPENS = re.compile(r"^\s*(?:inline\s+)?namespace\b[^(;=]*$|^\s*extern\s*\"[^\"]*\"\s*$")
_TYPE = re.compile(
    r"^\s*(?:template\s*<.*>\s*)?(?:typedef\s+|static\s+|const\s+)*(?:class|struct|union|enum)\b[^()]*$", re.DOTALL
)
_CLOSERS = {"(": ")", "{": "}", "[": "]"}


@dataclass(frozen=True)
class Piece:
    """One piece of the text: where it is, what it is, and what stands before its body, without comments."""

    kind: Kind
    start: int
    end: int
    head: str


def blanked(text: str) -> str:
    """The same text, same length, with comments as spaces and the insides of strings as spaces."""

    def blank(found: re.Match[str]) -> str:
        whole = found[0]
        spaces = re.sub(r"[^\n]", " ", whole)
        return spaces if whole.startswith("/") else f'"{spaces[1:-1]}"' if whole.endswith('"') else f"'{spaces[1:-1]}'"

    return _BLANKED.sub(blank, text)


def pieces(text: str) -> tuple[Piece, ...]:
    """The pieces in order; together they are all of the text but white space."""
    return tuple(_pieces(blanked(text)))


def _pieces(plain: str) -> Iterator[Piece]:
    at, end = 0, len(plain)
    while at < end:
        if plain[at].isspace():
            at += 1
            continue
        line_start = plain.rfind("\n", 0, at) + 1
        if plain[at] == "#" and not plain[line_start:at].strip():
            found = _DIRECTIVE.match(plain, line_start)
            stop = found.end() if found else at + 1
            yield Piece("directive", at, stop, plain[at:stop])
            at = stop
        elif plain[at] in "};":
            if plain[at] == "}":
                yield Piece("close", at, at + 1, "}")
            at += 1
        else:
            piece = _one(plain, at)
            yield piece
            at = piece.end


def _one(plain: str, start: int) -> Piece:
    """The piece that begins here: it ends at a semicolon or after a body."""
    at = start
    while at < len(plain):
        char = plain[at]
        if char == ";":
            return Piece("declaration", start, at + 1, plain[start:at])
        if char == "#" and not plain[plain.rfind("\n", 0, at) + 1 : at].strip():
            found = _DIRECTIVE.match(plain, at)
            at = found.end() if found else at + 1
            continue
        if char == "}":
            return Piece("declaration", start, at, plain[start:at])  # a macro without a semicolon, before a close
        if char == "{":
            head = plain[start:at]
            bare = _ATTRIBUTES.sub(" ", head)
            if _OPENS.match(bare):
                return Piece("open", start, at + 1, head)
            stop = _matching(plain, at)
            if _TYPE.match(bare):
                return Piece("type", start, _past_semicolon(plain, stop), head)
            if not _initialises(bare):
                return Piece("function", start, stop, head)
            at = stop
            continue
        at = _matching(plain, at) if char in "([" else at + 1
    return Piece("declaration", start, len(plain), plain[start:])


def _initialises(head: str) -> bool:
    """`x = {`, `x[] {`: a value follows and no body."""
    text = re.sub(r"\([^()]*\)", "()", head)
    for _ in range(8):
        text = re.sub(r"\([^()]*\)|<[^<>;]*>", "", text)
    return bool(re.search(r"(?<![=!<>+\-*/%&|^])=(?!=)", re.sub(r"operator\s*\S+", "", text))) or "(" not in head


def _matching(plain: str, at: int) -> int:
    """Just past the bracket that closes the one here; the end of the text where there is none."""
    wanted: list[str] = []
    while at < len(plain):
        char = plain[at]
        if char in _CLOSERS:
            wanted.append(_CLOSERS[char])
        elif char in ")]}" and wanted:
            if char == wanted[-1]:
                wanted.pop()
            if not wanted:
                return at + 1
        elif char in "\"'":
            closing = plain.find(char, at + 1)
            at = closing if closing != -1 else at
        at += 1
    return len(plain)


def _past_semicolon(plain: str, at: int) -> int:
    found = plain.find(";", at)
    return found + 1 if found != -1 else at
