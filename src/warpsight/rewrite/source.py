"""A kernel's text with the little structure that rewrites need: brackets, statements, loops, declarations, calls.

A reader of shapes, no parser: what it does not recognise it does not report, so a rewrite has nothing to do. Places are
token numbers; a span is [first, last). What must stay true: any text gives a Code, and no question of it raises.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from warpsight.rewrite.tokens import Token, tokens

OPEN = {"(": ")", "[": "]", "{": "}"}
ASSIGN = frozenset(("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="))
_HEADED = ("for", "while", "if", "switch")
_DEEPEST = 200


class Span(NamedTuple):
    """Tokens from `first` up to, not with, `last`."""

    first: int
    last: int


class Edit(NamedTuple):
    """Characters from `start` to `end` become `new`."""

    start: int
    end: int
    new: str


class Loop(NamedTuple):
    """A `for` loop: its three parts, its body (with the braces, where it has them), the pragma above it."""

    at: int
    init: Span
    condition: Span
    step: Span
    body: Span
    pragma: int | None
    innermost: bool


@dataclass(frozen=True, eq=False)
class Code:
    """A text and its tokens, comments left out. Compared by identity, so that what is found in one can be kept."""

    text: str
    tokens: tuple[Token, ...]
    pairs: dict[int, int]  # each opening bracket to the one that closes it

    def __getitem__(self, at: int) -> str:
        """The text of a token; nothing outside."""
        return self.tokens[at].text if 0 <= at < len(self.tokens) else ""

    def kind(self, at: int) -> str:
        return self.tokens[at].kind if 0 <= at < len(self.tokens) else ""

    def of(self, span: Span) -> str:
        """The text of a span, comments and spaces inside it included."""
        if span.first >= span.last:
            return ""
        return self.text[self.tokens[span.first].start : self.tokens[span.last - 1].end]

    def words(self, span: Span) -> set[str]:
        return {t.text for t in self.tokens[span.first : span.last] if t.kind == "word"}

    def edit(self, span: Span, new: str) -> Edit:
        """A span replaced; an empty span is an insertion before its first token."""
        if span.first >= span.last:
            at = self.tokens[span.first].start if span.first < len(self.tokens) else len(self.text)
            return Edit(at, at, new)
        return Edit(self.tokens[span.first].start, self.tokens[span.last - 1].end, new)

    def indent(self, at: int) -> str:
        """The white space at the start of the line that a token stands on."""
        if at >= len(self.tokens):
            return ""
        line = self.text.rfind("\n", 0, self.tokens[at].start) + 1
        rest = self.text[line : self.tokens[at].start]
        return rest[: len(rest) - len(rest.lstrip())]

    def line(self, span: Span) -> Edit | None:
        """The whole lines of a span taken out; None where something else stands on them."""
        start, end = self.tokens[span.first].start, self.tokens[span.last - 1].end
        first = self.text.rfind("\n", 0, start) + 1
        last = self.text.find("\n", end)
        last = len(self.text) if last < 0 else last + 1
        if self.text[first:start].strip() or self.text[end:last].strip():
            return None
        return Edit(first, last, "")


def read(text: str) -> Code:
    """The code of a text."""
    found = tuple(token for token in tokens(text) if token.kind != "comment")
    pairs: dict[int, int] = {}
    open_at: list[int] = []
    for at, token in enumerate(found):
        if token.kind != "op":
            continue
        if token.text in OPEN:
            open_at.append(at)
        elif token.text in OPEN.values() and open_at and OPEN[found[open_at[-1]].text] == token.text:
            pairs[open_at.pop()] = at
    return Code(text, found, pairs)


def splice(text: str, edits: Iterable[Edit]) -> str:
    """The text after edits that do not overlap; of two that do, the first in the text is made."""
    parts: list[str] = []
    at = 0
    for edit in sorted(set(edits), key=lambda e: (e.start, e.end)):
        if edit.start < at:
            continue
        parts += [text[at : edit.start], edit.new]
        at = edit.end
    return "".join((*parts, text[at:]))


def within(code: Code, at: int, last: int | None = None) -> Span:
    """What stands between an opening bracket and the one that closes it; empty where none does."""
    close = code.pairs.get(at)
    return Span(at + 1, at + 1) if close is None or (last is not None and close >= last) else Span(at + 1, close)


def split(code: Code, span: Span, by: str = ",") -> tuple[Span, ...]:
    """The parts of a span between separators that stand in no bracket."""
    parts, start, at = list[Span](), span.first, span.first
    while at < span.last:
        if code[at] == by:
            parts.append(Span(start, at))
            start = at + 1
        at = code.pairs.get(at, at) + 1
    return (*parts, Span(start, span.last)) if span.first < span.last else ()


def statement_end(code: Code, at: int, last: int, depth: int = 0) -> int:
    """The place after the statement that starts here."""
    if at >= last or depth > _DEEPEST:
        return last
    word = code[at]
    if code.kind(at) == "directive":
        return at + 1
    if word == "{":
        return min(code.pairs.get(at, last - 1) + 1, last)
    if word in _HEADED and code[at + 1] == "(" and at + 1 in code.pairs:
        end = statement_end(code, code.pairs[at + 1] + 1, last, depth + 1)
        if word == "if" and end < last and code[end] == "else":
            return statement_end(code, end + 1, last, depth + 1)
        return end
    if word == "do":
        at = statement_end(code, at + 1, last, depth + 1)
    while at < last and code[at] != ";":
        at = code.pairs.get(at, at) + 1
    return min(at + 1, last)


def statements(code: Code, span: Span) -> Iterator[Span]:
    """The statements of a block's inside, in order; a pragma is one of its own."""
    at = span.first
    while at < span.last:
        end = max(statement_end(code, at, span.last), at + 1)
        yield Span(at, end)
        at = end


