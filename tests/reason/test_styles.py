"""The full prompt on three styles of replies, in the shape of a chat server: long reasoning, terse, parallel calls."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.models.server import Answer, Server

from warpsight.lens import tokens
from warpsight.models.open import open_model
from warpsight.reason.loop import run_loop
from warpsight.reason.opening import prompt_file
from warpsight.runs.memory import MemoryStore
from warpsight.tasks import read_task
from warpsight.tools.open import open_box
from warpsight.tools.task_box import tools
from warpsight.verbs.optimize import plan_job

TASK = read_task(Path(__file__).parents[2] / "tasks" / "transpose")
MOST_TOKENS = 1000
UNSAID = {"more", "submit"}  # `more` is named where a result goes on
FIXED = {"cause": "uncoalesced"}


def reply(*calls: tuple[str, dict[str, Any]], text: str | None = None, reasoning: str | None = None) -> Answer:
    made = [
        {"id": f"{name}{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for n, (name, arguments) in enumerate(calls)
    ]
    message: dict[str, Any] = {"role": "assistant", "content": text}
    message |= {"reasoning_content": reasoning} if reasoning else {}
    message |= {"tool_calls": made} if made else {}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if made else "stop"}
    return Answer(json.dumps({"choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 9}}).encode())


THOUGHT = "The stores of y are strided: 32 sectors a request where 4 would do. " * 200
SUBMIT = ("submit", {"cause": "uncoalesced stores of y", "base": "best"})
STYLES = {
    "long reasoning": [
        reply(("profile", {}), reasoning=THOUGHT), reply(text="I call rewrite next.", reasoning=THOUGHT),
        reply(("rewrite", FIXED), reasoning=THOUGHT), reply(SUBMIT, reasoning=THOUGHT),
    ],
    "terse": [reply(("rewrite", FIXED)), reply(SUBMIT)],
    "parallel calls": [reply(("profile", {}), ("check", {}), ("rewrite", FIXED)), reply(("time", {}), SUBMIT)],
    "calls in the text": [
        reply(text=f"So:\n```json\n{json.dumps({'name': 'rewrite', 'arguments': FIXED})}\n```"),
        reply(text=f"<tool_call>{json.dumps({'name': 'submit', 'arguments': SUBMIT[1]})}</tool_call>"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("style", STYLES)
def test_every_style_gets_to_a_faster_kernel_and_goes_back_as_it_came(style: str) -> None:
    with Server(STYLES[style]) as server:
        url = f"{server.url}/v1"
        job = plan_job(TASK, model="openai:large", base_url=url).job
        assert job.opening.system.startswith(prompt_file("full")[:60]) and not job.must_call
        model = open_model(job.model, base_url=url, stream=False)
        run = run_loop(job, model, open_box(TASK, seed=1), MemoryStore())
        model.close()
        last = server.asked[-1].json["messages"]
    assert run.outcome == "submitted" and run.submitted is not None
    assert run.submitted.timing is not None and run.submitted.timing.improves
    sent = [one for one in last if one["role"] == "assistant"]
    assert sent == [json.loads(answer.body)["choices"][0]["message"] for answer in STYLES[style][: len(sent)]]
    asked = [call["id"] for one in sent for call in one.get("tool_calls", ())]
    assert [one["tool_call_id"] for one in last if one["role"] == "tool"] == asked


def test_the_full_prompt_names_every_tool_that_helps_and_has_its_limit() -> None:
    text = prompt_file("full")
    assert [name for name in tools() if name not in UNSAID and f"`{name}`" not in text] == []
    assert tokens(text) <= MOST_TOKENS
