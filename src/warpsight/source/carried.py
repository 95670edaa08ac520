"""What a loop carries from turn to turn: sums, products, greatest and least, and the place of the greatest.

Each variable of outside that a loop changes must be one of these, and be used for nothing else in the loop. Anything
else is a dependence that is not understood: then the turns must stay in their order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from tree_sitter import Node

from warpsight.source.forms import Scope
from warpsight.source.loops import ForLoop
from warpsight.source.tree import (
    NotUnderstood,
    SourceTree,
    assigned,
    declaration_at,
    declared_name,
    inner,
    root_name,
    statements,
    target,
    type_of,
    uses,
    within,
)

Combine = Literal["sum", "product", "greatest", "least", "and", "or", "xor", "best"]
_BY_SIGN: dict[str, Combine] = {
    "+=": "sum", "-=": "sum", "*=": "product", "|=": "or", "&=": "and", "^=": "xor",
    "+": "sum", "-": "sum", "*": "product", "|": "or", "&": "and", "^": "xor",
}  # fmt: skip
_BY_CALL: dict[str, Combine] = {
    "fmaxf": "greatest", "fmax": "greatest", "max": "greatest", "fminf": "least", "fmin": "least", "min": "least",
}  # fmt: skip
_FUSED = ("fmaf", "fma", "__fmaf_rn", "__fma_rn", "__dp4a")
_GREATER = {">": "<", "<": ">", ">=": "<=", "<=": ">="}


@dataclass(frozen=True, eq=False)
class Accumulator:
    """One variable that gathers over a loop. `size` is of an array; `places` are variables that are set with a `best`,
    the first of which counts with the loop; `sign` is the comparison by which a new best is taken."""

    name: str
    type: str
    combine: Combine
    declarator: Node
    size: str = ""
    sign: str = ""
    places: tuple[tuple[str, str], ...] = ()  # names and types


def accumulators(scope: Scope, loop: ForLoop) -> tuple[Accumulator, ...]:
    """What a loop gathers; NotUnderstood where a turn needs the one before in another way."""
    tree = scope.kernel.tree
    found: list[Accumulator] = []
    places: set[str] = set()
    outer = {
        name: changes for name, changes in assigned(tree, loop.body).items() if _outside(tree, name, changes, loop)
    }
    for name, changes in outer.items():
        bests = [best for one in changes if (best := _best(scope, loop, name, one)) is not None]
        if bests:
            if len(bests) != len(changes) or len({(b.sign, b.places) for b in bests}) != 1:
                raise NotUnderstood(f"line {tree.line(loop.node)}: {name} is set in several ways")
            found.append(bests[0])
            places |= {place for place, _ in bests[0].places}
    for name, changes in outer.items():
        if name not in places and all(name != one.name for one in found):
            found.append(_gathered(scope, loop, name, changes))
    _require_for_nothing_else(scope, loop, found)
    return tuple(sorted(found, key=lambda one: one.declarator.start_byte))


def running(scope: Scope, loop: ForLoop) -> tuple[Accumulator, Node]:
    """The one variable that a loop gathers and uses on its way, and the statement that changes it in every turn."""
    tree = scope.kernel.tree
    where = f"the loop in line {tree.line(loop.node)}"
    outer = {
        name: changes for name, changes in assigned(tree, loop.body).items() if _outside(tree, name, changes, loop)
    }
    if len(outer) != 1:
        raise NotUnderstood(f"{where} does not carry one variable alone")
    name, changes = next(iter(outer.items()))
    one = _gathered(scope, loop, name, changes)
    statement = changes[0].parent
    if len(changes) != 1 or one.size or statement not in statements(loop.body) or statement is None:
        raise NotUnderstood(f"line {tree.line(changes[0])}: {name} is not changed once in every turn")
    if any(True for _ in within(loop.body, "continue_statement")):
        raise NotUnderstood(f"{where} leaves turns early")
    return one, statement


def _outside(tree: SourceTree, name: str, changes: Iterable[Node], loop: ForLoop) -> bool:
    """Whether it is a variable of the kernel that lives longer than a turn; parameters and shared memory are not."""
    for change in changes:
        found = declaration_at(tree, name, change)
        if found is None:
            continue
        if "__shared__" in tree.of(found.parent or found):
            raise NotUnderstood(f"line {tree.line(change)}: the shared array {name} is filled in a loop")
        own = loop.node.start_byte <= found.start_byte < loop.node.end_byte
        left = target(change)
        pointer = found.child_by_field_name("declarator")
        through = left is not None and left.type != "identifier" and pointer is not None
        if not own and not (through and pointer is not None and pointer.type == "pointer_declarator"):
            return True
    return False


def _declared(scope: Scope, loop: ForLoop, name: str, change: Node) -> tuple[Node, str, str]:
    """Declarator, type and size, where it is an array of one dimension."""
    tree = scope.kernel.tree
    found = declaration_at(tree, name, change)
    if found is None:
        raise NotUnderstood(f"line {tree.line(change)}: {name} is not declared in the kernel")
    array = found if found.type == "array_declarator" else found.child_by_field_name("declarator")
    size = ""
    if array is not None and array.type == "array_declarator":
        length = array.child_by_field_name("size")
        below = array.child_by_field_name("declarator")
        if length is None or below is None or below.type != "identifier" or scope.form(length).value is None:
            raise NotUnderstood(f"line {tree.line(change)}: the array {name} has no plain size")
        size = tree.of(length)
    return found, type_of(tree, found), size


def _gathered(scope: Scope, loop: ForLoop, name: str, changes: list[Node]) -> Accumulator:
    tree = scope.kernel.tree
    declarator, kind, size = _declared(scope, loop, name, changes[0])
    combine = _combine(tree, name, changes[0])
    if combine is None or any(_combine(tree, name, one) != combine for one in changes):
        line = tree.line(changes[0])
        raise NotUnderstood(f"line {line}: {name} goes from one turn of the loop to the next, and is no sum or maximum")
    return Accumulator(name, kind, combine, declarator, size)


def _combine(tree: SourceTree, name: str, change: Node) -> Combine | None:
    """How a change gathers; None where it does something else."""
    if change.type == "update_expression":
        return "sum"
    left, right = change.child_by_field_name("left"), change.child_by_field_name("right")
    sign = change.child_by_field_name("operator")
    if change.type != "assignment_expression" or left is None or right is None or sign is None:
        return None
    if sign.type != "=":
        return _BY_SIGN.get(sign.type)
    right, own = inner(right), tree.of(left)
    if right.type == "binary_expression":
        one, other = right.child_by_field_name("left"), right.child_by_field_name("right")
        by = right.child_by_field_name("operator")
        if one is None or other is None or by is None:
            return None
        first, second = _is(tree, one, own), _is(tree, other, own)
        return _BY_SIGN.get(by.type) if first or (second and by.type != "-") else _in_sum(tree, right, own)
    if right.type == "conditional_expression":
        return _chosen(tree, right, own)
    called, given = right.child_by_field_name("function"), right.child_by_field_name("arguments")
    if right.type != "call_expression" or called is None or given is None:
        return None
    word, ones = tree.of(called), given.named_children
    if word in _FUSED and len(ones) == 3 and _is(tree, ones[2], own):
        return "sum"
    return _BY_CALL.get(word) if len(ones) == 2 and any(_is(tree, one, own) for one in ones) else None


def _in_sum(tree: SourceTree, node: Node, own: str) -> Combine | None:
    """`s + a + b`, whose first is a sum too."""
    while node.type == "binary_expression":
        sign, left = node.child_by_field_name("operator"), node.child_by_field_name("left")
        if sign is None or left is None or sign.type not in ("+", "-"):
            return None
        node = inner(left)
    return "sum" if tree.of(node) == own else None


def _chosen(tree: SourceTree, node: Node, own: str) -> Combine | None:
    """`v > m ? v : m` and its like."""
    test = node.child_by_field_name("condition")
    yes, no = node.child_by_field_name("consequence"), node.child_by_field_name("alternative")
    test = None if test is None else inner(test)
    if test is None or yes is None or no is None or test.type != "binary_expression":
        return None
    left, right = test.child_by_field_name("left"), test.child_by_field_name("right")
    sign = test.child_by_field_name("operator")
    if left is None or right is None or sign is None or sign.type not in _GREATER:
        return None
    a, b, first, second = (tree.of(inner(one)) for one in (left, right, yes, no))
    if {a, b} != {first, second} or own not in (a, b) or a == b:
        return None
    return "greatest" if (">" in sign.type) == (a == first) else "least"


def _is(tree: SourceTree, node: Node, own: str) -> bool:
    return tree.of(inner(node)) == own


def _best(scope: Scope, loop: ForLoop, name: str, change: Node) -> Accumulator | None:
    """`if (v > m) { m = v; at = c; }`: the greatest, and what belongs to it."""
    tree = scope.kernel.tree
    value = change.child_by_field_name("right")
    if change.type != "assignment_expression" or value is None or uses(tree, value, name):
        return None
    branch = _branch_of(change)
    if branch is None or branch.child_by_field_name("alternative") is not None:
        return None
    test, block = branch.child_by_field_name("condition"), branch.child_by_field_name("consequence")
    if test is None or block is None:
        return None
    sign = next((s for part in _parts(tree, inner(test)) if (s := _better(scope, part, name, value))), "")
    if not sign:
        return None
    declarator, kind, size = _declared(scope, loop, name, change)
    places = [_place(scope, loop, one, name) for one in statements(block) if one != change.parent]
    if size or None in places:
        return None
    combine: Combine = "best" if places else "greatest" if ">" in sign else "least"
    ordered = sorted((one for one in places if one), key=lambda one: not one[2])
    if ordered and not ordered[0][2]:
        raise NotUnderstood(f"line {tree.line(change)}: which of two equal {name} comes first cannot be told")
    return Accumulator(name, kind, combine, declarator, "", sign, tuple((n, t) for n, t, _ in ordered))


def _branch_of(change: Node) -> Node | None:
    """The `if` whose consequence a statement stands in."""
    node = change.parent
    if node is None or node.type != "expression_statement":
        return None
    block = node.parent
    branch = block.parent if block is not None and block.type == "compound_statement" else block
    return branch if branch is not None and branch.type == "if_statement" else None


def _parts(tree: SourceTree, test: Node) -> list[Node]:
    sign = test.child_by_field_name("operator")
    left, right = test.child_by_field_name("left"), test.child_by_field_name("right")
    if test.type == "binary_expression" and sign is not None and sign.type == "&&" and left and right:
        return [*_parts(tree, inner(left)), *_parts(tree, inner(right))]
    return [test]


def _better(scope: Scope, test: Node, name: str, value: Node) -> str:
    """The comparison as `value SIGN name`; nothing where it is another."""
    tree = scope.kernel.tree
    left, right = test.child_by_field_name("left"), test.child_by_field_name("right")
    sign = test.child_by_field_name("operator")
    if test.type != "binary_expression" or left is None or right is None or sign is None or sign.type not in _GREATER:
        return ""
    if _is(tree, right, name) and scope.form(left) == scope.form(value):
        return sign.type
    if _is(tree, left, name) and scope.form(right) == scope.form(value):
        return _GREATER[sign.type]
    return ""


def _place(scope: Scope, loop: ForLoop, one: Node, best: str) -> tuple[str, str, bool] | None:
    """A variable that is set with the best: name, type, and whether it counts with the loop."""
    tree = scope.kernel.tree
    change = one.named_children[0] if one.type == "expression_statement" and one.named_child_count == 1 else None
    left = None if change is None else change.child_by_field_name("left")
    right = None if change is None else change.child_by_field_name("right")
    sign = None if change is None else change.child_by_field_name("operator")
    if change is None or left is None or right is None or sign is None or sign.type != "=" or left.type != "identifier":
        return None
    name = tree.of(left)
    found = declaration_at(tree, name, change)
    if found is None or name == best or uses(tree, right, name):
        return None
    form = scope.form(right)
    step = form.of(loop.variable).value if form.linear(loop.variable) else None
    return name, type_of(tree, found), step is not None and step > 0


def _require_for_nothing_else(scope: Scope, loop: ForLoop, found: list[Accumulator]) -> None:
    tree = scope.kernel.tree
    for one in found:
        for name in (one.name, *(place for place, _ in one.places)):
            for use in uses(tree, loop.body, name):
                if declaration_at(tree, name, use) == declaration_at(tree, name, loop.node) and not _claimed(
                    tree, use, one
                ):
                    raise NotUnderstood(f"line {tree.line(use)}: {name} is needed before the loop is over")


def _claimed(tree: SourceTree, use: Node, one: Accumulator) -> bool:
    """Whether a use is part of a change that gathers, or of the comparison before one."""
    node: Node | None = use
    while node is not None and node.type not in ("expression_statement", "if_statement", "declaration"):
        left = target(node) if node.type in ("assignment_expression", "update_expression") else None
        own = None if left is None else root_name(left)
        if left is not None and own is not None and tree.of(own) in (one.name, *(p for p, _ in one.places)):
            if left.start_byte <= use.start_byte < left.end_byte:
                return use == own
            return bool(_combine(tree, one.name, node)) and len(_selves(tree, node, tree.of(left))) == 1
        if node.type == "if_statement":
            break
        node = node.parent
    if node is not None and node.type == "if_statement" and use == _root_of_test(node, use):
        changed = assigned(tree, node)
        return one.name in changed and one.combine in ("best", "greatest", "least")
    return False


def _root_of_test(branch: Node, use: Node) -> Node | None:
    test = branch.child_by_field_name("condition")
    return use if test is not None and test.start_byte <= use.start_byte < test.end_byte else None


def _selves(tree: SourceTree, change: Node, own: str) -> list[Node]:
    """Where the right side of a change names what is changed."""
    right = change.child_by_field_name("right")
    if right is None:
        return [change]
    kinds = ("identifier", "subscript_expression", "field_expression")
    found = [one for one in within(right, *kinds) if tree.of(one) == own]
    if right.type == "conditional_expression":
        return found[:1]
    return found


def starts_at_nothing(scope: Scope, loop: ForLoop, one: Accumulator) -> bool:
    """Whether a sum is zero when its loop begins: declared so in the same block, and not changed before."""
    tree = scope.kernel.tree
    value, parent = one.declarator.child_by_field_name("value"), one.declarator.parent
    if value is None or parent is None or one.size or parent.parent != loop.node.parent:
        return False
    block = loop.node.parent
    changes = assigned(tree, block)[one.name] if block is not None else []
    zero = tree.of(value).rstrip("fFuUlL") in ("0", "0.", "0.0", ".0")
    return zero and all(change.start_byte >= loop.node.start_byte for change in changes)


__all__ = ["Accumulator", "Combine", "accumulators", "declared_name", "running", "starts_at_nothing"]
