"""The executor seam: where units are run. One small Protocol; this process and local processes are behind it.

A job is some units that go together: one, or a batch of conversations that share each generation of a local model. A
cluster engine would be one more class here: it is given picklable work and picklable jobs, and yields what is done in
any order. What must stay true: an executor decides nothing about a unit, and a job that raises ends the run with
everything that was finished before already written.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import as_completed
from typing import Protocol

from warpsight.bench.units import BenchOutcome, BenchUnit
from warpsight.processes.pool import worker_pool

Job = tuple[BenchUnit, ...]
Work = Callable[[Job], list[BenchOutcome]]


class Executor(Protocol):
    """Runs jobs. `work` opens what it needs itself, so that it can run elsewhere. Closing the answer gives up the
    rest."""

    def run(self, work: Work, jobs: Sequence[Job]) -> Generator[BenchOutcome]: ...


class Here:
    """In this process, one after the other."""

    def run(self, work: Work, jobs: Sequence[Job]) -> Generator[BenchOutcome]:
        for job in jobs:
            yield from work(job)


class Processes:
    """In several processes of this machine, which share its cores: a local model is loaded by each."""

    def __init__(self, count: int) -> None:
        self._count = count

    def run(self, work: Work, jobs: Sequence[Job]) -> Generator[BenchOutcome]:
        threads = max(1, (os.cpu_count() or 1) // self._count)
        with worker_pool(self._count, _share, (threads,)) as pool:
            waiting = [pool.submit(work, job) for job in jobs]
            for done in as_completed(waiting):
                yield from done.result()


def _share(threads: int) -> None:
    """Read when torch is loaded, which is later."""
    os.environ.setdefault("OMP_NUM_THREADS", str(threads))
