"""CUDA text as tokens: words, numbers, operators, strings, comments, preprocessor lines.

Knows no grammar. Any text at all gives tokens; what is no token (a lone backslash, an open quote) is an operator of one
character. What must stay true: tokens do not overlap, stand in order, and each is the text between its two places.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

Kind = Literal["word", "number", "op", "string", "comment", "directive"]
_KINDS: tuple[Kind, ...] = ("word", "number", "op", "string", "comment", "directive")
_TOKEN = re.compile(
    r"""
    (?P<comment>//(?:\\\r?\n|[^\n])*|/\*.*?(?:\*/|\Z))
  | (?P<directive>(?m:^)[ \t]*\#(?:\\\r?\n|[^\n])*)
  | (?P<string>(?:u8|[uUL])?"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
  | (?P<word>[A-Za-z_]\w*)
  | (?P<number>\.?[0-9](?:[eEpP][+-]|[\w.])*)
  | (?P<op><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|::|\S)
    """,
    re.VERBOSE | re.DOTALL,
)


class Token(NamedTuple):
    """One token and where it stands: `text[start:end]`."""

    kind: Kind
    text: str
    start: int
    end: int


def tokens(text: str) -> tuple[Token, ...]:
    """All tokens of a text, white space left out."""
    found: list[Token] = []
    for one in _TOKEN.finditer(text):
        kind: Kind = next(kind for kind in _KINDS if one.group(kind) is not None)
        start = one.start()
        if kind == "directive":
            start += len(one[0]) - len(one[0].lstrip())
        found.append(Token(kind, text[start : one.end()], start, one.end()))
    return tuple(found)
