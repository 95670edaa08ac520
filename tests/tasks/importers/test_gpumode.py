"""GPU MODE problems are read; what is not one is refused with its reason."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.tasks.importers.gpumode_problem import TASK, write

from warpsight.errors import ToolMissing
from warpsight.tasks.importers.gpumode import GpuModeTask, read_gpumode
from warpsight.tasks.importers.records import Import

pytest.importorskip("yaml")


def only(found: Import[GpuModeTask]) -> GpuModeTask:
    assert not found.refused
    (item,) = found.items
    return item


def test_a_problem(tmp_path: Path) -> None:
    task = only(read_gpumode(write(tmp_path, TASK)))
    assert (task.name, task.language, task.main, task.ranking) == ("blur_py", "py", "eval.py", "geom")
    assert task.axes == ("size", "radius") and task.gpus == ("B200",)
    assert task.tests[1]["case"] == "edge" and task.benchmarks[0]["radius"] == (3, 4)
    assert task.description.startswith("Blur") and task.templates == {"Python": "template.py"}
    assert [one.there for one in task.files] == [True, True, False]
    assert task.notes == ("utils.py: ../utils.py is not there",)
    assert (task.test_timeout_s, task.benchmark_timeout_s) == (180, None)


def test_a_folder_of_many_lists_what_it_refuses(tmp_path: Path) -> None:
    write(tmp_path, TASK)
    write(tmp_path, "tests: [", "broken")
    write(tmp_path, TASK.replace("@SUBMISSION@", "x.py"), "closed")
    write(tmp_path, "- 1\n- 2\n", "a_list")
    write(tmp_path, TASK.replace('"geom"', '"fastest"'), "ranked_oddly")
    write(tmp_path, "files:\n  - {name: s.py, source: '@SUBMISSION@'}\n", "without_cases")
    write(tmp_path, "tests: !!python/object/apply:os.system ['true']\n", "unsafe")
    found = read_gpumode(tmp_path)
    assert [one.name for one in found.items] == ["blur_py"]
    reasons = {one.file.split("/")[0]: one.reason for one in found.refused}
    assert set(reasons) == {"broken", "closed", "a_list", "ranked_oddly", "without_cases", "unsafe"}
    assert "YAML" in reasons["broken"] and "@SUBMISSION@" in reasons["closed"] and "list" in reasons["a_list"]
    assert "ranking" in reasons["ranked_oddly"] and "neither" in reasons["without_cases"]
    assert "YAML" in reasons["unsafe"]


def test_without_a_reader_of_yaml_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(ToolMissing, match="PyYAML"):
        read_gpumode(write(tmp_path, TASK))
