"""Reads the text that NVRTC and ptxas print: diagnostics with line and column.

Pure functions over text. NVRTC prints no column, only a caret under the source line, so the column is derived from it.
What must stay true: every error in the log becomes a Diagnostic, with what is known of its place and no more. A source
can write into this text (`#warning`), so it is shown and decides nothing; numbers come from the machine code
(`warpsight.cubin`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from warpsight.nouns import Diagnostic

_HEAD = re.compile(
    r"^(?P<file>[^\s(][^(\n]*)\((?P<line>\d+)\): (?P<kind>catastrophic error|internal error|error|warning|remark)"
    r"(?: (?P<number>#\d+(?:-D)?))?: (?P<text>.*)$"
)
_AT_END = re.compile(
    r"^At end of source: (?P<kind>catastrophic error|error|warning)(?: (?P<number>#\d+(?:-D)?))?: (?P<text>.*)$"
)
_PTXAS = re.compile(
    r"^\s*ptxas (?:(?P<file>[^,;]+), line (?P<line>\d+); )?(?P<kind>fatal|error|warning|info)\s*: (?P<text>.*)$"
)
_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]*)"')
_LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)")
_SEVERITY = {"warning": "warning", "remark": "note", "info": "note"}


def read_diagnostics(log: str, source: str, name: str, ptx: str = "") -> tuple[Diagnostic, ...]:
    """Every message of the log in its order; `source` lets columns be checked, `ptx` gives assembler errors a line."""
    return tuple(_diagnostics(log.split("\n"), source.split("\n"), name, ptx.split("\n")))


def blames_ptx(log: str) -> bool:
    """Whether the assembler complained about a line of PTX, as it does about inline assembly."""
    return any((found := _PTXAS.match(line)) and found["line"] for line in log.split("\n"))


def source_line(ptx: Sequence[str], ptx_line: int, name: str) -> int | None:
    """The line of the kernel file that a line of PTX comes from."""
    files = {found[1] for text in ptx if (found := _FILE.match(text)) and found[2].rpartition("/")[2] == name}
    for text in reversed(ptx[:ptx_line]):
        if (found := _LOC.match(text)) and found[1] in files:
            return int(found[2])
    return None


def _diagnostics(lines: Sequence[str], source: Sequence[str], name: str, ptx: Sequence[str]) -> Iterator[Diagnostic]:
    for at, line in enumerate(lines):
        if head := _HEAD.match(line):
            number, file = int(head["line"]), head["file"]
            real = source[number - 1] if file == name and 0 < number <= len(source) else None
            more, column = _body(lines[at + 1 :], real)
            yield _diagnostic(head, file, number, column, more)
        elif head := _AT_END.match(line):
            yield _diagnostic(head, name, len(source), None, ())
        elif (head := _PTXAS.match(line)) and (head["kind"] != "info" or head["text"].startswith("(C")):
            where = f" (line {head['line']} of the PTX)" if head["line"] else ""
            line_number = source_line(ptx, int(head["line"]), name) if head["line"] else None
            severity, message = _SEVERITY.get(head["kind"], "error"), head["text"] + where
            yield Diagnostic.model_validate(
                {"severity": severity, "file": name, "line": line_number, "column": None, "message": message}
            )


def _diagnostic(head: re.Match[str], file: str, line: int, column: int | None, more: Sequence[str]) -> Diagnostic:
    number = f" [{head['number']}]" if head["number"] else ""
    message = " ".join((head["text"].strip(), *more)) + number
    severity = _SEVERITY.get(head["kind"], "error")
    return Diagnostic.model_validate(
        {"severity": severity, "file": file, "line": line, "column": column, "message": message}
    )


def _body(lines: Sequence[str], real: str | None) -> tuple[tuple[str, ...], int | None]:
    """What follows a message up to the blank line: more text, the source line, its caret, more text."""
    body: list[str] = []
    for line in lines:
        if not line.strip() or _HEAD.match(line):
            break
        body.append(line)
    caret = next((i for i, line in enumerate(body) if line.strip() == "^"), None)
    if caret is None:
        return tuple(line.strip() for line in body), None
    shown = body[caret - 1] if caret else ""
    more = [line.strip() for line in (*body[: max(caret - 1, 0)], *body[caret + 1 :])]
    return tuple(more), _column(shown[2:], body[caret].index("^") - 2, real)


def _column(shown: str, offset: int, real: str | None) -> int | None:
    """The caret's place in the real line. Long lines are shown in part, and a part found twice has no sure place."""
    if real is None:
        return offset + 1
    if real.rstrip() == shown.rstrip():
        return len(real.encode()[:offset].decode(errors="ignore")) + 1  # the caret counts bytes, people count letters
    part = shown.strip(". \t\r")
    if not part or real.count(part) != 1:
        return None
    return real.index(part) + offset - shown.index(part) + 1
