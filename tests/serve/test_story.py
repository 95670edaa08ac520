"""The official client drives the server, over stdio and over HTTP: the same tools, the same numbers as the CLI."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tests.serve.conftest import Story
from tests.serve.story import CALLS, TILED, record, text
from tests.serve.transports import ROOT

from warpsight.cli.app import main
from warpsight.lens import tokens
from warpsight.nouns import Profile, kernel_id
from warpsight.tools.task_box import tools

MOST_TOKENS = 2000


@pytest.fixture
def cli(story: Story, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """The JSON document of a command, in the folder that the server serves."""
    monkeypatch.chdir(story.served.root)

    def run(*words: str) -> Any:
        with pytest.raises(SystemExit):
            main([*words, "--json"])
        return json.loads(capfd.readouterr().out)

    return run


def test_every_tool_is_listed_with_schemas_and_annotations(story: Story) -> None:
    listed = {tool.name: tool for tool in story.told.tools}
    assert set(listed) == {*tools(), "job", "list_tasks", "read_task", "new_task", "run_program", "read_report"}
    for name, tool in listed.items():
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        assert tool.output_schema is not None and tool.output_schema["type"] == "object"
        jsonschema.Draft202012Validator.check_schema(tool.output_schema)
        assert tool.annotations is not None and tool.annotations.open_world_hint is False
        assert tool.annotations.read_only_hint is (name not in ("submit", "new_task"))
        assert tool.description and tool.title
    assert listed["check"].input_schema["required"] == ["task"]
    assert listed["submit"].input_schema["required"] == ["task", "cause"]
    assert "profile" in story.told.instructions


def test_a_session_goes_through_every_tool(story: Story) -> None:
    """These and the ones that need no task (`test_without_task.py`); `more` and `job` come at the end of the story."""
    called = {tool for tool, _ in CALLS.values()}
    assert called | {"more", "job", "new_task", "run_program", "read_report"} == {t.name for t in story.told.tools}
    assert record(story.told, "gain")["result"] and record(story.told, "rewritten")["result"]


def test_every_result_fits_its_schema_and_is_short(story: Story) -> None:
    schemas = {tool.name: tool.output_schema for tool in story.told.tools}
    for name, (tool, _) in CALLS.items():
        found = record(story.told, name)
        schema = schemas[tool]
        assert schema is not None
        jsonschema.validate(found, schema)
        assert found["status"] == "done"
        assert tokens(text(story.told.results[name])) + tokens(json.dumps(found)) < MOST_TOKENS, name


def test_the_task_is_found_and_read(story: Story) -> None:
    assert [task["name"] for task in record(story.told, "tasks")["result"]["tasks"]] == ["transpose"]
    read = story.told.results["task"]
    assert 'extern "C" __global__ void transpose' in text(read) and "R=1024, C=1024" in text(read)
    names = record(story.told, "task")["result"]["workloads"]
    assert "profile" in names
    hidden = (story.served.root / "tasks/transpose/task.toml").read_text().split("[[workloads]]")
    for entry in (part for part in hidden if "hidden = true" in part):
        name = entry.partition('name = "')[2].partition('"')[0]
        assert name not in names and f"{name}: R=" not in text(read)


def test_verdicts(story: Story) -> None:
    assert record(story.told, "given")["result"]["verdict"] == "right"
    assert record(story.told, "right")["result"] == {
        "kernel": kernel_id(TILED), "verdict": "right", "named": "", "reason": "", "hidden": False, "faults": [],
    }  # fmt: skip
    wrong = record(story.told, "wrong")["result"]
    assert wrong["verdict"] in ("wrong", "fault") and "line 6" in text(story.told.results["wrong"])
    broken = record(story.told, "broken")["result"]
    assert broken["ok"] is False and broken["diagnostics"][0]["line"] == 3
    assert record(story.told, "device")["result"]["gpu"] == "h100"


def test_a_slow_kernel_becomes_a_certified_faster_one(story: Story, cli: Callable[..., Any]) -> None:
    time, submitted = record(story.told, "time")["result"], record(story.told, "submit")["result"]
    assert time["decision"] == submitted["decision"] == "FASTER" and time["source"] == "simulated"
    assert time["ratio_to_given"] > 1.1
    assert [one["verdict"] for one in submitted["predictions"]] == ["right"]
    certificate = Path(submitted["certificate_file"])
    assert certificate.is_relative_to(story.served.data)
    assert cli("verify", str(certificate))["ok"] is True


def test_the_numbers_are_those_of_the_command_line(story: Story, cli: Callable[..., Any]) -> None:
    mine = "tasks/transpose/mine.cu"
    profile = cli("profile", "transpose")
    assert record(story.told, "look")["result"]["duration_us"] == profile["counters"]["duration_us"]
    assert json.loads(story.told.profile)["counters"] == profile["counters"]
    compared = cli("compare", "transpose", "--candidate", mine)["timing"]
    for name in ("time", "submit"):
        found = record(story.told, name)["result"]
        assert found["ratio_to_given"] == compared["ratio"] and found["interval"] == compared["interval"]


def test_progress_is_told_and_grows(story: Story) -> None:
    said = [message for _, message in story.told.progress["right"]]
    assert "compiling" in said or "checking" in said
    assert any("evaluating" in (message or "") for _, message in story.told.progress["submit"])
    for seen in story.told.progress.values():
        times = [progress for progress, _ in seen]
        assert times == sorted(times)


def test_the_full_profile_is_a_resource(story: Story) -> None:
    found = Profile.model_validate_json(story.told.profile)
    assert found.instructions and found.counters["global_store_sectors_per_request"] == 32
    assert record(story.told, "look")["documents"][0] in story.told.listed


def test_a_long_result_goes_on(story: Story) -> None:
    assert story.told.page.splitlines()[-1].startswith("[page 2 of ")
    assert any(line.lstrip()[:1].isdigit() for line in story.told.page.splitlines())
    found = record(story.told, "sass")
    assert found["cut"][0].startswith("rows: ") and found["documents"][0].startswith("warpsight://result/")


def test_what_takes_long_gets_a_handle(story: Story) -> None:
    assert story.told.job is not None
    running, done = story.told.job
    assert running["status"] == "running" and running["result"] is None
    assert done.structured_content["job"] == running["job"]
    assert done.structured_content["result"]["verdict"] == "right"


def test_what_must_not_run_is_refused_with_words_that_help(story: Story) -> None:
    expected = {
        "no task": "task: expected a text", "outside": "no task '/etc' under", "above": "no kernel file",
        "not a kernel": "expected a kernel file", "both": "not both", "unknown argument": "colour",
        "wrong type": "view", "wait": "from 0 to 50", "job": "no job has the handle", "job of what": "job takes handle",
        "large": "at most 1048576", "gpu": "abacus",
        "counter": "no counter is called 'speed'", "edit": "does not occur", "tool": "no tool 'rm'",
        "resource": "no document", "hash": "no artefact",
    }  # fmt: skip
    assert set(story.told.refusals) == set(expected)
    for name, words in expected.items():
        assert words in story.told.refusals[name], (name, story.told.refusals[name])


def test_nothing_is_written_but_the_store(story: Story) -> None:
    files = {str(path.relative_to(story.served.root)) for path in story.served.root.rglob("*") if path.is_file()}
    given = {str(path.relative_to(ROOT)) for path in (ROOT / "tasks" / "transpose").rglob("*") if path.is_file()}
    assert files == given | {"tasks/transpose/mine.cu"}
    assert {path.name for path in story.served.data.iterdir()} <= {"artefacts", "keys", "ledger"}
