"""`warpsight new`: what it writes is a good task, and it writes over nothing."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from warpsight.errors import UsageError
from warpsight.tasks import generate_inputs, read_task, run_reference
from warpsight.tasks.scaffold import new_task


def new(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "warpsight.cli.app", "new", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("name", ["a", "int", "my-kernel_2"])
def test_what_is_written_is_a_good_task(tmp_path: Path, name: str) -> None:
    task = read_task(new_task(tmp_path / "deep" / name, name))
    assert task.name == name
    for workload in task.workloads:
        run_reference(task, generate_inputs(task, workload, 1), workload.axes)


@pytest.mark.parametrize("name", ["", "Big", "../up", "a b", "1st", "a" * 65, "x\n"])
def test_bad_names(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="task name"):
        new_task(tmp_path / "folder", name)
    assert not (tmp_path / "folder").exists()


def test_nothing_is_overwritten(folder: Path) -> None:
    before = {file.name: file.read_text() for file in folder.iterdir()}
    with pytest.raises(UsageError, match="there already"):
        new_task(folder, "scale")
    with pytest.raises(UsageError, match="there already"):
        new_task(folder / "task.toml", "scale")
    assert {file.name: file.read_text() for file in folder.iterdir()} == before


def test_the_command(tmp_path: Path) -> None:
    done = new("mine", "--into", str(tmp_path), "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document == {
        "task": "mine",
        "folder": str(tmp_path / "mine"),
        "files": ["task.toml", "kernel.cu", "reference.py"],
    }
    assert read_task(document["folder"]).name == "mine"
    again = new("mine", "--into", str(tmp_path))
    assert again.returncode == 2
    assert "there already" in again.stderr
    shown = new("other", "--into", str(tmp_path))
    assert shown.returncode == 0
    assert "kernel.cu" in shown.stdout
