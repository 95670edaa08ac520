"""Rollouts an hour through the loop, and where their time goes: with the top finding followed (no model to run), and
with the model that ships where it can run. The tools' results are cold the first time and kept the second."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import JsonValue

from benchmarks.corpus import empty_cache
from warpsight.bench.rivals import open_rival
from warpsight.corpus.build import Row, read_rows
from warpsight.corpus.specs import plain_of, task_of
from warpsight.errors import WarpsightError
from warpsight.learn.prompting import Suite
from warpsight.learn.shipped import Shipped, find_shipped
from warpsight.learn.small_box import SmallBox, store
from warpsight.learn.traces import ask
from warpsight.models.model import Model, OnText, Reply, Request
from warpsight.tools.box import ToolResult

CORPUS = Path(__file__).parents[1] / "results" / "test.jsonl"
TASKS = 6


class TimedModel:
    """A model, and how long its replies took."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.name = model.name
        self.seconds = 0.0

    def reply(self, request: Request, on_text: OnText | None = None) -> Reply:
        started = time.perf_counter()
        try:
            return self._model.reply(request, on_text)
        finally:
            self.seconds += time.perf_counter() - started

    def close(self) -> None:
        self._model.close()


class TimedBox(SmallBox):
    """The tools, and how long their calls took."""

    seconds = 0.0

    def call(self, name: str, arguments: Mapping[str, JsonValue]) -> ToolResult:
        started = time.perf_counter()
        try:
            return super().call(name, arguments)
        finally:
            TimedBox.seconds += time.perf_counter() - started


def rollouts(what: str, rows: Sequence[Row], model: Model, suite: Suite, *, listed: bool) -> None:
    """All rows once, one after the other."""
    timed, TimedBox.seconds = TimedModel(model), 0.0
    started = time.perf_counter()
    for row in rows:
        box = TimedBox(task_of(row.spec), suite, "curated", listed=listed, plain=plain_of(row.spec))
        ask(row, box, timed, run_id=f"rollout-{row.number}", seed=0)
    whole = time.perf_counter() - started
    parts = {"model": timed.seconds, "tools": TimedBox.seconds, "loop": whole - timed.seconds - TimedBox.seconds}
    told = ", ".join(f"{name} {seconds / whole:.0%}" for name, seconds in parts.items())
    print(f"{what:44} {3600 * len(rows) / whole:8.0f} an hour   {told}", flush=True)


def open_shipped(shipped: Shipped) -> Model | None:
    """The model that ships, or None where it cannot run."""
    from warpsight.models.local import embedded_weights, open_local
    from warpsight.models.precision import fast_precision

    try:
        return open_local(shipped.weights or embedded_weights(), adapter=shipped.adapter, dtype=fast_precision())
    except WarpsightError as problem:
        print(f"the model that ships was not run: {problem.message}")
        return None


def main() -> None:
    rows = read_rows(CORPUS)[:TASKS]
    print(f"load average {os.getloadavg()[0]:.1f}; {len(rows)} held-out tasks, one conversation at a time")
    rival = open_rival("tries")
    shipped = find_shipped()
    model = None if shipped is None else open_shipped(shipped)
    with tempfile.TemporaryDirectory() as scratch, empty_cache(Path(scratch)):
        store.cache_clear()
        rollouts("findings tried in turn, tools cold", rows, rival, "optimize", listed=True)
        rollouts("findings tried in turn, results kept", rows, rival, "optimize", listed=True)
        if shipped is not None and model is not None:
            rollouts("the model that ships, what it asks first", rows, model, shipped.suite, listed=shipped.listed)
            rollouts("the model that ships, results kept", rows, model, shipped.suite, listed=shipped.listed)
