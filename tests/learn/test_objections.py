"""An answer that does not fit what was tried is held against the model, a few times, with what it was shown alone."""

from __future__ import annotations

import pytest
from tests.reason.small_box import GOOD, SmallBox, job, turn

from warpsight.learn.objections import MOST_OBJECTIONS, objection_to
from warpsight.models.scripted import ScriptedModel
from warpsight.reason.budget import Budget
from warpsight.reason.loop import Done, Objects, run_loop
from warpsight.reason.replay import replay
from warpsight.runs.memory import MemoryStore
from warpsight.tools.box import ToolResult
from warpsight.tools.profile import Found, Profiled


def profiled(*findings: str, gain: float = 1.5) -> Done:
    found = [
        Found(name=name, message="", estimated_gain=gain, line=None, suggestion="", should_move={}) for name in findings
    ]
    shown = Profiled(kernel="0" * 8, profiled=True, findings=tuple(found))
    data = shown.model_dump(mode="json")
    return Done("profile", {}, ToolResult(text="", data=data))


def tried(cause: str, ratio: float | None = None) -> Done:
    return Done("rewrite", {"cause": cause}, ToolResult(text="", data={"ratio": ratio}))


REFUSED = Done("submit", {"cause": "nothing"}, ToolResult(text="", is_error=True))


@pytest.mark.parametrize(
    ("answer", "so_far", "said"),
    [
        ("nothing", (profiled(), tried("shared_hog", 1.5)), "shared_hog helped most: 1.50x"),
        ("spills", (profiled(), tried("shared_hog", 1.5), tried("spills")), "shared_hog helped most: 1.50x"),
        ("spills", (profiled(), tried("shared_hog", 1.1), tried("spills", 1.4)), ""),
        ("spills", (profiled(), tried("shared_hog", 1.41), tried("spills", 1.4)), ""),  # as good as the same
        ("shared_hog", (profiled(), tried("shared_hog", 1.1), tried("spills", 1.4)), "spills helped most: 1.40x"),
        ("nothing", (profiled("bank_conflicts"), tried("spills")), "not tried: bank_conflicts"),
        ("spills", (profiled("bank_conflicts"), tried("spills")), "not tried: bank_conflicts"),
        ("spills", (profiled("bank_conflicts"), tried("spills", 1.2)), ""),
        ("nothing", (profiled("bank_conflicts", gain=1.0), tried("spills")), ""),  # nothing to gain there
        ("nothing", (profiled("bank_conflicts"), tried("bank_conflicts")), ""),
        ("nothing", (profiled("at_roofline"), tried("spills")), ""),
        ("nothing", (), ""),
        ("nothing", (profiled("bank_conflicts"), *[REFUSED] * MOST_OBJECTIONS), ""),
    ],
)
def test_what_is_held_against_an_answer(answer: str, so_far: tuple[Done, ...], said: str) -> None:
    assert objection_to(answer, so_far, changed=False) == said


def test_a_kernel_that_the_model_changed_itself_may_be_handed_in() -> None:
    assert objection_to("spills", (profiled("bank_conflicts"),), changed=True) == ""
    assert objection_to("spills", (profiled("bank_conflicts"),), changed=False) != ""


class Objecting(SmallBox):
    """Wants every kernel timed before it is submitted."""

    def objection(self, name: str, arguments: object, so_far: list[Done]) -> str:
        timed = any(done.tool == "time" for done in so_far)
        return "not timed yet" if name == "submit" and not timed else ""


def test_a_box_may_object_and_the_run_goes_on_and_replays() -> None:
    store, box = MemoryStore(), Objecting()
    assert isinstance(box, Objects) and not isinstance(SmallBox(), Objects)
    early = turn("submit", cause="c")
    run = run_loop(job(), ScriptedModel((GOOD[0], early, turn("time"), early)), box, store)
    told = [step for step in run.steps if step.kind == "result" and step.is_error]
    assert run.outcome == "submitted" and [step.content.splitlines()[0] for step in told] == ["not timed yet"]
    assert box.called == ["profile", "time", "submit"] and replay(store, "r1").same
    assert transcript_of_resumed(early) == [step.content for step in run.steps]


def transcript_of_resumed(early: object) -> list[str]:
    """The same run, broken off after the objection and gone on with by a new box, which must know what was seen."""
    store = MemoryStore()
    turns = (GOOD[0], early, turn("time"), early)

    class Stops(Objecting):
        def call(self, name: str, arguments: object) -> ToolResult:
            if name == "submit":
                raise KeyboardInterrupt
            return super().call(name, arguments)  # pyright: ignore[reportArgumentType]

    assert run_loop(job(), ScriptedModel(turns), Stops(), store).outcome == "stopped"  # pyright: ignore[reportArgumentType]
    run = run_loop(job(), ScriptedModel(turns), Objecting(), store)  # pyright: ignore[reportArgumentType]
    assert run.outcome == "submitted"
    return [step.content for step in run.steps]


def test_nothing_is_held_against_the_last_turn() -> None:
    asked = job(budget=Budget(tool_calls=1))
    run = run_loop(asked, ScriptedModel((GOOD[0], turn("submit", cause="c"))), Objecting(), MemoryStore())
    assert run.outcome == "submitted"
