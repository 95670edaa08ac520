"""Rollouts an hour through the loop, and where their time goes: with `rival:tries` (no model to run: all that the
findings point at, and `any`, in one call of `rewrite`) and with the model that ships where it can run; then as
reinforcement asks, eight answers to a question at once. Tools are cold where it says so, else their results are kept.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import cast

from pydantic import JsonValue

from benchmarks.corpus import empty_cache
from warpsight.bench.rivals import open_rival
from warpsight.corpus.build import CorpusRow, read_rows
from warpsight.corpus.specs import plain_of, task_of
from warpsight.errors import WarpsightError
from warpsight.models.errors import ModelError
from warpsight.models.model import BatchModel, Model, OnText, Reply, Request
from warpsight.models.together import Together
from warpsight.short.ask import ask
from warpsight.short.box import SmallBox, store
from warpsight.short.prompting import Suite
from warpsight.short.shipped import Shipped, find_shipped
from warpsight.tools.box import ToolResult

RESULTS = Path(__file__).parents[1] / "results"
CORPUS, TRAIN = RESULTS / "test.jsonl", RESULTS / "train.jsonl"
TASKS = 3
GROUPS, GROUP, REPLY_TOKENS = 2, 8, 128  # as configs/rl.toml has it


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

    def reply_batch(self, requests: Sequence[Request]) -> tuple[Reply | ModelError, ...]:
        started = time.perf_counter()
        try:
            return cast(BatchModel, self._model).reply_batch(requests)
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


def rollouts(what: str, rows: Sequence[CorpusRow], model: Model, suite: Suite, *, listed: bool) -> float:
    """All rows once, one after the other; how many an hour."""
    timed, TimedBox.seconds = TimedModel(model), 0.0
    started = time.perf_counter()
    for row in rows:
        box = TimedBox(task_of(row.spec), suite, "curated", listed=listed, plain=plain_of(row.spec))
        ask(box, timed, run_id=f"rollout-{row.number}", seed=0)
    whole = time.perf_counter() - started
    parts = {"model": timed.seconds, "tools": TimedBox.seconds, "loop": whole - timed.seconds - TimedBox.seconds}
    tell(what, len(rows), whole, parts)
    return 3600 * len(rows) / whole


def groups(what: str, rows: Sequence[CorpusRow], model: Model, shipped: Shipped) -> None:
    """As reinforcement does it: the answers to a question are drawn and asked together."""
    timed, started = TimedModel(model), time.perf_counter()
    for row in rows:
        box = SmallBox(task_of(row.spec), shipped.suite, cores=os.cpu_count() or 1, listed=shipped.listed,
                       plain=plain_of(row.spec), by_plain=True, first_words=shipped.first_words)  # fmt: skip
        asked = partial(ask, box, temperature=1.0, seed=row.number, reply_tokens=REPLY_TOKENS)
        one = [lambda seat, name=f"group-{row.number}-{n}", asked=asked: asked(seat, run_id=name) for n in range(GROUP)]
        Together(timed).run(one)
    whole = time.perf_counter() - started
    tell(what, GROUP * len(rows), whole, {"model": timed.seconds, "tools and loop": whole - timed.seconds})


def tell(what: str, made: int, whole: float, parts: Mapping[str, float]) -> None:
    """One line: how many an hour, and what the time went to."""
    told = ", ".join(f"{name} {seconds / whole:.0%}" for name, seconds in parts.items())
    print(f"{what:44} {3600 * made / whole:8.0f} an hour   {told}", flush=True)


def open_shipped(shipped: Shipped) -> Model | None:
    """The model that ships, or None where it cannot run."""
    from warpsight.models.local import embedded_weights, open_local
    from warpsight.models.precision import fast_precision

    try:
        return open_local(shipped.weights or embedded_weights(), adapter=shipped.adapter, dtype=fast_precision())
    except WarpsightError as problem:
        print(f"the model that ships was not run: {problem.message}")
        return None


def main() -> dict[str, float]:
    rows = read_rows(CORPUS)[:TASKS]
    print(f"load average {os.getloadavg()[0]:.1f}; {len(rows)} held-out tasks, one conversation at a time;")
    print(f"then {GROUPS} training tasks, {GROUP} at a time")
    rival = open_rival("tries")
    shipped = find_shipped()
    model = None if shipped is None else open_shipped(shipped)
    with tempfile.TemporaryDirectory() as scratch, empty_cache(Path(scratch)):
        store.cache_clear()
        cold = rollouts("findings and any in one call, tools cold", rows, rival, "optimize", listed=True)
        rollouts("findings and any in one call, results kept", rows, rival, "optimize", listed=True)
        if shipped is not None and model is not None:
            rollouts("the model that ships, results kept", rows, model, shipped.suite, listed=shipped.listed)
            learned = sorted(read_rows(TRAIN), key=lambda row: row.truth.time_us)[:GROUPS]
            groups("the same, in groups of 8, tools cold", learned, model, shipped)
            groups("the same, in groups of 8, results kept", learned, model, shipped)
    return {"rollouts": cold}
