"""Kernels as people write them first (`examples/kernels*`): every folder is whole, and both of its texts are right.

That the good ones are faster is what `python -m benchmarks goods` finds; here its record is held to the folders.
"""

import tomllib
from pathlib import Path

import numpy as np
import pytest

from warpsight.devices.virtual import VirtualGpu
from warpsight.gate.check import check_candidate
from warpsight.nouns import Task
from warpsight.tasks import evaluate_launch, generate_inputs, read_candidate, read_task, run_reference

EXAMPLES = Path(__file__).parents[2] / "examples"
ROOTS = sorted(root for root in EXAMPLES.glob("kernels*") if root.is_dir())
FOLDERS = [file.parent for root in ROOTS for file in sorted(root.glob("*/task.toml"))]
TEXTS = ("kernel.cu", "good.cu")
IMPROVED = {"FASTER", "LIKELY_FASTER"}


def named(folder: Path) -> str:
    return f"{folder.parent.name}-{folder.name}"


FEWEST = {"kernels": 20, "kernels_held": 20, "kernels_fresh": 14}


def test_there_are_enough_of_at_least_twelve_domains() -> None:
    for root in ROOTS:
        rows = [line.split("|") for line in (root / "README.md").read_text().splitlines() if line.startswith("| `")]
        assert sorted(row[1].strip(" `") for row in rows) == sorted(f.name for f in FOLDERS if f.parent == root)
        assert len(rows) >= FEWEST[root.name]
        assert len({row[2].split(",")[0].strip() for row in rows}) >= 12


@pytest.mark.parametrize("root", ROOTS, ids=lambda root: root.name)
def test_the_record_and_the_page_tell_the_same_speed_ups(root: Path) -> None:
    record = tomllib.loads((root / "good.toml").read_text())
    assert sorted(record) == sorted(f.name for f in FOLDERS if f.parent == root)
    page = (root / "README.md").read_text()
    for name, good in record.items():
        assert good["decision"] in IMPROVED, name
        assert good["gpu"] == read_task(root / name).gpu
        (row,) = (line for line in page.splitlines() if line.startswith(f"| `{name}` |"))
        assert row.endswith(f"| {good['speed_up']:.1f}x |")


@pytest.mark.parametrize("folder", FOLDERS, ids=named)
def test_a_folder_is_whole(folder: Path) -> None:
    task = read_task(folder)
    assert task.name == task.entry == folder.name
    assert sorted(file.name for file in folder.iterdir() if file.is_file()) == [
        "good.cu", "kernel.cu", "reference.py", "task.toml",
    ]  # fmt: skip
    assert sum(w.hidden for w in task.workloads) >= 2
    assert sum(not w.hidden and not w.profile for w in task.workloads) >= 3
    assert sum(w.profile for w in task.workloads) == 1
    first, good = (read_candidate((folder / text).read_text(), task, text) for text in TEXTS)
    assert first.sha256 == read_candidate(task.kernel, task).sha256 != good.sha256
    for workload in task.workloads:
        for candidate in (first, good):
            grid, block, _ = evaluate_launch(candidate, workload.axes)
            assert np.prod(grid, dtype=np.int64) * np.prod(block) <= 2**22, workload.name


@pytest.mark.parametrize("folder", FOLDERS, ids=named)
def test_the_reference_gives_every_output(folder: Path) -> None:
    task = read_task(folder)
    expected = run_reference(task, generate_inputs(task, task.workloads[0], 3), task.workloads[0].axes)
    assert set(expected) == outputs(task)
    assert all(np.isfinite(values).all() for values in expected.values())


def outputs(task: Task) -> set[str]:
    return {a.name for a in task.arguments if a.role in ("out", "inout")}


@pytest.mark.slow
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("folder", FOLDERS, ids=named)
def test_a_kernel_and_its_good_version_are_right(folder: Path, text: str) -> None:
    task = read_task(folder)
    candidate = read_candidate((folder / text).read_text(), task, text)
    found = check_candidate(task, candidate, VirtualGpu(cores=2), seed=4, secret_seed=4)
    assert found.verdict == "right", found.reason
