"""A running sum along a row (or product, greatest, least) by the lanes of a warp: each adds its own, shuffles the rest.

The loop's statements stay in their order: those before the change, the change in each lane by itself, one scan over the
lanes, those after it with the sum so far. What came out of a piece of the row is carried to the next.
"""

from __future__ import annotations

from tree_sitter import Node

from warpsight.rewrite.restructure.edits import TreeEdits, fresh_name, indent, tidied
from warpsight.rewrite.restructure.layouts import SharingLayout
from warpsight.source.accesses import array_uses
from warpsight.source.carried import Accumulator
from warpsight.source.forms import Scope
from warpsight.source.loops import ForLoop
from warpsight.source.tree import NotUnderstood, statements, uses

COMBINE = {
    "sum": "value0 += other0;",
    "product": "value0 *= other0;",
    "greatest": "value0 = other0 > value0 ? other0 : value0;",
    "least": "value0 = other0 < value0 ? other0 : value0;",
    "and": "value0 &= other0;",
    "or": "value0 |= other0;",
    "xor": "value0 ^= other0;",
}
NOTHING = {"sum": "0", "product": "1", "xor": "0"}
UNROLLED = 4


def require_scan(scope: Scope, loop: ForLoop, one: Accumulator, change: Node) -> None:
    """What a loop uses on its way is the sum before or after its own turn, in stores alone where it is before."""
    tree = scope.kernel.tree
    where = f"line {tree.line(change)}"
    if one.combine not in COMBINE or loop.step is not None or loop.inclusive:
        raise NotUnderstood(f"{where}: {one.name} is no running sum over plain turns")
    if any(tree.of(part).lstrip().startswith(("-", "/")) for part in change.children if not part.is_named):
        raise NotUnderstood(f"{where}: {one.name} is no running sum")
    read = {use.array for use in array_uses(scope, change) if use.reads}
    for part in statements(loop.body):
        if part.start_byte >= change.start_byte or not uses(tree, part, one.name):
            continue
        stores = [use for use in array_uses(scope, part) if use.writes]
        if part.type != "expression_statement" or not stores or {use.array for use in stores} & read:
            raise NotUnderstood(f"line {tree.line(part)}: {one.name} is needed before its turn")


def write_scan(
    scope: Scope,
    loop: ForLoop,
    one: Accumulator,
    change: Node,
    layout: SharingLayout,
    lane: str,
    edits: TreeEdits,
    helpers: dict[str, str],
) -> None:
    """The loop over pieces of the row, as many elements as lanes share it."""
    if layout.meets_in_block:
        raise NotUnderstood("a running sum is shared by one warp at most")
    tree, turn, text = scope.kernel.tree, loop.variable, scope.kernel.tree.text
    first, valid, part, before, after = (
        fresh_name(text, word)
        for word in (f"first_{turn}", f"valid_{turn}", f"{one.name}_part", f"{one.name}_before", f"{one.name}_now")
    )
    name = fresh_name(text, f"row_running_{one.combine}")
    helpers.setdefault(name, _helper(layout, name, COMBINE[one.combine]))
    start, bound = tree.of(loop.start), tree.of(loop.bound)
    kind = _kind(scope, loop)
    earlier: list[str] = []
    exclusive: list[str] = []
    later: list[str] = []
    for node in statements(loop.body):
        if node == change:
            continue
        own = uses(tree, node, one.name)
        ahead = node.start_byte < change.start_byte
        for use in own:
            edits.replace(use, before if ahead else after)
        _guard_stores(scope, node, valid, edits)
        (later if not ahead else exclusive if own else earlier).append(edits.part(node))
    for use in uses(tree, change, one.name):
        edits.replace(use, part)
    combined = COMBINE[one.combine].replace("value0", after).replace("other0", one.name)
    lines = [
        f"#pragma unroll {UNROLLED}",
        f"for ({kind} {first} = {start}; {first} < {bound}; {first} += {layout.lanes}) {{",
        f"    const bool {valid} = {first} + {lane} < {bound};",
        f"    const {kind} {turn} = {valid} ? {first} + {lane} : {bound} - 1;",
        *(f"    {line}" for line in earlier),
        f"    {one.type} {part} = {NOTHING.get(one.combine, one.name)};",
        f"    if ({valid}) {{ {edits.part(change)} }}",
        f"    {one.type} {after} = {part};",
        f"    {name}({after}, {lane});",
        f"    const {one.type} {part}_all = __shfl_sync({layout.mask}, {after}, {layout.lanes - 1}, {layout.lanes});",
    ]
    if exclusive:
        combine_before = COMBINE[one.combine].replace("value0", before).replace("other0", one.name)
        lines += [
            f"    {one.type} {before} = __shfl_up_sync({layout.mask}, {after}, 1, {layout.lanes});",
            f"    if ({lane} == 0) {{ {before} = {one.name}; }} else {{ {combine_before} }}",
            *(f"    {line}" for line in exclusive),
        ]
    lines += [
        f"    {combined}",
        *(f"    {line}" for line in later),
        f"    {COMBINE[one.combine].replace('value0', one.name).replace('other0', f'{part}_all')}",
        "}",
    ]
    edits.replace(loop.node, tidied("\n".join(lines), indent(tree, loop.node)).lstrip())


def _kind(scope: Scope, loop: ForLoop) -> str:
    declared = loop.node.child_by_field_name("initializer")
    kind = None if declared is None else declared.child_by_field_name("type")
    if not loop.declares or kind is None:
        raise NotUnderstood(f"{loop.variable} lives longer than its loop")
    return scope.kernel.tree.of(kind)


def _guard_stores(scope: Scope, node: Node, valid: str, edits: TreeEdits) -> None:
    """Stores of a statement only where the lane has an element."""
    done: set[int] = set()
    for use in array_uses(scope, node):
        if not use.writes:
            continue
        statement = use.node
        while statement.type != "expression_statement":
            if statement.parent is None or statement.type in ("declaration", "condition_clause"):
                raise NotUnderstood(f"line {scope.kernel.tree.line(use.node)}: what is stored is used as well")
            statement = statement.parent
        if statement.start_byte not in done:
            done.add(statement.start_byte)
            edits.before(statement, f"if ({valid}) {{ ")
            edits.after(statement, " }")


def _helper(layout: SharingLayout, name: str, combine: str) -> str:
    lines = [
        "template <typename T>",
        f"__device__ __forceinline__ void {name}(T& value0, int lane) {{",
        f"    for (int step = 1; step < {layout.lanes}; step *= 2) {{",
        f"        const T other0 = __shfl_up_sync({layout.mask}, value0, step, {layout.lanes});",
        f"        if (lane >= step) {{ {combine} }}",
        "    }",
        "}",
    ]
    return "\n".join([*lines, ""])
