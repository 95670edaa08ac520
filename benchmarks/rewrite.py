"""How often does the rewrite for the right cause bring what removing the planted defect brings? On TRAIN families only.

Tasks are drawn as the corpus draws them. The right cause and its gain are measured (simulated times, truth.py); then
the rewrites for that cause are tried on the task's own text through the gate. `within 10 %` means: the rewritten kernel
is at least 0.9 times as fast as the one without the defect. Tasks whose right answer is `nothing` are left out.
"""

from __future__ import annotations

import itertools
import math
import statistics
import time
from collections import defaultdict
from typing import NamedTuple

from warpsight.tools.rewrite import search

from warpsight.corpus.kinds import NOTHING
from warpsight.corpus.specs import Spec, draw_specs, task_of
from warpsight.corpus.truth import BelowRoof, measure
from warpsight.tools.open import open_box

TASKS, SEED, RUN_SEED = 60, 1, 1
CLOSE = 0.9


class Outcome(NamedTuple):
    """What came of one task: the gain of the removal, that of the best rewrite (1 for none), how it was tried."""

    spec: Spec
    cause: str
    removal: float
    rewritten: float
    tried: int
    seconds: float

    @property
    def close(self) -> bool:
        return self.rewritten >= CLOSE * self.removal

    @property
    def share(self) -> float:
        """How much of the gain came back, as logarithms; more than all is all."""
        return min(max(math.log(self.rewritten) / math.log(self.removal), 0.0), 1.0)


def outcome_of(spec: Spec) -> Outcome | None:
    """The rewrites for the right cause of one task; None where nothing is to be done about it."""
    try:
        truth = measure(spec)
    except BelowRoof:
        return None
    cause = min(truth.right, key=lambda one: truth.without_us.get(one, math.inf))
    if cause == NOTHING:
        return None
    task = task_of(spec)
    box = open_box(task, gpu=spec.gpu, seed=RUN_SEED, cores=1)
    began = time.perf_counter()
    found = search(box.bench, task.kernel, cause)
    seconds = time.perf_counter() - began
    box.close()
    rewritten = 1.0 if found.winner is None else found.winner.ratio or 1.0
    return Outcome(spec, cause, truth.time_us / truth.without_us[cause], rewritten, len(found.tried), seconds)


def main(count: str = str(TASKS), seed: str = str(SEED)) -> None:
    outcomes: list[Outcome] = []
    for spec in itertools.islice(draw_specs(int(seed), "train"), int(count)):
        found = outcome_of(spec)
        if found is None:
            continue
        outcomes.append(found)
        print(
            f"{found.cause:18} {spec.family:15} removal {found.removal:6.2f}x  rewrite {found.rewritten:6.2f}x"
            f"  {'close' if found.close else '     '}  {found.tried} tried  {found.seconds:5.1f} s  {spec.key}",
            flush=True,
        )
    by_cause: dict[str, list[Outcome]] = defaultdict(list)
    for one in outcomes:
        by_cause[one.cause].append(one)
    print(f"\n{'cause':18} tasks  a rewrite helps  within 10 %  share of the gain")
    for cause, ones in sorted(by_cause.items(), key=lambda pair: -len(pair[1])):
        print(_row(cause, ones))
    print(_row("all", outcomes))
    print(f"median {statistics.median(one.seconds for one in outcomes):.1f} s a task, one core, times simulated")


def _row(name: str, ones: list[Outcome]) -> str:
    helps, close = sum(one.rewritten > 1 for one in ones), sum(one.close for one in ones)
    return f"{name:18} {len(ones):5}  {helps:15}  {close:11}  {statistics.mean(one.share for one in ones):17.2f}"
