"""A budget of seconds is kept inside tool calls: what is at work ends at its next step, and it is said what was cut."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from pydantic import JsonValue
from tests.tools.kernels import UNPADDED, opened

from warpsight.models.scripted import ScriptedCall, ScriptedModel, ScriptedTurn
from warpsight.reason.budget import Budget
from warpsight.reason.job import Job, Opening
from warpsight.reason.loop import run_loop
from warpsight.reason.replay import replay
from warpsight.runs.sqlite import SqliteStore
from warpsight.session.until import OutOfTime, require_time, time_limit
from warpsight.tools.box import ToolResult, ToolSpec


class Clock:
    """Seconds that pass only when somebody works."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


class Steps:
    """A box whose tool works in ten steps of three seconds each."""

    def __init__(self, clock: Clock) -> None:
        self.clock, self.done = clock, 0

    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(ToolSpec(name=name, description="Works.") for name in ("work", "submit"))

    def call(self, name: str, arguments: Mapping[str, JsonValue]) -> ToolResult:
        for step in range(10):
            require_time(f"step {step}")
            self.clock.now += 3
            self.done += 1
        return ToolResult(text="done")


def job(tools: tuple[ToolSpec, ...], seconds: float) -> Job:
    opening = Opening(system="s", user="u", kernel="k")
    budget = Budget(seconds=seconds)
    return Job(id="r", task="t", model="m", device="virtual", opening=opening, tools=tools, budget=budget)


def model() -> ScriptedModel:
    return ScriptedModel([ScriptedTurn(text="again", calls=(ScriptedCall(name="work"),)) for _ in range(9)])


def test_a_call_ends_at_the_deadline_and_the_run_says_what_was_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", clock)
    box = Steps(clock)
    with SqliteStore(tmp_path) as store:
        run = run_loop(job(box.specs(), 25), model(), box, store, clock=clock)
        assert box.done == 9 and clock.now == 27, "the step that was begun is ended, and no other is begun"
        assert run.outcome == "budget_spent" and "a tool was cut off before step 9" in run.reason
        again = replay(store, run.id)
        assert again.same, "a run that was cut is the same when it is made again from its records"


def test_the_real_tools_stop_between_steps_and_keep_nothing_half() -> None:
    box = opened()
    try:
        with time_limit(0):
            for tool in ("compile", "check", "time", "profile"):
                found = box.call(tool, {"kernel": UNPADDED})
                assert found.is_error and "the seconds of this run are over" in found.text
        assert not box.call("compile", {"kernel": UNPADDED}).is_error, "what was cut can be asked for again"
    finally:
        box.close()


def test_limits_nest_and_end() -> None:
    with time_limit(None):
        require_time("a")
        with time_limit(0), contextlib.suppress(OutOfTime):
            require_time("b")
            raise AssertionError
        require_time("c")
