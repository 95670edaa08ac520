"""The guided search: steps on top of one another, judged at the end, the same for a tool and for `optimize`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.rewrite.restructure import plain

from warpsight.errors import UsageError
from warpsight.models.guided import open_guided
from warpsight.models.model import AssistantMessage, Request, ToolMessage, UserMessage
from warpsight.nouns import Candidate, Task
from warpsight.rewrite import Rewrite
from warpsight.session import guided
from warpsight.session.guided import search_guided
from warpsight.session.search import REFUSED, Try, as_try, judge_rewrite
from warpsight.session.session import Session
from warpsight.tools.open import open_box
from warpsight.verbs.optimize import optimize, plan_job


@pytest.fixture(scope="module")
def argmax(tmp_path_factory: pytest.TempPathFactory) -> Task:
    return plain.written(plain.ARGMAX, tmp_path_factory.mktemp("guided") / "argmax")


def test_the_first_step_is_the_main_cause_and_the_winner_is_judged(argmax: Task) -> None:
    said: list[str] = []
    with Session(argmax, cores=1, say=said.append) as session:
        found = search_guided(session, argmax.kernel)
    assert found.steps and found.steps[0].cause == "thread_per_row" and found.steps[0].ratio > 5
    assert found.winner is not None and found.winner.evaluation is not None and (found.winner.ratio or 0) > 5
    assert found.winner.evaluation.check.verdict == "right"
    assert found.stopped and any(line.startswith("kept: ") for line in said)


def test_where_the_gate_refuses_the_first_step_another_is_looked_for(
    argmax: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged: list[str] = []

    def judge(session: Session, one: Rewrite, candidate: Candidate, start: float, tried: dict[str, Try]):
        judged.append(one.text)
        if one.text == judged[0]:  # as if the gate had found it wrong
            tried[one.name] = as_try(one, REFUSED + "a test")
            return None
        return judge_rewrite(session, one, candidate, start, tried)

    monkeypatch.setattr(guided, "judge_rewrite", judge)
    with Session(argmax, cores=1) as session:
        found = search_guided(session, argmax.kernel)
    assert found.winner is not None and found.winner.rewrite.text != judged[0] and (found.winner.ratio or 0) > 2
    assert [one.outcome for one in found.tried if one.outcome.startswith(REFUSED)] == [REFUSED + "a test"]


def test_a_budget_of_kernels_is_kept(argmax: Task) -> None:
    with Session(argmax, cores=1) as session:
        found = search_guided(session, argmax.kernel, most=2)
    assert len(found.tried) <= 2


def test_the_tool_takes_no_cause(argmax: Task) -> None:
    box = open_box(argmax, seed=1, cores=1)
    found = box.call("rewrite", {"base": "given"})
    assert not found.is_error and found.made is not None and found.evaluation is not None
    assert found.data["found"] is True and str(found.data["steps"]).startswith("['thread_per_row: ")
    lines = found.text.split("\n")
    assert lines.index("steps:") < lines.index("left:")
    box.close()


def test_without_times_a_cause_must_be_named(argmax: Task) -> None:
    box = open_box(argmax, seed=1, cores=1, feedback="none")
    found = box.call("rewrite", {"base": "given"})
    assert found.is_error and "expected a cause" in found.text
    box.close()


def test_no_model_looks_rewrites_and_submits() -> None:
    model = open_guided()
    asked: list[UserMessage | AssistantMessage | ToolMessage] = [UserMessage(text="faster")]
    names: list[str] = []
    for text in ("", "c1: made\nsteps:\nreloads: kept, 2x\nleft:\nended: done", ""):
        reply = model.reply(Request(messages=tuple(asked)))
        names.append(reply.calls[0].name)
        told = ToolMessage(call_id=reply.calls[0].id, name=names[-1], text=text)
        asked += [AssistantMessage(text=reply.text, calls=reply.calls, raw=reply.raw, wire=reply.wire), told]
    assert names == ["profile", "rewrite", "submit"]
    assert json.loads(reply.calls[0].arguments) == {"cause": "reloads: kept, 2x"}


def test_optimize_by_rule_gives_a_certificate(argmax: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPSIGHT_DATA", str(tmp_path))
    found = optimize(argmax, model="guided")
    assert found.kernel is not None and (found.ratio or 0) > 5 and found.certificate_file is not None
    with pytest.raises(UsageError):
        optimize(argmax, model="guidedd")


def test_where_no_model_is_named_none_is_asked(argmax: Task) -> None:
    planned = plan_job(argmax)
    assert planned.job.model == "guided" and "no model" in planned.chosen
    assert plan_job(argmax, model="scripted:demo").chosen == ""
