"""Several neighbouring outputs for each thread, one after the other, with the loops around a neighbourhood unrolled.

A value that serves several of them is then loaded once: the compiler sees the same address. The kernel's own statements
are kept; what returns early goes on with the next output. Pointers are restricted, since arguments of a task are
arrays of their own. For kernels whose threads work alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from warpsight.rewrite.launch import LaunchLine, read_launch, write_launch
from warpsight.rewrite.record import Facts, Rewrite
from warpsight.rewrite.restructure.edits import TreeEdits, fresh_name, tidied
from warpsight.rewrite.restructure.layouts import regrid
from warpsight.rewrite.restructure.outputs import WORKS_TOGETHER
from warpsight.source.accesses import array_uses
from warpsight.source.forms import IndexForm, Scope
from warpsight.source.loops import read_loop
from warpsight.source.tree import (
    KernelTree,
    NotUnderstood,
    SourceTree,
    assigned,
    declared_name,
    inner,
    kernel_of,
    parse,
    statements,
    within,
)

WAYS = (("y", 4), ("y", 2), ("z", 4), ("y", 8), ("x", 4), ("x", 2))
MOST_TURNS = 16  # of a loop that is unrolled
WHY = "neighbouring outputs read the same values: let a thread make several, one beside the other"


@dataclass(frozen=True, eq=False)
class _Counted:
    kernel: KernelTree
    scope: Scope
    line: LaunchLine
    dims: tuple[int, ...]


def outputs_in_a_row(text: str, facts: Facts) -> Iterator[Rewrite]:
    """2, 4 or 8 neighbours along y, z or x for each thread."""
    try:
        found = _read(text, facts)
    except NotUnderstood:
        return
    for side, count in WAYS:
        try:
            yield Rewrite(f"{count} neighbours along {side} for each thread", _written(found, side, count), WHY)
        except NotUnderstood:
            continue


def _read(text: str, facts: Facts) -> _Counted:
    line = read_launch(text)
    dims = line.dims if line is not None else None
    if line is None or dims is None:
        raise NotUnderstood("the launch line has no block of plain numbers")
    kernel = kernel_of(parse(text), facts.entry)
    if any(word in kernel.tree.of(kernel.body) for word in (*WORKS_TOGETHER, "atomic")):
        raise NotUnderstood("the threads of a block work together")
    whole = (*dims, 1, 1)[:3]
    scope = Scope(kernel, {f"blockDim.{side}": size for side, size in zip("xyz", whole, strict=True)})
    if not any(True for _ in array_uses(scope, kernel.body)):
        raise NotUnderstood("no array is read or written")
    return _Counted(kernel, scope, line, whole)


def _written(found: _Counted, side: str, count: int) -> str:
    kernel, tree, at = found.kernel, found.kernel.tree, "xyz".index(side)
    declaration, name, value = _counter(found, side)
    rest = kernel.statements[kernel.statements.index(declaration) + 1 :]
    uses = [one for one in within(kernel.body, "field_expression") if tree.of(one) == f"threadIdx.{side}"]
    if any(not (value.start_byte <= one.start_byte < value.end_byte) for one in uses) or not rest:
        raise NotUnderstood(f"threadIdx.{side} is used for more than {name}")
    if any(name in assigned(tree, one) for one in rest):
        raise NotUnderstood(f"{name} is changed")
    edits = TreeEdits(tree)
    for one in rest:
        for leave in within(one, "return_statement"):
            if _in_loop(leave, kernel.body):
                raise NotUnderstood("a loop is left by return")
            edits.replace(leave, "continue;")
        for loop in within(one, "for_statement"):
            _unroll(found, loop, edits)
    first, step = fresh_name(tree.text, f"first_{name}"), fresh_name(tree.text, "step")
    kind = tree.of(declaration.child_by_field_name("type") or declaration)
    head = f"for (int {step} = 0; {step} < {count}; ++{step}) {{\nconst {kind} {name} = {first} + {step};"
    guarded = [edits.part(one) for one in rest]
    lines = [f"const {kind} {first} = ({tree.of(value)}) * {count};"]
    guard = _guard(tree, rest)
    if guard is not None:
        at_guard, inside, body = guard
        before = [tree.of(one) for one in rest[:at_guard]]
        lines += ["bool whole = true;", "#pragma unroll", head, *before, f"whole = whole && {inside};", "}"]
        plain = [*before, *(edits.part(one) for one in body)]
        lines += ["if (whole) {", "#pragma unroll", head, *plain, "}", "} else {", head, *guarded, "}", "}"]
    else:
        lines += ["#pragma unroll", head, *guarded, "}"]
    whole = TreeEdits(tree)
    _restrict(kernel, whole)
    whole.replace(declaration, tidied("\n".join(lines)).lstrip())
    whole.made.append((rest[0].start_byte, rest[-1].end_byte, len(whole.made), ""))
    edits = whole
    text = edits.text()
    line = read_launch(text)
    assert line is not None
    if at >= len(line.grid):
        raise NotUnderstood(f"the grid has no side {side}")
    grid = tuple(
        regrid(one, found.dims[at], found.dims[at] * count) if at == n else one for n, one in enumerate(line.grid)
    )
    return write_launch(text, line._replace(grid=grid))


def _guard(tree: SourceTree, rest: list[Node]) -> tuple[int, str, list[Node]] | None:
    """Where the guard stands, the test that lets a thread in, and what it then does."""
    for at, one in enumerate(rest):
        if one.type == "declaration":
            continue
        test, block = one.child_by_field_name("condition"), one.child_by_field_name("consequence")
        if one.type != "if_statement" or test is None or block is None:
            return None
        if [part.type for part in statements(block)] == ["return_statement"]:
            return at, f"!({tree.of(inner(test))})", rest[at + 1 :]
        alone = not rest[at + 1 :] and one.child_by_field_name("alternative") is None
        return (at, f"({tree.of(inner(test))})", statements(block)) if alone else None
    return None


def _counter(found: _Counted, side: str) -> tuple[Node, str, Node]:
    """The declaration of the variable that numbers outputs along a side."""
    size = found.dims["xyz".index(side)]
    wanted = IndexForm.symbol(f"blockIdx.{side}") * IndexForm.number(size) + IndexForm.symbol(f"threadIdx.{side}")
    for one in found.kernel.statements:
        declarators = one.children_by_field_name("declarator") if one.type == "declaration" else []
        value = declarators[0].child_by_field_name("value") if len(declarators) == 1 else None
        name = declared_name(declarators[0]) if declarators else None
        if (
            value is not None
            and name is not None
            and found.scope.form(value) == wanted
            and value.type == "binary_expression"
        ):
            return one, found.kernel.tree.of(name), value
    raise NotUnderstood(f"no variable numbers the outputs along {side}")


def _in_loop(node: Node, body: Node) -> bool:
    around = node.parent
    while around is not None and around != body:
        if around.type in ("for_statement", "while_statement", "do_statement", "switch_statement"):
            return True
        around = around.parent
    return False


def _unroll(found: _Counted, node: Node, edits: TreeEdits) -> None:
    before = node.prev_named_sibling
    if before is not None and before.type == "preproc_call":
        return
    try:
        loop = read_loop(found.kernel.tree, node)
    except NotUnderstood:
        return
    turns = (found.scope.form(loop.bound) - found.scope.form(loop.start)).value
    if turns is not None and 0 < turns <= MOST_TURNS and node.parent is not None:
        edits.before(node, "#pragma unroll\n")


def _restrict(kernel: KernelTree, edits: TreeEdits) -> None:
    for one in kernel.parameters.values():
        text = kernel.tree.of(one.node)
        if one.pointer and "__restrict__" not in text and text.count("*") == 1:
            read_only = not any(one.name == name for name in assigned(kernel.tree, kernel.body))
            const = "" if text.startswith("const") or not read_only else "const "
            edits.replace(one.node, const + re.sub(r"\* *", "* __restrict__ ", text))
