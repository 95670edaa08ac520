"""The edits that remove one defect from a task's own text, in the task's own names and layout.

Whole lines, as a person would write them: each block is widened by the lines around it until it occurs once, and blocks
that would touch become one. What must stay true: applied in order they give exactly the text without the defect.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from warpsight.corpus.specs import Spec, text_of
from warpsight.tools.edits import EditBlock, EditFailed, apply_edits

_Hunk = tuple[int, int, int, int]  # lines [a, b) of the text before become lines [c, d) of the text after


def removal_edits(spec: Spec, defect: str) -> tuple[EditBlock, ...]:
    """Search/replace blocks on `text_of(spec)` that take this defect away and leave the others."""
    if defect not in spec.defects:
        raise ValueError(f"{spec.key}: expected one of {', '.join(spec.defects)}; got {defect}")
    return difference(text_of(spec), text_of(spec, without=defect))


def difference(before: str, after: str) -> tuple[EditBlock, ...]:
    """Blocks that turn one text into the other."""
    old, new = before.split("\n"), after.split("\n")
    hunks = [
        (a, b, c, d)
        for tag, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        if tag != "equal"
    ]
    while True:
        widened = _joined([_widened(hunk, old, before) for hunk in hunks])
        edits = tuple(EditBlock("\n".join(old[a:b]), "\n".join(new[c:d])) for a, b, c, d in widened)
        if _gives(before, after, edits):
            return edits
        if len(widened) == 1:
            return (EditBlock(before, after),)
        hunks = [(widened[0][0], widened[1][1], widened[0][2], widened[1][3]), *widened[2:]]


def _widened(hunk: _Hunk, old: Sequence[str], before: str) -> _Hunk:
    """The hunk with as many lines around it as make its text occur once; lines below first, then above, in turn.

    One line around it stays where a side would be empty, since a line goes with its line end.
    """
    a, b, c, d = hunk
    below = True
    while a == b or c == d or before.count("\n".join(old[a:b])) != 1:
        if (below or a == 0) and b < len(old):
            b, d = b + 1, d + 1
        elif a > 0:
            a, c = a - 1, c - 1
        else:
            break
        below = not below
    return a, b, c, d


def _joined(hunks: Sequence[_Hunk]) -> list[_Hunk]:
    """Hunks that overlap or touch made one."""
    joined: list[_Hunk] = []
    for hunk in hunks:
        if joined and hunk[0] <= joined[-1][1]:
            last = joined.pop()
            more = max(0, last[1] - hunk[1])  # the earlier one may reach further down
            hunk = (last[0], hunk[1] + more, last[2], hunk[3] + more)
        joined.append(hunk)
    return joined


def _gives(before: str, after: str, edits: Sequence[EditBlock]) -> bool:
    try:
        return apply_edits(before, edits) == after
    except EditFailed:
        return False
