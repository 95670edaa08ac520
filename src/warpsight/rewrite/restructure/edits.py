"""Changes of a text by places in its tree: replaced nodes, text put before and after, lines of a block."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from tree_sitter import Node

from warpsight.source import SourceTree


@dataclass
class TreeEdits:
    """Edits of one text, in any order. Of text put in at one place, what came first stands first."""

    tree: SourceTree
    made: list[tuple[int, int, int, str]] = field(default_factory=list[tuple[int, int, int, str]])

    def replace(self, node: Node, new: str) -> None:
        self.made.append((node.start_byte, node.end_byte, len(self.made), new))

    def before(self, node: Node, new: str) -> None:
        self.made.append((node.start_byte, node.start_byte, len(self.made), new))

    def after(self, node: Node, new: str) -> None:
        self.made.append((node.end_byte, node.end_byte, len(self.made), new))

    def open(self, block: Node, *lines: str) -> None:
        """Lines at the start of a block."""
        first = next((one for one in block.named_children if one.type != "comment"), block)
        pad = indent(self.tree, first)
        at = block.start_byte + 1
        self.made.append((at, at, len(self.made), "".join(f"\n{pad}{line}" for line in lines)))

    def lines_after(self, node: Node, *lines: str) -> None:
        """Lines after a statement."""
        pad = indent(self.tree, node)
        self.after(node, "".join(f"\n{pad}{line}" for line in lines))

    def lines_before(self, node: Node, *lines: str) -> None:
        """Lines before a statement, and before the pragma above it."""
        at = node
        while at.prev_named_sibling is not None and at.prev_named_sibling.type == "preproc_call":
            at = at.prev_named_sibling
        pad = indent(self.tree, node)
        self.before(at, "".join(f"{line}\n{pad}" for line in lines))

    def part(self, node: Node) -> str:
        """A node as it is after the edits inside it."""
        made = [one for one in self.made if node.start_byte <= one[0] and one[1] <= node.end_byte]
        inside = TreeEdits(self.tree, made)
        return inside.text(node.start_byte, node.end_byte)

    def text(self, first: int = 0, last: int | None = None) -> str:
        """The text after all edits; of two that overlap, the outer."""
        parts: list[bytes] = []
        at, data = first, self.tree.data[:last]
        for start, end, _, new in sorted(self.made, key=lambda one: (one[0], one[1] != one[0], -one[1], one[2])):
            if start < at:
                continue
            parts += [data[at:start], new.encode()]
            at = max(at, end)
        return b"".join((*parts, data[at:])).decode()


def indent(tree: SourceTree, node: Node) -> str:
    """The white space that the line of a node begins with."""
    line = tree.data.rfind(b"\n", 0, node.start_byte) + 1
    found = re.match(rb"[ \t]*", tree.data[line:])
    return found[0].decode() if found else ""


def fresh_name(text: str, name: str) -> str:
    """A name that a text does not have."""
    while re.search(rf"\b{name}\b", text):
        name += "_"
    return name


def tidied(text: str, first: str = "    ") -> str:
    """Lines as deep as their braces are, directives too; empty lines at most one."""
    told: list[str] = []
    depth = 0
    for line in (one.strip() for one in text.split("\n")):
        if not line:
            continue
        depth -= line.startswith("}")
        told.append(f"{first}{'    ' * max(depth, 0)}{line}")
        depth += line.count("{") - line.count("}") + line.startswith("}")
    return "\n".join(told)
