"""The executor seam: where many units of work are run. This process, several of this machine, or a Ray cluster.

An executor gets picklable work and an iterator of picklable units, and yields results: in the order of the units, or as
they are done. It takes units as it needs them, so the iterator may be endless, and holds a bounded number at once.
The caller alone writes files. Closing the answer gives up the rest at once. What must stay true: it decides nothing
about a unit, each unit's result comes once, and what a unit gives depends on the unit alone, never on where or when.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol, TypeVar

from warpsight.errors import UsageError
from warpsight.processes.pool import worker_pool

Unit = TypeVar("Unit")
Result = TypeVar("Result")
Begin = Callable[[], None]
CallElsewhere = Callable[[Callable[[Any], Any], Any], Any]  # work and its unit; gives the result
RAY = "ray"
WINDOW = 4  # units that are under way or wait for one before them, for each worker


class Executor(Protocol):
    """Runs units. `begin` runs first in each process that is started for them."""

    def run(
        self, work: Callable[[Unit], Result], units: Iterable[Unit], *, ordered: bool = True, begin: Begin | None = None
    ) -> Generator[Result]: ...

    def calls(self, begin: Begin | None = None) -> AbstractContextManager[CallElsewhere]:
        """Single units, from many threads at once, while the context lasts."""
        ...


class Here:
    """In this process, one after the other."""

    def run(
        self, work: Callable[[Unit], Result], units: Iterable[Unit], *, ordered: bool = True, begin: Begin | None = None
    ) -> Generator[Result]:
        for unit in units:
            yield work(unit)

    @contextmanager
    def calls(self, begin: Begin | None = None) -> Generator[CallElsewhere]:
        yield lambda work, unit: work(unit)


class Processes:
    """In several processes of this machine, which share its cores."""

    def __init__(self, count: int) -> None:
        self._count = count

    def run(
        self, work: Callable[[Unit], Result], units: Iterable[Unit], *, ordered: bool = True, begin: Begin | None = None
    ) -> Generator[Result]:
        todo = iter(units)
        with worker_pool(self._count, begin) as pool:
            flow = in_order if ordered else as_done
            yield from flow(
                todo, lambda unit: pool.submit(work, unit), _first_done, lambda one: one.result(), lambda: self._count
            )

    @contextmanager
    def calls(self, begin: Begin | None = None) -> Generator[CallElsewhere]:
        with worker_pool(self._count, begin) as pool:
            yield lambda work, unit: pool.submit(work, unit).result()


def executor_for(on: str | None = None, processes: int = 1) -> Executor:
    """Where to work: `processes` of this machine (the default), `ray`, or `ray://HOST:PORT`."""
    if on is None or on == "processes":
        return Here() if processes == 1 else Processes(processes)
    kind, _, rest = on.partition("://")
    if kind != RAY or (("://" in on) and not rest):
        raise UsageError(f"expected processes, ray or ray://HOST:PORT, got {on[:80]!r}", hint="--on ray")
    if processes != 1:
        raise UsageError("a Ray cluster says itself how many work at once", hint="leave out --processes and --cores")
    from warpsight.processes.on_ray import OnRay

    return OnRay(on if rest else None)


Running = TypeVar("Running")
Submit = Callable[[Unit], Running]
WaitAny = Callable[[list[Any]], "set[Any]"]


def as_done(
    todo: Iterator[Unit],
    submit: Callable[[Unit], Running],
    wait_any: WaitAny,
    result: Callable[[Running], Result],
    workers: Callable[[], int],
) -> Generator[Result]:
    """Results as they come, with two units under way for each worker: one at work and one that is there next."""
    going: list[Running] = []
    while True:
        _fill(going, todo, submit, 2 * workers() - len(going))
        if not going:
            return
        done = wait_any(going)
        going[:] = [one for one in going if one not in done]
        for one in done:
            yield result(one)


def in_order(
    todo: Iterator[Unit],
    submit: Callable[[Unit], Running],
    wait_any: WaitAny,
    result: Callable[[Running], Result],
    workers: Callable[[], int],
) -> Generator[Result]:
    """Results in the order of the units. A slow one holds back at most `WINDOW` units for each worker."""
    window: deque[Running] = deque()
    going: list[Running] = []
    while True:
        count = workers()
        started: list[Running] = []
        _fill(started, todo, submit, min(2 * count - len(going), WINDOW * count - len(window)))
        window += started
        going += started
        if not window:
            return
        if window[0] in going:
            done = wait_any(going)
            going[:] = [one for one in going if one not in done]
        while window and window[0] not in going:
            yield result(window.popleft())


def _fill(going: list[Running], todo: Iterator[Unit], submit: Callable[[Unit], Running], room: int) -> None:
    for _ in range(room):
        for unit in todo:
            going.append(submit(unit))
            break
        else:
            return


def _first_done(going: list[Future[Any]]) -> set[Future[Any]]:
    return set(wait(going, return_when=FIRST_COMPLETED).done)
