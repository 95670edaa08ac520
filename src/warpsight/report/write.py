"""A page, written to a file: whole or not at all."""

from __future__ import annotations

from pathlib import Path

from warpsight.errors import BrokenMachine
from warpsight.files import write_whole
from warpsight.report.page import report_page
from warpsight.report.story import read_story
from warpsight.runs.sqlite import SqliteStore


def write_report(store: SqliteStore, run_id: str, file: Path) -> int:
    """Write the page of a run, and return its size in bytes."""
    return write_page(report_page(read_story(store, run_id, store.folder)), file)


def write_page(text: str, file: Path) -> int:
    """Write any page, and return its size in bytes."""
    page = text.encode()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, page, mode=0o644)
    except OSError as problem:
        raise BrokenMachine(
            f"cannot write the report {file}: {problem}", hint="give another place by --out"
        ) from problem
    return len(page)
