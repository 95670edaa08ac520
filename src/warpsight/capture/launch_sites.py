"""The places in host code that launch a kernel, `k<<<grid, block>>>(...)`, with another launch in them."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from warpsight.nouns import Candidate, Task
from warpsight.source.tree import SourceTree, within
from warpsight.tasks.expressions import parse_expression

SIGNS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Mod: "%"}


@dataclass(frozen=True)
class SiteEdit:
    """Bytes of a text that become other ones."""

    start: int
    end: int
    new: str


def changed_sites(
    tree: SourceTree, task: Task, winner: Candidate, before: Candidate, names: Sequence[str]
) -> list[SiteEdit]:
    """One edit for each launch of the task's kernel, whose parameters have these names."""
    found: list[SiteEdit] = []
    scalars = {a.name for a in task.arguments if a.role == "scalar"}
    for call in within(tree.root, "call_expression"):
        syntax = next((child for child in call.children if child.type == "kernel_call_syntax"), None)
        function = call.child_by_field_name("function")
        listed = call.child_by_field_name("arguments")
        if syntax is None or function is None or listed is None or not _names(tree, function, task.entry):
            continue
        given = [tree.of(one) for one in listed.named_children if one.type != "comment"]
        if len(given) != len(names):
            continue
        axes = {name: text for name, text in zip(names, given, strict=True) if name in scalars}
        parts = [tree.of(one) for one in syntax.named_children]
        words = [_dims(winner.launch.grid, axes), _dims(winner.launch.block, axes)]
        shared = parts[2] if len(parts) > 2 else "0"
        if winner.launch.shared != before.launch.shared:
            shared = cpp(winner.launch.shared, axes)
        words += [shared] if len(parts) > 2 or shared != "0" else []
        words += parts[3:]
        found.append(SiteEdit(syntax.start_byte, syntax.end_byte, f"<<<{', '.join(words)}>>>"))
    return found


def _names(tree: SourceTree, function: Node, entry: str) -> bool:
    return tree.of(function).split("<")[0].split("::")[-1].strip() == entry


def _dims(extents: tuple[str, str, str], axes: Mapping[str, str]) -> str:
    kept = list(extents)
    while len(kept) > 1 and kept[-1] == "1":
        kept.pop()
    return f"dim3({', '.join(cpp(one, axes) for one in kept)})"


def cpp(expression: str, axes: Mapping[str, str]) -> str:
    """An expression of a launch line in C++, where each axis is what a launch passes for it."""
    return _cpp(parse_expression(expression, frozenset(axes)), axes)


def _cpp(node: ast.expr, axes: Mapping[str, str]) -> str:
    match node:
        case ast.Constant(value=value):
            return str(value)
        case ast.Name(id=name):
            text = axes[name]
            return text if text.isidentifier() or text.isdecimal() else f"({text})"
        case ast.UnaryOp(op=op, operand=operand):
            return f"({'-' if isinstance(op, ast.USub) else '+'}{_cpp(operand, axes)})"
        case ast.Call(func=ast.Name(id="ceil"), args=[ast.BinOp(left=a, op=ast.Div(), right=b)]):
            return _divided_up(a, b, axes)
        case ast.Call(func=ast.Name(id="cdiv"), args=[a, b]):
            return _divided_up(a, b, axes)
        case ast.Call(func=ast.Name(id=("ceil" | "floor")), args=[a]):
            return _cpp(a, axes)
        case ast.Call(func=ast.Name(id=("min" | "max") as name), args=[a, *rest]):
            text = _cpp(a, axes)
            for other in rest:
                one = _cpp(other, axes)
                text = f"({text} {'<' if name == 'min' else '>'} {one} ? {text} : {one})"
            return text
        case ast.BinOp(left=a, op=op, right=b):
            sign = SIGNS.get(type(op), "/")
            return f"({_cpp(a, axes)} {sign} {_cpp(b, axes)})"
        case _:  # parse_expression lets nothing else through
            raise AssertionError(ast.dump(node))


def _divided_up(a: ast.expr, b: ast.expr, axes: Mapping[str, str]) -> str:
    over = _cpp(b, axes)
    return f"(({_cpp(a, axes)} + {over} - 1) / {over})"
