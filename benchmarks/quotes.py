"""Numbers that other pages quote from docs/results.md.

A quote is a number and the marker of its record: `2.27x<!-- result:demo-speedup -->`, or for its n
`1 kernel<!-- n:demo-speedup -->`. When a record changes, its quotes are written anew. What a number was before is read
from the results page, where each row names its record. A quote that says neither the old nor the new number is left as
it is; a test names it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from benchmarks.published import ROOT, Published

MARKER = re.compile(r"<!-- (result|n):([^ ]+) -->")
ROW = re.compile(r"<!-- record:([^ ]+) -->")


class Shown(NamedTuple):
    """A number as a page shows it."""

    value: str
    interval: str
    n: str

    def quotes(self, kind: str) -> tuple[str, ...]:
        """What may stand before a marker: n, or the value with and without its interval."""
        if kind == "n":
            return (self.n,)
        return (f"{self.value} ({self.interval})", self.value) if self.interval else (self.value,)


def shown(record: Published) -> Shown:
    return Shown(record.value, record.interval, record.n)


def shown_on(page: str) -> dict[str, Shown]:
    """The numbers in the tables of a results page, by record."""
    found, header = dict[str, Shown](), list[str]()
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")] if line.startswith("| ") else []
        named = ROW.search(line)
        if named is None:
            header = cells or header
            continue
        row = dict(zip(header, cells, strict=True))
        found[named[1]] = Shown(row["value"], row.get("interval", ""), row["n"])
    return found


def requoted(text: str, before: Mapping[str, Shown], now: Mapping[str, Shown]) -> str:
    """The text with every quote of a number that changed brought up to date."""
    for kind, name in set(MARKER.findall(text)):
        if name not in before or name not in now or before[name] == now[name]:
            continue
        whole, *bare = now[name].quotes(kind)
        for old, new in zip(before[name].quotes(kind), (whole, *(bare or (whole,))), strict=False):
            words = r"\s+".join(map(re.escape, old.split()))
            marker = re.escape(f"<!-- {kind}:{name} -->")
            text = re.sub(rf"(?<![\w.]){words}(?=\s*{marker})", lambda _, new=new: new, text)
    return text


def pages() -> Iterator[Path]:
    """Pages that may quote."""
    yield from (ROOT / name for name in ("README.md", "CONTRIBUTING.md"))
    yield from sorted(page for page in (ROOT / "docs").glob("*.md") if page.name != "results.md")
