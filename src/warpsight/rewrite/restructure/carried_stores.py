"""What a loop stored in the turn before, `y[i - 1]`, kept in a register: `y[i] = y[i - 1] + x[i]` reads none back."""

from __future__ import annotations

from tree_sitter import Node

from warpsight.rewrite.restructure.edits import TreeEdits, fresh_name
from warpsight.source.accesses import ArrayUse, array_uses
from warpsight.source.forms import IndexForm, Scope
from warpsight.source.loops import ForLoop, read_loop
from warpsight.source.tree import NotUnderstood, kernel_of, parse, statements, within


def carried_in_registers(text: str, entry: str) -> str:
    """The text with such values in registers, the text itself where there are none."""
    try:
        kernel = kernel_of(parse(text), entry)
    except NotUnderstood:
        return text
    scope, edits = Scope(kernel), TreeEdits(kernel.tree)
    for node in within(kernel.body, "for_statement"):
        try:
            loop = read_loop(kernel.tree, node)
        except NotUnderstood:
            continue
        if loop.step is None and node.parent is not None and node.parent.type == "compound_statement":
            _keep(scope, loop, edits)
    return edits.text()


def _keep(scope: Scope, loop: ForLoop, edits: TreeEdits) -> None:
    tree, by = scope.kernel.tree, dict[str, list[ArrayUse]]()
    for use in array_uses(scope, loop.body):
        by.setdefault(use.array, []).append(use)
    for array, ones in by.items():
        stores = [one for one in ones if one.writes]
        if len(stores) != 1 or not _first_level(stores[0].node, loop) or not stores[0].index.linear(loop.variable):
            continue
        store, step = stores[0], stores[0].index.of(loop.variable)
        before = [one for one in ones if one.reads and one.index + step == store.index]
        if not before or len(before) + 1 != len(ones) or step == IndexForm() or store.reads:
            continue
        if any(one.node.start_byte > (store.node.parent or store.node).end_byte for one in before):
            continue
        name, kind = fresh_name(tree.text, f"{array}_before"), scope.kernel.parameters[array].type
        first = TreeEdits(tree)
        for word in within(before[0].node, "identifier"):
            if tree.of(word) == loop.variable:
                plain = loop.start.type in ("identifier", "number_literal")
                first.replace(word, tree.of(loop.start) if plain else f"({tree.of(loop.start)})")
        start = first.part(before[0].node)
        bound = f"{tree.of(loop.start)} {'<=' if loop.inclusive else '<'} {tree.of(loop.bound)}"
        edits.lines_before(loop.node, f"{kind} {name} = {bound} ? {start} : static_cast<{kind}>(0);")
        for one in before:
            edits.replace(one.node, name)
        change = store.node.parent
        right = None if change is None else change.child_by_field_name("right")
        if change is None or right is None:
            continue
        open_, close = ("{ ", " }") if change.parent == loop.body else ("", "")
        edits.before(change, f"{open_}{name} = {edits.part(right)}; ")
        edits.replace(right, name)
        if close and change.parent is not None:
            edits.after(change.parent, close)


def _first_level(node: Node, loop: ForLoop) -> bool:
    """Whether it is `array[i] = ...;`, a statement of the loop's own."""
    change = node.parent
    statement = None if change is None else change.parent
    return (
        change is not None
        and statement is not None
        and change.type == "assignment_expression"
        and change.child_by_field_name("left") == node
        and statement in statements(loop.body)
        and not any(True for _ in within(loop.body, "continue_statement"))
    )
