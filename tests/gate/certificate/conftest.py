"""One accepted kernel, evaluated once: a vector addition in eight blocks beaten by one in many, on the virtual GPU."""

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


SLOW = """// launch: grid=(8) block=(256) shared=0
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += 8 * 256) c[i] = a[i] + b[i];
}
"""


@pytest.fixture(scope="session")
def accepted(tmp_path_factory: pytest.TempPathFactory) -> Accepted:
    task = read_task(TASKS / "vector_add")
    slow, fast = read_candidate(SLOW, task), read_candidate(task.kernel, task)
    ledger = Ledger(tmp_path_factory.mktemp("run"))
    found = evaluate(task, fast, slow, VirtualGpu(gpu=find_gpu(task.gpu)), ledger=ledger)
    return Accepted(task, slow, fast, found, ledger)
