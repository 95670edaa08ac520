"""What the elements of an array are: the type that a parameter names, followed through macros and type names.

A vector or a struct of one kind of number is that many numbers. A struct of several kinds is bytes, which are compared
exactly and drawn only as they were recorded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from warpsight.capture.items import SourceItem
from warpsight.source.tree import within

NUMBERS = {
    "float": "float32", "double": "float64", "int": "int32", "unsigned int": "uint32", "unsigned": "uint32",
    "short": "int16", "unsigned short": "uint16", "char": "int8", "signed char": "int8", "unsigned char": "uint8",
    "long": "int64", "unsigned long": "uint64", "long long": "int64", "unsigned long long": "uint64", "bool": "uint8",
    "size_t": "uint64", "ssize_t": "int64", "ptrdiff_t": "int64", "uint": "uint32", "ushort": "uint16",
    "uchar": "uint8", "ulong": "uint64", "int8_t": "int8", "int16_t": "int16", "int32_t": "int32",
    "int64_t": "int64", "uint8_t": "uint8", "uint16_t": "uint16", "uint32_t": "uint32", "uint64_t": "uint64",
    "u_int8_t": "uint8", "u_int16_t": "uint16", "u_int32_t": "uint32", "u_int64_t": "uint64", "ulonglong": "uint64",
    "half": "float16", "__half": "float16", "half2": "float16", "__half2": "float16", "__nv_bfloat16": "bfloat16",
    "__nv_bfloat162": "bfloat16", "nv_bfloat16": "bfloat16", "cuFloatComplex": "float32", "cuComplex": "float32",
    "cuDoubleComplex": "float64", "clock_t": "int64", "intptr_t": "int64", "uintptr_t": "uint64",
    "unsigned long int": "uint64", "long int": "int64", "long long int": "int64", "unsigned short int": "uint16",
    "unsigned long long int": "uint64", "short int": "int16",
}  # fmt: skip
_VECTOR = re.compile(r"(u?(?:char|short|int|longlong|long)|float|double)([1-4])")
_QUALIFIERS = re.compile(r"\b(?:const|volatile|__restrict__|__restrict|restrict|struct|class|enum|typename)\b|\*")
_SPACES = re.compile(r"\b\w+::|(?<!\w)::")
MOST_STEPS = 20


class ElementType(NamedTuple):
    """A type of NumPy, how many of it an element of the source's type is, and whether it is bytes of a mixture."""

    dtype: str
    lanes: int = 1
    opaque: bool = False


BYTES = ElementType("uint8", 1, True)


def element_type(name: str, items: Sequence[SourceItem], known: Mapping[str, str], depth: int = 0) -> ElementType:
    """What a type's name means in this source; bytes where it is not known."""
    plain = " ".join(_QUALIFIERS.sub(" ", _SPACES.sub("", name)).split())
    plain = re.sub(r"^(signed|unsigned) (.*) (signed|unsigned)$", r"\1 \2", plain).removeprefix("signed ") or "int"
    if plain in NUMBERS:
        return ElementType(NUMBERS[plain], 2 if plain.endswith(("2", "162", "omplex")) and plain[0] in "h_c" else 1)
    if vector := _VECTOR.fullmatch(plain):
        return ElementType(NUMBERS[_spelled(vector[1])], int(vector[2]))
    if depth > MOST_STEPS:
        return BYTES
    if plain in known:
        return element_type(known[plain], items, known, depth + 1)
    for item in items:
        if plain not in item.declares:
            continue
        if item.kind == "macro":
            text = item.text.split(plain, 1)[1].strip()
            return element_type(text, items, known, depth + 1) if text else BYTES
        if found := _of_item(plain, item, items, known, depth):
            return found
    return BYTES


def _spelled(base: str) -> str:
    base = base.replace("longlong", "long long")
    return f"unsigned {base[1:]}" if base.startswith("u") else base


def _of_item(
    name: str, item: SourceItem, items: Sequence[SourceItem], known: Mapping[str, str], depth: int
) -> ElementType | None:
    """A type that an item defines: another name of one, an enumeration, or a struct of numbers of one kind."""
    text = item.text
    if re.search(rf"\btypedef\b(?![^{{}}]*\{{)(.*?)\b{re.escape(name)}\s*;", text, re.DOTALL):
        found = re.search(rf"typedef\s+(.*?)\s+\**{re.escape(name)}\s*;", text, re.DOTALL)
        return element_type(found[1], items, known, depth + 1) if found else BYTES
    if found := re.search(rf"\busing\s+{re.escape(name)}\s*=\s*([^;]+);", text):
        return element_type(found[1], items, known, depth + 1)
    if item.node is None:
        return None
    for node in within(item.node, "enum_specifier", "struct_specifier", "class_specifier"):
        own = node.child_by_field_name("name")
        alone = own is None and re.search(rf"\}}\s*{re.escape(name)}\s*;", text)
        if (own is not None and own.text == name.encode()) or alone:
            return ElementType("int32") if node.type == "enum_specifier" else _struct(node, items, known, depth)
    return None


def _struct(node: object, items: Sequence[SourceItem], known: Mapping[str, str], depth: int) -> ElementType:
    from tree_sitter import Node

    assert isinstance(node, Node)
    body = node.child_by_field_name("body")
    kinds: set[str] = set()
    for field in () if body is None else body.named_children:
        kind = field.child_by_field_name("type")
        if field.type != "field_declaration" or kind is None or kind.text is None:
            continue
        if any(n.type == "function_declarator" for n in within(field)):
            continue
        pointer = any(n.type == "pointer_declarator" for n in within(field))
        one = BYTES if pointer else element_type(kind.text.decode(), items, known, depth + 1)
        kinds.add("" if one.opaque else one.dtype)
    return ElementType(kinds.pop()) if len(kinds) == 1 and "" not in kinds else BYTES
