"""The loop from the first word to every way it can end, with a scripted model and small real tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Never

import pytest
from pydantic import JsonValue
from pydantic_core import PydanticSerializationError
from tests.models.server import Answer as HttpAnswer
from tests.models.server import Server, events
from tests.reason.small_box import GOOD, KERNEL, SPECS, SmallBox, edit, job, stride, turn

from warpsight.errors import BrokenMachine, TaskError, UsageError
from warpsight.models.model import AssistantMessage, Request, ToolMessage, UserMessage
from warpsight.models.open import open_model
from warpsight.models.scripted import ScriptedCall, ScriptedModel, ScriptedTurn
from warpsight.nouns.run import Run
from warpsight.reason.budget import Budget
from warpsight.reason.job import Job
from warpsight.reason.journal import RunJournal
from warpsight.reason.loop import run_loop
from warpsight.reason.predictions import accuracy
from warpsight.reason.replay import replay
from warpsight.reason.transcript import transcript_bytes
from warpsight.runs.memory import MemoryStore
from warpsight.runs.sqlite import SqliteStore
from warpsight.tools.box import ToolResult, ToolSpec

Turns = tuple[ScriptedTurn | str, ...]


def play(*turns: ScriptedTurn | str, asked: Job | None = None, box: SmallBox | None = None) -> Run:
    """A run in memory, which must also replay to the byte."""
    asked = asked or job()
    store = MemoryStore()
    run = run_loop(asked, ScriptedModel(turns), box or SmallBox(), store)
    again = replay(store, asked.id)
    assert again.same, again
    return run


def results(run: Run) -> list[str]:
    return [step.content for step in run.steps if step.kind == "result"]


def test_a_slow_kernel_becomes_a_fast_one() -> None:
    run = play(*GOOD)
    assert run.outcome == "submitted" and run.submitted is not None and run.submitted.timing is not None
    assert run.submitted.timing.ratio == 4.5 and run.best == run.submitted
    assert [step.kind for step in run.steps[:6]] == ["system", "user", "assistant", "call", "result", "assistant"]
    assert results(run)[0] == "1.00x (simulated), uncoalesced\n[budget left: 39 tool calls]"
    assert run.submission is not None and run.submission.cause == "uncoalesced reads at line 3"
    assert [(p.verdict, p.before, p.after) for p in run.submission.predictions] == [("right", 32.0, 4.0)]
    assert accuracy([run.submission, None]) == (1, 1)
    assert run.spent.tool_calls == 5, "a submission is not charged"


def test_the_kernel_and_full_profiles_are_artefacts(tmp_path: Path) -> None:
    with SqliteStore(tmp_path) as store:
        run = run_loop(job(), ScriptedModel(GOOD), SmallBox(), store)
        assert run.submitted is not None
        assert store.get(run.submitted.candidate_sha256).decode() == KERNEL.replace("stride = 32", "stride = 1")
        (full,) = run.steps[4].artefacts
        assert b"sectors_per_request" in store.get(full)


def test_provider_messages_go_back_verbatim_and_results_follow_their_calls() -> None:
    seen: list[Request] = []

    def script(request: Request) -> ScriptedTurn:
        seen.append(request)
        return GOOD[sum(isinstance(m, AssistantMessage) for m in request.messages)]

    run = run_loop(job(), ScriptedModel(script), SmallBox(), MemoryStore())
    sent = seen[-1].messages
    turns = [message for message in sent if isinstance(message, AssistantMessage)]
    steps = [step for step in run.steps if step.kind == "assistant"]
    assert [message.raw for message in turns] == [step.raw for step in steps[:-1]]
    assert [type(message) for message in sent[2:6]] == [AssistantMessage, ToolMessage] * 2
    assert {spec.name for spec in seen[0].tools} == {spec.name for spec in SPECS}


def test_several_calls_of_one_turn_are_answered_in_order() -> None:
    calls = (
        ScriptedCall(name="check", arguments={}),
        ScriptedCall(name="rm", arguments={}),
        ScriptedCall(name="wait", arguments={"milliseconds": 0}),
    )
    box = SmallBox()
    run = play(ScriptedTurn(calls=calls), GOOD[-1], box=box)
    assert box.called == ["check", "wait", "submit"]
    said = results(run)
    assert said[0].startswith("right") and said[1].startswith("error: no tool 'rm'; the tools are check, time")
    assert said[2].startswith("worked 0 ms")
    assert [s.call_id for s in run.steps if s.kind == "call"] == [s.call_id for s in run.steps if s.kind == "result"]


def test_a_call_id_that_comes_twice_is_run_and_answered_once() -> None:
    twice = tuple(ScriptedCall(name="wait", arguments={"milliseconds": 0}, id="same") for _ in range(2))
    box = SmallBox()
    run = play(ScriptedTurn(calls=twice), GOOD[-1], box=box)
    assert box.called == ["wait", "submit"] and run.spent.tool_calls == 1
    assert [step.call_id for step in run.steps if step.kind == "result"][:1] == ["same"]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (ScriptedCall(name="shell", arguments={"command": "ls"}), "no tool 'shell'"),
        (ScriptedCall(name="check", arguments="{not json"), "are not JSON"),
        (ScriptedCall(name="check", arguments='{"kernel": "a", "kernel": "b"}'), "given twice"),
        (ScriptedCall(name="check", arguments="[1]"), "expected a JSON object"),
        (ScriptedCall(name="check", arguments={"kernel": 3}), "kernel: expected string, found 3"),
        (ScriptedCall(name="check", arguments={"kernl": "x"}), "kernl: not known here; known are kernel"),
        (ScriptedCall(name="wait", arguments={}), "milliseconds: required"),
        (ScriptedCall(name="wait", arguments={"milliseconds": True}), "expected integer, found true"),
        (ScriptedCall(name="wait", arguments={"milliseconds": 51}), "at most 50"),
        (ScriptedCall(name="wait", arguments='{"milliseconds": NaN}'), "NaN is not JSON"),
        (ScriptedCall(name="check", arguments={"edits": edit("nothing like it", "x")}), "does not occur"),
        (ScriptedCall(name="check", arguments={"edits": edit(" = ", " = ")}), "occurs 2 times (lines 3, 4)"),
        (ScriptedCall(name="check", arguments={"kernel": "x", "edits": stride(32, 1)}), "not both"),
        (ScriptedCall(name="submit", arguments={"cause": "c", "predicts": {"x": "left"}}), "predicts.x: expected one"),
    ],
)
def test_a_bad_call_is_told_and_nothing_is_run(call: ScriptedCall, said: str) -> None:
    box = SmallBox()
    run = play(ScriptedTurn(calls=(call,)), GOOD[-1], box=box)
    assert said in results(run)[0] and results(run)[0].startswith("error: ")
    assert box.called == ["submit"] and run.outcome == "submitted"


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("I think it is fine.", "made no call"),
        (ScriptedTurn(text="", stop_reason="end"), "was empty"),
        (ScriptedTurn(text="The kernel is", stop_reason="length"), "was cut"),
        (ScriptedTurn(text="No.", stop_reason="refused"), "declined"),
        ("<tool_call>{broken</tool_call>", "could not be read"),
        (ScriptedTurn(fails="empty", calls=GOOD[-1].calls), "fails with `empty`"),
        (ScriptedTurn(fails="cut", calls=GOOD[-1].calls), "fails with `cut`"),
    ],
)
def test_an_unusable_reply_is_told(reply: ScriptedTurn | str, said: str) -> None:
    run = play(reply, GOOD[-1])
    told = [step.content for step in run.steps if step.kind == "user"][1]
    assert said in told and "[budget left: 40 tool calls]" in told and run.outcome == "submitted"


def test_it_is_told_at_most_n_times_in_a_row() -> None:
    run = play(*["nothing to call"] * 3, GOOD[0], *["nothing to call"] * 4)
    assert run.outcome == "gave_up" and "4 unusable replies in a row" in run.reason
    wrong = ScriptedTurn(calls=(ScriptedCall(name="nope"),))
    assert play(wrong, wrong, asked=job(max_problems=1)).outcome == "gave_up"


def test_only_a_submission_is_left_when_the_tool_calls_are_spent() -> None:
    few = job(budget=Budget(tool_calls=1))
    box = SmallBox()
    run = play(GOOD[0], GOOD[-1], asked=few, box=box)
    assert run.outcome == "submitted" and results(run)[0].endswith("[budget left: 0 tool calls]")
    box = SmallBox()
    run = play(GOOD[0], turn("check"), asked=few, box=box)
    assert box.called == ["profile"] and "only submit is" in results(run)[1]
    assert (run.outcome, run.reason) == ("budget_spent", "1 tool calls are spent")


def test_tokens_seconds_and_cost_end_a_run() -> None:
    spending = tuple(t.model_copy(update={"input_tokens": 60, "output_tokens": 20}) for t in GOOD)
    run = play(*spending, asked=job(budget=Budget(tool_calls=None, tokens=100)))
    assert (run.outcome, run.reason) == ("budget_spent", "160 of 100 tokens are spent")
    assert results(run)[0].endswith("[budget left: 20 tokens]")
    ticks = iter(range(0, 1000, 7))
    timed = job(budget=Budget(tool_calls=None, seconds=20))
    store = MemoryStore()
    run = run_loop(timed, ScriptedModel(GOOD), SmallBox(), store, clock=lambda: float(next(ticks)))
    assert run.outcome == "budget_spent" and run.reason == "28 of 20 seconds are spent"
    assert results(run) == ["1.00x (simulated), uncoalesced\n[budget left: 6 s]", "right\n[budget left: 0 s]"]
    assert replay(store, "r1").same, "the seconds are those recorded, whatever the clock says now"


@pytest.mark.parametrize("budget", [Budget(tokens=1000), Budget(cost_usd=1.0)])
def test_a_budget_that_cannot_be_held_is_refused(budget: Budget) -> None:
    run = play(*GOOD, asked=job(budget=budget))
    assert run.outcome == "broken" and "budget" in run.reason


def test_it_stops_near_the_roofline_with_the_best_kernel() -> None:
    near = (*GOOD[:4], turn("time", edits=stride(4, 1)))
    run = play(*near, turn("profile"), asked=job(enough_gain=1.05))
    assert run.outcome == "at_roofline" and "1.000x" in run.reason
    assert "only submit is left" in results(run)[-1]
    assert run.submitted is None and run.best is not None and run.best.timing is not None
    assert run.best.timing.ratio == 4.5
    run = play(*near, turn("submit", base="best", cause="uncoalesced loads"), asked=job(enough_gain=1.05))
    assert run.outcome == "submitted" and run.submission is not None


def test_edits_build_on_the_kernel_that_was_chosen() -> None:
    run = play(
        turn("time", edits=stride(32, 4)),
        turn("time", edits=stride(4, 64)),
        turn("time", base="best", edits=edit("unroll = 1", "unroll = 2")),
        turn("time", base="original"),
        turn("submit", base="best", cause="c"),
    )
    assert [line.split("x")[0] for line in results(run)] == ["1.80", "1.00", "1.80", "1.00", "1.80"]


def test_a_wrong_submission_is_a_result() -> None:
    run = play(turn("submit", kernel="nothing", cause="c", predicts={"sectors_per_request": "down"}))
    assert run.outcome == "submitted" and run.submitted is not None and run.submitted.check.verdict == "wrong"
    assert run.best is None and run.submission is not None
    assert [p.verdict for p in run.submission.predictions] == ["unknown"]


class Fails(SmallBox):
    """A box whose check raises, the first time."""

    def __init__(self, problem: Callable[[], BaseException]) -> None:
        super().__init__()
        self.problem: Callable[[], BaseException] | None = problem

    def call(self, name: str, arguments: Mapping[str, JsonValue]) -> ToolResult:
        if name == "check" and self.problem is not None:
            problem, self.problem = self.problem, None
            raise problem()
        return super().call(name, arguments)


def test_a_tool_that_says_the_kernel_is_wrong_by_an_error_is_told() -> None:
    problem = TaskError(file="candidate", key="launch", expected="a launch line", found="none")
    run = play(GOOD[1], *GOOD[1:], box=Fails(lambda: problem))
    assert results(run)[0].startswith("error: candidate: launch: expected a launch line, found none")
    assert run.outcome == "submitted"


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        (KeyboardInterrupt, "interrupted"),
        (lambda: PydanticSerializationError("Error serializing to JSON: KeyboardInterrupt: "), "interrupted"),
        (lambda: BrokenMachine("the disk is full"), "BrokenMachine: the disk is full"),
    ],
)
def test_what_is_not_the_models_fault_stops_and_resumes(problem: Callable[[], BaseException], reason: str) -> None:
    store, box = MemoryStore(), Fails(problem)
    run = run_loop(job(), ScriptedModel(GOOD), box, store)
    assert (run.outcome, run.reason) == ("stopped", reason) and replay(store, "r1").same
    again = run_loop(job(), ScriptedModel(GOOD), box, store)
    assert again.outcome == "submitted" and box.called.count("profile") == 2
    assert transcript_bytes(again.steps) == transcript_bytes(play(*GOOD).steps)


def test_a_call_that_was_recorded_is_counted_also_if_an_interrupt_comes_at_that_moment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = RunJournal.result

    def interrupted(self: RunJournal, *given: Any, **named: Any) -> Never:
        whole(self, *given, **named)
        raise KeyboardInterrupt

    monkeypatch.setattr(RunJournal, "result", interrupted)
    run = run_loop(job(), ScriptedModel(GOOD), SmallBox(), MemoryStore())
    assert (run.outcome, run.spent.tool_calls) == ("stopped", 1)


def test_a_model_that_cannot_be_had_stops_and_resumes() -> None:
    turns = (*GOOD[:2], GOOD[2].model_copy(update={"fails": "unavailable"}), *GOOD[3:])
    store, model, box = MemoryStore(), ScriptedModel(turns), SmallBox()
    run = run_loop(job(), model, box, store)
    assert run.outcome == "stopped" and run.reason.startswith("ModelUnavailable")
    assert run_loop(job(), model, box, store).outcome == "submitted"
    assert box.called == ["profile", "check", "time", "profile", "check", "submit"]


def test_an_unforeseen_error_is_raised_and_the_run_can_go_on() -> None:
    store, box = MemoryStore(), Fails(lambda: ZeroDivisionError("ours"))
    with pytest.raises(ZeroDivisionError):
        run_loop(job(), ScriptedModel(GOOD), box, store)
    assert store.read("r1").outcome == "stopped"
    assert run_loop(job(), ScriptedModel(GOOD), box, store).outcome == "submitted"


def test_a_run_that_has_ended_is_returned_as_it_is() -> None:
    store, box = MemoryStore(), SmallBox()
    first = run_loop(job(), ScriptedModel(GOOD), box, store)
    again = run_loop(job(), ScriptedModel(()), box, store)
    assert again == first and len(box.called) == 6


def test_a_box_without_a_tool_of_the_job_is_refused() -> None:
    odd = ToolSpec(name="odd", description="", parameters={"type": "object", "oneOf": []})
    with pytest.raises(UsageError, match="lacks odd"):
        run_loop(job(tools=(*SPECS, odd)), ScriptedModel(GOOD), SmallBox(), MemoryStore())
    spec = SPECS[0].model_copy(update={"parameters": {"type": "object", "oneOf": []}})
    with pytest.raises(UsageError, match="oneOf"):
        run_loop(job(tools=(spec, *SPECS[1:])), ScriptedModel(GOOD), SmallBox(), MemoryStore())


def test_calls_inside_the_text() -> None:
    """The second way of calling: what follows the first call is cut off, and results come in tags."""
    seen: list[Request] = []
    texts = [
        'Look. <tool_call>{"name": "profile", "arguments": {}}</tool_call><tool_response>made up</tool_response>',
        'Now <tool_call>{"name": "submit", "arguments": {"cause": "c"}}',  # stopped at the tag, which is left out
    ]

    def script(request: Request) -> ScriptedTurn:
        seen.append(request)
        return ScriptedTurn(text=texts[sum(isinstance(m, AssistantMessage) for m in request.messages)])

    store, box = MemoryStore(), SmallBox()
    run = run_loop(job(calling="text"), ScriptedModel(script), box, store)
    assert box.called == ["profile", "submit"] and run.outcome == "submitted" and replay(store, "r1").same
    assert run.steps[2].content.endswith("</tool_call>") and run.steps[2].raw is None
    assert results(run)[0].startswith("<tool_response>\n1.00x") and results(run)[0].endswith("\n</tool_response>")
    assert seen[0].tools == () and seen[0].stop == ("</tool_call>",)
    assert isinstance(seen[1].messages[-1], UserMessage) and "made up" not in str(seen[1].messages)


def test_a_reply_knows_how_long_it_may_take_and_one_that_was_cut_ends_the_run() -> None:
    seen: list[float | None] = []
    text = 'I think: <tool_call>{"name": "check", "arguments": {}}</tool_call>'

    def script(request: Request) -> ScriptedTurn:
        seen.append(request.seconds)
        return GOOD[0] if len(seen) == 1 else ScriptedTurn(text=text, stop_reason="time")

    asked, store, box = job(budget=Budget(seconds=60)), MemoryStore(), SmallBox()
    run = run_loop(asked, ScriptedModel(script), box, store)
    assert run.outcome == "budget_spent" and "of 60.0 seconds are spent: a reply was cut off" in run.reason
    assert [step.kind for step in run.steps][-2:] == ["result", "assistant"] and run.steps[-1].content == text
    assert box.called == ["profile"], "nothing of a reply that was cut is run"
    assert seen[0] == 60 and seen[1] is not None and 0 < seen[1] < 60
    assert replay(store, asked.id).same
    run_loop(job("r2", budget=Budget()), ScriptedModel(script), SmallBox(), MemoryStore())
    assert seen[-1] is None


def test_the_seconds_end_a_run_while_a_server_is_silent() -> None:
    begun = events({"choices": [{"index": 0, "delta": {"content": "Look first, then"}}]})
    with Server([HttpAnswer(begun, kind="text/event-stream", stall=True)]) as server:
        model = open_model("openai:m", base_url=server.url)
        store, asked = MemoryStore(), job(budget=Budget(seconds=0.5))
        run = run_loop(asked, model, SmallBox(), store)
        model.close()
    assert run.outcome == "budget_spent" and run.reason.endswith("of 0.5 seconds are spent: a reply was cut off")
    assert run.steps[-1].content == "Look first, then" and len(server.asked) == 1
    assert run.spent.seconds > 0.4 and replay(store, asked.id).same
