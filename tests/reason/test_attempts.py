"""Attempts made at the same time in other processes: the runs that one after the other would have given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from warpsight.errors import UsageError
from warpsight.nouns.run import Run
from warpsight.processes.executor import Executor, Processes
from warpsight.reason.job import Strategy
from warpsight.reason.optimize import OptimizeResult
from warpsight.runs.sqlite import SqliteStore
from warpsight.verbs.optimize import attempts_executor, plan_job, run

ROOT = Path(__file__).parents[2]
SCRIPT = f"scripted:{Path(__file__).with_name('two_tries.json')}"


def optimized(data: Path, monkeypatch: pytest.MonkeyPatch, executor: Executor | None) -> tuple[OptimizeResult, str]:
    monkeypatch.setenv("WARPSIGHT_DATA", str(data))
    strategy = Strategy(name="best-of-n", attempts=2)
    job = plan_job(ROOT / "tasks" / "transpose", model=SCRIPT, strategy=strategy, seed=1).job
    return run(job, executor=executor), job.id


def without_times(found: Run) -> dict[str, Any]:
    """And without what `submit` says: only a run of this process gets a certificate for it."""
    lines = [step.model_dump(include={"role", "content", "calls"}) for step in found.steps[:-1]]
    best = found.best and (found.best.candidate_sha256, found.best.timing and found.best.timing.ratio)
    return {"outcome": found.outcome, "best": best, "steps": lines, "calls": found.spent.tool_calls}


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_they_give_what_one_after_the_other_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, first = optimized(tmp_path / "one", monkeypatch, None)
    many, other = optimized(tmp_path / "many", monkeypatch, Processes(2))
    assert many.kernel == one.kernel is not None and many.ratio == one.ratio
    assert many.certificate_file is not None and many.certificate_file.is_file()
    with SqliteStore(tmp_path / "one") as here, SqliteStore(tmp_path / "many") as there:
        names = sorted(line.id.removeprefix(first) for line in here.list_runs(parent=first))
        assert names == sorted(line.id.removeprefix(other) for line in there.list_runs(parent=other))
        for name in names:
            found, expected = there.read(other + name), here.read(first + name)
            assert without_times(found) == without_times(expected)
            assert all(there.get(sha256) for step in found.steps for sha256 in step.artefacts)


def test_where_attempts_cannot_be_made_at_once() -> None:
    job = plan_job(ROOT / "tasks" / "transpose", model=SCRIPT).job
    assert attempts_executor(job, None, 1) is None
    with pytest.raises(UsageError, match="the attempts of single follow one another"):
        attempts_executor(job, "ray", 1)
    measured = job.model_copy(update={"strategy": Strategy(name="beam"), "device": "cuda"})
    with pytest.raises(UsageError, match="times on cuda are measured one after another"):
        attempts_executor(measured, None, 2)
