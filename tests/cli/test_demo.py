"""`demo` works in a folder that has nothing in it, and gives what `optimize` gives."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from warpsight.cli.app import main
from warpsight.tasks.scaffold import new_task
from warpsight.verbs.demo import demo_job


def test_the_demo_makes_the_example_faster_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WARPSIGHT_DATA", str(tmp_path / "data"))
    with pytest.raises(SystemExit) as end:
        main(["demo", "--json", "-q"])
    assert end.value.code in (0, None)
    shown = json.loads(capfd.readouterr().out)
    assert shown["faster"] and shown["source"] == "simulated" and shown["decision"] in ("FASTER", "LIKELY_FASTER")
    assert (shown["certificate_file"] is not None) == (shown["decision"] == "FASTER")
    assert Path(shown["kernel_file"]) == tmp_path / "data" / "demo" / "faster.cu"
    assert "tile" in Path(shown["kernel_file"]).read_text() and Path(shown["report_file"]).is_file()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data"]  # nothing is left where it was run


def test_the_demo_is_of_the_example_and_not_of_a_task_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    new_task(tmp_path / "tasks" / "transpose", "transpose")
    assert str(tmp_path) not in demo_job().model_dump_json()
