"""The executor on a Ray cluster of one node; skipped where Ray is not installed. The cluster is started once."""

from __future__ import annotations

import itertools
import os
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.processes.units import noted, refuse, slow_first, square

from warpsight.errors import BrokenMachine, UsageError
from warpsight.processes.executor import executor_for
from warpsight.processes.on_ray import QUIET

ray: Any = pytest.importorskip("ray", reason="pip install 'warpsight[scale]'")
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Generator[None]:
    os.environ.update(QUIET)
    for left in (2, 1, 0):  # Ray gives a node 30 seconds to start, which a busy machine may need more than once
        try:
            ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error",
                     runtime_env={"env_vars": {"PYTHONPATH": str(ROOT), **QUIET}})  # fmt: skip
            break
        except Exception:
            ray.shutdown()
            if not left:
                raise
    yield
    ray.shutdown()


def test_the_seam_holds_on_a_cluster(tmp_path: Path) -> None:
    there = executor_for("ray")
    assert list(there.run(square, range(20))) == [number * number for number in range(20)]
    found = list(there.run(slow_first, range(12), ordered=False))
    assert sorted(number for number, _ in found) == list(range(12))
    with closing(there.run(square, itertools.count())) as running:
        assert list(itertools.islice(running, 5)) == [0, 1, 4, 9, 16]
    units = [(str(tmp_path), number) for number in range(6)]
    assert list(there.run(noted, units)) == list(range(6))
    assert len(list(tmp_path.iterdir())) == 6, "each ran once"


def test_single_calls_come_from_many_threads() -> None:
    with executor_for("ray").calls() as call, ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda number: call(square, number), range(12))) == [n * n for n in range(12)]
        with pytest.raises(UsageError, match="three is refused"):
            call(refuse, 3)


def test_a_failure_keeps_its_kind_and_what_was_before_it() -> None:
    seen: list[int] = []
    with pytest.raises(UsageError, match="three is refused"):
        for one in executor_for("ray").run(refuse, range(10)):
            seen.append(one)
    assert seen == [0, 1, 2]


def test_a_worker_that_is_killed_loses_nothing_and_one_that_always_dies_is_told(tmp_path: Path) -> None:
    from tests.processes.units import die_once

    units = [(str(tmp_path), number) for number in range(6)]
    assert list(executor_for("ray").run(die_once, units)) == list(range(6))
    assert (tmp_path / "died").exists()
    with pytest.raises(BrokenMachine, match="lost 4 times"):
        list(executor_for("ray").run(os._exit, [1]))
