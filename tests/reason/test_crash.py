"""SIGKILL at random moments of a run: it resumes, loses no finished step, repeats no recorded call, ends the same."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Generator
from pathlib import Path

import pytest
from tests.reason.small_box import job

from warpsight.nouns.run import Run
from warpsight.reason.replay import replay
from warpsight.reason.transcript import transcript_bytes
from warpsight.runs.sqlite import SqliteStore
from warpsight.runs.store import NoSuchRun, Record

ROOT = Path(__file__).parents[2]
RUN = job().id


class Driver:
    """Runs of the loop in processes that can be killed."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.reason.crash_driver"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdin is not None and self.process.stdout is not None
        self.asks, self.says = self.process.stdin, self.process.stdout

    def run(
        self, folder: Path, kill_after: float | None = None, by: signal.Signals = signal.SIGKILL
    ) -> tuple[int, float]:
        """Start or resume the run in a folder; how its process ended, and after how many seconds."""
        folder.mkdir(exist_ok=True)
        print(-1 if kill_after is None else kill_after, int(by), folder, file=self.asks, flush=True)
        code, seconds = self.says.readline().split()
        return int(code), float(seconds)


@pytest.fixture(scope="module")
def driver() -> Generator[Driver]:
    opened = Driver()
    yield opened
    opened.asks.close()
    assert opened.process.wait(timeout=30) == 0
    opened.says.close()


def stored(folder: Path) -> tuple[Run | None, tuple[Record, ...]]:
    with SqliteStore(folder / "data") as store:
        try:
            return store.read(RUN), store.records(RUN)
        except NoSuchRun:
            return None, ()


def executions(folder: Path) -> Counter[str]:
    file = folder / "executed.txt"
    return Counter(file.read_text().splitlines() if file.exists() else [])


def kill_and_resume(driver: Driver, folder: Path, moments: list[float], whole: Run) -> int:
    """Kill at each moment in turn, then let it end. Returns how many of the kills hit a run that had not ended."""
    hits = 0
    for moment in moments:
        before, records = stored(folder) if folder.exists() else (None, ())
        ran = executions(folder)
        code, _ = driver.run(folder, moment)
        assert code in (0, -signal.SIGKILL)
        hits += code != 0
        after, more = stored(folder)
        if before is not None:
            assert after is not None and after.steps[: len(before.steps)] == before.steps, "a finished step is lost"
        assert set(records) <= set(more)
        results = sum(record.kind == "result" for record in records)
        new = executions(folder) - ran
        assert sum(new.values()) <= len(whole_calls(whole)) - results, "a recorded call ran again"
    recorded = stored(folder)[1]
    ran = executions(folder)
    code, _ = driver.run(folder)
    assert code == 0
    run, records = stored(folder)
    left = [record for record in records if record not in recorded and record.kind == "result"]
    assert sum((executions(folder) - ran).values()) == len(left), "each call that was not recorded ran once, no other"
    assert run is not None and run.outcome == "submitted"
    assert transcript_bytes(run.steps) == transcript_bytes(whole.steps)
    assert (run.submitted, run.best, run.submission) == (whole.submitted, whole.best, whole.submission)
    with SqliteStore(folder / "data") as store:
        assert replay(store, RUN).same
    return hits


def whole_calls(run: Run) -> list[str]:
    """The calls that are run, in a run that was not broken off."""
    return [step.content for step in run.steps if step.kind == "result" and not step.is_error]


def check_crashes(driver: Driver, folder: Path, count: int, seed: int) -> None:
    driver.run(folder / "warm")
    code, seconds = driver.run(folder / "whole")
    whole = stored(folder / "whole")[0]
    assert code == 0 and whole is not None and whole.outcome == "submitted"
    assert max(executions(folder / "whole").values()) == 1
    drawn = random.Random(seed)
    hits = tries = 0
    while hits < count:
        tries += 1
        assert tries <= 3 * count, f"only {hits} of {tries} kills came before the run had ended"
        # Most runs are killed once, some again and again while they resume.
        moments = [drawn.uniform(0, seconds) for _ in range(1 if tries % 4 else 3)]
        hits += kill_and_resume(driver, folder / f"killed-{tries}", moments, whole)


def test_killed_runs_resume(driver: Driver, tmp_path: Path) -> None:
    check_crashes(driver, tmp_path, count=8, seed=1)


def test_ctrl_c_stops_cleanly_and_the_run_resumes(driver: Driver, tmp_path: Path) -> None:
    driver.run(tmp_path / "warm")
    _, seconds = driver.run(tmp_path / "whole")
    whole = stored(tmp_path / "whole")[0]
    assert whole is not None
    drawn, stopped = random.Random(3), 0
    for number in range(8):
        folder = tmp_path / f"interrupted-{number}"
        code, _ = driver.run(folder, drawn.uniform(0.1, 0.9) * seconds, signal.SIGINT)
        run, records = stored(folder)
        if run is not None and run.outcome == "stopped":
            assert (code, run.reason) == (0, "interrupted") and run.spent.tool_calls == len(run_once(records, run))
            stopped += 1
        assert driver.run(folder)[0] == 0
        run, _ = stored(folder)
        assert run is not None and transcript_bytes(run.steps) == transcript_bytes(whole.steps)
    assert stopped >= 2, "of eight interrupts, some come while the loop runs"


def run_once(records: tuple[Record, ...], run: Run) -> list[Record]:
    """The results that were charged: all but that of a submission."""
    calls = {step.index + 1: step.tool for step in run.steps if step.kind == "call"}  # its result may not be a step yet
    return [record for record in records if record.kind == "result" and calls.get(record.step) != "submit"]


@pytest.mark.slow
def test_runs_killed_at_a_hundred_moments_resume(driver: Driver, tmp_path: Path) -> None:
    check_crashes(driver, tmp_path, count=100, seed=2)
