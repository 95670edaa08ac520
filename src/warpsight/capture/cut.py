"""Cuts a kernel out of a program's source: one text with the functions, types, macros and constants that it needs.

Of a template it is the instance that was launched: its parameters become names of types and constants before it.
Variables of the device begin as they were when the kernel was launched. The text is the user's own, part by part; what
must stay true is shown by running it, not here: see `capture.py`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from warpsight.capture.flatten import FlatText
from warpsight.capture.items import ON_DEVICE, SourceItem, items_of, words_of
from warpsight.capture.recording import CannotCapture
from warpsight.source.tree import NotUnderstood, SourceTree, parse, within

HEADERS = {
    "cooperative_groups.h": r"\bcooperative_groups\b|\bcg::|\bthread_block\b",
    "cooperative_groups/reduce.h": r"\bcooperative_groups\b|\bcg::",
    "cooperative_groups/memcpy_async.h": r"\bmemcpy_async\b",
    "cuda_fp16.h": r"\bhalf2?\b|\b__half", "cuda_bf16.h": r"bfloat16", "cub/cub.cuh": r"\bcub::",
    "cuda/std/complex": r"\bcuda::std::complex\b", "cuComplex.h": r"\bcu\w*Complex\b|\bcuC\w+\(",
    "curand_kernel.h": r"\bcurand", "mma.h": r"\bwmma::", "math_constants.h": r"\bCUDART_", "cuda/atomic": r"\bcuda::",
    "cuda/barrier": r"\bcuda::barrier\b", "cuda/pipeline": r"\bcuda::pipeline\b",
    "cub/block/block_reduce.cuh": r"\bBlockReduce\b",
    "cuda/std/array": r"\bcuda::std::array\b", "stdint.h": r"\bu?int\d+_t\b", "float.h": r"\b(?:FLT|DBL)_",
    "limits.h": r"\b(?:INT|UINT|LONG|ULONG|CHAR|SHRT)_(?:MAX|MIN)\b", "thrust/complex.h": r"\bthrust::complex\b",
}  # fmt: skip


@dataclass(frozen=True)
class CutKernel:
    """The cut text without its launch line, the name of the kernel, its parameters, and where it stood."""

    text: str
    entry: str
    parameters: tuple[tuple[str, str, bool], ...]
    items: tuple[SourceItem, ...]
    types: Mapping[str, str]
    file: Path
    line: int
    variables: tuple[str, ...] = ()


def cut_kernel(flat: FlatText, plain: str, arguments: Sequence[str], at: Mapping[str, set[int]]) -> CutKernel:
    """The kernel `plain`, of which `at` says in which lines of which files its code stands."""
    tree = parse(flat.text)
    items = items_of(tree, device_words(flat))
    kernel = _find(items, plain, flat, at)
    if kernel.node is None:
        raise CannotCapture(f"the kernel {plain} was not found in the source")
    types, aliases = _template(tree, kernel, arguments)
    needed = needed_items(items, kernel)
    text, parameters = _kernel_text(tree, kernel, plain)
    parts = [*_headers(" ".join(one.text for one in [*needed, kernel])), *_emitted(needed)]
    parts.append(_spaced(kernel.spaces, f"{aliases}{text}"))
    where = flat.lines[kernel.lines[0] - 1]
    return CutKernel(
        "\n".join(parts) + "\n", plain, parameters, tuple(items), types, where.file, where.line,
        tuple(one for item in needed if is_variable(item) for one in sorted(item.declares)),
    )  # fmt: skip


def device_words(flat: FlatText) -> frozenset[str]:
    """Macros that stand for `__device__` and its like."""
    return frozenset(name for name, value in flat.macros.items() if ON_DEVICE.search(value))


def is_variable(item: SourceItem) -> bool:
    return item.kind == "other" and re.search(r"__(?:device|constant|managed)__", item.text) is not None


def _find(items: Sequence[SourceItem], plain: str, flat: FlatText, at: Mapping[str, set[int]]) -> SourceItem:
    found = [item for item in items if item.is_kernel and plain in item.declares]
    if not found:
        raise CannotCapture(
            f"no definition of the kernel {plain} was found in the source",
            hint="it may be made by a macro, or be generated when the program is built",
        )

    def hits(item: SourceItem) -> int:
        placed = flat.lines[item.lines[0] - 1 : item.lines[1]]
        return sum(line.line in at.get(line.file.name, ()) for line in placed)

    return max(found, key=hits)


def needed_items(items: Sequence[SourceItem], kernel: SourceItem) -> list[SourceItem]:
    """Everything that the kernel names, and what that names, in the order of the source."""
    chosen, names = set[int](), set(kernel.names)
    growing = True
    while growing:
        growing = False
        for number, item in enumerate(items):
            if number in chosen or item is kernel or item.kind in ("pragma", "include") or item.is_kernel:
                continue
            if item.declares & names or _is_wanted_by_type(item, names):
                chosen.add(number)
                names |= item.names
                growing = True
    return [items[number] for number in sorted(chosen)]


def _is_wanted_by_type(item: SourceItem, names: set[str]) -> bool:
    """Operators are used without their names: by a type that they take. So are namespaces that are opened."""
    if item.text.startswith("using namespace"):
        return bool(words_of(item.text) & names)
    if item.kind != "function" or item.node is None:
        return False
    head = next(within(item.node, "function_declarator"), None)
    own = None if head is None else head.child_by_field_name("declarator")
    listed = None if head is None else head.child_by_field_name("parameters")
    if own is None or own.text is None or listed is None or listed.text is None or b"operator" not in own.text:
        return False
    types = {n.text.decode() for n in within(listed, "type_identifier") if n.text is not None}
    return bool(types & names)


def _emitted(items: Sequence[SourceItem]) -> list[str]:
    """Their texts; neighbours of one namespace stand in one."""
    return [item.text if item.kind == "macro" else _spaced(item.spaces, item.text) for item in items]


def _spaced(spaces: Sequence[str], text: str) -> str:
    for name in reversed(spaces):
        text = f"namespace {name} {{\n{text}\n}}" if name else text
    return text


def _headers(text: str) -> list[str]:
    found = [f"#include <{name}>" for name, pattern in HEADERS.items() if re.search(pattern, text)]
    if re.search(r"\bcg::", text) and not re.search(r"namespace\s+cg\s*=", text):
        found.append("namespace cg = cooperative_groups;")
    return found


def _template(tree: SourceTree, kernel: SourceItem, arguments: Sequence[str]) -> tuple[dict[str, str], str]:
    """The types that stand for a template's parameters, and the lines that say so."""
    assert kernel.node is not None
    if kernel.node.type != "template_declaration":
        return {}, ""
    listed = next(within(kernel.node, "template_parameter_list"))
    parameters = [n for n in listed.named_children if n.type != "comment"]
    types, lines = dict[str, str](), list[str]()
    if len(parameters) != len(arguments):
        raise CannotCapture(f"its template has {len(parameters)} parameters, the instance shows {len(arguments)}")
    for node, value in zip(parameters, arguments, strict=True):
        name = _name_of(tree, node)
        if not name or node.type.startswith("variadic") or node.type == "template_template_parameter_declaration":
            raise CannotCapture(f"its template has a parameter that is not understood: {tree.of(node)}")
        kind = node.child_by_field_name("type")
        if node.type in ("type_parameter_declaration", "optional_type_parameter_declaration"):
            types[name] = value
            lines.append(f"using {name} = {value};\n")
        else:
            declared = "int" if kind is None else tree.of(kind)
            lines.append(f"constexpr {declared} {name} = ({declared}){value};\n")
    return types, "".join(lines)


