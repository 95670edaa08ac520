"""One accepted kernel, evaluated once: the task's slow matmul beaten by a better one, on the virtual GPU."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from warpsight.devices.virtual import VirtualGpu
from warpsight.gate.evaluate import evaluate
from warpsight.gate.ledger import Ledger
from warpsight.nouns import Candidate, Evaluation, Task
from warpsight.tasks import read_candidate, read_task
from warpsight.vgpu.gpus import find_gpu

TASKS = Path(__file__).parents[3] / "tasks"


@dataclass(frozen=True)
class Accepted:
    """The evaluation and the folder it left."""

    task: Task
    slow: Candidate
    fast: Candidate
    evaluation: Evaluation
    ledger: Ledger

    @property
    def file(self) -> Path:
        return self.ledger.certificates / f"{self.evaluation.certificate}.json"


def slow_and_fast(task: Task) -> tuple[Candidate, Candidate]:
    """The task's kernel, and a slow one: 32 threads a block with the same body."""
    fast = read_candidate(task.kernel, task)
    slow = task.kernel.replace("ceil(N/256)) block=(256)", "ceil(N/32)) block=(32)")
    assert slow != task.kernel
    return read_candidate(slow, task), fast


@pytest.fixture(scope="session")
def accepted(tmp_path_factory: pytest.TempPathFactory) -> Accepted:
    task = read_task(TASKS / "vector_add")
    slow, fast = slow_and_fast(task)
    ledger = Ledger(tmp_path_factory.mktemp("run"))
    found = evaluate(task, fast, slow, VirtualGpu(gpu=find_gpu(task.gpu)), ledger=ledger)
    return Accepted(task, slow, fast, found, ledger)
