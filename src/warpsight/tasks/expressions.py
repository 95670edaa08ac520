"""Integer arithmetic over axis names, for shapes and launches: `ceil(N/256)`, `(M + 15) // 16 * 4`.

Texts come from models and strangers, so nothing is ever handed to Python's evaluator: the text is parsed, every node
must be on a short list, and size, depth and magnitude are capped at each step. `/` is exact; a result that is not an
integer is refused rather than rounded. What must stay true: any text at all ends, quickly, in an int or in
ExpressionError.
"""

from __future__ import annotations

import ast
import functools
import math
import re
from collections.abc import Callable, Mapping
from fractions import Fraction

MAX_CHARACTERS = 200
MAX_NODES = 80
MAX_DEPTH = 20
MAX_MAGNITUDE = 2**63 - 1

_ALLOWED_TEXT = re.compile(r"[A-Za-z0-9_ \t+\-*/%(),]+")
# Python reads `0x10` and even `1or 2`; axes and decimal integers are all that is meant here.
_GLUED = re.compile(r"(?<![A-Za-z0-9_])[0-9][0-9_]*[A-Za-z]")
_SHOWN_CHARACTERS = 80


class ExpressionError(ValueError):
    """The text is not arithmetic over the axes; `expected` and `found` say how."""

    def __init__(self, expected: str, found: str) -> None:
        super().__init__(f"expected {expected}, found {found}")
        self.expected = expected
        self.found = found


def _ceil(a: Fraction) -> Fraction:
    return Fraction(math.ceil(a))


def _floor(a: Fraction) -> Fraction:
    return Fraction(math.floor(a))


def _cdiv(a: Fraction, b: Fraction) -> Fraction:
    return Fraction(math.ceil(a / b))


_OPERATORS: dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: Fraction(a // b),
    ast.Mod: lambda a, b: a % b,
}
# name -> (function, fewest arguments, most arguments)
_FUNCTIONS: dict[str, tuple[Callable[..., Fraction], int, int]] = {
    "ceil": (_ceil, 1, 1),
    "floor": (_floor, 1, 1),
    "cdiv": (_cdiv, 2, 2),
    "min": (min, 2, 8),
    "max": (max, 2, 8),
}
RESERVED_NAMES = frozenset(_FUNCTIONS) | {"grid", "block", "shared"}


def parse_expression(text: str, names: frozenset[str]) -> ast.expr:
    """The tree of `text`, all of whose nodes are allowed and all of whose names are in `names`."""
    if len(text) > MAX_CHARACTERS:
        raise ExpressionError(f"at most {MAX_CHARACTERS} characters", f"{len(text)} characters")
    shown = repr(text[:_SHOWN_CHARACTERS])
    if not _ALLOWED_TEXT.fullmatch(text) or _GLUED.search(text):
        raise ExpressionError("integer arithmetic: names, integers, + - * / // % ( ) and commas", shown)
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise ExpressionError("an arithmetic expression", shown) from error
    if sum(1 for _ in ast.walk(tree)) > MAX_NODES:
        raise ExpressionError(f"at most {MAX_NODES} parts", shown)
    _check(tree, names, 1)
    return tree


def evaluate(text: str, axes: Mapping[str, int]) -> int:
    """The integer value of `text` where each axis has its value."""
    return _evaluated(text, tuple(axes.items()))


@functools.lru_cache(maxsize=16384)
def _evaluated(text: str, pairs: tuple[tuple[str, int], ...]) -> int:
    axes = dict(pairs)
    value = _value(parse_expression(text, frozenset(axes)), axes)
    if value.denominator != 1:
        hint = "an integer (use ceil(a/b), cdiv(a, b) or //)"
        raise ExpressionError(hint, f"{text!r} = {float(value):g} with {_listed(axes)}")
    return value.numerator


def _check(node: ast.expr, names: frozenset[str], depth: int) -> None:
    if depth > MAX_DEPTH:
        raise ExpressionError(f"nesting of at most {MAX_DEPTH}", "deeper nesting")
    match node:
        case ast.Constant(value=value) if type(value) is int:
            if value > MAX_MAGNITUDE:
                raise ExpressionError(f"integers up to {MAX_MAGNITUDE}", "a greater one")
        case ast.Name(id=name):
            if name not in names:
                raise ExpressionError(f"one of the axes {_listed(sorted(names))}", repr(name))
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            _check(operand, names, depth + 1)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            _check(left, names, depth + 1)
            _check(right, names, depth + 1)
        case ast.Call(func=ast.Name(id=function), args=arguments, keywords=[]) if function in _FUNCTIONS:
            _, fewest, most = _FUNCTIONS[function]
            if not fewest <= len(arguments) <= most:
                raise ExpressionError(f"{function}() with {fewest} to {most} values", f"{len(arguments)}")
            for argument in arguments:
                _check(argument, names, depth + 1)
        case _:
            expected = f"only + - * / // % and {', '.join(sorted(_FUNCTIONS))}"
            raise ExpressionError(expected, repr(ast.unparse(node)[:_SHOWN_CHARACTERS]))


def _value(node: ast.expr, axes: Mapping[str, int]) -> Fraction:
    try:
        match node:
            case ast.Constant(value=int(number)):
                value = Fraction(number)
            case ast.Name(id=name):
                value = Fraction(axes[name])
            case ast.UnaryOp(op=op, operand=operand):
                inner = _value(operand, axes)
                value = -inner if isinstance(op, ast.USub) else inner
            case ast.BinOp(left=left, op=op, right=right):
                value = _OPERATORS[type(op)](_value(left, axes), _value(right, axes))
            case ast.Call(func=ast.Name(id=function), args=arguments):
                value = _FUNCTIONS[function][0](*(_value(argument, axes) for argument in arguments))
            case _:  # _check let nothing else through
                raise AssertionError(ast.dump(node))
    except ZeroDivisionError:
        raise ExpressionError("no division by zero", f"{ast.unparse(node)!r} with {_listed(axes)}") from None
    # Checked at every step, so no intermediate value can grow: there is no way to make a long computation.
    if abs(value.numerator) > MAX_MAGNITUDE or value.denominator > MAX_MAGNITUDE:
        raise ExpressionError(f"values up to {MAX_MAGNITUDE}", f"a greater one in {ast.unparse(node)!r}")
    return value


def _listed(names: Mapping[str, int] | list[str]) -> str:
    if isinstance(names, list):
        return ", ".join(names) or "(there are none)"
    return ", ".join(f"{name}={value}" for name, value in names.items()) or "no axes"
