"""Outcomes to look at: rivals put to real small tasks through the real loop and tools, and a training's log."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import NamedTuple

from tests.learn.rows import some_rows

from warpsight.bench.suite import BenchPlan, run_bench
from warpsight.session.feedback import Feedback

FOLLOWER, DRAWER = "rival:top-finding", "rival:random"


class Made(NamedTuple):
    """Where everything is."""

    corpus: Path
    outcomes: Path
    runs: Path
    training: Path


def make_bench(folder: Path) -> Made:
    """A rival that looks, with five kinds of feedback, and one that draws; six tasks of three families."""
    made = Made(folder / "rows.jsonl", folder / "out.jsonl", folder / "failed", folder / "sft-small")
    made.corpus.write_text("".join(row.model_dump_json() + "\n" for row in some_rows()))
    asked: tuple[tuple[str, tuple[Feedback, ...]], ...] = (
        (FOLLOWER, ("none", "time", "raw", "curated", "wrong")),
        (DRAWER, ("curated",)),
    )
    for model, feedback in asked:
        plan = BenchPlan(made.corpus, "recommend", model, feedback, allow_train=True, keep=made.runs)
        run_bench(plan, made.outcomes)
    made.training.mkdir()
    rows = [{"step": step, "loss": 2 * math.exp(-step / 40), "reward": step / 100 - 0.5} for step in range(0, 101, 5)]
    (made.training / "curves.json").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return made
