"""Index expressions as sums of products: `blockIdx.x * 256 + threadIdx.x + c * stride`, with whole coefficients.

A variable that is declared with a value and never changed stands for that value. What is no sum or product (a division,
a call, a value that was loaded) is one symbol, named by its own operands, so that what it depends on can be asked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from tree_sitter import Node

from warpsight.source.tree import KernelTree, assigned, declaration_at, inner

Product = tuple[str, ...]
_WORD = re.compile(r"[A-Za-z_]\w*(?:\.[xyz]\b)?")
_NUMBER = re.compile(r"^(-?0[xX][0-9a-fA-F]+|-?[0-9]+)[uUlL]*$")
_DEEPEST = 60
GRID = ("threadIdx", "blockIdx", "blockDim", "gridDim")


@dataclass(frozen=True)
class IndexForm:
    """A sum of products of symbols, each with a whole coefficient; sorted, so that equal sums are equal."""

    terms: tuple[tuple[Product, int], ...] = ()

    @staticmethod
    def number(value: int) -> IndexForm:
        return IndexForm((((), value),)) if value else IndexForm()

    @staticmethod
    def symbol(name: str) -> IndexForm:
        return IndexForm((((name,), 1),))

    def __add__(self, other: IndexForm) -> IndexForm:
        return _form([*self.terms, *other.terms])

    def __neg__(self) -> IndexForm:
        return IndexForm(tuple((product, -count) for product, count in self.terms))

    def __sub__(self, other: IndexForm) -> IndexForm:
        return self + -other

    def __mul__(self, other: IndexForm) -> IndexForm:
        return _form([(tuple(sorted((*a, *b))), m * n) for a, m in self.terms for b, n in other.terms])

    @property
    def value(self) -> int | None:
        """The number it is, where it is one."""
        if not self.terms:
            return 0
        return self.terms[0][1] if len(self.terms) == 1 and not self.terms[0][0] else None

    def of(self, name: str) -> IndexForm:
        """What a symbol is multiplied with. Only where it stands by itself in each product."""
        return _form([(_without(product, name), count) for product, count in self.terms if name in product])

    def without(self, name: str) -> IndexForm:
        """The terms that do not have the symbol."""
        return _form([(product, count) for product, count in self.terms if name not in product])

    def depends(self, name: str) -> bool:
        """Whether a variable stands anywhere in it, inside of divisions and calls too."""
        return name in self.symbols

    def linear(self, name: str) -> bool:
        """Whether a variable stands in it only as a factor, and once in each product."""
        own = all(product.count(name) <= 1 for product, _ in self.terms)
        return own and not any(name in _WORD.findall(s) for p, _ in self.terms for s in p if s != name)

    @property
    def symbols(self) -> set[str]:
        return {word for product, _ in self.terms for symbol in product for word in _WORD.findall(symbol)}

    def __str__(self) -> str:
        """As C text."""
        parts = [_term(product, count) for product, count in self.terms]
        return " + ".join(parts).replace("+ -", "- ") if parts else "0"


def _term(product: Product, count: int) -> str:
    text = " * ".join(product)
    if not product:
        return str(count)
    return text if count == 1 else f"-{text}" if count == -1 else f"{count} * {text}"


def _without(product: Product, name: str) -> Product:
    at = product.index(name)
    return product[:at] + product[at + 1 :]


def _form(terms: list[tuple[Product, int]]) -> IndexForm:
    total: dict[Product, int] = {}
    for product, count in terms:
        total[product] = total.get(product, 0) + count
    return IndexForm(tuple(sorted(((p, n) for p, n in total.items() if n), key=lambda term: (term[0] == (), term[0]))))


@dataclass(frozen=True, eq=False)
class Scope:
    """Expressions of a kernel as forms. `fixed` are symbols whose value is known, such as blockDim.x; `kept` are
    variables that stay what they are, whatever value they were declared with."""

    kernel: KernelTree
    fixed: Mapping[str, int] = field(default_factory=dict[str, int])
    kept: frozenset[str] = frozenset()

    def form(self, node: Node, depth: int = 0) -> IndexForm:
        """The form of an expression."""
        tree, node = self.kernel.tree, inner(node)
        if depth > _DEEPEST:
            return IndexForm.symbol(tree.of(node))
        if node.type == "number_literal":
            number = _NUMBER.match(tree.of(node))
            return IndexForm.number(int(number[1], 0)) if number else IndexForm.symbol(tree.of(node))
        if node.type == "identifier":
            return self._variable(node, depth)
        if node.type == "field_expression":
            name = tree.of(node)
            return IndexForm.number(self.fixed[name]) if name in self.fixed else self._opaque(node, depth)
        if node.type == "cast_expression":
            value = node.child_by_field_name("value")
            return self._opaque(node, depth) if value is None else self.form(value, depth + 1)
        if node.type == "call_expression" and tree.of(node).startswith("static_cast<"):
            given = node.child_by_field_name("arguments")
            if given is not None and given.named_child_count == 1:
                return self.form(given.named_children[0], depth + 1)
        if node.type == "unary_expression" and tree.of(node)[0] in "-+":
            value = node.child_by_field_name("argument")
            if value is not None:
                found = self.form(value, depth + 1)
                return -found if tree.of(node)[0] == "-" else found
        if node.type == "binary_expression":
            return self._binary(node, depth)
        return self._opaque(node, depth)

    def _binary(self, node: Node, depth: int) -> IndexForm:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        sign = node.child_by_field_name("operator")
        if left is None or right is None or sign is None:
            return self._opaque(node, depth)
        a, b, word = self.form(left, depth + 1), self.form(right, depth + 1), sign.type
        if word == "+":
            return a + b
        if word == "-":
            return a - b
        if word == "*":
            return a * b
        if word == "<<" and b.value is not None and 0 <= b.value < 31:
            return a * IndexForm.number(1 << b.value)
        if word == "/" and a.value is not None and b.value:
            return IndexForm.number(a.value // b.value)
        return IndexForm.symbol(f"({_operand(a)} {word} {_operand(b)})")

    def _variable(self, node: Node, depth: int) -> IndexForm:
        tree = self.kernel.tree
        name = tree.of(node)
        if name in self.fixed:
            return IndexForm.number(self.fixed[name])
        if name in self.kept:
            return IndexForm.symbol(name)
        value = tree.constants.get(name)
        if value is not None:
            number = _NUMBER.match(value.strip("()"))
            return IndexForm.number(int(number[1], 0)) if number else IndexForm.symbol(name)
        found = declaration_at(tree, name, node)
        if found is None or found.type != "init_declarator" or self._changes(name, found):
            return IndexForm.symbol(name)
        value_node = found.child_by_field_name("value")
        declarator = found.child_by_field_name("declarator")
        plain = declarator is not None and declarator.type == "identifier"
        return self.form(value_node, depth + 1) if plain and value_node is not None else IndexForm.symbol(name)

    def _changes(self, name: str, declarator: Node) -> bool:
        """Whether a variable gets another value after its declaration, or counts a loop."""
        parent = declarator.parent
        block = None if parent is None else parent.parent
        if block is None or block.type == "for_statement":
            return True
        return name in assigned(self.kernel.tree, block)

    def _opaque(self, node: Node, depth: int) -> IndexForm:
        """One symbol, with what variables stand for put in."""
        tree = self.kernel.tree
        if node.type == "field_expression" and tree.of(node).split(".")[0] in GRID:
            return IndexForm.symbol(tree.of(node))
        parts: list[str] = []
        at = node.start_byte
        for child in _operands(node):
            parts += [tree.data[at : child.start_byte].decode(), f"({self.form(child, depth + 1)})"]
            at = child.end_byte
        parts.append(tree.data[at : node.end_byte].decode())
        return IndexForm.symbol("".join(" ".join(parts).split()).replace(" ", "") if len(parts) > 1 else tree.of(node))


def _operand(form: IndexForm) -> str:
    """A form as one side of an operator."""
    one = form.value is not None or [(len(product), count) for product, count in form.terms] == [(1, 1)]
    return str(form) if one else f"({form})"


def _operands(node: Node) -> list[Node]:
    """The variables and sums in an expression, the outermost of which stand for something."""
    found: list[Node] = []
    stack = [node]
    while stack:
        one = stack.pop()
        parent = one.parent
        called = one.type == "identifier" and parent is not None and parent.child_by_field_name("function") == one
        inside = one.type in ("field_expression", "binary_expression") and one is not node
        if (one.type == "identifier" and not called) or inside:
            found.append(one)
        else:
            stack.extend(one.named_children)
    return sorted(found, key=lambda one: one.start_byte)
