"""The full example in docs/tasks.md is a good task, and its tables name what the code knows."""

import re
from pathlib import Path

from warpsight.nouns.dtypes import DTYPES
from warpsight.tasks import generate_inputs, read_task, run_reference
from warpsight.tasks.inputs import FILLERS

PAGE = (Path(__file__).parents[2] / "docs" / "tasks.md").read_text()


def test_the_example_is_a_good_task(tmp_path: Path) -> None:
    blocks = re.findall(r"`row_scale/([\w.]+)`\n\n```\w+\n(.*?)```", PAGE, re.DOTALL)
    assert [name for name, _ in blocks] == ["task.toml", "kernel.cu", "reference.py"]
    for name, text in blocks:
        (tmp_path / name).write_text(text)
    task = read_task(tmp_path)
    for workload in task.workloads:
        expected = run_reference(task, generate_inputs(task, workload, 1), workload.axes)
        assert expected["y"].shape == (workload.axes["R"], workload.axes["C"])


def test_every_fill_and_dtype_is_on_the_page() -> None:
    assert all(f"`{fill}`" in PAGE for fill in FILLERS)
    assert " ".join(DTYPES) in PAGE
