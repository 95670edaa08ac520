"""Files of one JSON line a finished thing, read also while another process adds to them.

Half a last line is what an interruption left, or what is being written right now. What must stay true: reading never
writes, and only who is about to add lines cuts the half one off. A line of another kind is a UsageError that says
where it stands.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from warpsight.errors import UsageError
from warpsight.files import write_whole

Record = TypeVar("Record", bound=BaseModel)
SHOWN = 60


def whole_lines(file: Path) -> list[bytes]:
    """The finished lines; half a last one is left out, and stays in the file."""
    return file.read_bytes().split(b"\n")[:-1]


def cut_half_line(file: Path) -> None:
    """Take half a last line off the file, in place, so that lines can be added to it. For its one writer only."""
    if not file.exists():
        return
    with file.open("r+b") as there:
        text = there.read()
        whole = text.rfind(b"\n") + 1
        if whole < len(text):
            there.truncate(whole)


def put_in_order(file: Path, place: Callable[[bytes], int | None]) -> None:
    """Sort the lines that have a place, among themselves; the others stay where they are. For the one writer, at its
    end."""
    lines = whole_lines(file)
    placed = [(found, number) for number, line in enumerate(lines) if (found := place(line)) is not None]
    in_order = sorted(placed)
    if in_order == placed:
        return
    sorted_lines = list(lines)
    for (_, to), (_, number) in zip(placed, in_order, strict=True):
        sorted_lines[to] = lines[number]
    write_whole(file, b"".join(line + b"\n" for line in sorted_lines), mode=file.stat().st_mode & 0o777)


def read_records(file: Path, kind: type[Record], expected: str, *, hint: str | None = None) -> list[Record]:
    """Every finished line as a record; a file that is not there, or a line that is something else, is a UsageError.

    `expected` is what a line should be, in words, and `hint` how such a file is made.
    """
    try:
        lines = whole_lines(file)
    except OSError as problem:
        raise UsageError(f"could not read {file}: {problem.strerror}", hint) from None
    found: list[Record] = []
    for number, line in enumerate(lines, start=1):
        try:
            found.append(kind.model_validate_json(line))
        except ValidationError as problem:
            came = f"{line[:SHOWN].decode(errors='replace')!r} ({_first_of(problem)})"
            raise UsageError(f"{file}:{number}: expected {expected}, found {came}", hint) from None
    return found


def _first_of(problem: ValidationError) -> str:
    """The first thing that is wrong; not the place in the line, which would read as one in the file."""
    first = problem.errors(include_url=False)[0]
    told = first["msg"].partition(" at line ")[0]
    return ".".join(map(str, first["loc"])) + f": {told}" if first["loc"] else told
