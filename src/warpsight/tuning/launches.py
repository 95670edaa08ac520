"""Launch expressions over axes and parameters: put values in, fold what is constant, write the launch line.

Everything goes through the expression parser of `tasks`, so nothing is ever handed to Python's evaluator. What must
stay true: the line that is written reads back as the launch that was meant.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from warpsight.nouns import Launch
from warpsight.tasks.expressions import ExpressionError, evaluate, parse_expression

_LINE = re.compile(r"^[ \t]*//[ \t]*launch[ \t]*:.*$", re.MULTILINE)
_COMPARED = re.compile(r"(.+?)(==|!=|<=|>=|<|>)(.+)")


def with_values(expression: str, values: Mapping[str, int], axes: frozenset[str]) -> str:
    """The expression with numbers in place of the parameters; parts that hold no axis are computed."""
    tree = parse_expression(expression, axes | frozenset(values))
    return ast.unparse(_fold(_Filled(values).visit(tree)))


def launch_with(launch: Launch, values: Mapping[str, int], axes: frozenset[str]) -> Launch:
    """A launch over the axes alone."""
    grid, block = (tuple(with_values(e, values, axes) for e in three) for three in (launch.grid, launch.block))
    return Launch(
        grid=(grid[0], grid[1], grid[2]),
        block=(block[0], block[1], block[2]),
        shared=with_values(launch.shared, values, axes),
    )


def with_launch(text: str, launch: Launch) -> str:
    """The kernel's text with this launch line in place of its own."""
    return _LINE.sub(lambda _: launch_line(launch), text, count=1)


def launch_line(launch: Launch) -> str:
    return f"// launch: grid={_written(launch.grid)} block={_written(launch.block)} shared={launch.shared}"


def holds(rule: str, values: Mapping[str, int]) -> bool:
    """Whether a comparison of two expressions over the parameters is true; one that has no integer value is not."""
    left, sign, right = _sides(rule)
    try:
        a, b = evaluate(left, values), evaluate(right, values)
    except ExpressionError as impossible:
        if "integer" in impossible.expected or "zero" in impossible.expected:
            return False
        raise
    return {"==": a == b, "!=": a != b, "<=": a <= b, ">=": a >= b, "<": a < b, ">": a > b}[sign]


def check_rule(rule: str, names: frozenset[str]) -> None:
    """ExpressionError where a rule is no comparison of two expressions over these names."""
    left, _, right = _sides(rule)
    parse_expression(left, names)
    parse_expression(right, names)


def _sides(rule: str) -> tuple[str, str, str]:
    found = _COMPARED.fullmatch(rule.strip())
    if found is None:
        raise ExpressionError("two expressions with == != <= >= < or > between", repr(rule[:80]))
    return found[1].strip(), found[2], found[3].strip()


def _written(three: tuple[str, str, str]) -> str:
    parts = list(three)
    while len(parts) > 1 and parts[-1] == "1":
        parts.pop()
    return f"({', '.join(parts)})"


class _Filled(ast.NodeTransformer):
    def __init__(self, values: Mapping[str, int]) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(self._values[node.id]) if node.id in self._values else node


def _fold(node: ast.expr) -> ast.expr:
    """Parts without a name as one number, where that is an integer; the rest as it is."""
    names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    if not names - {"ceil", "floor", "cdiv", "min", "max"}:
        try:
            return ast.Constant(evaluate(ast.unparse(node), {}))
        except ExpressionError:
            return node
    match node:
        case ast.BinOp():
            return ast.BinOp(_fold(node.left), node.op, _fold(node.right))
        case ast.UnaryOp():
            return ast.UnaryOp(node.op, _fold(node.operand))
        case ast.Call():
            return ast.Call(node.func, [_fold(argument) for argument in node.args], [])
        case _:
            return node
