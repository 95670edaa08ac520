"""A run as an ATIF trajectory (Agent Trajectory Interchange Format of the Harbor project), version ATIF-v1.7.

A turn of the model, its calls and their results are one `agent` step; what was put in between is a `user` step. Step
numbers begin at 1. Token counts and costs are those recorded with each reply; nothing is estimated. What only we know
(verdicts, predictions, the provider's verbatim message) stands under `extra`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from warpsight import __version__
from warpsight.nouns.run import Run, Spent, Step
from warpsight.runs.store import Record

SCHEMA_VERSION = "ATIF-v1.7"
_SOURCE = {"system": "system", "user": "user", "assistant": "agent"}


def atif_of(run: Run, records: Sequence[Record], times: Sequence[str] = ()) -> dict[str, Any]:
    """The trajectory as a JSON document. `times` are when the steps were written, if known."""
    spent = {record.step: record.spent for record in records if record.kind == "reply"}
    steps: list[dict[str, Any]] = []
    for step in run.steps:
        if step.kind in _SOURCE:
            steps.append(_step(step, len(steps) + 1, spent.get(step.index), times))
        elif step.kind == "call":
            steps[-1].setdefault("tool_calls", []).append(_call(step))
        else:
            steps[-1].setdefault("observation", {"results": []})["results"].append(_result(step))
    return {
        "schema_version": SCHEMA_VERSION,
        "session_id": run.parent or run.id,
        "trajectory_id": run.id,
        "agent": {
            "name": "warpsight",
            "version": str(run.job.get("version", __version__)),
            "model_name": run.model,
            "tool_definitions": tool_definitions(run),
        },
        "steps": steps,
        "final_metrics": _final(run, len(steps)),
        "extra": _extra(run),
    }


def tool_definitions(run: Run) -> list[dict[str, JsonValue]]:
    """The tools as the model was shown them, in the form of function calling."""
    tools = run.job.get("tools")
    return [{"type": "function", "function": tool} for tool in tools] if isinstance(tools, list) else []


def arguments_of(step: Step) -> dict[str, JsonValue]:
    """The arguments of a call. A text that was no JSON object is kept under one key: it was written, and it failed."""
    try:
        value: JsonValue = json.loads(step.content)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()  # what cannot be written again is kept as text
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {"malformed": step.content}


def _step(step: Step, number: int, spent: Spent | None, times: Sequence[str]) -> dict[str, Any]:
    found: dict[str, Any] = {"step_id": number, "source": _SOURCE[step.kind], "message": step.content}
    if step.index < len(times):
        found["timestamp"] = times[step.index]
    if step.kind != "assistant":
        return found
    found["llm_call_count"] = 1
    if step.reasoning:
        found["reasoning_content"] = step.reasoning
    if spent is not None:
        found["metrics"] = {
            "prompt_tokens": spent.input_tokens,
            "completion_tokens": spent.output_tokens,
            **({} if spent.cost_usd is None else {"cost_usd": spent.cost_usd}),
            "extra": {"seconds": spent.seconds},
        }
    if step.raw is not None:
        found["extra"] = {"provider_message": step.raw}
    return found


def _call(step: Step) -> dict[str, Any]:
    return {"tool_call_id": step.call_id, "function_name": step.tool, "arguments": arguments_of(step)}


def _result(step: Step) -> dict[str, Any]:
    extra = {"is_error": step.is_error, "artefacts": list(step.artefacts)}
    return {"source_call_id": step.call_id, "content": step.content, "extra": extra}


def _final(run: Run, steps: int) -> dict[str, Any]:
    cost: Mapping[str, float] = {} if run.spent.cost_usd is None else {"total_cost_usd": run.spent.cost_usd}
    return {
        "total_prompt_tokens": run.spent.input_tokens,
        "total_completion_tokens": run.spent.output_tokens,
        **cost,
        "total_steps": steps,
        "extra": {"tool_calls": run.spent.tool_calls, "seconds": run.spent.seconds},
    }


def _extra(run: Run) -> dict[str, Any]:
    fields = {"task", "device", "started_at", "outcome", "reason", "submission", "submitted", "best"}
    return json.loads(run.model_dump_json(include=fields, exclude_none=True))
