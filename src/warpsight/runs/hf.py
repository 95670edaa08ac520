"""A run as one training row: `messages` and `tools` as chat templates take them, with a loss mask.

`segments` has one list for each message, of pieces `{text, train}` whose texts together are its content: `train` is
true for what the model wrote and false for what was put in. `train` says the same for each message as a whole; the
calls of a message are part of it. A turn whose calls were all refused stays in the conversation and is not trained on:
a mistake is shown, not taught. What must stay true: the mask is read off the kinds of steps, never off the text.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from warpsight.nouns.run import Run, Step
from warpsight.runs.atif import arguments_of, tool_definitions

_ROLES = {"system": "system", "user": "user", "assistant": "assistant", "result": "tool"}


def hf_row(run: Run) -> dict[str, Any]:
    """The row. In the `text` way of calling, calls stand in the content and results come as user messages."""
    in_text = run.job.get("calling") == "text"
    messages: list[dict[str, Any]] = []
    for step in run.steps:
        if step.kind == "call":
            if not in_text:
                messages[-1].setdefault("tool_calls", []).append(_call(step))
        else:
            messages.append(_message(step, in_text))
    refused = refused_turns(run.steps)
    turn = itertools.count()
    train = [message["role"] == "assistant" and next(turn) not in refused for message in messages]
    ratio = run.best.timing.ratio if run.best and run.best.timing else None
    return {
        "id": run.id,
        "task": run.task,
        "model": run.model,
        "outcome": run.outcome,
        "best_ratio": ratio,
        "best_source": run.best.timing.source if run.best and run.best.timing else None,
        "messages": messages,
        "tools": tool_definitions(run),
        "train": train,
        "segments": [_segments(message, written) for message, written in zip(messages, train, strict=True)],
    }


def refused_turns(steps: Sequence[Step]) -> set[int]:
    """The turns of the model, counted from 0, that made calls of which none was run."""
    results: list[list[bool]] = []
    for step in steps:
        if step.kind == "assistant":
            results.append([])
        elif step.kind == "result" and results:
            results[-1].append(step.is_error)
    return {turn for turn, errors in enumerate(results) if errors and all(errors)}


def _message(step: Step, in_text: bool) -> dict[str, Any]:
    role = "user" if in_text and step.kind == "result" else _ROLES[step.kind]
    message: dict[str, Any] = {"role": role, "content": step.content}
    if step.reasoning:
        message["reasoning_content"] = step.reasoning
    if role == "tool":
        message |= {"name": step.tool, "tool_call_id": step.call_id}
    return message


def _segments(message: dict[str, Any], written: bool) -> list[dict[str, Any]]:
    return [{"text": message["content"], "train": written}] if message["content"] else []


def _call(step: Step) -> dict[str, Any]:
    return {
        "id": step.call_id,
        "type": "function",
        "function": {"name": step.tool, "arguments": arguments_of(step)},
    }
