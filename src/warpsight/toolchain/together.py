"""Many texts compiled at once, by a compiler process for each core: one process compiles one text at a time.

The processes stay warm for the next round. What must stay true: the answers are those of one process after the other,
in the order of the questions, and a few texts start no process beyond the one that everybody shares.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import TypeVar

from warpsight.toolchain.compile import shared_process
from warpsight.toolchain.nvrtc import NvrtcProcess

WORTH_A_PROCESS = 4  # texts: it takes two or three of them to start one
Item = TypeVar("Item")
Made = TypeVar("Made")
_more: list[NvrtcProcess] = []


def processes(count: int) -> list[NvrtcProcess]:
    """So many compiler processes, the shared one first. None is started before it is asked for something."""
    while len(_more) < count - 1:
        _more.append(NvrtcProcess())
    return [shared_process(), *_more[: count - 1]]


def compile_together(
    make: Callable[[Item, NvrtcProcess], Made], items: Sequence[Item], cores: int | None = None
) -> list[Made]:
    """What `make` gives for each item, with a process of its own for as long as it works on it."""
    count = max(1, min(cores or os.cpu_count() or 1, len(items) // WORTH_A_PROCESS))
    free = SimpleQueue[NvrtcProcess]()
    for process in processes(count):
        free.put(process)

    def one(item: Item) -> Made:
        process = free.get()
        try:
            return make(item, process)
        finally:
            free.put(process)

    if count == 1:
        return [one(item) for item in items]
    with ThreadPoolExecutor(count) as pool:
        try:
            return list(pool.map(one, items))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
