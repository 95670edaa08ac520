"""The difference of two texts as search/replace blocks that apply exactly once: what an oracle writes as its edit.

Blocks are the smallest runs of whole lines that differ, grown by lines around them until each occurs once in the text.
"""

from __future__ import annotations

import difflib

from warpsight.tools.edits import Edit, apply_edits


def blocks_between(before: str, after: str) -> tuple[Edit, ...]:
    """The blocks; applied to `before` in order they give `after`."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    spans = [(i1, i2, j1, j2) for tag, i1, i2, j1, j2 in matcher.get_opcodes() if tag != "equal"]
    if not spans:
        return ()
    for grown in range(len(old) + 1):
        edits = tuple(_edit(old, new, span) for span in _merged(spans, grown, len(old), len(new)))
        if _once(before, edits) and apply_edits(before, edits) == after:
            return edits
    return (Edit(before, after),)


def _merged(spans: list[tuple[int, int, int, int]], grown: int, most_old: int, most_new: int) -> list[list[int]]:
    """Spans with that many lines around them; those that then touch are one."""
    made: list[list[int]] = []
    for i1, i2, j1, j2 in spans:
        # A pure insertion has nothing to search for: it takes the line before it, or after it at the top.
        least = 1 if i1 == i2 else 0
        around = max(grown, least)
        up = min(around, i1, j1)
        down = min(grown if up or not least else 1, most_old - i2, most_new - j2)
        span = [i1 - up, i2 + down, j1 - up, j2 + down]
        if made and span[0] < made[-1][1]:
            made[-1][1], made[-1][3] = max(made[-1][1], span[1]), max(made[-1][3], span[3])
        else:
            made.append(span)
    return made


def _edit(old: list[str], new: list[str], span: list[int]) -> Edit:
    i1, i2, j1, j2 = span
    return Edit("".join(old[i1:i2]), "".join(new[j1:j2]))


def _once(text: str, edits: tuple[Edit, ...]) -> bool:
    for edit in edits:
        if not edit.search or text.count(edit.search) != 1:
            return False
        text = text.replace(edit.search, edit.replace, 1)
    return True
