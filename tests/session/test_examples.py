"""The examples run as they are: the script in ten lines, and every cell of the notebook."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


def run(text: str, data: Path) -> str:
    environment = {**os.environ, "WARPSIGHT_DATA": str(data)}
    done = subprocess.run(
        [sys.executable, "-c", text], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=250
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_kernel_is_checked_profiled_and_optimised_in_ten_lines(tmp_path: Path) -> None:
    text = (EXAMPLES / "ten_lines.py").read_text()
    code = [line for line in text.splitlines()[1:] if line.strip()]
    assert len(code) <= 10
    shown = run(text, tmp_path)
    assert shown.startswith("right\n") and "simulated" in shown and "x as fast" in shown
    assert Path(shown.splitlines()[-1]).is_file()


def test_every_cell_of_the_notebook_runs(tmp_path: Path) -> None:
    cells = json.loads((EXAMPLES / "kernel.ipynb").read_text())["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert len(code) == 4
    shown = run("\n".join(code) + "\nprint(found._repr_html_()[:30])", tmp_path)
    assert "with a tile" in shown and "out_of_bounds" in shown and '<div class="warpsight' in shown


def test_the_python_of_the_page_runs(tmp_path: Path) -> None:
    shown = run("\n".join(python_of("docs/python.md")), tmp_path).splitlines()
    assert "SAME" in shown and shown[-1] in ("FASTER", "LIKELY_FASTER")


def test_the_python_of_the_readme_runs(tmp_path: Path) -> None:
    assert "simulated" in run("\n".join(python_of("README.md")), tmp_path)


def python_of(page: str) -> list[str]:
    found = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE)
    assert found
    return found
