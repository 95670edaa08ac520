"""The tools as MCP clients see them: what the box offers, plus which task, which file, which GPU, and how long to wait.

One server serves many tasks and the protocol has no sessions, so every call names its task, and a kernel that is not
given is the task's own, never "the last one that somebody sent".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from pydantic import JsonValue

from warpsight.serve.settings import DEFAULT_WAIT_SECONDS, LONGEST_WAIT_SECONDS
from warpsight.tools.box import SUBMIT, ToolSpec
from warpsight.tools.describe import Schema
from warpsight.tools.edits import BASE, KERNEL, offer_edits
from warpsight.tools.task_box import tools

MORE, JOB, LIST_TASKS, READ_TASK = "more", "job", "list_tasks", "read_task"
TASK, KERNEL_FILE, GPU, WAIT, HANDLE, CANCEL = "task", "kernel_file", "gpu", "wait_seconds", "handle", "cancel"
_TASK: Schema = {"type": "string", "description": "task folder or name; list_tasks tells which there are"}
_KERNEL_FILE: Schema = {"type": "string", "description": "instead of `kernel`: path of a .cu or .cl file to read"}
_GPU: Schema = {"type": "string", "description": "kind of GPU, such as a100; by default the task's"}
_WAIT: Schema = {
    "type": "number",
    "minimum": 0,
    "maximum": LONGEST_WAIT_SECONDS,
    "description": f"after so long (default {DEFAULT_WAIT_SECONDS:g}) a job handle comes instead of the result",
}
_BASE_HELP = "without `kernel`: `given` (the task's own; default), `best`, or the id that a result named, as `c3f9a12`"
_HANDLE: Schema = {"type": "string", "description": "the handle that a call gave"}
_CANCEL: Schema = {"type": "boolean", "description": "stop the job instead"}


@dataclass(frozen=True)
class Listed:
    """One tool as it is listed."""

    name: str
    title: str
    description: str
    parameters: Schema
    output: Schema
    read_only: bool = True


TITLES = {
    "profile": "Why is a kernel slow",
    "check": "Is a kernel right",
    "time": "How fast is a kernel",
    "compile": "Compile a kernel",
    "inspect": "Hot lines, machine code, PTX",
    "compare": "What moved between two kernels",
    "device": "GPU data sheet and occupancy",
    "what_if": "What removing a cause would gain",
    "rewrite": "Known edits for a cause, tried",
    "more": "Next page of a long result",
    "submit": "Hand in a kernel for a certificate",
}


def listing() -> tuple[Listed, ...]:
    """All tools, in the order in which they are shown."""
    whole = {"type": "object", "additionalProperties": True}
    extra = (
        Listed(LIST_TASKS, "Tasks that are there", "Which tasks there are, with what each computes.",
               _object({}), envelope(_object({"tasks": {"type": "array", "items": {"type": "object"}}}))),
        Listed(READ_TASK, "Read a task",
               "What a task computes, its parameters, sizes, tolerance, target GPU, and the kernel to beat.",
               _object({TASK: _TASK}, TASK), envelope(cast(Schema, whole))),
        Listed(JOB, "Wait for a job",
               "Wait for a call that gave a job handle instead of a result; asking again is free.",
               _object({HANDLE: _HANDLE, WAIT: _WAIT, CANCEL: _CANCEL}, HANDLE), envelope(cast(Schema, whole))),
    )  # fmt: skip
    return (*extra[:2], *(_listed(offer_edits(tool.spec)) for tool in tools().values()), *extra[2:])


def envelope(result: Schema) -> Schema:
    """The schema of what every call gives: the tool's own record under `result`, or the handle of a job that runs."""
    return {
        "type": "object",
        "properties": {
            "status": {"type": "string", "enum": ["done", "running"]},
            "job": {"type": "string", "description": "handle for `job`"},
            "doing": {"type": "string"},
            "result": {"anyOf": [result, {"type": "null"}]},
            "documents": {
                "type": "array",
                "items": {"type": "string"},
                "description": "resources with all of it",
            },
            "cut": {"type": "array", "items": {"type": "string"}, "description": "what was shortened here"},
        },
        "required": ["status", "job", "result"],
    }


def _listed(spec: ToolSpec) -> Listed:
    output = envelope(tools()[spec.name].output)
    title = TITLES.get(spec.name, spec.name)
    properties = cast(dict[str, Any], spec.parameters.get("properties") or {})
    if spec.name == MORE:
        return Listed(spec.name, title, spec.description, spec.parameters, output)
    made: dict[str, JsonValue] = {TASK: _TASK, **properties}
    if KERNEL in properties:
        made[KERNEL_FILE] = _KERNEL_FILE
    if BASE in properties:
        made[BASE] = {**properties[BASE], "description": _BASE_HELP}
    required = cast(list[str], spec.parameters.get("required") or [])
    parameters = _object({**made, GPU: _GPU, WAIT: _WAIT}, TASK, *required)
    return Listed(spec.name, title, spec.description, parameters, output, read_only=spec.name != SUBMIT)


def _object(properties: dict[str, JsonValue], *required: str) -> Schema:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}
