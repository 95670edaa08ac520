"""`for` loops that count: the variable, where it starts, the bound, the step.

A loop that counts in another way is not understood, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from warpsight.source.tree import NotUnderstood, SourceTree, assigned, declared_name, inner, within


@dataclass(frozen=True, eq=False)
class ForLoop:
    """`for (start; variable < bound; variable += step) body`. `step` is None for `++`."""

    node: Node
    variable: str
    start: Node
    test: Node
    bound: Node
    inclusive: bool
    update: Node
    step: Node | None
    body: Node
    declares: bool


def for_loops(tree: SourceTree, node: Node) -> Iterator[ForLoop]:
    """The loops in a node that count upwards, in the order of the text."""
    for one in within(node, "for_statement"):
        try:
            yield read_loop(tree, one)
        except NotUnderstood:
            continue


def read_loop(tree: SourceTree, node: Node) -> ForLoop:
    """A loop that counts upwards; NotUnderstood for another."""
    where = f"the loop in line {tree.line(node)}"
    start, test, update, body = (
        node.child_by_field_name(name) for name in ("initializer", "condition", "update", "body")
    )
    if start is None or test is None or update is None or body is None:
        raise NotUnderstood(f"{where} has no start, bound or step")
    variable, first, declares = _start(tree, start, where)
    test = inner(test)
    left, right = test.child_by_field_name("left"), test.child_by_field_name("right")
    sign = test.child_by_field_name("operator")
    if test.type != "binary_expression" or left is None or right is None or sign is None:
        raise NotUnderstood(f"{where} ends by something else than a comparison")
    if tree.of(left) == variable and sign.type in ("<", "<="):
        bound = right
    elif tree.of(right) == variable and sign.type in (">", ">="):
        bound = left
    else:
        raise NotUnderstood(f"{where} does not end by `{variable} < bound`")
    step = _step(tree, update, variable, where)
    if variable in assigned(tree, body):
        raise NotUnderstood(f"{where} changes {variable} in its body")
    changed = assigned(tree, body)
    if any(tree.of(one) in changed for one in within(bound, "identifier")):
        raise NotUnderstood(f"{where} changes its bound")
    return ForLoop(node, variable, first, test, bound, "=" in sign.type, update, step, body, declares)


def _start(tree: SourceTree, start: Node, where: str) -> tuple[str, Node, bool]:
    if start.type == "declaration":
        ones = start.children_by_field_name("declarator")
        name = declared_name(ones[0]) if len(ones) == 1 else None
        value = ones[0].child_by_field_name("value") if len(ones) == 1 else None
    else:
        name, value = start.child_by_field_name("left"), start.child_by_field_name("right")
    if name is None or value is None or name.type != "identifier":
        raise NotUnderstood(f"{where} does not count one variable")
    return tree.of(name), value, start.type == "declaration"


def _step(tree: SourceTree, update: Node, variable: str, where: str) -> Node | None:
    """The step; None for one."""
    if update.type == "update_expression" and "++" in tree.of(update):
        return None
    left, right = update.child_by_field_name("left"), update.child_by_field_name("right")
    sign = update.child_by_field_name("operator")
    if left is not None and right is not None and sign is not None and tree.of(left) == variable and sign.type == "+=":
        return right
    raise NotUnderstood(f"{where} does not step upwards")
