"""A kernel's lines as they stand in its file, with their share of the time and what they do to memory."""

from __future__ import annotations

from warpsight.nouns import LineCounters, Profile
from warpsight.report.diff import heat, shares_of
from warpsight.report.html import Html, tag
from warpsight.report.machine import Code, code_by_line, whole_of, with_code

AROUND = 2
HEADS = ("line", "% time", "executed by warps", "load sectors", "store sectors", "source")


def lines_table(profile: Profile, source: str) -> Html | None:
    """Lines that were executed and those around them; None where no line is known."""
    if not profile.lines:
        return None
    there, shares = {line.line: line for line in profile.lines}, shares_of(profile)
    code = code_by_line(profile.instructions)
    text = source.splitlines()
    numbers = sorted({n for line in there for n in range(line - AROUND, line + AROUND + 1) if 1 <= n <= len(text)})
    body: list[Html] = []
    last = None
    for number in numbers or sorted(there):
        if last is not None and number > last + 1:
            body.append(tag("tr", tag("td", "⋯", colspan=len(HEADS)), class_="gap"))
        words = text[number - 1] if number <= len(text) else there[number].text
        body.append(_row(number, words, there.get(number), shares.get(number), code))
        last = number
    head = tag("tr", [tag("th", name, scope="col", class_="code" if name == "source" else None) for name in HEADS])
    return tag("div", tag("table", tag("thead", head), tag("tbody", body), class_="diff"), class_="wide", tabindex=0)


def _row(number: int, words: str, line: LineCounters | None, share: float | None, code: Code) -> Html:
    names = ("instructions", "global_load_sectors", "global_store_sectors")
    values = [line.counters.get(name, 0) if line is not None else 0 for name in names]
    warm = f"h{heat(share)}" if heat(share) else None
    return tag(
        "tr",
        tag("td", str(number), class_="n"),
        tag("td", f"{share:.1f}" if share is not None and share >= 0.05 else "", class_=f"n {warm}" if warm else "n"),
        [tag("td", f"{value:,.0f}" if value else "", class_="n") for value in values],
        tag("td", with_code(tag("code", words), code.get(number, ()), whole_of(code)), class_="code"),
    )
