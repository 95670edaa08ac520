"""Commands run in this process, from the root of the repository, with what they print caught."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from warpsight.cli.app import main

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Ran:
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str

    def document(self) -> Any:
        """The one JSON document on stdout; anything before or after it is an error."""
        return json.loads(self.out)


@pytest.fixture
def command(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    monkeypatch.chdir(ROOT)

    def run(*words: str, columns: int = 120) -> Ran:
        monkeypatch.setenv("COLUMNS", str(columns))
        with pytest.raises(SystemExit) as end:
            main(words)
        shown = capfd.readouterr()
        code = end.value.code
        return Ran(code if isinstance(code, int) else 0, shown.out, shown.err)

    return run


@pytest.fixture
def changed(tmp_path: Path) -> Callable[[str, str, str], str]:
    """The path of a copy of a task's kernel in which one text is replaced by another."""

    def change(task: str, old: str, new: str) -> str:
        text = (ROOT / "tasks" / task / "kernel.cu").read_text()
        assert old in text
        file = tmp_path / "mine.cu"
        file.write_text(text.replace(old, new))
        return str(file)

    return change
