"""Every read and write of an array of the kernel's parameters, with its index as a form, through local pointers too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from warpsight.source.forms import IndexForm, Scope
from warpsight.source.tree import ASSIGNMENTS, assigned, declaration_at, inner, target, within

_MOST_POINTERS = 8


@dataclass(frozen=True, eq=False)
class ArrayUse:
    """`array[index]` in a text: read, written, or both; `index` is from the start of the parameter."""

    node: Node
    array: str
    index: IndexForm
    reads: bool
    writes: bool


def array_uses(scope: Scope, node: Node) -> Iterator[ArrayUse]:
    """The uses of parameters in a node, in the order of the text. What is reached in another way is left out."""
    for one in within(node, "subscript_expression", "pointer_expression"):
        place = place_of(scope, one)
        if place is not None:
            reads, writes = _how(scope, one)
            yield ArrayUse(one, place[0], place[1], reads, writes)


def place_of(scope: Scope, node: Node) -> tuple[str, IndexForm] | None:
    """The parameter and the index that an expression reads or writes."""
    tree, base = scope.kernel.tree, node.child_by_field_name("argument")
    if base is None:
        return None
    if node.type == "pointer_expression":
        return pointer(scope, base) if tree.of(node).startswith("*") else None
    indices = node.child_by_field_name("indices")
    if indices is None or indices.named_child_count != 1:
        return None
    found = pointer(scope, base)
    return None if found is None else (found[0], found[1] + scope.form(indices.named_children[0]))


def pointer(scope: Scope, node: Node, depth: int = 0) -> tuple[str, IndexForm] | None:
    """What a pointer points at: a parameter and how far into it."""
    kernel, node = scope.kernel, inner(node)
    tree = kernel.tree
    if depth > _MOST_POINTERS:
        return None
    if node.type == "identifier":
        name = tree.of(node)
        found = declaration_at(tree, name, node)
        if found is None:
            own = kernel.parameters.get(name)
            changed = name in assigned(tree, kernel.body) and any(
                (left := target(one)) is not None and left.type == "identifier"
                for one in assigned(tree, kernel.body)[name]
            )
            return (name, IndexForm()) if own is not None and own.pointer and not changed else None
        declarator, value = found.child_by_field_name("declarator"), found.child_by_field_name("value")
        if declarator is None or value is None or declarator.type not in ("pointer_declarator", "identifier"):
            return None
        if any(
            (left := target(one)) is not None and left.type == "identifier"
            for one in assigned(tree, kernel.body).get(name, ())
        ):
            return None
        return pointer(scope, value, depth + 1)
    if node.type == "binary_expression":
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        sign = node.child_by_field_name("operator")
        if left is None or right is None or sign is None or sign.type not in ("+", "-"):
            return None
        start = pointer(scope, left, depth + 1)
        if start is None and sign.type == "+":
            left, right = right, left
            start = pointer(scope, left, depth + 1)
        if start is None:
            return None
        far = scope.form(right)
        return start[0], start[1] + (far if sign.type == "+" else -far)
    if node.type == "pointer_expression" and tree.of(node).startswith("&"):
        argument = node.child_by_field_name("argument")
        return None if argument is None else place_of(scope, inner(argument))
    return None


def _how(scope: Scope, node: Node) -> tuple[bool, bool]:
    """Whether it is read, and whether it is written."""
    tree, at, parent = scope.kernel.tree, node, node.parent
    while parent is not None and parent.type in ("parenthesized_expression", "field_expression"):
        at, parent = parent, parent.parent
    if parent is None:
        return True, False
    if parent.type in ASSIGNMENTS and target(parent) == at:
        sign = parent.child_by_field_name("operator")
        return parent.type == "update_expression" or sign is None or sign.type != "=", True
    if parent.type == "pointer_expression" and tree.of(parent).startswith("&"):
        return True, True
    return True, False
