"""Who runs which attack. What is simulated runs on all cores; what is measured runs alone, after it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

from redteam.benches import run_bench
from redteam.entries import Attack
from redteam.hosts import run_worker
from redteam.kernels import Outcome, run_kernel
from redteam.stores import run_store
from redteam.strangers import run_stranger

RUNNERS: dict[str, Callable[[Attack], Outcome]] = {
    "virtual": run_kernel,
    "opencl": run_kernel,
    "worker": run_worker,
    "reference": run_stranger,
    "file": run_store,
    "kernelbench": run_bench,
}
MEASURED = ("opencl", "worker", "kernelbench")


def run_one(attack: Attack) -> Outcome:
    return RUNNERS[attack.device](attack)


def run_all(attacks: Sequence[Attack]) -> Iterator[Outcome]:
    """As they end. Processes are started anew, never forked: the core has threads."""
    alone = [attack for attack in attacks if attack.device in MEASURED]
    beside = [attack for attack in attacks if attack.device not in MEASURED]
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        yield from (done.result() for done in as_completed([pool.submit(run_one, attack) for attack in beside]))
    yield from map(run_one, alone)
