"""Both stores keep what they were given, in order, for good; the SQLite one also across processes and versions."""

from __future__ import annotations

import hashlib
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from warpsight.errors import BrokenMachine, UsageError
from warpsight.nouns.run import Run, Spent, Step
from warpsight.runs.memory import MemoryStore
from warpsight.runs.migrations import MIGRATIONS, migrate
from warpsight.runs.sqlite import SqliteStore, data_folder
from warpsight.runs.store import Ending, NoSuchRun, Record, RunBusy, Store, StoreConflict

KEY = hashlib.sha256(b"key").hexdigest()


def a_run(run_id: str = "r1", task: str = "saxpy", model: str = "scripted") -> Run:
    return Run(id=run_id, task=task, model=model, device="virtual", started_at=f"2026-01-01T00:00:00Z {run_id}")


def a_step(index: int, content: str = "hello") -> Step:
    return Step(index=index, kind="user", content=content)


@pytest.fixture(params=["sqlite", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    if request.param == "memory":
        return MemoryStore()
    opened = SqliteStore(tmp_path / "data")
    request.addfinalizer(opened.close)
    return opened


def test_what_was_written_is_read(store: Store) -> None:
    store.create_run(a_run())
    store.write("r1", [a_step(i, f"text {i} \x00 é") for i in range(3)])
    record = Record(key=KEY, kind="reply", step=1, body='{"a": 1}', spent=Spent(output_tokens=7, seconds=0.5))
    store.write("r1", [record])
    store.finish("r1", Ending(outcome="gave_up", reason="no call", spent=Spent(output_tokens=7)))
    run = store.read("r1")
    assert [step.content for step in run.steps] == ["text 0 \x00 é", "text 1 \x00 é", "text 2 \x00 é"]
    assert (run.outcome, run.reason, run.spent.output_tokens) == ("gave_up", "no call", 7)
    assert store.recorded("r1", KEY) == record and store.records("r1") == (record,)
    assert store.recorded("r1", hashlib.sha256(b"other").hexdigest()) is None


def test_steps_and_records_are_only_added(store: Store) -> None:
    store.create_run(a_run())
    store.write("r1", [a_step(0)])
    store.write("r1", [a_step(0), a_step(1)])  # the same again is fine: resume writes it again
    assert len(store.read("r1").steps) == 2
    with pytest.raises(StoreConflict):
        store.write("r1", [a_step(0, "another text")])
    with pytest.raises(StoreConflict, match="expected step 2"):
        store.write("r1", [a_step(3)])
    record = Record(key=KEY, kind="result", step=0, body="{}")
    store.write("r1", [record])
    store.write("r1", [record])
    with pytest.raises(StoreConflict, match="already recorded"):
        store.write("r1", [a_step(2), record.model_copy(update={"body": "[]"})])
    assert len(store.read("r1").steps) == 2, "all or none"


def test_a_run_is_made_once_and_ends_once(store: Store) -> None:
    store.create_run(a_run())
    store.create_run(a_run())
    with pytest.raises(StoreConflict, match="something else"):
        store.create_run(a_run(model="another"))
    store.finish("r1", Ending(outcome="stopped", reason="interrupted"))
    store.finish("r1", Ending(outcome="budget_spent", reason="no tool calls left"))
    with pytest.raises(StoreConflict, match="cannot end as gave_up"):
        store.finish("r1", Ending(outcome="gave_up"))
    with pytest.raises(NoSuchRun, match="no run nothing"):
        store.read("nothing")


def test_lists_are_filtered_newest_first(store: Store) -> None:
    for run_id, task, model in (("a", "saxpy", "m"), ("b", "scan", "m"), ("c", "saxpy", "n")):
        store.create_run(a_run(run_id, task, model))
    store.write("a", [a_step(0)])
    store.finish("a", Ending(outcome="gave_up"))

    def ids(**wanted: str | int) -> list[str]:
        return [line.id for line in store.list_runs(**wanted)]  # type: ignore[arg-type]

    assert (ids(), ids(limit=1), ids(task="saxpy")) == (["c", "b", "a"], ["c"], ["c", "a"])
    assert (ids(task="saxpy", model="m"), ids(outcome="gave_up"), ids(outcome="open")) == (["a"], ["a"], ["c", "b"])
    assert [line.steps for line in store.list_runs(outcome="gave_up")] == [1]


def test_only_one_works_on_a_run(store: Store) -> None:
    store.create_run(a_run())
    with store.hold("r1"), pytest.raises(RunBusy), store.hold("r1"):
        pass
    with store.hold("r1"), store.hold("r2"):
        pass


def test_artefacts_are_what_their_hash_says(store: Store) -> None:
    name = store.put(b"\x00kernel")
    assert name == hashlib.sha256(b"\x00kernel").hexdigest() == store.put(b"\x00kernel")
    assert store.get(name) == b"\x00kernel"
    with pytest.raises(UsageError, match="artefact"):
        store.get(KEY)


def test_a_damaged_artefact_is_never_returned_and_is_mended_by_storing_it_again(tmp_path: Path) -> None:
    with SqliteStore(tmp_path) as store:
        name = store.put(b"kernel")
        file = tmp_path / "artefacts" / name[:2] / name
        file.write_bytes(b"kerneL")
        with pytest.raises(BrokenMachine, match="damaged"):
            store.get(name)
        assert store.put(b"kernel") == name and store.get(name) == b"kernel"
        with pytest.raises(UsageError, match="64 hex"):
            store.get("../../etc/passwd")


def test_the_file_itself_refuses_changes_to_steps(tmp_path: Path) -> None:
    with SqliteStore(tmp_path) as store:
        store.create_run(a_run())
        store.write("r1", [a_step(0)])
    db = sqlite3.connect(tmp_path / "runs.db")
    for change in ("UPDATE steps SET body = ''", "DELETE FROM steps"):
        with pytest.raises(sqlite3.IntegrityError, match="only added"):
            db.execute(change)
    assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    db.close()


def an_old_store(folder: Path, run: Run, step: Step) -> None:
    """A store as version 1 wrote it: no columns to filter by."""
    db = sqlite3.connect(folder / "runs.db", isolation_level=None)
    assert migrate(db, MIGRATIONS[:1]) == 1
    ending = Ending(outcome="gave_up", reason="old").model_dump_json()
    db.execute("INSERT INTO runs VALUES (?, ?, ?, ?)", (run.id, run.started_at, run.model_dump_json(), ending))
    db.execute("INSERT INTO steps VALUES (?, 0, ?, 'then')", (run.id, step.model_dump_json()))
    db.close()


def test_an_old_store_is_migrated_with_what_it_holds(tmp_path: Path) -> None:
    an_old_store(tmp_path, a_run("old", task="scan"), a_step(0, "from before"))
    with SqliteStore(tmp_path) as store:
        run = store.read("old")
        assert (run.steps[0].content, run.outcome) == ("from before", "gave_up")
        assert [line.id for line in store.list_runs(task="scan", outcome="gave_up")] == ["old"]
        store.create_run(a_run("new"))
    with SqliteStore(tmp_path) as again:
        assert len(again.list_runs()) == 2


def test_a_failed_migration_leaves_the_store_as_it_was(tmp_path: Path) -> None:
    an_old_store(tmp_path, a_run("old"), a_step(0))
    db = sqlite3.connect(tmp_path / "runs.db", isolation_level=None)

    def breaks(connection: sqlite3.Connection) -> None:
        connection.execute("ALTER TABLE runs ADD COLUMN task TEXT")
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        migrate(db, (MIGRATIONS[0], breaks))
    assert db.execute("PRAGMA user_version").fetchone() == (1,) and not db.in_transaction
    assert migrate(db) == len(MIGRATIONS) - 1
    db.close()


def test_a_newer_store_is_refused(tmp_path: Path) -> None:
    SqliteStore(tmp_path).close()
    db = sqlite3.connect(tmp_path / "runs.db")
    db.execute("PRAGMA user_version = 999")
    db.close()
    with pytest.raises(UsageError, match="newer warpsight"):
        SqliteStore(tmp_path)


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BrokenMachine, match="cannot open the store"):
        SqliteStore(tmp_path / "file" / "below")


def test_the_folder_is_chosen_by_the_environment() -> None:
    assert data_folder({"WARPSIGHT_DATA": "/somewhere"}) == Path("/somewhere")
    assert data_folder({}).name == "warpsight"


WRITER = """
import sys
from pathlib import Path
from warpsight.nouns.run import Run, Step
from warpsight.runs.sqlite import SqliteStore
name = sys.argv[2]
with SqliteStore(Path(sys.argv[1])) as store, store.hold(name):
    store.create_run(Run(id=name, task="saxpy", model="m", device="d", started_at=name))
    for index in range(40):
        store.write(name, [Step(index=index, kind="user", content=f"{name} {index}")])
        store.put(f"shared {index}".encode())
"""


def test_processes_share_a_store_from_its_first_moment(tmp_path: Path) -> None:
    names = ["p0", "p1", "p2"]
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), name]) for name in names]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0, 0]
    with SqliteStore(tmp_path) as store:
        for name in names:
            assert [step.content for step in store.read(name).steps] == [f"{name} {i}" for i in range(40)]
        assert store.get(hashlib.sha256(b"shared 39").hexdigest()) == b"shared 39"
    assert not list(tmp_path.glob("artefacts/*/.new-*"))


