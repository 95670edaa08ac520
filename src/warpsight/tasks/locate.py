"""On which line of a TOML text a key stands, so that an error can say so.

A light scan of headers and `key =` lines, not a parser: it is only asked about texts that tomllib has read, and where
it is unsure (a key inside an inline table) it answers with the line of the nearest key around it, or None.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_HEADER = re.compile(r"\s*(\[\[?)\s*([A-Za-z0-9_.\-\"' ]+?)\s*\]\]?\s*(#.*)?")
_KEY = re.compile(r"\s*([A-Za-z0-9_\-]+)\s*=")

Place = tuple[str | int, ...]


def line_of(text: str, path: Sequence[str | int]) -> int | None:
    """The line of the longest part of `path` that is written in `text`."""
    places = _places(text)
    for length in range(len(path), 0, -1):
        if (line := places.get(tuple(path[:length]))) is not None:
            return line
    return None


def _places(text: str) -> dict[Place, int]:
    places: dict[Place, int] = {}
    counts: dict[str, int] = {}
    table: Place = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.fullmatch(line):
            name = header[2]
            parts = tuple(part.strip().strip("\"'") for part in name.split("."))
            if header[1] == "[[":
                counts[name] = counts.get(name, -1) + 1
                table = (*parts, counts[name])
            else:
                table = parts
            places.setdefault(table, number)
        elif key := _KEY.match(line):
            places.setdefault((*table, key[1]), number)
    return places
