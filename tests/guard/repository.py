"""A repository with guarded kernels, made for a test."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from warpsight.guard.judge import GuardRow
from warpsight.verbs import guard

ROOT = Path(__file__).parents[2]
HONEST = ROOT / "tests" / "redteam" / "honest"


def quiet(_text: str) -> None:
    """Nobody watches."""


@dataclass(frozen=True)
class Repository:
    """A git repository whose kernels are guarded."""

    folder: Path

    def git(self, *words: str) -> None:
        who = ("-c", "user.name=somebody", "-c", "user.email=somebody@example.com", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *who, *words], cwd=self.folder, check=True, capture_output=True)

    def kernel(self, task: str) -> Path:
        return self.folder / "kernels" / task / "kernel.cu"

    def commit(self, task: str, text: str) -> None:
        self.kernel(task).write_text(text)
        self.git("commit", "-qam", f"change {task}")

    def accept(self, task: str = "") -> None:
        _, _, wrong = guard.update(self.folder, task, quiet)
        assert not wrong

    def verdict(self, task: str, most: str = "") -> GuardRow:
        _, rows = guard.check(self.folder, task, most, quiet)
        (row,) = rows
        return row


def make_repository(folder: Path, *tasks: str) -> Repository:
    for task in tasks:
        shutil.copytree(ROOT / "tasks" / task, folder / "kernels" / task)
    made = Repository(folder)
    made.git("init", "-q")
    guard.start(folder)
    made.git("add", "-A")
    made.git("commit", "-qm", "kernels and their list")
    return made


def honest(name: str) -> str:
    """A right kernel for a task, written otherwise: `task__how.cu`."""
    return (HONEST / f"{name}.cu").read_text()
