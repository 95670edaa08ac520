"""Small mistakes in the example kernels are found. `make bench ARGS=mutants` tries hundreds, here are a few."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.mutants import TASKS, chosen, explanations, outcome
from benchmarks.mutations import OPERATORS, Mutant, mutants, read_code

from warpsight.nouns import Task
from warpsight.tasks import read_task

COUNT = 40
KERNELS = ("matmul_tiled", "reduce_sum", "scan", "stencil2d", "transpose_tiled", "histogram")
PICKED = chosen([read_task(TASKS / name) for name in KERNELS], COUNT)


@pytest.mark.parametrize(("task", "mutant"), PICKED, ids=[f"{t.name}-{m.name}" for t, m in PICKED])
def test_a_mutant_is_killed_or_known_to_compute_the_same(task: Task, mutant: Mutant) -> None:
    if (task.name, mutant.name) in explanations():
        pytest.skip("computes the same")
    found = outcome(task, mutant)
    assert found.state in ("killed", "none"), found.why


def test_few_of_them_are_left_out() -> None:
    known = explanations()
    assert sum((task.name, mutant.name) in known for task, mutant in PICKED) <= COUNT // 4


def test_every_operator_has_mutants_and_there_are_enough() -> None:
    made = [m for file in sorted(TASKS.glob("*/kernel.cu")) for m in mutants(file.read_text())]
    assert {m.operator for m in made} == set(OPERATORS)
    assert len(made) >= 1000


def test_a_mutant_differs_in_one_place_and_names_are_unique() -> None:
    text = (TASKS / "matmul_tiled" / "kernel.cu").read_text()
    made = mutants(text)
    assert len({m.name for m in made}) == len(made) == len({m.text for m in made})
    assert all(m.text != text for m in made)


def test_comments_and_preprocessor_lines_are_left_alone() -> None:
    code = read_code('#include <a.h>\n// x < 1\nint i = /* 2 */ 3; reinterpret_cast<int*>(p)[i] = "4";\n')
    assert [t.text for t in code.tokens][:5] == ["int", "i", "=", "3", ";"]


def test_every_explanation_is_about_a_mutant_that_exists() -> None:
    for task, name in explanations():
        assert name in {m.name for m in mutants((Path(TASKS) / task / "kernel.cu").read_text())}, (task, name)
