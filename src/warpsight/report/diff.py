"""The difference between two kernels, each line coloured by its share of the time where a profile says it.

Lines that are gone carry the share they had in the old kernel, all others that in the new one. A share is the line's
part of the samples in which a warp stood still; compilers move work, so it is where time goes, not whose fault it is.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from warpsight.nouns import Profile
from warpsight.report.html import Html, tag, text
from warpsight.report.machine import Code, whole_of, with_code

SAMPLES = "stall_samples"
_HEATS = ((25.0, 5), (12.0, 4), (6.0, 3), (3.0, 2), (1.0, 1))
MOST_LINES = 3000  # beyond this the comparison itself takes too long
_LONG = 400


class DiffRow(NamedTuple):
    """One line of a diff: its sign, its numbers in both texts, its share of the time in percent."""

    sign: str
    old: int | None
    new: int | None
    share: float | None
    text: str


def shares_of(profile: Profile | None) -> dict[int, float]:
    """Percent of the samples by line."""
    if profile is None:
        return {}
    samples = {line.line: float(line.counters.get(SAMPLES, 0)) for line in profile.lines}
    whole = sum(samples.values())
    return {line: 100 * count / whole for line, count in samples.items()} if whole else {}


def rows_of(old: str, new: str, before: Mapping[int, float], after: Mapping[int, float]) -> list[DiffRow]:
    """All lines of both texts in one column."""
    a, b = old.splitlines(), new.splitlines()
    if len(a) + len(b) > MOST_LINES:
        return [DiffRow(" ", None, n, after.get(n), line) for n, line in enumerate(b[:MOST_LINES], 1)]
    rows: list[DiffRow] = []
    for kind, a0, a1, b0, b1 in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if kind == "equal":
            rows += [DiffRow(" ", i + 1, b0 + i - a0 + 1, after.get(b0 + i - a0 + 1), a[i]) for i in range(a0, a1)]
            continue
        rows += [DiffRow("-", i + 1, None, before.get(i + 1), a[i]) for i in range(a0, a1)]
        rows += [DiffRow("+", None, i + 1, after.get(i + 1), b[i]) for i in range(b0, b1)]
    return rows


def changed(rows: list[DiffRow]) -> tuple[int, int]:
    """How many lines came and went."""
    return sum(row.sign == "+" for row in rows), sum(row.sign == "-" for row in rows)


class LineCode(NamedTuple):
    """The machine code of both kernels by line, and all samples of each."""

    old: Code
    new: Code

    def under(self, row: DiffRow, shown: Html) -> Html:
        """A removed line opens to the old kernel's instructions, any other to the new one's."""
        code, at = (self.old, row.old) if row.sign == "-" else (self.new, row.new)
        return with_code(shown, code.get(at or 0, ()), whole_of(code))


def diff_table(
    rows: list[DiffRow], *, context: int | None = None, anchor: str = "", code: LineCode | None = None
) -> Html:
    """The rows as a table; with `context`, only so many lines around a change. `anchor` names lines of the new text;
    with `code`, a line opens to show its instructions."""
    code = code if code and (code.old or code.new) else None
    heated = any(row.share is not None for row in rows)
    head = tag(
        "tr",
        tag("th", "old", scope="col"),
        tag("th", "new", scope="col"),
        tag("th", "% time", scope="col") if heated else None,
        tag("th", "line", scope="col", class_="code"),
    )
    body = [_row(row, heated, anchor, code) for row in _within(rows, context)]
    return tag("div", tag("table", tag("thead", head), tag("tbody", body), class_="diff"), class_="wide", tabindex=0)


def _within(rows: list[DiffRow], context: int | None) -> Iterator[DiffRow | None]:
    """The rows to show; None stands for those that were left out."""
    if context is None:
        yield from rows
        return
    near = {j for i, row in enumerate(rows) if row.sign != " " for j in range(i - context, i + context + 1)}
    last = -1
    for at, row in enumerate(rows):
        if at in near:
            if at != last + 1:
                yield None
            last = at
            yield row
    if rows and last + 1 < len(rows):
        yield None


def _row(row: DiffRow | None, heated: bool, anchor: str, code: LineCode | None) -> Html:
    if row is None:
        return tag("tr", tag("td", "⋯", colspan=4 if heated else 3), class_="gap")
    share = "" if row.share is None or row.share < 0.05 else f"{row.share:.1f}"
    kind = {"+": "plus", "-": "minus", " ": ""}[row.sign]
    shown = row.text if len(row.text) <= _LONG else f"{row.text[:_LONG]}… ({len(row.text) - _LONG} more characters)"
    line = tag("code", Html(row.sign if row.sign != " " else "\u00a0"), text(shown))
    return tag(
        "tr",
        tag("td", "" if row.old is None else str(row.old), class_="n"),
        tag("td", "" if row.new is None else str(row.new), class_="n"),
        tag("td", share, class_=f"n h{heat(row.share)}") if heated else None,
        tag("td", line if code is None else code.under(row, line), class_="code"),
        class_=kind or None,
        id=f"{anchor}{row.new}" if anchor and row.new is not None else None,
    )


def heat(share: float | None) -> int:
    """How hot a line is, from 0 to 5."""
    return next((level for least, level in _HEATS if share is not None and share >= least), 0)
