"""Names in a piece of code: put an expression for one, find one that is not taken."""

from __future__ import annotations

import re
from collections.abc import Mapping

from warpsight.rewrite.source import Code, Edit, Span, splice


def put_for(code: Code, span: Span, name: str, expression: str) -> str:
    """The text of a span with an expression in the place of a name."""
    return put_all(code, span, {name: expression})


def put_all(code: Code, span: Span, expressions: Mapping[str, str]) -> str:
    """The text of a span with an expression in the place of each name; members of records are not names."""
    if span.first >= span.last:
        return ""
    start = code.tokens[span.first].start
    edits = [
        Edit(token.start - start, token.end - start, expressions[token.text])
        for at, token in enumerate(code.tokens[span.first : span.last], start=span.first)
        if token.kind == "word" and token.text in expressions and code[at - 1] not in (".", "->")
    ]
    return splice(code.of(span), edits)


def fresh(text: str, name: str) -> str:
    """The name, or the first with a number behind it that does not stand in the text."""
    name = re.sub(r"\W", "_", name)
    taken = set(re.findall(r"\w+", text))
    numbered = (name if turn == 0 else f"{name}_{turn}" for turn in range(len(taken) + 1))
    return next(one for one in numbered if one not in taken)
