"""`accidental_double`: float types, float literals and float functions where double ones stand.

Nothing is offered for a task whose arguments are double: there it is no accident.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from warpsight.rewrite.record import Facts, Rewrite
from warpsight.rewrite.source import Code, Edit, read, splice

_DOUBLE_LITERAL = re.compile(r"(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][+-]?[0-9]+)?")
_NAMES = """
sqrt rsqrt cbrt exp exp2 exp10 expm1 log log2 log10 log1p pow sin cos tan asin acos atan atan2 sinh
cosh tanh fabs fmin fmax floor ceil round trunc rint fmod hypot erf erfc fma copysign ldexp
"""
_FUNCTIONS = frozenset(_NAMES.split())
_VECTORS = {f"double{width}": f"float{width}" for width in "234"}
_TYPES = {"double": "float", **_VECTORS, **{f"make_{old}": f"make_{new}" for old, new in _VECTORS.items()}}
_INTRINSICS = {"__dadd_rn": "__fadd_rn", "__dmul_rn": "__fmul_rn", "__fma_rn": "__fmaf_rn", "__drcp_rn": "__frcp_rn"}


def accidental_double(text: str, facts: Facts) -> Iterator[Rewrite]:
    """All at once first: a double that is left makes its whole expression double again."""
    if facts.has_double:
        return
    code = read(text)
    types, literals, functions = list(_types(code)), list(_literals(code)), list(_functions(code))
    yield Rewrite("types, literals and functions in float", splice(text, [*types, *literals, *functions]))
    yield Rewrite("literals and functions in float", splice(text, [*literals, *functions]))
    yield Rewrite("literals in float", splice(text, literals))
    for at, edit in enumerate(types):  # one double may be needed, such as the sum of very many numbers
        others = [other for number, other in enumerate(types) if number != at]
        kept = text.count("\n", 0, edit.start) + 1
        yield Rewrite(f"all in float but line {kept}", splice(text, [*others, *literals, *functions]))


def _types(code: Code) -> Iterator[Edit]:
    for token in code.tokens:
        if token.kind == "word" and (new := _TYPES.get(token.text, _INTRINSICS.get(token.text))):
            yield Edit(token.start, token.end, new)


def _literals(code: Code) -> Iterator[Edit]:
    for token in code.tokens:
        if token.kind == "number" and _DOUBLE_LITERAL.fullmatch(token.text):
            yield Edit(token.end, token.end, "f")


def _functions(code: Code) -> Iterator[Edit]:
    for at, token in enumerate(code.tokens):
        free = code[at - 1] not in (".", "->", "::") and code.kind(at - 1) != "word"
        if token.text in _FUNCTIONS and token.kind == "word" and code[at + 1] == "(" and free:
            yield Edit(token.end, token.end, "f")
