"""A task folder to damage: the one that `warpsight new` writes."""

from pathlib import Path

import pytest

from warpsight.nouns import Task
from warpsight.tasks import read_task
from warpsight.tasks.scaffold import new_task


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return new_task(tmp_path / "scale", "scale")


@pytest.fixture
def task(folder: Path) -> Task:
    return read_task(folder)
