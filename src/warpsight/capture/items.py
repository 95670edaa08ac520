"""The parts of a flat source at its top level: functions, types, variables, macros; what each declares and names.

A part keeps the namespaces it stands in. Names are taken by the word, so a part may be kept that is not needed, but
none is lost that is. Functions that only the host can call are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from warpsight.source.tree import SourceTree, within

_WORD = re.compile(r"[A-Za-z_]\w*")
_TEXTS = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'')
ON_DEVICE = re.compile(r"__(?:device|global|constant)__|\bconstexpr\b")
NOT_NAMES = frozenset(
    _WORD.findall(
        """if else for while do return int float double char void const static inline struct class union enum typename
        template using namespace unsigned signed long short bool auto switch case break continue default sizeof true
        operator public private protected this extern volatile __device__ __host__ __global__ __shared__ __constant__
        __restrict__ __forceinline__ constexpr typedef false"""
    )
)


@dataclass(frozen=True)
class SourceItem:
    """One part: its text, the line it begins on in the flat text, what it declares, what it names."""

    kind: str
    text: str
    start: int
    lines: tuple[int, int]
    spaces: tuple[str, ...]
    declares: frozenset[str]
    names: frozenset[str]
    node: Node | None = None

    @property
    def is_kernel(self) -> bool:
        return self.kind == "kernel"


def words_of(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(_TEXTS.sub(" ", text))) - NOT_NAMES


def items_of(tree: SourceTree, device_words: frozenset[str]) -> list[SourceItem]:
    """All parts in order. `device_words` are macros that stand for `__device__` and its like."""
    return list(_items(tree, tree.root, (), device_words))


def _items(tree: SourceTree, at: Node, spaces: tuple[str, ...], device: frozenset[str]) -> Iterator[SourceItem]:
    for node in at.children:
        if not node.is_named or node.type == "comment":
            continue
        body = node.child_by_field_name("body")
        if node.type == "namespace_definition" and body is not None:
            name = node.child_by_field_name("name")
            yield from _items(tree, body, (*spaces, tree.of(name) if name else ""), device)
        elif node.type == "linkage_specification" and body is not None:
            inside = body if body.type == "declaration_list" else None
            if inside is not None:
                yield from _items(tree, inside, spaces, device)
            else:
                yield from _one(tree, body, spaces, device)
        elif node.type == "ERROR":
            yield from _items(tree, node, spaces, device)
        else:
            yield from _one(tree, node, spaces, device)


def _one(tree: SourceTree, node: Node, spaces: tuple[str, ...], device: frozenset[str]) -> Iterator[SourceItem]:
    text = tree.of(node).rstrip()
    kind = _kind(tree, node, text, device)
    if not kind:
        return
    if node.type not in ("function_definition", "template_declaration") and not text.startswith("#"):
        text = text if text.endswith((";", "}")) and not _needs_semicolon(node, text) else f"{text};"
    lines = (node.start_point.row + 1, node.end_point.row + 1)
    declares = frozenset(_declared(tree, node, kind, text))
    yield SourceItem(kind, text, node.start_byte, lines, spaces, declares, words_of(text), node)


def _needs_semicolon(node: Node, text: str) -> bool:
    return node.type.endswith("_specifier") and text.endswith("}")


def _kind(tree: SourceTree, node: Node, text: str, device: frozenset[str]) -> str:
    """What a part is; empty for what a kernel has no use for."""
    if node.type in ("preproc_def", "preproc_function_def"):
        return "macro"
    if node.type == "preproc_call":
        return "pragma" if text.startswith("#pragma") else ""
    if node.type == "preproc_include":
        return "include"
    function = next(within(node, "function_definition"), None)
    if node.type in ("function_definition", "template_declaration") and function is not None:
        inside_type = any(
            n.start_byte < function.start_byte for n in within(node, "class_specifier", "struct_specifier")
        )
        if not inside_type:
            body = function.child_by_field_name("body")
            head = tree.data[node.start_byte : body.start_byte if body else node.end_byte].decode()
            if "__global__" in head:
                return "kernel"
            return "function" if ON_DEVICE.search(head) or words_of(head) & device else ""
    if node.type == "declaration" and "__global__" in text:
        return ""
    if node.type == "declaration" and any(within(node, "function_declarator")):
        return "declaration" if ON_DEVICE.search(text) or words_of(text) & device else ""
    if node.type in ("expression_statement", "compound_statement", "template_instantiation"):
        return ""
    return "other"


def _declared(tree: SourceTree, node: Node, kind: str, text: str) -> Iterator[str]:
    if kind == "macro":
        name = node.child_by_field_name("name")
        if name is not None:
            yield tree.of(name)
        return
    if kind in ("pragma", "include"):
        return
    for one in within(node, "function_declarator", "struct_specifier", "class_specifier", "union_specifier",
                      "enum_specifier", "enumerator", "alias_declaration", "type_definition", "init_declarator",
                      "array_declarator", "declaration", "pointer_declarator", "concept_definition"):  # fmt: skip
        if _inside_body(one, node):
            continue
        for field_name in ("declarator", "name"):
            for child in one.children_by_field_name(field_name):
                if child.type in ("identifier", "type_identifier", "field_identifier"):
                    yield tree.of(child)
                elif child.type in ("qualified_identifier", "template_function", "operator_name", "template_type"):
                    yield from words_of(tree.of(child))


def _inside_body(one: Node, item: Node) -> bool:
    """Whether it stands in the body of a function: what is declared there is nobody else's."""
    at = one.parent
    while at is not None and at != item.parent:
        if at.type == "compound_statement":
            return True
        at = at.parent
    return False