def _name_of(tree: SourceTree, node: object) -> str:
    from tree_sitter import Node

    assert isinstance(node, Node)
    named = [n for n in node.named_children if n.type in ("identifier", "type_identifier")]
    declarator = node.child_by_field_name("declarator") or node.child_by_field_name("name")
    if declarator is not None:
        return tree.of(declarator)
    return tree.of(named[-1]) if named else ""


def _kernel_text(tree: SourceTree, kernel: SourceItem, plain: str) -> tuple[str, tuple[tuple[str, str, bool], ...]]:
    """The definition with C linkage, and (name, type, is it a pointer) of its parameters."""
    assert kernel.node is not None
    node = next(within(kernel.node, "function_definition"))
    if node.has_error:
        bad = next((n for n in within(node) if n.is_error or n.is_missing), node)
        raise CannotCapture(f"the grammar does not understand the kernel: {tree.of(bad)[:60]!r}")
    head = next((n for n in within(node, "function_declarator")), None)
    listed = None if head is None else head.child_by_field_name("parameters")
    body = node.child_by_field_name("body")
    if listed is None or body is None:
        raise CannotCapture("the kernel's parameters are not understood")
    parameters = tuple(_parameter(tree, one) for one in listed.named_children if one.type == "parameter_declaration")
    before = tree.data[node.start_byte : listed.start_byte].decode()
    before = re.sub(r"\b(static|inline|__inline__|extern\s+\"C\"|extern)\b\s*", "", before)
    rest = tree.data[listed.start_byte : node.end_byte].decode()
    if not re.search(rf"__global__[^;{{}}]*?\b{re.escape(plain)}\s*$", before):
        before = f"__global__ {before.replace('__global__', '')}"
    return f'extern "C" {before.strip()}{rest}', parameters


def _parameter(tree: SourceTree, node: object) -> tuple[str, str, bool]:
    from tree_sitter import Node

    from warpsight.source.tree import declared_name

    assert isinstance(node, Node)
    kind, declarator = node.child_by_field_name("type"), node.child_by_field_name("declarator")
    name = declared_name(declarator)
    if kind is None or name is None:
        raise CannotCapture(f"a parameter is not understood: {tree.of(node)[:80]!r}")
    assert declarator is not None
    stars = sum(1 for one in within(declarator) if one.type in ("pointer_declarator", "array_declarator"))
    if stars > 1:
        raise CannotCapture(f"the parameter {tree.of(name)} is a pointer to pointers")
    return tree.of(name), tree.of(kind), stars == 1


__all__ = ["CutKernel", "NotUnderstood", "cut_kernel", "device_words", "is_variable", "needed_items"]
