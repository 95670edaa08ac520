"""The reference runs in a process of its own: what it does to that process is an error of the task, and only that."""

from __future__ import annotations

import os

import numpy as np
import pytest

from warpsight.errors import TaskError
from warpsight.nouns import Task
from warpsight.tasks import generate_inputs, run_reference
from warpsight.tasks.oracle import Oracle, Unsteady

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
        ("os.kill(os.getpid(), 11)", "SIGSEGV"),
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


POISON = (
    "np.add = np.multiply = lambda a, b: np.zeros(N); np.cumsum = lambda a: np.zeros(N)\n    "
    "import builtins, json; builtins.sum = lambda a: 0.0; json.dumps = lambda a: '{}'\n    return x * alpha"
)


def test_what_one_reference_does_to_numpy_and_python_reaches_no_other(task: Task) -> None:
    with Oracle() as oracle:
        with pytest.raises(TaskError):  # it has broken its own answers
            run(task, oracle, POISON)
        inputs = generate_inputs(task, task.workloads[0], 3)
        honest = "assert json_is_whole()\n    return np.add(x, np.cumsum(x)) + sum(x)"
        whole = "\n\n\ndef json_is_whole():\n    import json\n    return json.dumps([1]) == '[1]'\n"
        found = run(task, oracle, honest + whole)["y"]
        x = inputs["x"].astype(np.float64)
        assert np.allclose(found, x + np.cumsum(x) + x.sum())


def test_every_text_has_a_process_of_its_own_and_few_are_kept(task: Task) -> None:
    with Oracle(alive=2) as oracle:
        seen: list[int] = []
        for text in ("return x", "return x + 1", "return x + 2", "return x"):
            run(task, oracle, text)
            alive = list(oracle.process_ids)
            seen.append(alive[-1])
            assert len(alive) <= 2
        assert len(set(seen)) == 4  # the first was ended to make room, and started again
        ended = seen[0]
    assert not oracle.process_ids and not os.path.exists(f"/proc/{ended}")  # noqa: PTH110


@pytest.mark.parametrize(
    "body",
    [
        "np.calls = getattr(np, 'calls', 0) + 1\n    return x * (np.calls == 1)",
        "sys.seen = getattr(sys, 'seen', 0) + 1\n    return x * (sys.seen < 20)",
        "return x + np.random.default_rng().normal(size=N)",
        "return x + time.time() % 1",
    ],
)
def test_a_reference_that_does_not_repeat_itself_is_named(task: Task, body: str) -> None:
    with Oracle() as oracle, pytest.raises(Unsteady, match="the same values for the same inputs"):
        for _ in range(40):
            run(task, oracle, body)


def test_numpy_random_numbers_and_files_begin_anew_with_each_call(task: Task) -> None:
    body = "open('left', 'a').write('x')\n    return np.full(N, np.random.rand() + len(open('left').read()))"
    with Oracle() as oracle:
        first, second = (run(task, oracle, body)["y"][0] for _ in range(2))
        assert first == second


def test_where_a_task_lies_does_not_show(task: Task) -> None:
    with Oracle() as oracle:
        there = run(
            task.model_copy(update={"folder": task.folder / "there"}), oracle, "return np.full(N, len(__file__))"
        )
        assert run(task, oracle, "return np.full(N, len(__file__))")["y"][0] == there["y"][0] == len("reference.py")


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


FORBIDDEN = {
    "read a file of ours": (f"return np.full(N, len(open({__file__!r}).read()))", "FileNotFoundError"),
    "read a file of the system": ("return np.full(N, len(open('/etc/passwd').read()))", "FileNotFoundError"),
    "write beside the task": ("open(os.path.dirname(__file__) + '/mine', 'w').write('x')", "Error"),
    "write to a shared folder": ("open('/var/tmp/mine', 'w').write('x')", "Error"),
    "use the network": ("import socket; socket.socket()", "seccomp_violation"),
    "start a process": ("os.fork()", "seccomp_violation"),
    "start a program": ("os.execv(sys.executable, [sys.executable])", "seccomp_violation"),
    "look at another process": ("return np.full(N, len(os.listdir('/proc')))", "FileNotFoundError"),
    "take all memory": ("return np.ones(1 << 40)", "MemoryError"),
}


@pytest.mark.parametrize(("body", "found"), FORBIDDEN.values(), ids=FORBIDDEN.keys())
def test_it_is_in_the_jail(task: Task, body: str, found: str) -> None:
    with Oracle() as oracle, pytest.raises(TaskError, match=found):
        run(task, oracle, body)


def test_what_it_prints_is_shown_to_its_author(task: Task, capsys: pytest.CaptureFixture[str]) -> None:
    with Oracle() as oracle:
        run(task, oracle, "print('mean', x.mean() * 0)\n    return x")
    assert "mean 0.0" in capsys.readouterr().err.replace("-", "")


def test_it_may_use_all_of_numpy(task: Task) -> None:
    with Oracle() as oracle:
        body = "import numpy.fft\n    square = x[:900].reshape(30, 30)\n    np.linalg.svd(square @ square)\n    "
        assert run(task, oracle, body + "return np.fft.ifft(np.fft.fft(x)).real")["y"].shape == (1000,)


def test_large_inputs_and_outputs_pass_whole() -> None:
    x = np.random.default_rng(1).normal(size=3_000_000)
    with Oracle() as oracle:
        found = oracle.call("def f(x, n):\n    return {'y': x * n, 'z': x[:0]}", "f.py", "f", {"x": x}, {"n": 3})
    assert np.array_equal(found.arrays["y"], x * 3) and found.arrays["z"].shape == (0,)


def test_an_oracle_that_was_forked_does_not_end_the_process_of_its_parent(task: Task) -> None:
    with Oracle() as oracle:
        where = "return np.full(N, float(os.getppid()))"
        run(task, oracle, where)
        child = os.fork()
        if child == 0:
            try:
                run(task, oracle, where)
                oracle.close()
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        before = oracle.process_ids
        assert len(before) == 1
        run(task, oracle, where)
        assert oracle.process_ids == before
