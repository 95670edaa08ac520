"""Exports of a run: ATIF with every step in its place, training rows whose mask is what the model wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.reason.small_box import GOOD, SPECS, SmallBox, job

from warpsight.models.scripted import ScriptedCall, ScriptedModel, ScriptedTurn
from warpsight.nouns.run import Run, Step
from warpsight.reason.loop import run_loop
from warpsight.runs.atif import SCHEMA_VERSION, atif_of
from warpsight.runs.hf import hf_row
from warpsight.runs.sqlite import SqliteStore

BAD = ScriptedTurn(calls=(ScriptedCall(name="check", arguments="{broken"), ScriptedCall(name="nope")), input_tokens=9)
TURNS = (GOOD[0], BAD, "I only think.", *GOOD[1:])


def made(folder: Path, calling: str = "native") -> tuple[Run, SqliteStore]:
    store = SqliteStore(folder)
    texts = (
        'Look. <tool_call>{"name": "profile", "arguments": {}}</tool_call>',
        '<tool_call>{"name": "submit", "arguments": {"cause": "c"}}</tool_call>',
    )
    run = run_loop(job(calling=calling), ScriptedModel(TURNS if calling == "native" else texts), SmallBox(), store)
    return run, store


def test_atif(tmp_path: Path) -> None:
    run, store = made(tmp_path)
    document = atif_of(run, store.records(run.id), store.times(run.id))
    store.close()
    assert document["schema_version"] == SCHEMA_VERSION == "ATIF-v1.7"
    steps = document["steps"]
    assert [step["step_id"] for step in steps] == list(range(1, len(steps) + 1))
    sources = [step["source"] for step in steps]
    assert sources == ["system", "user", "agent", "agent", "agent", "user", *["agent"] * 5]
    for step in steps:
        called = [call["tool_call_id"] for call in step.get("tool_calls", [])]
        answered = [result["source_call_id"] for result in step.get("observation", {"results": []})["results"]]
        assert called == answered
        if step["source"] != "agent":
            assert not {"metrics", "tool_calls", "reasoning_content"} & set(step)
    assert steps[2]["reasoning_content"] == "I call profile." and steps[3]["metrics"]["prompt_tokens"] == 9
    assert steps[3]["tool_calls"][0]["arguments"] == {"malformed": "{broken"}
    assert document["final_metrics"]["total_steps"] == len(steps)
    assert document["extra"]["submitted"]["timing"]["source"] == "simulated"
    assert [tool["function"]["name"] for tool in document["agent"]["tool_definitions"]] == [s.name for s in SPECS]
    assert json.loads(json.dumps(document, allow_nan=False)) == document


def results_by_turn(run: Run) -> list[list[Step]]:
    starts = [step.index for step in run.steps if step.kind == "assistant"]
    ends = [*starts[1:], len(run.steps)]
    return [[s for s in run.steps[a:b] if s.kind == "result"] for a, b in zip(starts, ends, strict=True)]


@pytest.mark.parametrize("calling", ["native", "text"])
def test_a_row_is_trained_on_what_the_model_wrote(tmp_path: Path, calling: str) -> None:
    run, store = made(tmp_path, calling)
    store.close()
    row = hf_row(run)
    written = {step.content for step in run.steps if step.kind == "assistant"}
    put_in = {step.content for step in run.steps if step.kind in ("system", "user", "result")}
    for message, train, segments in zip(row["messages"], row["train"], row["segments"], strict=True):
        assert "".join(segment["text"] for segment in segments) == message["content"]
        assert all(segment["train"] == train for segment in segments)
        assert message["content"] in (written if message["role"] == "assistant" else put_in)
        assert not train or message["role"] == "assistant"
    turns = [
        train for message, train in zip(row["messages"], row["train"], strict=True) if message["role"] == "assistant"
    ]
    refused = [
        turn for turn, results in enumerate(results_by_turn(run)) if results and all(r.is_error for r in results)
    ]
    assert [turn for turn, train in enumerate(turns) if not train] == refused, "a mistake is not taught"
    assert bool(refused) == (calling == "native")  # where a call is malformed
    roles = [message["role"] for message in row["messages"]]
    assert ("tool" in roles) == (calling == "native")
    calls = [call["function"]["name"] for m in row["messages"] for call in m.get("tool_calls", [])]
    assert calls == ([] if calling == "text" else [s.tool for s in run.steps if s.kind == "call"])
    assert row["outcome"] == "submitted" and len(row["tools"]) == len(SPECS)
    assert json.loads(json.dumps(row, allow_nan=False)) == row