def blocks(code: Code, span: Span) -> Iterator[Span]:
    """The inside of every pair of braces in a span, inner ones too."""
    for at in range(span.first, span.last):
        if code[at] == "{" and at in code.pairs:
            yield within(code, at)


@functools.lru_cache(maxsize=64)
def loops(code: Code, span: Span | None = None) -> tuple[Loop, ...]:
    """The `for` loops of a span, in the order of the text."""
    first, last = span or Span(0, len(code.tokens))
    found: list[Loop] = []
    for at in range(first, last):
        if code[at] != "for" or code.kind(at) != "word" or code[at + 1] != "(" or at + 1 not in code.pairs:
            continue
        inside = within(code, at + 1)
        parts = split(code, inside, ";")
        if len(parts) != 3:
            continue
        start = code.pairs[at + 1] + 1
        body = Span(start, statement_end(code, start, last))
        pragma = at - 1 if code.kind(at - 1) == "directive" and "unroll" in code[at - 1] else None
        inner = not any(code[i] in ("for", "while", "do") for i in range(body.first, body.last))
        found.append(Loop(at, *parts, body, pragma, inner))
    return tuple(found)


def inside(code: Code, body: Span) -> Span:
    """A body without its braces."""
    whole = code[body.first] == "{" and code.pairs.get(body.first) == body.last - 1
    return Span(body.first + 1, body.last - 1) if whole else body


def kernel_at(code: Code, entry: str) -> tuple[Span, Span, int] | None:
    """Parameters, inside of the body and first token of the kernel."""
    for at, token in enumerate(code.tokens):
        if token.text != entry or code[at + 1] != "(" or at + 1 not in code.pairs:
            continue
        brace = code.pairs[at + 1] + 1
        head = at
        while head > 0 and code[head - 1] not in (";", "}", "{") and code.kind(head - 1) != "directive":
            head -= 1
        if code[brace] == "{" and brace in code.pairs and "__global__" in code.words(Span(head, at)):
            return within(code, at + 1), within(code, brace), head
    return None


def assigns(code: Code, name: str, span: Span) -> bool:
    """Whether a variable gets a new value in a span, also by address or by step."""
    for at in range(span.first, span.last):
        if code[at] != name or code.kind(at) != "word" or code[at - 1] in (".", "->"):
            continue
        if code[at + 1] in ASSIGN or {code[at + 1], code[at - 1]} & {"++", "--"}:
            return True
        if code[at - 1] == "&" and code[at - 2] in ("(", ",", "=", "return"):
            return True
    return False


