"""The operands of one operator in an expression, as far as tokens tell: what stands left and right of `*`, `/`, `%`."""

from __future__ import annotations

from warpsight.rewrite.source import Code, Span, within

_NAMES = "int unsigned long short char size_t float double bool signed const uint32_t int32_t uint64_t int64_t"
_TYPES = frozenset(_NAMES.split())


def right_operand(code: Code, at: int, last: int) -> Span | None:
    """The operand after the operator at `at`: a sign or cast, a name, number or bracket, and what hangs on it."""
    here = at + 1
    while here < last and (code[here] in ("-", "+", "!", "~", "*", "&") or is_cast(code, here)):
        here = code.pairs[here] + 1 if code[here] == "(" else here + 1
    if here >= last or not (code.kind(here) in ("word", "number") or (code[here] == "(" and here in code.pairs)):
        return None
    here = code.pairs.get(here, here) + 1
    while here < last:
        if code[here] == "<" and code[here - 1] in ("reinterpret_cast", "static_cast"):
            close = next((i for i in range(here, last) if code[i] == ">"), None)
            if close is None:
                return None
            here = close + 1
        elif code[here] in ("(", "[") and here in code.pairs:
            here = code.pairs[here] + 1
        elif code[here] in (".", "->", "::") and code.kind(here + 1) == "word":
            here += 2
        else:
            break
    return Span(at + 1, min(here, last))


def left_operand(code: Code, at: int, first: int) -> Span | None:
    """The operand before the operator at `at`, without what `*`, `/` or `%` stand before it in the same product."""
    opens = {close: start for start, close in code.pairs.items()}
    here = at - 1
    while here >= first and code[here] in (")", "]") and here in opens:
        here = opens[here] - 1
        if code.kind(here) != "word" and code[here] not in ("]", ")"):
            here += 1
            break
        if is_cast(code, here + 1):
            here += 1
            break
    else:
        if here < first or code.kind(here) not in ("word", "number"):
            return None
    while here - 1 > first and code[here - 1] in (".", "->", "::"):
        before = left_operand(code, here - 1, first)
        if before is None:
            return None
        here = before.first
    while here - 1 >= first and (close := here - 1) in opens and is_cast(code, opens[close]):
        here = opens[close]
    return Span(here, at) if here < at else None


def product_left(code: Code, at: int, first: int) -> Span | None:
    """All that is multiplied or divided before the operator at `at`: in C these bind from the left."""
    found = left_operand(code, at, first)
    while found is not None and found.first - 1 >= first and code[found.first - 1] in ("*", "/", "%"):
        before = left_operand(code, found.first - 1, first)
        if before is None:
            break
        found = Span(before.first, at)
    return found


def is_cast(code: Code, at: int) -> bool:
    """Whether a bracket is a cast: only words of types stand in it."""
    if code[at] != "(" or at not in code.pairs:
        return False
    inner = within(code, at)
    return inner.first < inner.last and all(code[i] in _TYPES or code[i] == "*" for i in range(inner.first, inner.last))
