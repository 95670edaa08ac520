"""Launches of our own programs, captured once each: building and checking takes seconds."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

import pytest

from warpsight.errors import ToolMissing
from warpsight.nouns import Task
from warpsight.programs.build import require_compiler
from warpsight.verbs.capture import CaptureQuestion, capture
from warpsight.verbs.run_program import ProgramQuestion

SOURCES = Path(__file__).with_name("sources")
Capture = Callable[[str], Task]


@pytest.fixture(scope="session")
def captured(tmp_path_factory: pytest.TempPathFactory) -> Capture:
    """A kernel of `kernels.cu` as a task; what is refused is raised each time."""
    try:
        require_compiler()
    except ToolMissing as missing:
        pytest.skip(str(missing))
    folder = tmp_path_factory.mktemp("captured")

    @functools.cache
    def task(kernel: str) -> Task:
        question = CaptureQuestion(ProgramQuestion(SOURCES / "kernels.cu", ("500",)), kernel)
        return capture(question, folder / kernel, output=_quiet, errors=_quiet, say=lambda _: None)

    return task


def _quiet(_: bytes) -> None:
    """Nobody reads it."""
