"""The machine code of a source line, folded under the line: how often each instruction ran and where warps waited.

Only of kernels whose profile was kept instruction by instruction. Nothing is measured here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from warpsight.lens.render import number
from warpsight.nouns import InstructionCounters
from warpsight.report.html import Child, Html, tag

SAMPLES = "stall_samples"
MOST = 60  # instructions shown of one line: an unrolled loop has thousands
Code: TypeAlias = "Mapping[int, Sequence[InstructionCounters]]"


def code_by_line(machine: Sequence[InstructionCounters]) -> dict[int, list[InstructionCounters]]:
    """The instructions of each line, in their order in the program."""
    found: dict[int, list[InstructionCounters]] = {}
    for one in machine:
        if one.line is not None:
            found.setdefault(one.line, []).append(one)
    return found


def whole_of(code: Code) -> float:
    """All samples of a kernel: what a share is of."""
    return sum(float(one.counters.get(SAMPLES, 0)) for some in code.values() for one in some)


def with_code(line: Child, some: Sequence[InstructionCounters], whole: float) -> Html:
    """A line that opens to show its instructions; a line without any stays as it is."""
    if not some:
        return tag("div", line, class_="plain")
    heads = ("% time", "warps", "machine code")
    head = tag("tr", [tag("th", name, scope="col", class_=None if name == heads[2] else "n") for name in heads])
    rows = [_row(one, whole) for one in some[:MOST]]
    if len(some) > MOST:
        rows.append(tag("tr", tag("td", f"{len(some) - MOST} more instructions", colspan=3)))
    table = tag("table", tag("thead", head), tag("tbody", rows), class_="machine")
    return tag("details", tag("summary", line), table, class_="line")


def _row(one: InstructionCounters, whole: float) -> Html:
    share = 100 * float(one.counters.get(SAMPLES, 0)) / whole if whole else 0.0
    warps = one.counters.get("warps", 0)
    cells = (
        tag("td", f"{share:.1f}" if share >= 0.05 else "", class_="n"),
        tag("td", number(warps) if warps else "", class_="n"),
    )
    return tag("tr", cells, tag("td", tag("code", one.text)))
