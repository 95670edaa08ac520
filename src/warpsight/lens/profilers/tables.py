"""The CSV table inside what a profiler printed, whatever stands before and after it, and the numbers in its cells.

A table that is missing, empty or cut short is BrokenOutput, never a shorter result. Numbers may be written 1,234.5 or
1.234,5; which of them is decided once for a table, as in the reader of Nsight Compute's CSV.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from warpsight.lens.ncu_csv import decimal_comma, read_number
from warpsight.lens.profilers.failures import BrokenOutput, refusal

Row = dict[str, str]


@dataclass(frozen=True)
class Table:
    """Rows by the names of their columns; `comma` says that the comma is the decimal sign."""

    header: tuple[str, ...]
    rows: tuple[Row, ...]
    comma: bool

    def number(self, row: Row, column: str) -> float | None:
        """The number in a cell, without a % after it; None where the cell is empty or holds words."""
        return read_number(row.get(column, "").strip().removesuffix("%"), self.comma)


def read_table(text: str, columns: Sequence[str], *, tool: str, numeric: Iterable[str], again: str) -> Table:
    """The table whose header has all these columns. `again` is how to get a whole one."""
    problem = refusal(tool, text)
    lines = text.lstrip("\ufeff").splitlines(keepends=True)
    start = next((at for at, line in enumerate(lines) if set(columns) <= set(_cells(line))), None)
    if start is None:
        if problem is not None:
            raise problem
        what = "it left nothing" if not text.strip() else "its output has no table"
        raise BrokenOutput(tool, f"{what}: expected columns {', '.join(columns)}", again)
    if not lines[-1].endswith(("\n", "\r")):
        raise BrokenOutput(tool, "its table is cut short: the last line does not end", again)
    header, rows = tuple(_cells(lines[start])), list[Row]()
    for cells in csv.reader(_until_end(lines[start + 1 :])):
        if len(cells) != len(header):
            found = f"a row of {len(cells)} cells under a header of {len(header)}"
            raise BrokenOutput(tool, f"its table is cut short or damaged: {found}", again)
        rows.append(dict(zip(header, cells, strict=True)))
    if not rows:
        raise problem or BrokenOutput(tool, "its table has no rows", again)
    values = (row[name].strip().removesuffix("%") for row in rows for name in numeric if name in row)
    return Table(header, tuple(rows), decimal_comma(values))


def _cells(line: str) -> list[str]:
    try:
        return [cell.strip() for cells in csv.reader([line.strip()]) for cell in cells]
    except csv.Error:
        return []


def _until_end(lines: Sequence[str]) -> Iterable[str]:
    """The rows of the table: it ends at an empty line; lines of the profiler itself are passed over."""
    for line in lines:
        if not line.strip():
            return
        if not line.startswith(("==", "[", "Generating", "Processing")):
            yield line
