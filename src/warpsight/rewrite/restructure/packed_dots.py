"""`scalar_access`: a dot product of bytes, four products in one instruction (`__dp4a`) and four bytes in one load.

Both arrays become arrays of words, in the kernel's parameters too, so each must be read in this loop alone, from places
that are multiples of four. Sums of whole numbers are the same in any order, so the result is exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from warpsight.rewrite.record import Facts, Rewrite
from warpsight.rewrite.restructure.edits import TreeEdits
from warpsight.source.accesses import ArrayUse, array_uses
from warpsight.source.forms import IndexForm, Scope
from warpsight.source.loops import ForLoop, read_loop
from warpsight.source.tree import (
    NotUnderstood,
    declaration_at,
    declarations,
    inner,
    kernel_of,
    parse,
    statements,
    type_of,
    uses,
    within,
)

WORD = 4
SIGNED_BYTES = ("signed char", "int8_t", "char")
UNSIGNED_BYTES = ("unsigned char", "uint8_t")
WHOLE = ("int", "int32_t", "unsigned", "unsigned int", "uint32_t")
WHY = "bytes are loaded and multiplied one by one: load four in a word, and let __dp4a add four products"


@dataclass(frozen=True, eq=False)
class _Dot:
    """`sum += a[..] * b[..]` over a loop: the two uses, and the type of words."""

    loop: ForLoop
    change: Node
    sum: Node
    sides: tuple[ArrayUse, ArrayUse]
    word: str


def packed_dots(text: str, facts: Facts) -> Iterator[Rewrite]:
    """Every such loop of the kernel."""
    try:
        made = _written(text, facts)
    except NotUnderstood:
        return
    yield Rewrite("four products of bytes in one instruction", made, WHY)


def why_not_packed(text: str, facts: Facts) -> list[str]:
    """Why no bytes are packed."""
    try:
        _written(text, facts)
    except NotUnderstood as reason:
        return [str(reason)]
    return []


def _written(text: str, facts: Facts) -> str:
    kernel = kernel_of(parse(text), facts.entry)
    tree = kernel.tree
    scope = Scope(kernel, {}, frozenset(declarations(tree, kernel.body)))
    reasons: list[str] = []
    for node in within(kernel.body, "for_statement"):
        try:
            loop = read_loop(tree, node)
            dot = _dot(scope, loop)
            size = _size(scope, loop, facts)
            places = [_in_words(scope, one, loop, size) for one in dot.sides]
        except NotUnderstood as reason:
            reasons.append(str(reason))
            continue
        edits = TreeEdits(tree)
        bound = str(int(size) // WORD) if size.isdecimal() else f"{size} / {WORD}"
        edits.replace(loop.bound, bound)
        given = ", ".join(f"{one.array}[{place}]" for one, place in zip(dot.sides, places, strict=True))
        edits.replace(dot.change, f"{tree.of(dot.sum)} = __dp4a({given}, {tree.of(dot.sum)})")
        for array in dict.fromkeys(one.array for one in dot.sides):
            parameter = kernel.parameters[array]
            kind = parameter.node.child_by_field_name("type")
            if kind is None or parameter.type not in (*SIGNED_BYTES, *UNSIGNED_BYTES):
                raise NotUnderstood(f"the type of {array} is not understood")
            edits.replace(kind, dot.word)
        return edits.text()
    raise NotUnderstood(reasons[0] if reasons else "there is no loop")


def _dot(scope: Scope, loop: ForLoop) -> _Dot:
    """The loop as a dot product of bytes."""
    kernel, tree = scope.kernel, scope.kernel.tree
    where = f"the loop in line {tree.line(loop.node)}"
    ones = statements(loop.body)
    change = ones[0].named_children[0] if len(ones) == 1 and ones[0].type == "expression_statement" else None
    sign = None if change is None else change.child_by_field_name("operator")
    left = None if change is None else change.child_by_field_name("left")
    right = None if change is None else change.child_by_field_name("right")
    if change is None or sign is None or left is None or right is None or sign.type != "+=":
        raise NotUnderstood(f"{where} is no sum of products")
    value, by = inner(right), inner(right).child_by_field_name("operator")
    factors = [value.child_by_field_name(name) for name in ("left", "right")]
    found = {(use.node.start_byte, use.node.end_byte): use for use in array_uses(scope, loop.body)}
    sides = [found.get(_plain(one)) for one in factors if one is not None]
    if by is None or by.type != "*" or len(sides) != 2 or sides[0] is None or sides[1] is None:
        raise NotUnderstood(f"{where} is no sum of products of two elements")
    kinds = [kernel.parameters[one.array].type for one in sides if one is not None]
    word = next(
        (word for word, known in (("int", SIGNED_BYTES), ("unsigned int", UNSIGNED_BYTES)) if set(kinds) <= set(known)),
        "",
    )
    declared = declaration_at(tree, tree.of(left), left) if left.type == "identifier" else None
    if not word or declared is None or type_of(tree, declared) not in WHOLE:
        raise NotUnderstood(f"{where} does not add up bytes of one sign in a whole number")
    for one in (sides[0], sides[1]):
        if len(uses(tree, kernel.body, one.array)) != sum(one.array == other.array for other in sides if other):
            raise NotUnderstood(f"{where}: {one.array} is used elsewhere too")
    return _Dot(loop, change, left, (sides[0], sides[1]), word)


def _plain(node: Node) -> tuple[int, int]:
    """An expression without parentheses and casts, by its place."""
    node = inner(node)
    while node.type == "cast_expression" and (value := node.child_by_field_name("value")) is not None:
        node = inner(value)
    return node.start_byte, node.end_byte


def _size(scope: Scope, loop: ForLoop, facts: Facts) -> str:
    """The number of turns, a multiple of four in every launch."""
    tree = scope.kernel.tree
    where = f"the loop in line {tree.line(loop.node)}"
    bound = scope.form(loop.bound)
    if scope.form(loop.start).value != 0 or loop.step is not None or loop.inclusive:
        raise NotUnderstood(f"{where} does not count every element from zero")
    if bound.value is not None and bound.value % WORD == 0:
        return str(bound.value)
    name = tree.of(loop.bound)
    if facts.multiples.get(facts.scalars.get(name, ""), 1) % WORD or name not in scope.kernel.parameters:
        raise NotUnderstood(f"{where}: that {name} is a multiple of {WORD} is not promised")
    return name


def _in_words(scope: Scope, use: ArrayUse, loop: ForLoop, size: str) -> str:
    """The index in words."""
    rest, terms = use.index.without(loop.variable), IndexForm.symbol(loop.variable)
    if not use.index.linear(loop.variable) or use.index.of(loop.variable).value != 1:
        raise NotUnderstood(f"line {scope.kernel.tree.line(use.node)}: {use.array} is not read along the loop")
    for product, count in rest.terms:
        if product.count(size) == 1:
            others = [IndexForm.symbol(one) for one in product if one != size]
            term = IndexForm.symbol(f"({size} / {WORD})") * IndexForm.number(count)
            for one in others:
                term = term * one
        elif count % WORD == 0:
            term = IndexForm(((product, count // WORD),))
        else:
            raise NotUnderstood(
                f"line {scope.kernel.tree.line(use.node)}: where {use.array} begins is no multiple of {WORD}"
            )
        terms = terms + term
    return str(terms)
