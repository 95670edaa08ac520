"""A small GPU MODE problem of our own."""

from __future__ import annotations

from pathlib import Path

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
