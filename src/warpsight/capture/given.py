"""Parameters that a task has no words for, structs by value and null pointers, as constants of the cut kernel.

They keep what they held in the recorded launch: their bytes stand in constant memory, where parameters stand too, so
the compiler knows no more of them than before. What must stay true: the kernel computes what it did, and `patch.py`
finds by their names which parameters were taken out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from tree_sitter import Node

from warpsight.capture.cut import CutKernel
from warpsight.capture.element_types import element_type
from warpsight.capture.recording import CannotCapture, LaunchRecord
from warpsight.source.tree import SourceTree, declared_name, parse, within

SUFFIX = "_given"
WORD = 4
_MARKS = re.compile(r"\b(?:__grid_constant__|__restrict__|__restrict|restrict)\b")
_GIVEN = re.compile(rf"^__constant__ __align__\(16\) unsigned (\w+){SUFFIX}\[\d+\] = .*\n", re.MULTILINE)


def with_given(cut: CutKernel, record: LaunchRecord) -> tuple[CutKernel, LaunchRecord]:
    """Kernel and launch without those parameters."""
    if len(cut.parameters) != len(record.params):
        raise CannotCapture(
            f"the kernel takes {len(record.params)} parameters, its definition shows {len(cut.parameters)}"
        )
    numbers = [n for n in range(len(cut.parameters)) if _is_given(cut, record, n)]
    if not numbers:
        return cut, record
    kept = [n for n in range(len(cut.parameters)) if n not in numbers]
    bodies = {cut.parameters[n][0]: record.params[n] for n in numbers}
    return (
        replace(cut, text=_changed(cut, bodies), parameters=tuple(cut.parameters[n] for n in kept)),
        replace(
            record,
            params=tuple(record.params[n] for n in kept),
            arrays={place: record.arrays[n] for place, n in enumerate(kept) if n in record.arrays},
        ),
    )


def _is_given(cut: CutKernel, record: LaunchRecord, number: int) -> bool:
    _, kind, pointer = cut.parameters[number]
    raw = record.params[number]
    if pointer:
        return number not in record.arrays and not any(raw)
    element = element_type(kind, cut.items, cut.types)
    plain = element.lanes == 1 and np.dtype(element.dtype).itemsize == len(raw)
    return not plain and not (element.opaque and len(raw) in (1, 2, 4, 8))


def _changed(cut: CutKernel, bodies: dict[str, bytes]) -> str:
    """The text with these parameters as first things of the body, each from constant memory."""
    tree = parse(cut.text)
    node, listed, body = kernel_parts(tree, cut.entry)
    parent = node.parent
    start = parent.start_byte if parent is not None and parent.type == "linkage_specification" else node.start_byte
    kept: list[str] = []
    locals_: list[str] = []
    for one in (n for n in listed.named_children if n.type == "parameter_declaration"):
        name, text = _named(tree, one)
        if name in bodies:
            locals_.append(_local(text, name))
        else:
            kept.append(text)
    constants = "".join(_constant(name, raw) for name, raw in bodies.items())
    data = tree.data
    return b"".join(
        [
            data[:start], constants.encode(), data[start : listed.start_byte], f"({', '.join(kept)})".encode(),
            data[listed.end_byte : body.start_byte + 1], "".join(f" {one}" for one in locals_).encode(),
            data[body.start_byte + 1 :],
        ]
    ).decode()  # fmt: skip


def kernel_parts(tree: SourceTree, entry: str, near: int = 1) -> tuple[Node, Node, Node]:
    """The definition of a kernel, its list of parameters, its body; of several the one nearest to a line."""
    found: list[tuple[Node, Node, Node]] = []
    for node in within(tree.root, "function_definition"):
        head, body = next(within(node, "function_declarator"), None), node.child_by_field_name("body")
        listed = None if head is None else head.child_by_field_name("parameters")
        before = "" if listed is None else tree.data[node.start_byte : listed.start_byte].decode(errors="replace")
        if (
            listed is not None
            and body is not None
            and re.search(rf"__global__.*\b{re.escape(entry)}\s*$", before, re.S)
        ):
            found.append((node, listed, body))
    if not found:
        raise CannotCapture(f"the kernel {entry} was not found in its file")
    return min(found, key=lambda parts: abs(tree.line(parts[0]) - near))


def parameter_names(tree: SourceTree, listed: Node) -> list[str]:
    return [_named(tree, one)[0] for one in listed.named_children if one.type == "parameter_declaration"]


def _named(tree: SourceTree, parameter: Node) -> tuple[str, str]:
    name = declared_name(parameter.child_by_field_name("declarator"))
    return ("" if name is None else tree.of(name)), tree.of(parameter)


def _local(text: str, name: str) -> str:
    """`const Options options = *reinterpret_cast<const Options *>(options_given);`"""
    plain = " ".join(_MARKS.sub(" ", text).split())
    kind = re.sub(rf"\b{re.escape(name)}\b(?:\s*\[\s*\w*\s*\])?\s*$", "", plain).strip()
    if "*" in plain or "[" in plain:
        kind = kind if "*" in kind else f"{kind} *"
        return f"{kind} {name} = *reinterpret_cast<{kind} const *>({name}{SUFFIX});"
    bare = re.sub(r"\b(?:const|volatile)\b\s*", "", kind).strip()
    return f"{kind} {name} = *reinterpret_cast<const {bare} *>({name}{SUFFIX});"


def _constant(name: str, raw: bytes) -> str:
    words = np.frombuffer(raw.ljust(-(-len(raw) // WORD) * WORD, b"\0"), np.uint32)
    shown = ", ".join(f"{word}u" if word < 10_000 else f"{word:#x}u" for word in words.tolist())
    return f"__constant__ __align__(16) unsigned {name}{SUFFIX}[{words.size}] = {{{shown}}};\n"


def given_names(text: str) -> list[str]:
    """The parameters that were taken out of a task's kernel."""
    return _GIVEN.findall(text)


def with_parameters(kernel: str, entry: str, names: Sequence[str], original: SourceTree, listed: Node) -> str:
    """The text of a kernel that was cut so, with those parameters in their places again, as `listed` declares them."""
    tree = parse(kernel)
    node, own, body = kernel_parts(tree, entry)
    known = dict(_named(tree, n) for n in own.named_children if n.type == "parameter_declaration")
    wanted: list[str] = []
    for one in (n for n in listed.named_children if n.type == "parameter_declaration"):
        name, text = _named(original, one)
        if name not in known and name not in names:
            raise CannotCapture(f"the faster kernel has no parameter {name} any more")
        wanted.append(text if name in names else known[name])
    inside = tree.data[body.start_byte : node.end_byte].decode()
    for name in names:
        inside, count = re.subn(rf"[^;{{}}]*=\s*\*reinterpret_cast<[^;]*>\({name}{SUFFIX}\);", "", inside, count=1)
        if not count or f"{name}{SUFFIX}" in inside:
            raise CannotCapture(f"the faster kernel reads {name} in a way that the program has not")
    head = tree.data[: own.start_byte].decode()
    return f"{head}({', '.join(wanted)}){tree.data[own.end_byte : body.start_byte].decode()}{inside}"
