"""The reference runs in a process of its own: what it does to that process is an error of the task, and only that."""

from __future__ import annotations

import os

import numpy as np
import pytest

from warpsight.errors import TaskError
from warpsight.nouns import Task
from warpsight.tasks import generate_inputs, run_reference
from warpsight.tasks.oracle import Oracle

HEAD = "import os, sys, time\nimport numpy as np\nSEEN = []\n\n\ndef reference(x, alpha, N):\n    "


def run(task: Task, oracle: Oracle, body: str) -> dict[str, np.ndarray]:
    changed = task.model_copy(update={"reference": HEAD + body})
    workload = task.workloads[0]
    return run_reference(changed, generate_inputs(task, workload, 3), workload.axes, oracle)


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("os._exit(3)", "status 3"),
        ("sys.exit(0)", "SystemExit"),
        ("os.kill(os.getpid(), 11)", "signal 11"),
        ("raise ValueError('no')", "ValueError: no"),
    ],
)
def test_what_ends_the_reference_is_a_task_error_and_the_next_call_works(task: Task, body: str, found: str) -> None:
    with Oracle() as oracle:
        with pytest.raises(TaskError, match=found):
            run(task, oracle, body)
        assert run(task, oracle, "return x * alpha")["y"].shape == (1000,)


def test_a_reference_that_hangs_ends_at_its_deadline(task: Task) -> None:
    with Oracle(deadline_seconds=1.0) as oracle, pytest.raises(TaskError, match="no answer within 1 s"):
        run(task, oracle, "time.sleep(60)")


def test_it_is_not_this_process_and_one_serves_many_calls(task: Task) -> None:
    with Oracle() as oracle:
        first, second = (run(task, oracle, "return np.full(N, float(os.getpid()))")["y"][0] for _ in range(2))
        assert first == second != os.getpid()


def test_nothing_is_left_from_call_to_call(task: Task) -> None:
    with Oracle() as oracle:
        for _ in range(2):
            assert run(task, oracle, "SEEN.append(1)\n    return np.full(N, len(SEEN))")["y"][0] == 1


def test_what_it_prints_is_no_answer(task: Task) -> None:
    with Oracle() as oracle:
        assert run(task, oracle, "print('x' * 100000); os.write(1, b'junk')\n    return x")["y"].shape == (1000,)


def test_it_sees_no_secret_of_ours(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")
    with Oracle() as oracle:
        assert run(task, oracle, "return np.full(N, int('SOME_API_KEY' in os.environ))")["y"][0] == 0
