"""How often does the rewrite for the right cause bring what removing the planted defect brings? On TRAIN families only.

Tasks are drawn as the corpus draws them. The right cause and its gain are measured (simulated times, truth.py); then
the rewrites for that cause are tried on the task's own text through the gate. `within 10 %` means: the rewritten kernel
is at least 0.9 times as fast as the one without the defect. Tasks whose right answer is `nothing` are left out. With a
corpus file (`rewrite:train.jsonl`) its tasks of at most 50 us are taken, since checking longer ones takes long, with
their truths, in an order drawn from a seed. Ctrl-C ends it with the table of what is done.
"""

from __future__ import annotations

import itertools
import json
import math
import random
import statistics
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from warpsight.causes import NOTHING
from warpsight.corpus.families import families
from warpsight.corpus.specs import Spec, draw_specs, task_of
from warpsight.corpus.truth import BelowRoof, Truth, measure
from warpsight.session.search import search
from warpsight.tools.open import open_box

TASKS, SEED, RUN_SEED = 60, 1, 1
CLOSE = 0.9
LONGEST_US = 50.0


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


def outcome_of(spec: Spec, truth: Truth) -> Outcome | None:
    """The rewrites for the right cause of one task; None where nothing is to be done about it."""
    cause = min(truth.right, key=lambda one: truth.without_us.get(one, math.inf))
    if cause == NOTHING:
        return None
    task = task_of(spec)
    box = open_box(task, gpu=spec.gpu, seed=RUN_SEED, cores=1)
    began = time.perf_counter()
    found = search(box.session, task.kernel, cause)
    seconds = time.perf_counter() - began
    box.close()
    rewritten = 1.0 if found.winner is None else found.winner.ratio or 1.0
    return Outcome(spec, cause, truth.time_us / truth.without_us[cause], rewritten, len(found.tried), seconds)


def drawn(count: int) -> Iterator[tuple[Spec, Truth]]:
    """Tasks as the corpus draws them, and their truths, measured here."""
    for spec in itertools.islice(draw_specs(SEED, "train"), count):
        try:
            yield spec, measure(spec)
        except BelowRoof:
            continue


def of_file(file: Path) -> Iterator[tuple[Spec, Truth]]:
    """The tasks of a corpus file; those of test families are never looked at here."""
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    rows = [row for row in rows if families()[row["spec"]["family"]].split == "train"]
    rows = [row for row in rows if row["truth"]["time_us"] <= LONGEST_US]
    random.Random(f"rewrite {SEED}").shuffle(rows)
    for row in rows[:TASKS]:
        yield Spec.model_validate(row["spec"]), Truth.model_validate(row["truth"])


def main(which: str = str(TASKS)) -> None:
    outcomes: list[Outcome] = []
    try:
        for spec, truth in drawn(int(which)) if which.isdecimal() else of_file(Path(which)):
            found = outcome_of(spec, truth)
            if found is not None:
                outcomes.append(found)
                print(_line(found), flush=True)
    except KeyboardInterrupt:
        print("interrupted: the table is of what is done")
    by_cause: dict[str, list[Outcome]] = defaultdict(list)
    for one in outcomes:
        by_cause[one.cause].append(one)
    print(f"\n{'cause':18} tasks  a rewrite helps  within 10 %  share of the gain")
    for cause, ones in sorted(by_cause.items(), key=lambda pair: (-len(pair[1]), pair[0])):
        print(_row(cause, ones))
    if outcomes:
        print(_row("all", outcomes))
        print(f"median {statistics.median(one.seconds for one in outcomes):.1f} s a task, one core, times simulated")


def _line(one: Outcome) -> str:
    told = f"{one.cause:18} {one.spec.family:15} removal {one.removal:6.2f}x  rewrite {one.rewritten:6.2f}x"
    return f"{told}  {'close' if one.close else '     '}  {one.tried} tried  {one.seconds:5.1f} s  {one.spec.key}"


def _row(name: str, ones: list[Outcome]) -> str:
    helps, close = sum(one.rewritten > 1 for one in ones), sum(one.close for one in ones)
    return f"{name:18} {len(ones):5}  {helps:15}  {close:11}  {statistics.mean(one.share for one in ones):17.2f}"