def test_a_run_held_by_another_process_is_busy_until_that_one_is_killed(tmp_path: Path) -> None:
    code = WRITER.replace("        store.put(", "        print(index, flush=True); sys.stdin.readline(); store.put(")
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path), "r1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None and holder.stdin is not None
    with holder:
        assert holder.stdout.readline() == b"0\n"
        with SqliteStore(tmp_path) as store:
            with pytest.raises(RunBusy, match="another process"), store.hold("r1"):
                pass
            holder.kill()
            holder.wait(timeout=30)
            with store.hold("r1"):
                assert len(store.read("r1").steps) == 1


@pytest.mark.parametrize("kept", [10, 100, 4096, 20_000])
def test_a_cut_store_is_called_damaged_and_told_what_to_do(kept: int, tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    with SqliteStore(whole) as store:
        for number in range(40):
            store.create_run(a_run(f"r{number}", model="m" * 400))
    cut = tmp_path / "cut"
    cut.mkdir()
    (cut / "runs.db").write_bytes((whole / "runs.db").read_bytes()[:kept])
    with pytest.raises(BrokenMachine, match=r"cannot (open|read) the store") as told, SqliteStore(cut) as store:
        store.list_runs()
    assert told.value.hint is not None and "is damaged: move it away" in told.value.hint


def test_a_record_that_is_not_what_was_written_is_damage(tmp_path: Path) -> None:
    with SqliteStore(tmp_path) as store:
        store.create_run(a_run("r"))
    with sqlite3.connect(tmp_path / "runs.db") as db:
        db.execute("UPDATE runs SET run = '{}'")
    db.close()
    with SqliteStore(tmp_path) as store, pytest.raises(BrokenMachine, match="cannot read the store"):
        store.read("r")
