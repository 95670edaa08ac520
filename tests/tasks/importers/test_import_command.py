"""`warpsight import` from the command line: what it prints, what it writes, how it ends."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.tasks.importers.gpumode_problem import TASK, write
from tests.tasks.importers.programs import PROGRAMS

from warpsight.cli.app import main
from warpsight.tasks import read_task

ROOT = Path(__file__).parents[3]
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "160")

    def run(*words: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            main(["import", *words])
        shown = capfd.readouterr()
        code = end.value.code
        return (code if isinstance(code, int) else 0), shown.out, shown.err

    return run


def document(out: str) -> Any:
    return json.loads(out)


def test_gpumode(command: Command, tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    write(tmp_path / "in", TASK)
    code, out, _ = command("gpumode", str(tmp_path / "in"), "--out", str(tmp_path / "out"))
    assert code == 0 and "imported 1 from gpumode, refused 0" in out and "blur_py" in out and "geom" in out
    assert json.loads((tmp_path / "out" / "blur_py" / "import.json").read_text())["axes"] == ["size", "radius"]
    write(tmp_path / "in", "tests: 3", "broken")
    code, out, _ = command("gpumode", str(tmp_path / "in"), "--json")
    found = document(out)
    assert code == 1 and len(found["imported"]) == 1
    assert found["refused"] == [{"file": "broken/task.yml", "reason": "tests: expected a list, found int"}]
    code, _, err = command("gpumode", str(tmp_path / "in"), "--out", str(tmp_path / "out"))
    assert code == 2 and "expected to write" in err


def test_flashinfer_there_and_back(command: Command, tmp_path: Path) -> None:
    code, out, _ = command("flashinfer", "tasks/saxpy", "--export", "--out", str(tmp_path / "set"))
    assert code == 0 and out.count("wrote") == 3
    code, out, _ = command("flashinfer", str(tmp_path / "set"), "--out", str(tmp_path / "tasks"))
    assert code == 0 and "saxpy" in out
    assert read_task(tmp_path / "tasks" / "saxpy").arguments == read_task(ROOT / "tasks" / "saxpy").arguments
    code, out, _ = command("flashinfer", str(tmp_path / "set"), "--json")
    (entry,) = document(out)["imported"]
    assert code == 0 and entry["name"] == "saxpy" and "reference" not in entry["definition"]


def test_hecbench(command: Command, tmp_path: Path) -> None:
    folder = next(one for one in PROGRAMS if one.name == "saxpy").write(tmp_path)
    code, out, _ = command("hecbench", str(folder), "--compiler", "nvrtc", "--out", str(tmp_path / "out"))
    assert code == 0 and "saxpy" in out and "nvrtc" in out
    assert "__global__ void saxpy" in (tmp_path / "out" / "saxpy" / "device" / "main.cu").read_text()
    code, out, _ = command("hecbench", str(folder), "--compiler", "nvrtc", "--json")
    ((program,),) = (document(out)["imported"],)
    assert code == 0 and program["kernels"][0]["registers"] > 0 and program["kernels"][0]["sass_bytes"] > 0


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("gpumode", "no/such/place"), 2, "found nothing there"),
        (("kernelbranch", "x"), 2, "kernelbranch"),
        (("gpumode", "tasks", "--run", "x.py"), 2, "--run with kernelbench or hecbench"),
        (("flashinfer", "tasks/daxpy", "--export", "--out", "build/never"), 2, "x is float64"),
        (("hecbench", "tasks", "--kernel", "x.cu"), 2, "--kernel"),
        (("kernelbench", "tasks", "--export"), 2, "--export"),
        (("flashinfer", "tasks/saxpy", "--export"), 2, "--out"),
        (("hecbench", "tasks", "--run", "x"), None, "GPU|driver|NVIDIA|cuda"),
    ],
)
def test_wrong_requests(command: Command, words: tuple[str, ...], code: int | None, told: str) -> None:
    found, out, err = command(*words)
    assert found == code if code is not None else found != 0
    assert any(part in out + err for part in told.split("|")), out + err


def test_without_pytorch_it_says_so(command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    (tmp_path / "1_x.py").write_text("class Model: pass\ndef get_inputs(): pass\ndef get_init_inputs(): pass\n")
    code, _, err = command("kernelbench", str(tmp_path))
    assert code == 3 and "PyTorch is not installed" in err and "pip install" in err


def test_nothing_found_is_not_fine(command: Command, tmp_path: Path) -> None:
    code, out, _ = command("flashinfer", str(tmp_path))
    assert code == 1 and "imported 0" in out
