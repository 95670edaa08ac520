"""A text as the tree of tree-sitter's CUDA grammar: functions, parameters, constants of macros, declarations.

Places are bytes, as the grammar has them. What must stay true: a text with errors in the parts that are asked about is
not understood, and says where.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass

import tree_sitter_cuda
from tree_sitter import Language, Node, Parser

ASSIGNMENTS = ("assignment_expression", "update_expression")
_NO_NAMES = frozenset(("field_identifier", "type_identifier"))


class NotUnderstood(Exception):
    """A text has a shape that is not understood; the message says which, for a person."""


@dataclass(frozen=True, eq=False)
class SourceTree:
    """A text and its tree."""

    text: str
    data: bytes
    root: Node

    def of(self, node: Node) -> str:
        """The text of a node."""
        return self.data[node.start_byte : node.end_byte].decode("utf-8", errors="surrogateescape")

    def line(self, node: Node) -> int:
        return node.start_point.row + 1

    @functools.cached_property
    def constants(self) -> dict[str, str]:
        """Macros without parameters, by name."""
        return {
            self.of(name): self.of(value).strip()
            for node in within(self.root, "preproc_def")
            if (name := node.child_by_field_name("name")) and (value := node.child_by_field_name("value"))
        }

    @functools.cached_property
    def functions(self) -> dict[str, Node]:
        """Definitions of functions, by name."""
        found: dict[str, Node] = {}
        for node in within(self.root, "function_definition"):
            head = node.child_by_field_name("declarator")
            while head is not None and head.type != "function_declarator":
                head = head.child_by_field_name("declarator")
            name = None if head is None else head.child_by_field_name("declarator")
            if name is not None:
                found[self.of(name)] = node
        return found


@dataclass(frozen=True)
class ParameterTree:
    """One parameter of a kernel: the text of its type without `*`, and whether it is a pointer."""

    name: str
    type: str
    pointer: bool
    node: Node


@dataclass(frozen=True, eq=False)
class KernelTree:
    """The kernel of a text: the whole definition, its parameters and its body."""

    tree: SourceTree
    name: str
    definition: Node
    parameters: dict[str, ParameterTree]
    body: Node

    @property
    def statements(self) -> list[Node]:
        return statements(self.body)


@functools.cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_cuda.language()))


@functools.lru_cache(maxsize=256)
def parse(text: str) -> SourceTree:
    """The tree of a text; any text has one."""
    data = text.encode()
    return SourceTree(text, data, _parser().parse(data).root_node)


def parse_bytes(data: bytes) -> SourceTree:
    """The tree of a file that may not be text everywhere; what is no text is shown as such."""
    return SourceTree(data.decode("utf-8", errors="replace"), data, _parser().parse(data).root_node)


def kernel_of(tree: SourceTree, entry: str) -> KernelTree:
    """The kernel of this name; NotUnderstood where there is none, or the grammar does not know what stands in it."""
    node = tree.functions.get(entry)
    if node is None:
        raise NotUnderstood(f"no function {entry} was found")
    if node.has_error:
        bad = next((n for n in within(node) if n.is_error or n.is_missing), node)
        raise NotUnderstood(f"line {tree.line(bad)} is not understood by the grammar")
    body = node.child_by_field_name("body")
    if body is None or "__global__" not in {tree.of(child) for child in node.children}:
        raise NotUnderstood(f"{entry} is no __global__ function with a body")
    parameters: dict[str, ParameterTree] = {}
    for one in within(node, "parameter_declaration"):
        if one.start_byte > body.start_byte:
            break
        read = _parameter(tree, one)
        parameters[read.name] = read
    return KernelTree(tree, entry, node, parameters, body)


def _parameter(tree: SourceTree, node: Node) -> ParameterTree:
    kind = node.child_by_field_name("type")
    name = declared_name(node.child_by_field_name("declarator"))
    if kind is None or name is None:
        raise NotUnderstood(f"the parameter in line {tree.line(node)} is not understood")
    pointer = any(child.type == "pointer_declarator" for child in within(node))
    return ParameterTree(tree.of(name), tree.of(kind), pointer, node)


def within(node: Node, *types: str) -> Iterator[Node]:
    """A node and all below it, in the order of the text; of these types alone, where any are named."""
    stack = [node]
    while stack:
        one = stack.pop()
        if one.is_named and (not types or one.type in types):
            yield one
        stack.extend(reversed(one.children))


def statements(block: Node) -> list[Node]:
    """The statements of a block, or the statement itself; comments left out."""
    if block.type != "compound_statement":
        return [block]
    return [child for child in block.named_children if child.type != "comment"]


def declared_name(node: Node | None) -> Node | None:
    """The identifier that a declarator declares."""
    while node is not None and node.type not in ("identifier", "field_identifier"):
        inner = node.child_by_field_name("declarator")
        if inner is None and node.type == "reference_declarator":
            inner = node.named_children[-1] if node.named_children else None
        node = inner
    return node


def inner(node: Node) -> Node:
    """An expression without the parentheses around it."""
    while node.type in ("parenthesized_expression", "condition_clause"):
        value = node.child_by_field_name("value") or (node.named_children[0] if node.named_child_count == 1 else None)
        if value is None:
            return node
        node = value
    return node


def names(tree: SourceTree, node: Node) -> set[str]:
    """The variables that are named in a node."""
    return {tree.of(one) for one in within(node, "identifier")}


def uses(tree: SourceTree, node: Node, name: str) -> list[Node]:
    """Where a variable is named in a node."""
    return [one for one in within(node, "identifier") if tree.of(one) == name]


def target(node: Node) -> Node | None:
    """What an assignment or `++` gives a value: the left side."""
    return node.child_by_field_name("left") or node.child_by_field_name("argument")


def root_name(node: Node) -> Node | None:
    """The variable behind `a[i].x`, `*p` and `(a)`."""
    while True:
        if node.type == "identifier":
            return node
        below = inner(node) if node.type == "parenthesized_expression" else node.child_by_field_name("argument")
        if below is None or below is node:
            return None
        node = below


def assigned(tree: SourceTree, node: Node) -> dict[str, list[Node]]:
    """The variables and arrays that get values in a node: by `=`, `+=`, `++`, or by their address to a function."""
    found: dict[str, list[Node]] = {}
    for one in within(node, *ASSIGNMENTS, "pointer_expression"):
        if one.type == "pointer_expression" and tree.data[one.start_byte : one.start_byte + 1] != b"&":
            continue
        left = target(one)
        name = None if left is None else root_name(left)
        if name is not None:
            found.setdefault(tree.of(name), []).append(one)
    return found


def declarations(tree: SourceTree, node: Node) -> dict[str, Node]:
    """The variables that are declared in a node, each with its declarator; the last of a name."""
    found: dict[str, Node] = {}
    for one in within(node, "declaration"):
        for child in one.children_by_field_name("declarator"):
            name = declared_name(child)
            if name is not None:
                found[tree.of(name)] = child
    return found


def declaration_at(tree: SourceTree, name: str, at: Node) -> Node | None:
    """The declarator that a name means at a place: the nearest above it, in its block or one around it."""
    node: Node | None = at
    while node is not None and node.type != "function_definition":
        before = node
        while before is not None:
            if before.type == "declaration":
                for child in before.children_by_field_name("declarator"):
                    found = declared_name(child)
                    if found is not None and tree.of(found) == name and child.end_byte <= at.start_byte:
                        return child
            before = before.prev_named_sibling
        if node.type == "for_statement":
            start = node.child_by_field_name("initializer")
            if start is not None and start.type == "declaration" and start.end_byte <= at.start_byte:
                for child in start.children_by_field_name("declarator"):
                    found = declared_name(child)
                    if found is not None and tree.of(found) == name:
                        return child
        node = node.parent
    return None


def type_of(tree: SourceTree, declarator: Node) -> str:
    """The type that a declarator's declaration names, without qualifiers and `*`."""
    parent = declarator.parent
    kind = None if parent is None else parent.child_by_field_name("type")
    if kind is None:
        raise NotUnderstood(f"the declaration in line {tree.line(declarator)} is not understood")
    return tree.of(kind)
