"""Strategies: attempts that share a budget, keep the best, tell the next what is known, and can be resumed."""

from __future__ import annotations

import functools
import re
from collections.abc import Generator, Sequence
from typing import Any

import pytest
from tests.reason.small_box import KERNEL, SmallBox, edit, job, turn

from warpsight.errors import UsageError
from warpsight.models.model import AssistantMessage, Request
from warpsight.models.scripted import ScriptedModel, ScriptedTurn
from warpsight.nouns.run import Run
from warpsight.reason.budget import Budget
from warpsight.reason.job import Job, Opening, Strategy
from warpsight.reason.loop import run_loop
from warpsight.reason.replay import replay
from warpsight.reason.strategies import largest_step, require_strategy, run_strategy
from warpsight.runs.memory import MemoryStore


def halve(request: Request) -> ScriptedTurn:
    """Time the kernel with half its stride, then submit that."""
    if any(isinstance(message, AssistantMessage) for message in request.messages):
        return turn("submit", cause="c")
    found = re.search(r"stride = (\d+)", request.messages[1].text)
    assert found is not None
    return turn("time", edits=edit(found[0], f"stride = {max(1, int(found[1]) // 2)}"))


def by_seed(request: Request) -> ScriptedTurn:
    """Another stride for every seed."""
    if any(isinstance(message, AssistantMessage) for message in request.messages):
        return turn("submit", cause="c")
    return turn("time", edits=edit("stride = 32", f"stride = {(16, 2, 4)[request.seed or 0]}"))


def open_with(kernel: str, note: str) -> Opening:
    return Opening(system="s", user=f"{note}\n{kernel}", kernel=kernel)


def run_with(script: object, asked: Job, store: MemoryStore, box: SmallBox) -> Run:
    model = ScriptedModel(script)  # type: ignore[arg-type]
    return run_strategy(asked, functools.partial(run_loop, model=model, tools=box, store=store), open_with, store)


def ratio(run: Run) -> float:
    assert run.best is not None and run.best.timing is not None and run.best.timing.ratio is not None
    return round(run.best.timing.ratio, 2)


def start(stride: int, **changes: Any) -> Job:
    kernel = KERNEL.replace("stride = 32", f"stride = {stride}")
    return job(opening=open_with(kernel, ""), **changes)


def test_single_is_one_run() -> None:
    store, box = MemoryStore(), SmallBox()
    run = run_with(halve, job(), store, box)
    assert run.steps and len(store.list_runs()) == 1


def test_refine_goes_on_from_the_best_until_a_round_gains_nothing() -> None:
    store, box = MemoryStore(), SmallBox()
    asked = start(8, strategy=Strategy(name="refine", attempts=9), budget=Budget(tool_calls=20))
    run = run_with(halve, asked, store, box)
    rounds = [store.read(f"r1.{number}") for number in range(1, len(store.list_runs()))]
    assert [ratio(r) for r in rounds] == [1.8, 3.0, 4.5, 4.5], "strides 4, 2, 1 and 1 again, which gains nothing"
    assert run.outcome == "submitted" and ratio(run) == 4.5 and run.reason.endswith("is r1.3")
    assert run.spent.tool_calls == 4 and run.steps == () and {r.parent for r in rounds} == {"r1"}
    note = rounds[1].steps[1].content
    assert "1.80x as fast" in note and "limited by uncoalesced now: profile it again" in note
    assert "still limited by uncoalesced" in rounds[2].steps[1].content
    assert "limited by at_roofline now" in rounds[3].steps[1].content
    assert rounds[1].job["budget"] == Budget(tool_calls=19).model_dump()
    assert replay(store, "r1").same


def test_of_several_rounds_the_largest_step_is_known() -> None:
    store = MemoryStore()
    asked = start(8, strategy=Strategy(name="refine", attempts=9), budget=Budget(tool_calls=20))
    run_with(halve, asked, store, SmallBox())
    rounds = [store.read(f"r1.{number}") for number in range(1, 5)]
    assert largest_step(rounds).id == "r1.1", "1.8 is more than 3.0 / 1.8 and 4.5 / 3.0"
    assert largest_step([rounds[0].model_copy(update={"submitted": None}), *rounds[1:]]).id == "r1.2"
    nothing = [one.model_copy(update={"submitted": None}) for one in rounds]
    assert largest_step(nothing).id == "r1.1", "where nothing gained, what was said first"


