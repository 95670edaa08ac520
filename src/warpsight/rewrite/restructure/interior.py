"""Guards around the neighbours of an output, `if (x + dx >= 0 && x + dx < W)`: what must hold for all of them at once.

A guard in loops of known length is linear in their variables, so it holds in all turns where it holds at the corners.
Where that can be said, the guard may be left out behind one test. What is not linear, or has an `else`, stays.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from tree_sitter import Node

from warpsight.rewrite.restructure.edits import TreeEdits
from warpsight.source.forms import IndexForm, Scope
from warpsight.source.loops import read_loop
from warpsight.source.tree import NotUnderstood, inner, within

Corner = dict[str, int]
_MOST_TESTS = 64


def leave_out_guards(scope: Scope, body: list[Node], known: set[str], edits: TreeEdits) -> list[str]:
    """The tests, as C text over `known` variables, behind which the guards that are left out by these edits hold."""
    tests: list[str] = []
    for one in body:
        for branch in within(one, "if_statement"):
            found = _corners(scope, branch, known)
            block = branch.child_by_field_name("consequence")
            if found and block is not None and len(tests) + len(found) <= _MOST_TESTS:
                tests += found
                edits.made.append((branch.start_byte, block.start_byte, len(edits.made), ""))
    return list(dict.fromkeys(tests))


def _corners(scope: Scope, branch: Node, known: set[str]) -> list[str]:
    """What to ask instead of a guard; nothing where it must stay."""
    test = branch.child_by_field_name("condition")
    loops = _loops_around(scope, branch)
    if test is None or not loops or branch.child_by_field_name("alternative") is not None:
        return []
    told: list[str] = []
    for part in _parts(inner(test)):
        left, right = part.child_by_field_name("left"), part.child_by_field_name("right")
        sign = part.child_by_field_name("operator")
        if left is None or right is None or sign is None or sign.type not in ("<", "<=", ">", ">="):
            return []
        sides = [scope.form(left), scope.form(right)]
        for corner in _combined(loops):
            placed = [_placed(side, corner) for side in sides]
            if any(one is None or not one.symbols <= known for one in placed):
                return []
            told.append(f"({placed[0]}) {sign.type} ({placed[1]})")
    return list(dict.fromkeys(told))


def _loops_around(scope: Scope, node: Node) -> list[tuple[str, tuple[int, int]]]:
    """The variables of the loops around a guard, each with its first and last value; none where one is not known."""
    found: list[tuple[str, tuple[int, int]]] = []
    around = node.parent
    while around is not None and around != scope.kernel.body:
        if around.type in ("while_statement", "do_statement"):
            return []
        if around.type == "for_statement":
            try:
                loop = read_loop(scope.kernel.tree, around)
            except NotUnderstood:
                return []
            start, bound = scope.form(loop.start).value, scope.form(loop.bound).value
            step = 1 if loop.step is None else scope.form(loop.step).value
            if start is None or bound is None or not step or step < 0:
                return []
            last = start + (bound - start - (0 if loop.inclusive else 1)) // step * step
            found.append((loop.variable, (start, last)))
        around = around.parent
    return found


def _combined(loops: list[tuple[str, tuple[int, int]]]) -> Iterator[Corner]:
    for values in itertools.product(*(ends for _, ends in loops)):
        yield dict(zip((name for name, _ in loops), values, strict=True))


def _placed(form: IndexForm, corner: Corner) -> IndexForm | None:
    """The form at a corner; None where it is not linear in a variable."""
    for name, value in corner.items():
        if not form.linear(name):
            return None
        form = form.without(name) + form.of(name) * IndexForm.number(value)
    return form


def _parts(test: Node) -> list[Node]:
    sign = test.child_by_field_name("operator")
    left, right = test.child_by_field_name("left"), test.child_by_field_name("right")
    if test.type == "binary_expression" and sign is not None and sign.type == "&&" and left and right:
        return [*_parts(inner(left)), *_parts(inner(right))]
    return [test]
