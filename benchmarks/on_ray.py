"""What Ray costs beside processes of the same machine: units an hour, and overhead a unit.

Each arm does the same units on as many workers. The first units start the workers and are left out. Processor time is
that of this process and all below it, which on a machine with other work says more than the clock; `by the clock` is
told too, for a machine that is quiet. `empty` units do nothing, so all of their time is overhead. `tasks` are tasks of
a corpus, each arm with an empty cache of its own: what a unit really is.
"""

from __future__ import annotations

import contextlib
import os
import resource
import tempfile
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path

from warpsight.corpus.build import build_corpus
from warpsight.processes.executor import Executor, executor_for

WORKERS = 2
WARM_EMPTY, EMPTY = 50, 2000
WARM_TASKS, TASKS = 4, 24
ARMS: dict[str, Callable[[], Executor]] = {
    "processes": lambda: executor_for("processes", WORKERS),
    "ray": lambda: executor_for("ray"),
}


@dataclass(frozen=True)
class Clocks:
    """Both clocks at one moment."""

    cpu_s: float
    wall_s: float

    @staticmethod
    def now() -> Clocks:
        own = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return Clocks(sum(one.ru_utime + one.ru_stime for one in own) + cpu_below(os.getpid()), time.perf_counter())


@dataclass(frozen=True)
class Cost:
    """Of `units` units."""

    units: int
    cpu_s: float
    wall_s: float

    def each_ms(self) -> str:
        cpu_ms, wall_ms = (1e3 * seconds / self.units for seconds in (self.cpu_s, self.wall_s))
        return f"{cpu_ms:8.2f} ms of the processor, {wall_ms:8.2f} by the clock"


def cpu_below(pid: int) -> float:
    """Seconds of all live processes below, with those of their children that have ended."""
    found = 0.0
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in map(int, file.read_text().split()):
                words = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
                found += sum(map(int, words[11:15])) / os.sysconf("SC_CLK_TCK") + cpu_below(child)
    return found


def nothing(number: int) -> int:
    return number


def empty_units(executor: Executor) -> Cost:
    before = last = Clocks.now()
    for done, _ in enumerate(executor.run(nothing, range(WARM_EMPTY + EMPTY)), 1):
        if done == WARM_EMPTY:
            before = Clocks.now()
        if done == WARM_EMPTY + EMPTY:
            last = Clocks.now()
    return Cost(EMPTY, last.cpu_s - before.cpu_s, last.wall_s - before.wall_s)


def corpus_tasks(executor: Executor, count: int) -> Cost:
    marks: dict[int, Clocks] = {}

    def note(done: int, _all: int) -> None:
        marks[done] = Clocks.now()

    with tempfile.TemporaryDirectory() as scratch, cache_at(Path(scratch) / "cache"):
        build_corpus(Path(scratch) / "tasks.jsonl", seed=11, split="train", count=WARM_TASKS + count,
                     executor=executor, progress=note)  # fmt: skip
    before, last = marks[WARM_TASKS], marks[WARM_TASKS + count]
    return Cost(count, last.cpu_s - before.cpu_s, last.wall_s - before.wall_s)


@contextlib.contextmanager
def cache_at(folder: Path) -> Generator[None]:
    earlier = os.environ.get("WARPSIGHT_CACHE")
    os.environ["WARPSIGHT_CACHE"] = str(folder)
    try:
        yield
    finally:
        os.environ.pop("WARPSIGHT_CACHE")
        if earlier is not None:
            os.environ["WARPSIGHT_CACHE"] = earlier


def main(argument: str = "") -> dict[str, float]:
    given = {word.partition("=")[0]: word.partition("=")[2] for word in argument.split(",") if word}
    count = int(given.get("count", TASKS))
    print(f"load average {os.getloadavg()[0]:.1f}; {WORKERS} workers")
    empty, tasks = dict[str, Cost](), dict[str, Cost]()
    for name, make in ARMS.items():
        empty[name] = empty_units(make())
        print(f"{name:10} empty units: {empty[name].each_ms()} (n={EMPTY})", flush=True)
    for name, make in ARMS.items():
        tasks[name] = corpus_tasks(make(), count)
        print(f"{name:10} tasks:       {tasks[name].each_ms()} (n={count})", flush=True)
    by_cpu = tasks["processes"].cpu_s / tasks["ray"].cpu_s
    by_clock = tasks["processes"].wall_s / tasks["ray"].wall_s
    more = 1e3 * (empty["ray"].cpu_s - empty["processes"].cpu_s) / EMPTY
    print(f"Ray does {by_cpu:.1%} of the tasks of processes for the same processor time, {by_clock:.1%} by the clock")
    print(f"overhead of a unit on Ray over one in a process: {more:.2f} ms of the processor")
    return {"efficiency": by_cpu, "overhead_ms": more}
