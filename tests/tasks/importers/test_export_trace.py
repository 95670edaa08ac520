"""`warpsight export RUN --format flashinfer`: the kernel of a run with its evaluation as a data set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.tasks.importers.test_import_command import ROOT

from warpsight.cli.app import main
from warpsight.gate.identity import task_sha256
from warpsight.nouns import Check, Evaluation, Run, Task, Timing, WorkloadResult
from warpsight.nouns.run import Submission
from warpsight.runs.sqlite import SqliteStore
from warpsight.runs.store import Ending
from warpsight.tasks import read_task
from warpsight.tasks.importers.flashinfer.read import read_flashinfer

RUN_ID = "20260101-000000-saxpy-aa"


def stored(data: Path, task: Task, *, source: str = "measured", **job: Any) -> None:
    """A run that submitted the task's own kernel, with a time."""
    name = next(one.name for one in task.workloads if not one.hidden)
    result = WorkloadResult(workload=name, hidden=False, seed=0, ok=True, total_elements=4)
    fields = {"source": source, "device": "A100", "method": "m", "samples_us": (2.0,), "workload": name}
    settings = {"folder": str(task.folder.resolve()), "device": "cuda"}
    with SqliteStore(data) as store:
        kernel = store.put(task.kernel.encode())
        evaluation = Evaluation(
            candidate_sha256=kernel,
            check=Check(verdict="right", reason="", workloads=(result,)),
            timing=Timing.model_validate(fields),
        )
        told = {"task_sha256": task_sha256(task), "settings": settings, **job}
        store.create_run(Run(id=RUN_ID, task=task.name, model="m", device="cuda", started_at="2026-01-01", job=told))
        submission = Submission(kernel_sha256=kernel, cause="none")
        store.finish(RUN_ID, Ending(outcome="submitted", submission=submission, submitted=evaluation))


@pytest.fixture
def task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Task:
    monkeypatch.setenv("WARPSIGHT_DATA", str(tmp_path / "data"))
    return read_task(ROOT / "tasks" / "saxpy")


def export(*words: str) -> int:
    with pytest.raises(SystemExit) as end:
        main(["export", "last", "--format", "flashinfer", *words])
    return int(end.value.code or 0)


def test_a_measured_run_becomes_a_data_set(task: Task, tmp_path: Path) -> None:
    stored(tmp_path / "data", task)
    assert export("--output", str(tmp_path / "set")) == 0
    found = read_flashinfer(tmp_path / "set")
    (entry,) = found.items
    assert not found.refused and {one.name for one in entry.solutions} == {"baseline", RUN_ID}
    (trace,) = entry.traces
    assert trace.solution == RUN_ID and trace.evaluation and trace.evaluation.status == "PASSED"
    assert trace.evaluation.performance == {"latency_ms": 0.002}


@pytest.mark.parametrize(
    ("changes", "words", "told"),
    [
        ({"source": "simulated"}, ("--output", "set"), "a simulated time is none"),
        ({"task_sha256": "0" * 64}, ("--output", "set"), "has changed since"),
        ({"settings": {}}, ("--output", "set"), "submitted a kernel of a task"),
        ({}, (), "expected a folder"),
    ],
)
def test_what_is_no_trace(
    task: Task,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    changes: dict[str, Any],
    words: tuple[str, ...],
    told: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    stored(tmp_path / "data", task, **changes)
    assert export(*words) == 2 and told in capfd.readouterr().err
    assert not (tmp_path / "set").exists()
