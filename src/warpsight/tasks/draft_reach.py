"""How far a kernel's text lets an index go: the bounds that it tests, and the greatest value of a sum of products.

What must stay true: an end that is given is at least that of every index which the kernel's own tests let through;
where the text does not tell, there is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from warpsight.source.accesses import ArrayUse, array_uses
from warpsight.source.forms import IndexForm, Scope
from warpsight.source.loops import for_loops
from warpsight.source.tree import KernelTree, within

LESS = {"<": 0, "<=": 1}
MORE = {">": 0, ">=": 1}  # `i >= n` leaves: what goes on is below n
COMPARED = (*LESS, *MORE, "==", "!=")
BLOCKS = {"blockIdx.x": "BLOCKS", "blockIdx.y": "BLOCKS_Y", "blockIdx.z": "BLOCKS_Z"}
_PARTS = re.compile(r"\(?([\w.]+) ([/%]) ([\w.]+)\)?")


@dataclass(frozen=True)
class IndexReach:
    """Which whole numbers of a kernel are sizes, and what each of its variables stays below."""

    sizes: frozenset[str]
    bounds: Mapping[str, IndexForm]

    def shape(self, uses: Sequence[ArrayUse]) -> tuple[str, ...] | None:
        """The number of elements by the greatest index, outermost first where it is a product; None: not known."""
        ends = [self._greatest(use.index) for use in uses]
        known = [end + IndexForm.number(1) for end in ends if end is not None]
        if not known or len(known) < len(ends):
            return None
        names = sorted({name for end in known for name in end.symbols})
        trial = {name: 97 + 8 * number for number, name in enumerate(names)}
        largest = max(range(len(known)), key=lambda number: _value(known[number], trial))
        return self._factors(uses[largest].index, known[largest], trial) or (str(_rounded_up(known[largest])),)

    def _factors(self, index: IndexForm, end: IndexForm, trial: Mapping[str, int]) -> tuple[str, ...]:
        """Bounds of the variables of an index, those with the longest strides first, where their product is the end."""
        strides: list[tuple[int, IndexForm]] = []
        for product, count in index.terms:
            below = [(symbol, bound) for symbol in product if (bound := self.bound(symbol)) is not None]
            if len(below) != 1 or count < 1:
                return ()
            rest = list(product)
            rest.remove(below[0][0])
            strides.append((_value(IndexForm(((tuple(rest), count),)), trial), below[0][1]))
        ordered = [bound for _, bound in sorted(strides, key=lambda one: -one[0])]
        whole = IndexForm.number(1)
        for bound in ordered:
            whole = whole * bound
        return tuple(map(str, ordered)) if whole == end else ()

    def _greatest(self, form: IndexForm) -> IndexForm | None:
        """The form with every variable at its greatest; what is subtracted is left out."""
        total = IndexForm()
        for product, count in form.terms:
            if count < 0:
                continue
            term = IndexForm.number(count)
            for symbol in product:
                bound = self.bound(symbol)
                if bound is None and symbol not in self.sizes:
                    return None
                term = term * (IndexForm.symbol(symbol) if bound is None else bound - IndexForm.number(1))
            total = total + term
        return total

    def bound(self, symbol: str) -> IndexForm | None:
        """What a symbol stays below: a variable, a rest, a quotient."""
        if symbol in self.bounds:
            return self.bounds[symbol]
        parts = _PARTS.fullmatch(symbol)
        if parts is None:
            return None
        left, sign, right = parts.groups()
        by = IndexForm.number(int(right)) if right.isdigit() else IndexForm.symbol(right)
        if not by.symbols <= self.sizes or by.value == 0:
            return None
        if sign == "%":
            return by
        return _quotient(self.bounds[left], by) if left in self.bounds else None


def _rounded_up(form: IndexForm) -> IndexForm:
    """A long sum without what it subtracts."""
    return form if len(form.terms) < 3 else IndexForm(tuple(term for term in form.terms if term[1] > 0))


def _quotient(form: IndexForm, by: IndexForm) -> IndexForm:
    """How far `i / by` goes, where `i` stays below the form; not below what it is where it does not divide."""
    (divisor, _) = by.terms[0]
    if len(form.terms) == 1 and len(divisor) == 1 and divisor[0] in form.terms[0][0]:
        rest = list(form.terms[0][0])
        rest.remove(divisor[0])
        return IndexForm(((tuple(rest), form.terms[0][1]),))
    return form


def reach_of(kernel: KernelTree, block: Sequence[int]) -> IndexReach:
    """What the text of a kernel tells, when it is launched with blocks of this size."""
    sizes = set(_sizes(kernel))
    bounds = dict(_bounds(kernel, frozenset(sizes)))
    text = kernel.tree.of(kernel.body)
    for axis, threads in zip("xyz", block, strict=False):
        bounds.setdefault(f"threadIdx.{axis}", IndexForm.number(threads))
        bounds.setdefault(f"blockDim.{axis}", IndexForm.number(threads + 1))
    scope = Scope(kernel, kept=frozenset(bounds))
    for symbol, name in BLOCKS.items():
        if symbol in text and _counts_alone(kernel, scope, symbol):
            sizes.add(name)
            bounds[symbol] = IndexForm.symbol(name)
    return IndexReach(frozenset(sizes), bounds)


def _counts_alone(kernel: KernelTree, scope: Scope, symbol: str) -> bool:
    """Whether an array is indexed by the number of the block itself, with no variable between that has a bound."""
    return any(use.index.depends(symbol) for use in array_uses(scope, kernel.body))


def _sizes(kernel: KernelTree) -> Iterator[str]:
    """Whole numbers that a bound or an index is made of."""
    tree = kernel.tree
    told: set[str] = set()
    for node in within(kernel.body, "binary_expression"):
        sign = node.child_by_field_name("operator")
        if sign is not None and (sign.type in COMPARED or sign.type in ("*", "/", "%")):
            told |= {tree.of(one) for one in within(node, "identifier")}
    for name, one in kernel.parameters.items():
        words = one.type.replace("const", " ").split()
        if not one.pointer and name in told and not {"float", "double", "bool"} & set(words) and "half" not in one.type:
            yield name


def _bounds(kernel: KernelTree, sizes: frozenset[str]) -> Iterator[tuple[str, IndexForm]]:
    """What each variable stays below: loops first, then comparisons with what is made of sizes."""
    tree, scope = kernel.tree, Scope(kernel)
    loops = [
        (loop.variable, scope.form(loop.bound) + IndexForm.number(int(loop.inclusive)))
        for loop in for_loops(tree, kernel.body)
    ]
    found: dict[str, IndexForm] = {}
    for name, bound in (*loops, *_compared(kernel, scope)):
        if name not in kernel.parameters and bound.symbols <= sizes and bound.terms:
            found.setdefault(name, bound)
    yield from found.items()


def _compared(kernel: KernelTree, scope: Scope) -> Iterator[tuple[str, IndexForm]]:
    tree = kernel.tree
    for node in within(kernel.body, "binary_expression"):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        sign = node.child_by_field_name("operator")
        if left is None or right is None or sign is None:
            continue
        for one, other, more in ((left, right, {**LESS, ">=": 0}), (right, left, {">": 0, ">=": 1, "<=": 0})):
            if one.type == "identifier" and sign.type in more and scope.form(other).symbols:
                yield tree.of(one), scope.form(other) + IndexForm.number(more[sign.type])


def _value(form: IndexForm, axes: Mapping[str, int]) -> int:
    total = 0
    for product, count in form.terms:
        for symbol in product:
            count *= axes.get(symbol, 97)
        total += count
    return total


def declared(kernel: KernelTree) -> Iterator[tuple[str, Node]]:
    """The variables of a kernel that are declared with a value."""
    for node in within(kernel.body, "init_declarator"):
        name, value = node.child_by_field_name("declarator"), node.child_by_field_name("value")
        if name is not None and value is not None and name.type == "identifier":
            yield kernel.tree.of(name), value
