"""The trained model of the package: found by its files, asked as it was trained, judged like any other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from warpsight.models.scripted import ScriptedCall, ScriptedModel, ScriptedTurn
from warpsight.reason.budget import Budget
from warpsight.reason.job import Job
from warpsight.reason.optimize import open_tools, outcome_of, plan
from warpsight.reason.replay import replay
from warpsight.reason.resume import run_job
from warpsight.runs.memory import MemoryStore
from warpsight.short.prompting import SYSTEM, question, small_specs
from warpsight.short.shipped import Shipped, ask_small, find_shipped, open_small
from warpsight.short.trained import write_trained
from warpsight.tasks import read_task

ROOT = Path(__file__).parents[2]
TASK = read_task(ROOT / "tasks" / "transpose")


def test_it_is_found_by_its_files(tmp_path: Path) -> None:
    assert find_shipped(tmp_path) is None
    (tmp_path / "config.json").write_text("{}")
    assert find_shipped(tmp_path) == (None, tmp_path, True, "optimize", False)
    (tmp_path / "adapter_config.json").write_text("{}")
    write_trained(tmp_path, listed=False, suites=["recommend"])
    found = find_shipped(tmp_path)
    assert found == (tmp_path, None, False, "apply", False) and found is not None and found.model == "local"
    write_trained(tmp_path, listed=False, suites=["optimize"], first_words=True)
    assert find_shipped(tmp_path) == (tmp_path, None, False, "optimize", True)


def test_the_model_that_ships_was_trained_on_the_first_words() -> None:
    ours = find_shipped()
    assert ours is None or ours.first_words


def test_a_job_gets_the_prompt_and_the_limits_of_training_unless_others_are_given() -> None:
    whole = plan(TASK, "local", gpu="h100")
    job = ask_small(whole, TASK, shipped(listed=False))
    assert job.opening.system == SYSTEM["optimize"] and job.opening.user.startswith("h100")
    assert job.tools == small_specs("optimize", listed=False)
    assert (job.budget.tool_calls, job.max_tokens, job.settings["box"]) == (6, 384, "small")
    assert (job.id, job.device, job.task_sha256) == (whole.id, whole.device, whole.task_sha256)
    given = ask_small(whole, TASK, shipped(listed=True), budget=Budget(tool_calls=7), max_tokens=99)
    assert (given.budget.tool_calls, given.max_tokens, given.tools[0].listed) == (7, 99, True)


@pytest.mark.usefixtures("exact_model")
def test_what_it_submits_passes_the_whole_gate_and_gets_a_certificate(tmp_path: Path) -> None:
    job = ask_small(plan(TASK, "scripted"), TASK, shipped(listed=False))
    assert job.opening.user == question(TASK)
    kernel = (ROOT / "tasks/transpose/faster/tiled.cu").read_text()
    turns = (
        ScriptedTurn(calls=(ScriptedCall(name="profile"),)),
        ScriptedTurn(calls=(ScriptedCall(name="time", arguments={"kernel": kernel}),)),
        ScriptedTurn(calls=(ScriptedCall(name="submit", arguments={"cause": causes(job)[0], "base": "best"}),)),
    )
    store = MemoryStore()
    box = open_tools(job, store, tmp_path / "ledger")
    run = run_job(job, ScriptedModel(turns), open_small(job, box), store)
    found = outcome_of(run, box, store)
    box.close()
    assert run.outcome == "submitted" and found.final is not None and found.kernel == kernel, run.reason
    assert found.certificate_file is not None and found.certificate_file.is_file()
    results = [step.content for step in run.steps if step.kind == "result"]
    assert results[0].startswith("bound by") and "FASTER" in results[1] and "FASTER" in results[2]
    assert replay(store, job.id).same


def test_a_model_that_only_names_causes_gets_its_kernel_typed(tmp_path: Path) -> None:
    task = read_task(ROOT / "tasks" / "softmax")
    slow = (ROOT / "tasks/softmax/kernel.cu").read_text()
    job = ask_small(plan(task, "scripted"), task, Shipped(None, tmp_path, listed=False, suite="apply"))
    assert job.opening.system == SYSTEM["recommend"]
    store = MemoryStore()
    box = open_tools(job, store, tmp_path / "ledger")
    said = ("missing_tile", "nothing")
    turns = [ScriptedTurn(calls=(ScriptedCall(name="submit", arguments={"cause": cause}),)) for cause in said]
    run = run_job(job, ScriptedModel(turns), open_small(job, box), store)
    box.close()
    first = next(step.content for step in run.steps if step.kind == "result")
    assert first.startswith("no rewrite") and "name another cause" in first
    assert run.outcome == "submitted" and run.submission is not None and run.submission.cause == "nothing"
    assert run.submitted is not None and run.submitted.check.verdict == "right" and slow == task.kernel


@pytest.mark.usefixtures("exact_model")
def test_the_kernel_that_was_typed_is_what_the_user_gets(tmp_path: Path) -> None:
    task = read_task(ROOT / "tasks" / "transpose_tiled")
    job = ask_small(plan(task, "scripted"), task, Shipped(None, tmp_path, listed=False, suite="apply"))
    store = MemoryStore()
    box = open_tools(job, store, tmp_path / "ledger")
    turn = ScriptedTurn(calls=(ScriptedCall(name="submit", arguments={"cause": "bank_conflicts"}),))
    run = run_job(job, ScriptedModel([turn]), open_small(job, box), store)
    found = outcome_of(run, box, store)
    box.close()
    assert run.outcome == "submitted" and found.kernel is not None and found.kernel != task.kernel
    assert found.certificate_file is not None and found.certificate_file.is_file()
    assert replay(store, job.id).same


def shipped(*, listed: bool) -> Shipped:
    return Shipped(None, ROOT, listed=listed, suite="optimize")


def causes(job: Job) -> list[str]:
    submit: Any = job.tools[-1].parameters
    return submit["properties"]["cause"]["enum"]
