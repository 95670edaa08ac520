"""Runs in one SQLite file (`runs.db`) with artefacts and locks beside it, in the user's data folder.

Write-ahead log: what a method has returned from survives a kill at once. Flushing the log to the disk goes on while the
run does (flush.py): what `write` and `put` were given survives a power cut at most 50 ms later, or the next `write`
waits for it; `finish` and `close` return when everything does. Writers of several processes wait for one another. Does
not interpret: what a record means is the loop's matter. `WARPSIGHT_DATA` moves the folder.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from warpsight.errors import BrokenMachine
from warpsight.folders import data_folder
from warpsight.nouns.base import Noun
from warpsight.nouns.run import Run, Step
from warpsight.runs.artefacts import Artefacts
from warpsight.runs.flush import Flusher
from warpsight.runs.migrations import migrate
from warpsight.runs.problems import store_problem
from warpsight.runs.store import Ending, NoSuchRun, Record, RunBusy, RunSummary, StoreConflict, ended, summary_of

BUSY_SECONDS = 60.0
Read = TypeVar("Read", bound=Noun)


class SqliteStore:
    """A Store in a folder. The file is made, or brought up to date, when it is opened."""

    def __init__(self, folder: Path | None = None, busy_seconds: float = BUSY_SECONDS) -> None:
        from filelock import FileLock

        self.folder = data_folder() if folder is None else folder
        try:
            (self.folder / "locks").mkdir(parents=True, exist_ok=True, mode=0o700)
            with FileLock(self.folder / "locks" / "open.lock", timeout=busy_seconds):
                self._db = _open(self.folder / "runs.db", busy_seconds)
        except (OSError, sqlite3.Error) as problem:
            raise store_problem(self.folder, "open", problem) from problem
        self._log = self.folder / "runs.db-wal"
        self._has_log = self._log.exists()  # a file system without shared memory has none: SQLite flushes there
        self._flusher = Flusher()
        self._flusher.later(self.folder)
        self._artefacts = Artefacts(self.folder / "artefacts", self._flusher.later)

    def close(self) -> None:
        try:
            self._flusher.close()
        except OSError as problem:
            raise self._broken(problem) from problem
        finally:
            self._db.close()

    def __enter__(self) -> SqliteStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def create_run(self, run: Run) -> None:
        body = run.model_dump_json(exclude={"steps"})
        with self._write() as db:
            there = db.execute("SELECT run FROM runs WHERE id = ?", (run.id,)).fetchone()
            if there is not None:
                _same_run(Run.model_validate_json(there[0]), run)
                return
            db.execute(
                "INSERT INTO runs (id, started_at, run, task, model, parent) VALUES (?, ?, ?, ?, ?, ?)",
                (run.id, run.started_at, body, run.task, run.model, run.parent),
            )

    @contextmanager
    def hold(self, run_id: str) -> Generator[None]:
        from filelock import FileLock, Timeout

        lock = FileLock(self.folder / "locks" / f"{run_id}.lock", timeout=0)
        try:
            lock.acquire()
        except Timeout:
            raise RunBusy(f"run {run_id} is being worked on by another process", hint="wait for it to end") from None
        try:
            yield
        finally:
            lock.release()

    def write(self, run_id: str, entries: Sequence[Step | Record]) -> None:
        with self._write() as db:
            for entry in entries:
                if isinstance(entry, Step):
                    _add_step(db, run_id, entry)
                else:
                    _add_record(db, run_id, entry)

    def recorded(self, run_id: str, key: str) -> Record | None:
        rows = self._rows("SELECT body FROM records WHERE run_id = ? AND key = ?", (run_id, key))
        return self._read(Record, rows[0][0]) if rows else None

    def records(self, run_id: str) -> tuple[Record, ...]:
        rows = self._rows("SELECT body FROM records WHERE run_id = ? ORDER BY step, key", (run_id,))
        return tuple(self._read(Record, body) for (body,) in rows)

    def finish(self, run_id: str, ending: Ending) -> None:
        with self._write() as db:
            ended(self._header(run_id), ending)
            db.execute(
                "UPDATE runs SET ending = ?, outcome = ? WHERE id = ?",
                (ending.model_dump_json(), ending.outcome, run_id),
            )
        self._settle()

    def read(self, run_id: str) -> Run:
        run = self._header(run_id)
        rows = self._rows("SELECT body FROM steps WHERE run_id = ? ORDER BY step", (run_id,))
        steps = tuple(self._read(Step, body) for (body,) in rows)
        return run.model_copy(update={"steps": steps})

    def list_runs(
        self,
        *,
        task: str | None = None,
        model: str | None = None,
        outcome: str | None = None,
        parent: str | None = None,
        limit: int | None = None,
    ) -> tuple[RunSummary, ...]:
        wanted = {"task": task, "model": model, "outcome": outcome, "parent": parent}
        given = {name: value for name, value in wanted.items() if value is not None}
        clauses = ["outcome IS NULL" if value == "open" else f"{name} = :{name}" for name, value in given.items()]
        where = f" WHERE {' AND '.join(clauses)}" if clauses else ""
        query = f"SELECT id FROM runs{where} ORDER BY started_at DESC, id DESC LIMIT :most"
        ids = self._rows(query, given | {"most": -1 if limit is None else limit})
        count = "SELECT count(*) FROM steps WHERE run_id = ?"
        return tuple(summary_of(self._header(run_id), int(self._rows(count, (run_id,))[0][0])) for (run_id,) in ids)

    def times(self, run_id: str) -> tuple[str, ...]:
        """When each step was written (UTC, ISO 8601): not part of the transcript, for exports."""
        rows = self._rows("SELECT at FROM steps WHERE run_id = ? ORDER BY step", (run_id,))
        return tuple(at for (at,) in rows)

    def put(self, content: bytes) -> str:
        return self._artefacts.put(content)

    def get(self, sha256: str) -> bytes:
        return self._artefacts.get(sha256)

    def _header(self, run_id: str) -> Run:
        rows = self._rows("SELECT run, ending FROM runs WHERE id = ?", (run_id,))
        if not rows:
            raise NoSuchRun(f"no run {run_id} in {self.folder}", hint="see `warpsight runs`")
        run = self._read(Run, rows[0][0])
        return run if rows[0][1] is None else ended(run, self._read(Ending, rows[0][1]))

    @contextmanager
    def _write(self) -> Generator[sqlite3.Connection]:
        """One transaction: when this leaves, all of it is there for good as far as the system lives, or none of it."""
        try:
            self._flusher.keep_up()
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("COMMIT")
            finally:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
        except (sqlite3.Error, OSError) as problem:
            raise self._broken(problem) from problem
        if self._has_log:
            self._flusher.later(self._log)

    def _settle(self) -> None:
        try:
            self._flusher.settle()
        except OSError as problem:
            raise self._broken(problem) from problem

    def _broken(self, problem: Exception) -> BrokenMachine:
        return store_problem(self.folder, "write", problem)

    def _rows(self, query: str, given: Sequence[str] | Mapping[str, str | int] = ()) -> list[tuple[Any, ...]]:
        """What a query finds."""
        try:
            return self._db.execute(query, given).fetchall()
        except sqlite3.Error as problem:
            raise store_problem(self.folder, "read", problem) from problem

    def _read(self, kind: type[Read], body: str) -> Read:
        """A record as it was written."""
        try:
            return kind.model_validate_json(body)
        except ValidationError as problem:
            raise store_problem(self.folder, "read", problem) from problem


def _open(file: Path, busy_seconds: float) -> sqlite3.Connection:
    db = sqlite3.connect(file, timeout=busy_seconds, isolation_level=None)
    try:
        mode = db.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        # With a log, SQLite flushes before and after it moves the log into the file, and we flush the log itself.
        db.execute(f"PRAGMA synchronous = {'NORMAL' if mode == 'wal' else 'FULL'}")
        db.execute("PRAGMA foreign_keys = ON")
        migrate(db)
    except BaseException:
        db.close()
        raise
    return db


def _one(db: sqlite3.Connection, query: str, run_id: str) -> int:
    return int(db.execute(query, (run_id,)).fetchone()[0])


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _add_step(db: sqlite3.Connection, run_id: str, step: Step) -> None:
    count = _one(db, "SELECT coalesce(max(step) + 1, 0) FROM steps WHERE run_id = ?", run_id)  # there are no gaps
    if step.index > count:
        raise StoreConflict(f"run {run_id}: expected step {count} next, got step {step.index}")
    if step.index == count:
        db.execute("INSERT INTO steps VALUES (?, ?, ?, ?)", (run_id, step.index, step.model_dump_json(), _now()))
        return
    there = db.execute("SELECT body FROM steps WHERE run_id = ? AND step = ?", (run_id, step.index)).fetchone()
    _same_step(run_id, Step.model_validate_json(there[0]), step)


def _add_record(db: sqlite3.Connection, run_id: str, record: Record) -> None:
    row = (run_id, record.key, record.step, record.model_dump_json(), _now())
    if db.execute("INSERT INTO records VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", row).rowcount == 1:
        return
    there = db.execute("SELECT body FROM records WHERE run_id = ? AND key = ?", row[:2]).fetchone()
    if there[0] != row[3]:
        raise StoreConflict(f"run {run_id}: another {record.kind} is already recorded under {record.key}")


def _same_run(there: Run, given: Run) -> None:
    """What defines a run must be the same; when it was first started may differ."""
    if there.model_dump(exclude={"started_at"}) != given.model_dump(exclude={"started_at", "steps"}) | {"steps": ()}:
        raise StoreConflict(f"run {given.id} is there already and was asked for something else")


def _same_step(run_id: str, there: Step, given: Step) -> None:
    if there != given:
        raise StoreConflict(
            f"run {run_id}: step {given.index} is stored as {there.kind} and comes again as {given.kind} or otherwise",
            hint="the run was made by another version of warpsight; start a new one",
        )
