"""The tables of the store, as numbered steps: a store of any earlier version is brought up to this one when opened.

`PRAGMA user_version` is the number of steps that were made. A step is never edited once it was released: a change is a
new step at the end. Each runs whole or not at all, and two processes that open an old store at once do it once.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from warpsight.errors import UsageError

Migration = Callable[[sqlite3.Connection], None]


def _runs_steps_records(db: sqlite3.Connection) -> None:
    """1: runs as JSON, their steps and records; triggers hold that steps and records are only added."""
    db.execute("CREATE TABLE runs (id TEXT PRIMARY KEY, started_at TEXT NOT NULL, run TEXT NOT NULL, ending TEXT)")
    db.execute(
        "CREATE TABLE steps (run_id TEXT NOT NULL REFERENCES runs(id), step INTEGER NOT NULL, body TEXT NOT NULL,"
        " at TEXT NOT NULL, PRIMARY KEY (run_id, step)) WITHOUT ROWID"
    )
    db.execute(
        "CREATE TABLE records (run_id TEXT NOT NULL REFERENCES runs(id), key TEXT NOT NULL, step INTEGER NOT NULL,"
        " body TEXT NOT NULL, at TEXT NOT NULL, PRIMARY KEY (run_id, key)) WITHOUT ROWID"
    )
    for table in ("steps", "records"):
        for verb in ("UPDATE", "DELETE"):
            db.execute(
                f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table}"
                f" BEGIN SELECT RAISE(ABORT, '{table} are only added'); END"
            )


def _columns_to_filter_by(db: sqlite3.Connection) -> None:
    """2: what lists of runs are filtered by, as columns, filled from the runs that are there."""
    for column in ("task", "model", "parent", "outcome"):
        db.execute(f"ALTER TABLE runs ADD COLUMN {column} TEXT")
    db.execute(
        "UPDATE runs SET task = json_extract(run, '$.task'), model = json_extract(run, '$.model'),"
        " parent = json_extract(run, '$.parent'), outcome = json_extract(ending, '$.outcome')"
    )
    db.execute("CREATE INDEX runs_by_time ON runs (started_at)")
    db.execute("CREATE INDEX runs_by_parent ON runs (parent)")


MIGRATIONS: tuple[Migration, ...] = (_runs_steps_records, _columns_to_filter_by)


def migrate(db: sqlite3.Connection, steps: tuple[Migration, ...] = MIGRATIONS) -> int:
    """Bring the store up to date and return how many steps that took. The connection must be in autocommit mode."""
    made = 0
    while True:
        db.execute("BEGIN IMMEDIATE")  # only now is the version looked at: another process may have been faster
        try:
            version = int(db.execute("PRAGMA user_version").fetchone()[0])
            if version > len(steps):
                raise UsageError(
                    f"the store was written by a newer warpsight (version {version}, this one knows {len(steps)})",
                    hint="use the newer warpsight, or set WARPSIGHT_DATA to another folder",
                )
            if version == len(steps):
                return made
            steps[version](db)
            db.execute(f"PRAGMA user_version = {version + 1}")
            db.execute("COMMIT")
            made += 1
        finally:
            if db.in_transaction:
                db.execute("ROLLBACK")
