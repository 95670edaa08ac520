"""Files of one JSON line a finished thing: read them, whatever an interruption left of the last line."""

from __future__ import annotations

from pathlib import Path


def whole_lines(file: Path) -> list[str]:
    """The finished lines; one that was cut is taken off the file, so that it can be added to."""
    if not file.exists():
        return []
    text = file.read_text()
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        file.write_text(whole)
    return whole.splitlines()
