"""The executor seam: where units are run. One small Protocol; local processes and local batches are behind it.

A cluster engine would be one more class here: it is given picklable work and picklable units, and yields what is done
in any order. What must stay true: an executor decides nothing about a unit, and a unit that raises ends the run with
everything that was finished before already written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from multiprocessing import get_context
from typing import Protocol

from warpsight.bench.units import Outcome, Unit
from warpsight.learn.together import Together
from warpsight.models.model import BatchModel, Model

Work = Callable[[Unit], Outcome]
WorkWith = Callable[[Unit, Model], Outcome]


class Executor(Protocol):
    """Runs units. `work` opens what it needs itself, so that it can run elsewhere."""

    def run(self, work: Work, units: Sequence[Unit]) -> Iterator[Outcome]: ...


class Here:
    """In this process, one after the other."""

    def run(self, work: Work, units: Sequence[Unit]) -> Iterator[Outcome]:
        return map(work, units)


class Processes:
    """In several processes of this machine."""

    def __init__(self, count: int) -> None:
        self._count = count

    def run(self, work: Work, units: Sequence[Unit]) -> Iterator[Outcome]:
        with ProcessPoolExecutor(self._count, mp_context=get_context("spawn")) as pool:
            waiting = [pool.submit(work, unit) for unit in units]
            for done in as_completed(waiting):
                yield done.result()


class Batches:
    """In this process, several conversations at a time with one model that answers in batches."""

    def __init__(self, model: BatchModel, work: WorkWith, size: int = 8) -> None:
        self._model = model
        self._work = work
        self._size = size

    def run(self, work: Work, units: Sequence[Unit]) -> Iterator[Outcome]:
        """`work` is not used: these units share the model that is open here."""
        for start in range(0, len(units), self._size):
            some = units[start : start + self._size]
            yield from Together(self._model).run([partial(self._work, unit) for unit in some])
