"""What SQLite and the system say of a store that fails, as one error with the hint that fits it.

A damaged file, a full disk, a folder without rights and a busy store need different things from a person.
"""

from __future__ import annotations

import errno
import sqlite3
from pathlib import Path

from warpsight.errors import BrokenMachine

_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT, sqlite3.SQLITE_SCHEMA}
_FULL = {sqlite3.SQLITE_FULL}
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_SHORT_READ = 522  # SQLITE_IOERR_SHORT_READ: the file ends too early


def store_problem(folder: Path, doing: str, problem: Exception) -> BrokenMachine:
    """The error for a store in `folder` that could not be read, written or opened."""
    return BrokenMachine(f"cannot {doing} the store in {folder}: {problem}", hint=_hint(folder, problem))


def _hint(folder: Path, problem: Exception) -> str:
    code = getattr(problem, "sqlite_errorcode", None)
    base = None if code is None else code & 0xFF
    damaged = base in _DAMAGED or code == _SHORT_READ or isinstance(problem, ValueError)
    if damaged or (code is None and isinstance(problem, sqlite3.Error)):
        return (
            f"the file {folder / 'runs.db'} is damaged: move it away with its -wal and -shm files, and a new one is "
            "made; `sqlite3 runs.db .recover` saves what can be saved; kernels, reports and the ledger are files of "
            "their own"
        )
    if base in _FULL or getattr(problem, "errno", None) in (errno.ENOSPC, errno.EDQUOT):
        return "free some space; what was written before is safe, and the run can be resumed"
    if base in _BUSY or isinstance(problem, TimeoutError):
        return "another process writes to it: wait for that one, or set WARPSIGHT_DATA to another folder"
    return "set WARPSIGHT_DATA to a folder that can be written"
