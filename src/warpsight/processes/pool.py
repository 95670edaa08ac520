"""Processes that run our own functions: a pool whose workers end with us, and at once when the work is given up.

Workers start fresh (spawn): a forked one would hold the pipes of our jails open. They do not hear Ctrl-C, which a
terminal sends to everybody: whoever owns the pool decides. What must stay true: leaving by an exception, or before all
results were taken, kills what is under way; nothing that was given up is waited for.
"""

from __future__ import annotations

import multiprocessing
import signal
import threading
from collections.abc import Callable, Generator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any

from warpsight.errors import BrokenMachine
from warpsight.processes.guard import die_with_parent

GRACE_S = 20.0  # for workers to end, once all that was asked of them is done: one was seen to stay for ever


@contextmanager
def worker_pool(
    count: int, initializer: Callable[..., None] | None = None, initargs: tuple[Any, ...] = ()
) -> Generator[ProcessPoolExecutor]:
    """A pool of `count` processes; `initializer` runs first in each."""
    others = set(multiprocessing.active_children())
    spawn = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(count, mp_context=spawn, initializer=_begin, initargs=(initializer, initargs))
    try:
        yield pool
    except BaseException as problem:
        for worker in set(multiprocessing.active_children()) - others:
            worker.kill()
        pool.shutdown(wait=True, cancel_futures=True)
        if isinstance(problem, BrokenProcessPool):
            raise BrokenMachine(
                "a worker process was ended from outside, perhaps for want of memory",
                hint="ask for fewer processes; the same command goes on with what is finished",
            ) from None
        raise
    ours = set(multiprocessing.active_children()) - others
    stuck = threading.Timer(GRACE_S, lambda: [worker.kill() for worker in ours])
    stuck.start()
    pool.shutdown()
    stuck.cancel()


def _begin(initializer: Callable[..., None] | None, initargs: tuple[Any, ...]) -> None:
    parent = multiprocessing.parent_process()
    if parent is None:
        raise BrokenMachine("expected to be a worker of a pool, there is no parent")
    die_with_parent(parent.sentinel, group=False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if initializer is not None:
        initializer(*initargs)
