"""What is handed over is flushed in its order, in time, and a failure is told."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from warpsight.errors import BrokenMachine
from warpsight.nouns.run import Run, Step
from warpsight.runs import flush as flush_module
from warpsight.runs.flush import Flusher
from warpsight.runs.sqlite import SqliteStore


@pytest.fixture
def flushed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names that were flushed, each of which takes a moment."""
    names: list[str] = []
    real = flush_module.flush

    def slowly(path: Path) -> None:
        time.sleep(0.02)
        real(path)
        names.append(path.name)

    monkeypatch.setattr(flush_module, "flush", slowly)
    return names


def test_files_are_flushed_in_order_and_settle_waits(tmp_path: Path, flushed: list[str]) -> None:
    paths = [tmp_path / name for name in "abc"]
    for path in paths:
        path.write_text("x")
    flusher = Flusher()
    flusher.later(paths[0], tmp_path)
    flusher.later(paths[1], paths[2], paths[1])
    flusher.settle()
    assert flushed[:2] == ["a", tmp_path.name] and flushed[-1] == "b" and "c" in flushed
    flusher.close()
    flusher.settle()


def test_one_that_waits_too_long_is_waited_for(tmp_path: Path, flushed: list[str]) -> None:
    file = tmp_path / "a"
    file.write_text("x")
    patient, impatient = Flusher(longest_wait_seconds=60), Flusher(longest_wait_seconds=0)
    patient.later(file)
    patient.keep_up()
    assert flushed == []
    patient.close()
    impatient.later(file)
    impatient.keep_up()
    assert flushed == ["a", "a"]
    impatient.close()


def test_a_failed_flush_is_told_to_everybody_after_it(tmp_path: Path) -> None:
    flusher = Flusher()
    flusher.later(tmp_path / "nothing")
    for wait in (flusher.settle, flusher.keep_up, flusher.close):
        with pytest.raises(FileNotFoundError):
            wait()


def test_a_store_whose_disk_fails_says_so_and_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = SqliteStore(tmp_path)
    run = Run(id="r", task="saxpy", model="m", device="virtual", started_at="2026-01-01T00:00:00Z")
    store.create_run(run)
    store.put(b"kernel")

    def full(_path: Path) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(flush_module, "flush", full)
    with pytest.raises(BrokenMachine, match="Input/output error"):  # now, or when the flush has been tried
        for index in range(1000):
            store.write("r", [Step(index=index, kind="user", content="x")])
    with pytest.raises(BrokenMachine, match="cannot write the store"):
        store.close()


def test_everything_is_flushed_when_a_store_is_closed(tmp_path: Path, flushed: list[str]) -> None:
    with SqliteStore(tmp_path) as store:
        name = store.put(b"kernel")
        store.create_run(Run(id="r", task="saxpy", model="m", device="virtual", started_at="2026-01-01T00:00:00Z"))
        store.write("r", [Step(index=0, kind="user", content="x")])
    assert flushed.index(name) < flushed.index("runs.db-wal")
    assert flushed.count("artefacts") == 1 and flushed.count(tmp_path.name) >= 1
