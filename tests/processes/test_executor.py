"""The executor seam, here and in processes; a Ray cluster keeps the same in test_on_ray.py."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from tests.processes.units import noted, refuse, slow_first, square

from warpsight.errors import UsageError
from warpsight.processes.executor import WINDOW, Executor, Here, Processes, executor_for


@pytest.fixture(params=["here", "processes"])
def executor(request: pytest.FixtureRequest) -> Executor:
    return Here() if request.param == "here" else Processes(2)


def test_results_come_in_the_order_of_the_units(executor: Executor) -> None:
    assert list(executor.run(square, range(30))) == [number * number for number in range(30)]
    assert list(executor.run(square, [])) == []


def test_without_an_order_each_comes_once_and_none_waits_for_a_slow_one() -> None:
    found = list(Processes(2).run(slow_first, range(20), ordered=False))
    assert sorted(number for number, _ in found) == list(range(20))
    assert found[0][0] != 0


def test_units_may_be_endless_and_few_are_taken_ahead(executor: Executor) -> None:
    taken: list[int] = []

    def endless() -> Iterator[int]:
        for number in itertools.count():
            taken.append(number)
            yield number

    with closing(executor.run(square, endless())) as running:
        assert list(itertools.islice(running, 10)) == [number * number for number in range(10)]
    assert len(taken) <= 10 + 2 * WINDOW


def test_a_failure_keeps_its_kind_and_what_was_before_it(executor: Executor) -> None:
    seen: list[int] = []
    with pytest.raises(UsageError, match="three is refused"):
        for one in executor.run(refuse, range(10)):
            seen.append(one)
    assert seen == [0, 1, 2]


def test_each_unit_runs_once(executor: Executor, tmp_path: Path) -> None:
    units = [(str(tmp_path), number) for number in range(12)]
    assert list(executor.run(noted, units)) == list(range(12))
    assert sorted(int(file.name.partition("-")[0]) for file in tmp_path.iterdir()) == list(range(12))


def test_single_calls_come_from_many_threads(executor: Executor) -> None:
    with executor.calls() as call, ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda number: call(square, number), range(12))) == [n * n for n in range(12)]
        with pytest.raises(UsageError, match="three is refused"):
            call(refuse, 3)


@pytest.mark.parametrize("word", ["slurm", "ray:/x", "ray://", "http://x", ""])
def test_a_wrong_place_is_refused(word: str) -> None:
    with pytest.raises(UsageError, match=r"expected processes, ray or ray://HOST:PORT"):
        executor_for(word)


def test_a_cluster_says_itself_how_many_work() -> None:
    with pytest.raises(UsageError, match="leave out --processes"):
        executor_for("ray", 4)
    assert isinstance(executor_for(None, 1), Here) and isinstance(executor_for("processes", 3), Processes)
