"""Programs of our own, built once and run on the virtual GPU. Without nvcc from pip, what needs it is skipped."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from warpsight.errors import ToolMissing
from warpsight.nouns import WholeRun
from warpsight.programs.build import require_compiler
from warpsight.verbs.run_program import ProgramQuestion, run_whole

SOURCES = Path(__file__).with_name("sources")


@dataclass(frozen=True)
class Ran:
    """One run: its account, and what it printed."""

    run: WholeRun
    output: str
    errors: str


def run_target(target: Path, *arguments: str, **options: Any) -> Ran:
    output, errors = bytearray(), bytearray()
    question = ProgramQuestion(target, arguments, **options)
    run = run_whole(question, output=output.extend, errors=errors.extend)
    return Ran(run, output.decode(), errors.decode())


@pytest.fixture
def run_source() -> Callable[..., Ran]:
    """Run one of the sources."""
    try:
        require_compiler()
    except ToolMissing as missing:
        pytest.skip(str(missing))
    return lambda name, *arguments, **options: run_target(SOURCES / name, *arguments, **options)


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The hostile program; it needs no GPU to be built."""
    folder = tmp_path_factory.mktemp("hostile")
    folder.chmod(0o755)
    program = folder / "hostile"
    subprocess.run(["c++", "-O1", "-o", str(program), str(SOURCES / "hostile.cpp")], check=True)
    return program


@pytest.fixture
def run_hostile(hostile: Path) -> Callable[..., Ran]:
    return lambda *arguments, **options: run_target(hostile, *arguments, **options)


@pytest.fixture
def run_script(tmp_path: Path) -> Callable[..., Ran]:
    """Run the text of a Python script."""
    script = tmp_path / "script.py"
    tmp_path.chmod(0o755)

    def run(text: str, *arguments: str, **options: Any) -> Ran:
        script.write_text(text)
        return run_target(script, *arguments, limit_s=300.0, **options)

    return run
