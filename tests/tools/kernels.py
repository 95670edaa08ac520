"""The task that these tests work on, and kernels for it: right, wrong on shown sizes, wrong on hidden ones only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from warpsight.nouns import Task
from warpsight.tasks import read_task
from warpsight.tools.box import ToolResult
from warpsight.tools.open import open_box
from warpsight.tools.task_box import TaskBox

ROOT = Path(__file__).parents[2]
SEED = 11
UNPADDED = (ROOT / "src/warpsight/models/scripts/transpose_tile.cu").read_text()
PADDED = UNPADDED.replace("tile[TILE][TILE];", "tile[TILE][TILE + 1];")
GIVEN = (ROOT / "tasks/transpose/kernel.cu").read_text()
OUT_OF_BOUNDS = GIVEN.replace("if (r < R && c < C)", "if (r < R)")
WRONG_VALUES = GIVEN.replace("= x[(size_t)r * C + c]", "= x[(size_t)r * C + c] + 1.0f")
HIDDEN_ONLY = GIVEN.replace("if (r < R && c < C)", "if (R > 1 && r < R && c < C)")
NO_COMPILE = GIVEN.replace("int r =", "integer r =")


def transpose() -> Task:
    return read_task(ROOT / "tasks" / "transpose")


def opened(**options: Any) -> TaskBox:
    return open_box(transpose(), **{"seed": SEED, **options})


def call(box: TaskBox, name: str, **arguments: Any) -> ToolResult:
    """A call that must not be refused."""
    found = box.call(name, arguments)
    assert not found.is_error, found.text
    return found
