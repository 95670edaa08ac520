"""`.loc` records to lines of the kernel's own file; code inlined from elsewhere counts for the line that called it."""

from __future__ import annotations

import re

_LOC = re.compile(r"(\d+)\s+(\d+)\s+(\d+)(?:.*?inlined_at\s+(\d+)\s+(\d+)\s+(\d+))?")


class LineMap:
    """Reads the `.loc` records of one function in order; `own_file` is the file index that lines refer to."""

    def __init__(self, own_file: int) -> None:
        self.own_file = own_file
        self._callers: dict[tuple[str, str, str], int] = {}

    def locate(self, text: str) -> int:
        m = _LOC.match(text)
        if m is None:
            return 0
        line = int(m[2]) if int(m[1]) == self.own_file else 0
        if m[4] is not None:
            caller = int(m[5]) if int(m[4]) == self.own_file else self._callers.get((m[4], m[5], m[6]), 0)
            # A line of the kernel's file inside an inlined function of the same file is the better answer.
            line = line or caller
            self._callers[m[1], m[2], m[3]] = line
        return line


def own_file(body: str) -> int:
    """The file of the entry's first record that is not inlined (1 when there is none)."""
    for m in re.finditer(r"\.loc\s+([^\n]*)", body):
        found = _LOC.match(m[1])
        if found is not None and found[4] is None:
            return int(found[1])
    return 1
