"""A sum that a loop keeps in global memory, `y[row] += ...`, kept in a register: loaded before it, stored after it."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from warpsight.rewrite.record import Facts, Rewrite
from warpsight.rewrite.restructure.edits import TreeEdits, fresh_name
from warpsight.source.accesses import ArrayUse, array_uses
from warpsight.source.forms import Scope
from warpsight.source.tree import NotUnderstood, assigned, declarations, kernel_of, parse, within

WHY = "a loop loads and stores the same element in each turn: a register can keep it"


def sums_in_registers(text: str, facts: Facts) -> Iterator[Rewrite]:
    """The kernel with every such sum in a register; nothing where there is none."""
    made = in_registers(text, facts.entry)
    if made != text:
        yield Rewrite("what a loop adds up in memory in a register", made, WHY)


def in_registers(text: str, entry: str) -> str:
    """The text with such sums in registers, the text itself where there are none."""
    try:
        kernel = kernel_of(parse(text), entry)
    except NotUnderstood:
        return text
    scope, edits = Scope(kernel), TreeEdits(kernel.tree)
    _look(scope, kernel.body, edits)
    return edits.text()


def _look(scope: Scope, node: Node, edits: TreeEdits) -> None:
    """The outermost loops in which an element stays the same."""
    for child in node.named_children:
        if child.type != "for_statement" or not _keep(scope, child, edits):
            _look(scope, child, edits)


def _keep(scope: Scope, node: Node, edits: TreeEdits) -> bool:
    tree = scope.kernel.tree
    if (
        node.parent is None
        or node.parent.type != "compound_statement"
        or any(True for _ in within(node, "return_statement"))
    ):
        return False
    uses: dict[str, list[ArrayUse]] = {}
    for use in array_uses(scope, node):
        uses.setdefault(use.array, []).append(use)
    kept = False
    for array, ones in uses.items():
        index = ones[0].index
        same = all(one.index == index and one.node.type == "subscript_expression" for one in ones)
        inner = {*assigned(tree, node), *declarations(tree, node)}
        if not same or not any(one.writes for one in ones) or index.symbols & inner or _by_address(ones):
            continue
        kind = scope.kernel.parameters[array].type
        name = fresh_name(tree.text, f"{array}_kept")
        edits.lines_before(node, f"{kind} {name} = {tree.of(ones[0].node)};")
        for one in ones:
            edits.replace(one.node, name)
        edits.lines_after(node, f"{tree.of(ones[0].node)} = {name};")
        kept = True
    return kept


def _by_address(uses: list[ArrayUse]) -> bool:
    return any(
        one.node.parent is not None and one.node.parent.type in ("pointer_expression", "field_expression")
        for one in uses
    )