def test_refine_stops_at_the_roofline_and_when_the_budget_is_spent() -> None:
    refine = Strategy(name="refine", attempts=9)
    store = MemoryStore()
    run = run_with(halve, start(4, strategy=refine, enough_gain=1.05), store, SmallBox())
    assert run.outcome == "submitted" and ratio(run) == 4.5
    assert [ratio(store.read(f"r1.{n}")) for n in range(1, len(store.list_runs()))][-1] == 4.5, "none after the roof"
    run = run_with(halve, start(8, strategy=refine, budget=Budget(tool_calls=2)), MemoryStore(), SmallBox())
    assert ratio(run) == 3.0 and run.spent.tool_calls == 2


def test_best_of_n_takes_the_fastest() -> None:
    store, box = MemoryStore(), SmallBox()
    asked = job(strategy=Strategy(name="best-of-n", attempts=3), seed=0, budget=Budget(tool_calls=9))
    require_strategy(asked)
    run = run_with(by_seed, asked, store, box)
    assert [ratio(store.read(f"r1.{n}")) if store.read(f"r1.{n}").best else 1.0 for n in (1, 2, 3)] == [1.0, 3.0, 1.8]
    assert ratio(run) == 3.0 and run.reason == "the best of 3 attempts is r1.2"
    assert store.read("r1.1").job["budget"] == Budget(tool_calls=3).model_dump()
    with pytest.raises(UsageError, match="neither a seed nor a temperature"):
        require_strategy(job(strategy=Strategy(name="best-of-n")))


def test_beam_keeps_the_fastest_few_and_takes_them_further() -> None:
    store, box = MemoryStore(), SmallBox()
    asked = start(8, strategy=Strategy(name="beam", attempts=3, width=2), budget=Budget(tool_calls=40), seed=0)
    run = run_with(halve, asked, store, box)
    # Both attempts of the first level find the same kernel, so one is kept; then it and the next: 2 + 2 + 4 attempts.
    found = [ratio(store.read(f"r1.{n}")) for n in range(1, 9)]
    assert found == [1.8, 1.8, 3.0, 3.0, 4.5, 4.5, 3.0, 3.0]
    assert len(store.list_runs()) == 9 and ratio(run) == 4.5 and replay(store, "r1").same


def test_a_group_that_was_interrupted_goes_on_and_repeats_nothing() -> None:
    class Interrupted(SmallBox):
        def call(self, name: str, arguments: object) -> object:  # type: ignore[override]
            if len(self.called) == 3:
                self.called.append("interrupted")
                raise KeyboardInterrupt
            return super().call(name, arguments)  # type: ignore[arg-type]

    store, box = MemoryStore(), Interrupted()
    asked = start(8, strategy=Strategy(name="refine", attempts=9), budget=Budget(tool_calls=20))
    run = run_with(halve, asked, store, box)
    assert run.outcome == "stopped" and run.reason == "r1.2: interrupted" and ratio(run) == 3.0
    assert replay(store, "r1").same
    run = run_with(halve, asked, store, box)
    assert run.outcome == "submitted" and ratio(run) == 4.5
    assert box.called == ["time", "submit", "time", "interrupted", *["submit"], *["time", "submit"] * 2]
    assert run_with(halve, asked, store, box) == run and len(box.called) == 9


def test_attempts_made_elsewhere_give_what_one_after_the_other_gives() -> None:
    """Here they are made in the order of their ends; the strategies take them in their own order."""
    one, many = MemoryStore(), MemoryStore()
    asked = start(8, strategy=Strategy(name="beam", attempts=3, width=2), budget=Budget(tool_calls=40), seed=0)
    expected = run_with(halve, asked, one, SmallBox())
    sizes = list[int]()
    attempt = functools.partial(run_loop, model=ScriptedModel(halve), tools=SmallBox(), store=many)

    def at_once(jobs: Sequence[Job]) -> Generator[Run]:
        sizes.append(len(jobs))
        made = {child.id: attempt(child) for child in reversed(jobs)}
        for child in jobs:
            yield made[child.id]

    found = run_strategy(asked, attempt, open_with, many, at_once)
    assert sizes == [2, 2, 4]
    assert ratio(found) == ratio(expected) and found.outcome == expected.outcome and found.reason == expected.reason


def test_what_comes_after_an_attempt_that_ends_all_is_given_up() -> None:
    store, given_up = MemoryStore(), list[str]()
    asked = start(4, strategy=Strategy(name="best-of-n", attempts=3), seed=0, enough_gain=1.05)
    attempt = functools.partial(run_loop, model=ScriptedModel(halve), tools=SmallBox(), store=store)

    def at_once(jobs: Sequence[Job]) -> Generator[Run]:
        try:
            for number, child in enumerate(jobs):
                run = attempt(child)
                yield run.model_copy(update={"outcome": "at_roofline"}) if number == 1 else run
        finally:
            given_up.append("closed")

    run_strategy(asked, attempt, open_with, store, at_once)
    assert given_up == ["closed"] and len(store.list_runs(parent="r1")) == 2
