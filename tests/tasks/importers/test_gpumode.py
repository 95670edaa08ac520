"""GPU MODE problems are read; what is not one is refused with its reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsight.tasks.importers.gpumode import GpuModeTask, read_gpumode, score
from warpsight.tasks.importers.records import CannotImport, Import

TASK = """\
# name: blur-py
files:
  - {"name": "submission.py", "source": "@SUBMISSION@"}
  - {"name": "task.py", "source": "task.py"}
  - {"name": "utils.py", "source": "../utils.py"}
lang: "py"
description: |
  Blur an image.

  Input: (image, radius)
config:
  main: "eval.py"
templates:
  Python: "template.py"
tests:
  - {"size": 32, "radius": 1, "seed": 4242}
  - {"size": 64, "radius": 2, "seed": 5236, "case": "edge"}
benchmarks:
  - {"size": 1024, "radius": [3, 4], "seed": 54352}
test_timeout: 180
ranking_by: "geom"
gpus:
  - B200
"""


def write(folder: Path, text: str, name: str = "blur_py") -> Path:
    (folder / name).mkdir(parents=True)
    (folder / name / "task.yml").write_text(text)
    (folder / name / "task.py").write_text("")
    return folder / name / "task.yml"


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


def test_scores() -> None:
    assert score([1.0, 4.0], "geom") == pytest.approx(2) and score([1.0, 4.0], "mean") == 2.5
    assert score([1.0, 4.0], "last") == 4
    with pytest.raises(CannotImport):
        score([], "geom")