def definition(code: Code, name: str, span: Span) -> Span | None:
    """What a variable is set to where it is declared, if it never gets another value in the span."""
    found: Span | None = None
    for at in range(span.first, span.last):
        if code[at] != name or code.kind(at) != "word" or code[at - 1] in (".", "->"):
            continue
        if code[at + 1] in ASSIGN or {code[at + 1], code[at - 1]} & {"++", "--"}:
            if found is not None or code[at + 1] != "=" or not _declares(code, at):
                return None
            end = at + 2
            while end < span.last and code[end] not in (",", ";", ")"):
                end = code.pairs.get(end, end) + 1
            found = Span(at + 2, end)
    return found


def declaration(code: Code, name: str, span: Span) -> Span | None:
    """What a variable is set to where it is declared first, whatever happens to it later."""
    for at in range(span.first, span.last):
        if code[at] == name and code.kind(at) == "word" and code[at + 1] == "=" and _declares(code, at):
            end = at + 2
            while end < span.last and code[end] not in (",", ";", ")"):
                end = code.pairs.get(end, end) + 1
            return Span(at + 2, end)
    return None


def _declares(code: Code, at: int) -> bool:
    """Whether the name here is being declared: a type stands before it, or a declared name and a comma."""
    if code.kind(at - 1) == "word" and code[at - 1] not in ("return", "else"):
        return True
    if code[at - 1] in ("*", "&") and code.kind(at - 2) == "word":
        return code[at - 3] in ("", ";", "{", "}", "(", "const") or code.kind(at - 3) == "directive"
    if code[at - 1] != ",":
        return False
    start = at - 1
    while start > 0 and code[start - 1] not in (";", "{", "}"):
        if code.kind(start - 1) == "directive":
            break
        start -= 1
    return code.kind(start) == "word" and (code.kind(start + 1) == "word" or code[start + 1] == "*")


def calls(code: Code, names: Iterable[str], span: Span | None = None) -> Iterator[tuple[int, tuple[Span, ...]]]:
    """Calls of these functions: where the name stands, and the arguments."""
    first, last = span or Span(0, len(code.tokens))
    wanted = set(names)
    for at in range(first, last):
        named = code[at] in wanted and code.kind(at) == "word" and code[at - 1] not in (".", "->")
        if named and code[at + 1] == "(" and at + 1 in code.pairs:
            yield at, split(code, within(code, at + 1))


def element(code: Code, at: int) -> tuple[Span, ...]:
    """The insides of the index brackets after the name at `at`."""
    found: list[Span] = []
    end = at + 1
    while code[end] == "[" and end in code.pairs:
        found.append(within(code, end))
        end = code.pairs[end] + 1
    return tuple(found)


def variable_of(code: Code, loop: Loop) -> str:
    """The variable that a loop steps; nothing where it is not plain."""
    found = [code[at] for at in range(*loop.step) if code.kind(at) == "word"]
    return found[0] if found else ""


def step_of(code: Code, loop: Loop) -> str | None:
    """By how much a loop steps up, as a text."""
    words = [code[at] for at in range(*loop.step)]
    if len(words) == 2 and "++" in words:
        return "1"
    return code.of(Span(loop.step.first + 2, loop.step.last)) if words[1:2] == ["+="] else None


def start_of(code: Code, loop: Loop) -> Span | None:
    """What the variable of a loop starts with, where the loop itself says so."""
    at = next((i for i in range(*loop.init) if code[i] == "="), None)
    return None if at is None else Span(at + 1, loop.init.last)


@functools.lru_cache(maxsize=64)
def number(text: str) -> int | None:
    """The value of an integer literal of any base and suffix; None for anything else."""
    bare = text.lower().rstrip("ul").replace("'", "")
    try:
        octal = len(bare) > 1 and bare[0] == "0" and bare.isdecimal()
        return int(bare, 8) if octal else int(bare, 0)
    except ValueError:
        return None
