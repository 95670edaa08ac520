from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest
from tests.tools.kernels import opened

from warpsight.tools.task_box import TaskBox


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Generator[TaskBox, None, None]:
    """One box for a module: results are kept by content, so the order of tests does not matter."""
    folder: Path = tmp_path_factory.mktemp("ledger")
    made = opened(ledger=folder)
    yield made
    made.close()
