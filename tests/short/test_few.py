"""Few tools for small models: what they cost, what the opening shows, whole runs in the words that models write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from warpsight.errors import UsageError
from warpsight.lens import tokens
from warpsight.models.call_schema import shown_spec
from warpsight.models.scripted import ScriptedCall, ScriptedModel, ScriptedTurn
from warpsight.models.verbatim import dump
from warpsight.reason.job import Job
from warpsight.reason.loop import run_loop
from warpsight.reason.optimize import FEW_BOX, opened_box
from warpsight.reason.prompt_choice import billions_in, is_local, prompt_for
from warpsight.runs.memory import MemoryStore
from warpsight.short.few import few_specs, look, names_for, open_few
from warpsight.short.few_box import known_causes, look_at
from warpsight.tasks import read_task
from warpsight.tools.open import open_box
from warpsight.tools.task_box import specs
from warpsight.verbs.optimize import plan_job

TASK = read_task(Path(__file__).parents[2] / "tasks" / "transpose")
MOST_FULL, MOST_FEW = 2500, 500
FENCED = 'The stores are strided.\n```json\n{"name": "rewrite", "arguments": {"cause": "uncoalesced"}}\n```'


def _call(cause: str) -> str:
    return dump({"name": "rewrite", "arguments": {"cause": cause}})


def cost(shown: Any) -> int:
    return tokens(dump([{"type": "function", "function": shown_spec(spec)} for spec in shown]))


def test_the_schemas_cost_no_more_than_is_allowed() -> None:
    assert cost(specs()) <= MOST_FULL
    assert cost(few_specs(names_for(TASK.kernel))) <= MOST_FEW


def test_the_tools_are_those_that_exist_and_may_be_chosen() -> None:
    names = names_for(TASK.kernel)
    assert "rewrite" in names and names[-1] == "submit" and 2 <= len(names) <= 4
    assert names_for(TASK.kernel, ["time"]) == ("time", "submit")
    assert "rewrite" not in names_for(TASK.kernel, device="opencl")
    with pytest.raises(UsageError, match="no tool guess"):
        names_for(TASK.kernel, ["guess"])


def planned(**asked: Any) -> Job:
    return plan_job(TASK, model="scripted:demo", prompt="small", **asked).job


def play(job: Job, *turns: ScriptedTurn | str) -> tuple[Job, Any]:
    box = open_box(TASK, seed=1)
    opened = open_few(job, box)
    job = look(job, opened)
    return job, run_loop(job, ScriptedModel(turns), opened.tools, MemoryStore())


def test_a_call_in_a_code_fence_is_run_the_result_shows_the_new_profile_and_submit_hands_in_the_best() -> None:
    job, run = play(planned(), FENCED, ScriptedTurn(calls=(ScriptedCall(name="submit"),)))
    assert job.settings["box"] == FEW_BOX and job.calls_a_reply == 1
    assert "--- begin profile (data) ---" in job.opening.user and "uncoalesced" in job.opening.user
    result = next(step for step in run.steps if step.kind == "result")
    assert not result.is_error and "as fast as before" in result.content and "Its profile:" in result.content
    assert result.content.startswith("<tool_response>")  # no server knows the call, so it is answered in words
    assert run.outcome == "submitted" and run.submitted.timing.improves


def test_a_submission_that_nothing_came_before_is_refused_and_does_not_go_on_for_ever() -> None:
    _, run = play(planned(), *[ScriptedTurn(calls=(ScriptedCall(name="submit"),))] * 8)
    told = [step.content for step in run.steps if step.kind == "result"]
    assert run.outcome == "gave_up" and len(told) == 4 and "call rewrite first" in told[0]


def test_the_opening_looks_once_and_is_short() -> None:
    job, _ = play(planned(), FENCED, ScriptedTurn(calls=(ScriptedCall(name="submit"),)))
    assert look(job, open_few(job, open_box(TASK, seed=2))) is job
    assert tokens(job.opening.system) + tokens(job.opening.user) < 900


def test_only_the_first_call_of_a_reply_is_run_and_the_model_is_told() -> None:
    twice = (ScriptedCall(name="rewrite", arguments={"cause": "spills"}), ScriptedCall(name="submit"))
    _, run = play(planned(), ScriptedTurn(calls=twice), ScriptedTurn(calls=(ScriptedCall(name="submit"),)))
    told = [step.content for step in run.steps if step.kind == "result"]
    assert (
        'Now call {"name":"rewrite","arguments":{"cause":"uncoalesced"}}' in told[0]
        and "only the first of the 2 calls" in told[1]
    )
    assert run.spent.tool_calls == 1


def test_the_call_in_the_prompt_fits_the_kernel_and_what_is_in_vain_is_answered_with_the_call_to_make() -> None:
    spills, coalesced = _call("spills"), _call("uncoalesced")
    given = ScriptedTurn(calls=(ScriptedCall(name="submit"),))
    job, run = play(planned(), spills, spills, given, coalesced, given)
    assert '{"name": "rewrite", "arguments": {"cause": "uncoalesced"}}' in job.opening.system
    told = [step.content for step in run.steps if step.kind == "result"]
    assert "spills was tried on this kernel" in told[1] and "nothing is faster yet" in told[2]
    assert all(f"Now call {coalesced}." in text for text in told[:3])
    assert run.outcome == "submitted" and run.submitted.timing.improves and run.spent.tool_calls == 3


def test_a_kernel_at_its_roofline_may_be_submitted_at_once() -> None:
    task = read_task(TASK.folder.parent / "reduce_sum")
    job, box = plan_job(task, model="scripted:demo", prompt="small").job, open_box(task, seed=1)
    opened = open_few(job, box)
    job = look(job, opened)
    assert "at_roofline" in job.opening.user and look_at(box, task.kernel, ("rewrite", "submit")).is_done
    wrong = opened.tools.call("rewrite", {"cause": "spills", "kernel": task.kernel})
    assert wrong.text.endswith('Now call {"name":"submit","arguments":{}}.')
    run = run_loop(
        job, ScriptedModel([ScriptedTurn(calls=(ScriptedCall(name="submit"),))]), opened.tools, MemoryStore()
    )
    assert run.outcome == "submitted" and run.submitted is not None and run.submitted.check.verdict == "right"


def test_a_profile_shows_only_causes_that_may_be_called() -> None:
    box = open_box(read_task(TASK.folder.parent / "histogram"), seed=1)
    named = look_at(box, box.session.given.source, ("rewrite", "submit"))
    assert "exposed_latency" not in named.words and named.causes and set(named.causes) <= set(known_causes())
    assert "exposed_latency" in look_at(box, box.session.given.source, ("time", "submit")).words


def test_a_reply_without_a_call_is_told_the_exact_form() -> None:
    _, run = play(planned(), "I would coalesce it.", FENCED, ScriptedTurn(calls=(ScriptedCall(name="submit"),)))
    told = [step.content for step in run.steps if step.kind == "user"][1]
    assert '```json\n{"name": "rewrite", "arguments": {"cause": ' in told


def test_a_kernel_that_is_named_by_its_id_is_understood() -> None:
    box = open_box(TASK, seed=1)
    name = box.call("compile", {"base": "given"}).text.split(":")[0]
    assert box.call("compile", {"kernel": name}).text == box.call("compile", {"base": "given"}).text
    refused = box.call("compile", {"kernel": "c123456"})
    assert refused.is_error and "no kernel is called 'c123456'" in refused.text


def test_without_profiles_the_opening_has_none_and_names_the_causes() -> None:
    job = planned(feedback="time")
    opened = open_few(job, open_box(TASK, seed=1, feedback="time"))
    opening = look(job, opened).opening
    assert "begin profile" not in opening.user and "bank_conflicts or" in opening.system


def test_some_tools_of_the_full_prompt() -> None:
    job = plan_job(TASK, model="scripted:demo", tools=["profile", "time"]).job
    assert [spec.name for spec in job.tools] == ["profile", "time", "submit"] and job.settings["box"] == "task"
    opened_box(job, open_box(TASK, seed=1))


@pytest.mark.parametrize(
    ("name", "billions"),
    [
        ("Qwen2.5-Coder-7B-Instruct", 7), ("meta-llama/Llama-3.1-8B", 8), ("smollm2-135m", 0.135), ("gpt-x", None),
        ("mixtral-8x7b", 56), ("qwen3-30b-a3b", 30), ("gpt-oss-20b", 20), ("qwen2.5-coder:1.5b", 1.5),
    ],
)  # fmt: skip
def test_a_name_says_how_large_a_model_is(name: str, billions: float | None) -> None:
    assert billions_in(name) == billions


@pytest.mark.parametrize(
    ("model", "adapter", "prompt"),
    [
        ("local", False, "small"), ("local", True, "trained"), ("openai:qwen2.5-coder:7b", False, "small"),
        ("openai:gpt-x", False, "full"), ("anthropic:claude-x", False, "full"), ("scripted:demo", False, "full"),
        ("openai:llama-3.3-70b", False, "full"), ("local:qwen2.5-coder-0.5b", False, "small"),
    ],
)  # fmt: skip
def test_the_prompt_follows_from_what_is_known(model: str, adapter: bool, prompt: str) -> None:
    assert prompt_for(model, adapter=adapter) == prompt


def test_models_near_by_are_held_to_a_call() -> None:
    assert is_local("local", None) and is_local("openai:x", "http://127.0.0.1:8000/v1")
    assert not is_local("openai:x", None) and not is_local("openai:x", "https://api.example.com/v1")
    assert plan_job(TASK, model="openai:qwen-7b", base_url="http://127.0.0.1:8000/v1").job.must_call
    assert not plan_job(TASK, model="openai:qwen-7b").job.must_call
    assert plan_job(TASK, model="openai:qwen-7b", constrain=True).job.must_call
    assert not plan_job(TASK, model="openai:gpt-x", base_url="http://127.0.0.1:8000/v1").job.must_call
