"""Tunings run on tasks of the repository, each with a store of its own."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from warpsight.nouns import Candidate, Task
from warpsight.tasks import read_candidate, read_task
from warpsight.tuning.declared import space_of
from warpsight.tuning.space import Configurations

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WARPSIGHT_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def example(name: str) -> tuple[Task, Candidate]:
    """A task of the repository and its own kernel."""
    task = read_task(ROOT / "tasks" / name)
    return task, read_candidate(task.kernel, task, task.kernel_file)


@cache
def configurations(name: str, **values: tuple[int, ...]) -> Configurations:
    """The space of a task of the repository, with other values for some parameters."""
    task, kernel = example(name)
    return Configurations(task, kernel, space_of(task, kernel, None, values))
