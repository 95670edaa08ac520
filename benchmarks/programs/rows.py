"""Rows of benches over programs, one JSON line each: a second run goes on there, or runs again what did not go well.

Each row says at which commit it was made, so that a table of mixed rows can say so. The last row of a program counts.
Rows in `results/` come first, so a fresh checkout goes on where another one was. They have no words of the programs.
"""

from __future__ import annotations

import functools
import json
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any

Row = dict[str, Any]


@dataclass
class Rows:
    """A file of rows; `key` names what is unique of one."""

    path: Path
    key: Callable[[Row], tuple[str, ...]]
    _: KW_ONLY
    kept: Path | None = None  # rows that are in the repository
    again: frozenset[str] = frozenset()  # outcomes to run once more
    older: bool = False  # run again what another commit has made
    found: dict[tuple[str, ...], Row] = field(default_factory=dict[tuple[str, ...], Row])

    def __post_init__(self) -> None:
        self.path.parent.mkdir(exist_ok=True)
        for path in (self.kept, self.path):
            if path is not None and path.is_file():
                for line in path.read_text().splitlines():
                    row = json.loads(line)
                    self.found[self.key(row)] = row

    def wanted(self, row: Row) -> bool:
        """Whether there is still something to run for what this row is of."""
        known = self.found.get(self.key(row))
        if known is None:
            return True
        longer = known.get("limit_s", 0) < row.get("limit_s", 0)
        other = longer or known.get("commit", "") != commit()
        return (not self.again or known["outcome"] in self.again) and other and (bool(self.again) or self.older)

    def add(self, row: Row) -> None:
        row = {**row, "commit": commit()}
        self.found[self.key(row)] = row
        with self.path.open("a") as file:
            file.write(json.dumps(row) + "\n")

    def keep(self, shown: Callable[[Row], Row]) -> None:
        """Write all rows for the repository, each as `shown` gives it."""
        assert self.kept is not None
        lines = (json.dumps(shown(self.found[key])) + "\n" for key in sorted(self.found))
        self.kept.write_text("".join(lines))

    def of(self, names: Iterable[tuple[str, ...]]) -> Iterator[Row]:
        yield from (self.found[name] for name in names if name in self.found)


@functools.cache
def commit() -> str:
    """What is checked out, with a + where files differ from it."""

    def git(*words: str) -> str:
        ran = subprocess.run(["git", *words], capture_output=True, text=True, check=False, cwd=Path(__file__).parent)
        return ran.stdout.strip()

    return (git("rev-parse", "--short", "HEAD") or "unknown") + ("+" if git("status", "--porcelain", "-uno") else "")


def commits(rows: Iterable[Row]) -> str:
    """Which commits made how many of these rows."""
    counted = Counter(row.get("commit", "not written down") for row in rows)
    return ", ".join(f"{name} ({count})" for name, count in counted.most_common())
