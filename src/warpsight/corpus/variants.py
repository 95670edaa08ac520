"""Texts of one family: defects planted, numbers changed, names and layout varied.

A text is made in two steps. `plant` gives the canonical text, which decides the machine code and so the truth;
`restyle` changes only names, comments and layout, which the compiler does not see. What must stay true: planting is
by exact search/replace, in the order of the kinds' names, so a set of defects has one text.
"""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from warpsight.corpus.families import Family
from warpsight.tools.edits import EditFailed, apply_edits

_INDENT = re.compile(r"^(?: {4})+", re.MULTILINE)


@dataclass(frozen=True)
class Style:
    """How a text is written: which names, how indented, with a line that says what it computes or without."""

    renames: tuple[tuple[str, str], ...] = ()
    indent: str = "    "
    heading: str = ""


def plant(family: Family, defects: Collection[str], constants: Sequence[str] = ()) -> str | None:
    """The canonical text with these defects; None when they cannot stand together."""
    text = family.task.kernel
    for defect in sorted(defects):
        try:
            text = apply_edits(text, family.defects[defect])
        except EditFailed:
            return None
    for constant, value in zip(family.constants, constants, strict=False):
        text = re.sub(rf"(?<![\w.]){re.escape(constant.find)}(?![\w.])", value, text)
    return text


def restyle(text: str, style: Style) -> str:
    """The same program in other words. The launch line keeps its meaning: names of axes are never renamed."""
    first, _, rest = text.partition("\n")
    for old, new in style.renames:
        rest = re.sub(rf"\b{re.escape(old)}\b", new, rest)
    if style.indent != "    ":
        rest = _INDENT.sub(lambda spaces: style.indent * (len(spaces.group()) // 4), rest)
    heading = f"// {style.heading}\n" if style.heading else ""
    return f"{first}\n{heading}{rest}"


def choose_style(family: Family, draw: random.Random) -> Style:
    """A way of writing, drawn at random; two old names never get the same new one, nor one that is in use."""
    written = [family.task.kernel, *(edit.replace for edits in family.defects.values() for edit in edits)]
    taken = {word for text in written for word in re.findall(r"\b[A-Za-z_]\w*\b", text)}
    renames: list[tuple[str, str]] = []
    for old, others in family.names.items():
        new = draw.choice((old, *others))
        if new != old and new not in taken:
            taken.add(new)
            renames.append((old, new))
    heading = family.task.description if draw.random() < 0.5 else ""
    return Style(tuple(renames), draw.choice(("    ", "  ", "\t")), heading)
