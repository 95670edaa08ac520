"""The store opened so that nothing in it can be changed: SQLite reads only, no folder is made, no version raised."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from warpsight.errors import UsageError
from warpsight.runs.artefacts import Artefacts
from warpsight.runs.flush import Flusher
from warpsight.runs.migrations import MIGRATIONS
from warpsight.runs.problems import store_problem
from warpsight.runs.sqlite import SqliteStore


class ReadOnlyStore(SqliteStore):
    """A SqliteStore whose connection refuses to write. Close it after use, as the other one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        file = folder / "runs.db"
        if not file.is_file():
            raise UsageError(f"there are no runs in {folder}", hint="make one: warpsight optimize transpose")
        try:
            self._db = sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True, isolation_level=None)
            version = int(self._db.execute("PRAGMA user_version").fetchone()[0])
        except sqlite3.Error as problem:
            raise store_problem(folder, "open", problem) from problem
        if version != len(MIGRATIONS):
            self._db.close()
            raise UsageError(
                f"the store has version {version}, this warpsight reads {len(MIGRATIONS)}",
                hint="`warpsight runs` brings an older store up to date",
            )
        self._log, self._has_log = folder / "runs.db-wal", False
        self._flusher = Flusher()  # it is given nothing, so it does nothing
        self._artefacts = Artefacts(folder / "artefacts")
