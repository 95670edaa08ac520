"""The tools as MCP clients see them: what the box offers, plus which task, which file, which GPU, and how long to wait.

One server serves many tasks and the protocol has no sessions, so every call names its task, and a kernel that is not
given is the task's own, never "the last one that somebody sent". Three tools work on a file and on no task.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any, cast

from pydantic import JsonValue

from warpsight.lens import tokens
from warpsight.serve import drafts, programs, reports
from warpsight.serve.drafts import NEW_TASK
from warpsight.serve.programs import HOW, RUN_PROGRAM
from warpsight.serve.reports import READ_REPORT
from warpsight.serve.settings import DEFAULT_WAIT_SECONDS, LONGEST_WAIT_SECONDS
from warpsight.tools.box import SUBMIT, ToolSpec
from warpsight.tools.describe import Schema
from warpsight.tools.edits import BASE, BEST, GIVEN, KERNEL, offer_edits
from warpsight.tools.task_box import tools

MORE, JOB, LIST_TASKS, READ_TASK = "more", "job", "list_tasks", "read_task"
TASK, KERNEL_FILE, GPU, WAIT, HANDLE, CANCEL = "task", "kernel_file", "gpu", "wait_seconds", "handle", "cancel"
_TASK: Schema = {"type": "string", "description": "task folder or name; list_tasks tells which there are"}
_KERNEL_FILE: Schema = {"type": "string", "description": "instead of `kernel`: path of a .cu, .cl or Triton .py file"}
_GPU: Schema = {"type": "string", "description": "kind of GPU, such as a100; by default the task's"}
_WAIT: Schema = {
    "type": "number",
    "minimum": 0,
    "maximum": LONGEST_WAIT_SECONDS,
    "description": f"after so long (default {DEFAULT_WAIT_SECONDS:g}) a job handle comes instead of the result",
}
_BASE_HELP = "without `kernel`: `given` (the task's own; default), `best`, or the id that a result named, as `c3f9a12`"
_HANDLE: Schema = {"type": "string", "description": "the handle that a call gave"}
PROGRAM, ARGUMENTS, DO, REPORT, NAME, ENTRY, REFERENCE = (
    "program", "arguments", "how", "report", "name", "entry", "reference",
)  # fmt: skip
WRITES = (SUBMIT, NEW_TASK)
FEW_SHOWN = {
    LIST_TASKS: (), "profile": (TASK, BASE), "rewrite": (TASK, "cause", BASE), "time": (TASK, KERNEL_FILE),
    SUBMIT: (TASK, "cause", BASE), JOB: (HANDLE,),
}  # fmt: skip
SAID_ONCE = (KERNEL, KERNEL_FILE, "edits", GPU, WAIT)
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
    whole: Schema = {"type": "object", "additionalProperties": True}
    extra = (
        Listed(LIST_TASKS, "Tasks that are there", "Which tasks there are, with what each computes.",
               _object({}), envelope(_object({"tasks": {"type": "array", "items": {"type": "object"}}}))),
        Listed(READ_TASK, "Read a task",
               "What a task computes, its parameters, sizes, tolerance, target GPU, and the kernel to beat.",
               _object({TASK: _TASK}, TASK), envelope(whole)),
        Listed(JOB, "Wait for a job",
               "Wait for a call that gave a job handle instead of a result; asking again is free.",
               _object({HANDLE: _HANDLE, WAIT: _WAIT, CANCEL: _CANCEL}, HANDLE), envelope(whole)),
    )  # fmt: skip
    boxed = [_listed(offer_edits(tool.spec)) for tool in tools().values()]
    return (*extra[:2], *_without_task(), boxed[0], *map(_shorter, boxed[1:]), *extra[2:])


def few_listing() -> tuple[Listed, ...]:
    """The few that a small model needs, in few words. What is not shown of a tool may still be given."""
    known = {tool.name: tool for tool in listing()}
    return tuple(_few(known[name], shown, first=name == "profile") for name, shown in FEW_SHOWN.items())


def _few(tool: Listed, shown: tuple[str, ...], *, first: bool) -> Listed:
    """With its title for a description. What a base is, is said by the first tool that takes one."""
    properties = cast(dict[str, Schema], tool.parameters["properties"])
    made: dict[str, JsonValue] = {name: {"type": "string"} for name in shown}
    if BASE in made and first:
        made[BASE] = {**_silent(properties[BASE]), "description": f"{GIVEN} (default), {BEST}, or an id"}
    needed: list[JsonValue] = [name for name in shown if name in cast(list[str], tool.parameters["required"])]
    parameters: Schema = {"type": "object", "properties": made, **({"required": needed} if needed else {})}
    return replace(tool, description=tool.title, parameters=parameters)


def _shorter(tool: Listed) -> Listed:
    """Without the words for what the first tool of the box has said already, under the same names."""
    made: dict[str, JsonValue] = {}
    for name, part in cast(dict[str, Schema], tool.parameters["properties"]).items():
        if name in SAID_ONCE:
            part = _silent(part)
        made[name] = part
    return replace(tool, parameters={**tool.parameters, "properties": made})


def _silent(part: Schema) -> Schema:
    return {key: value for key, value in part.items() if key != "description"}


def _without_task() -> tuple[Listed, ...]:
    """The tools that work on a file of the user's and on no task."""
    text: Schema = {"type": "string"}
    kernel: Schema = {**text, "description": "instead of `kernel_file`: its text"}
    return (
        Listed(NEW_TASK, "Make a task from a kernel",
               "Draft a task folder from a kernel file: arguments, sizes and launch are read from its text; what was "
               "guessed is told. The kernel itself then says what is right, unless you give a reference in NumPy.",
               _object({NAME: {**text, "description": "of the new folder"}, KERNEL_FILE: _KERNEL_FILE, KERNEL: kernel,
                        ENTRY: {**text, "description": "which kernel, where there are several"},
                        REFERENCE: {**text, "description": "optional: Python with `def reference(...)`"}}, NAME),
               envelope(drafts.OUTPUT), read_only=False),
        Listed(RUN_PROGRAM, "Run a whole CUDA program",
               "Run an unmodified CUDA program without a GPU, host code and all: where its simulated time goes, with "
               "findings by their share of the program (profile), races and uninitialised reads (check), or just run.",
               _object({PROGRAM: {**text, "description": "a .cu file, or a folder with a Makefile or CMakeLists.txt"},
                        ARGUMENTS: {"type": "array", "items": text, "description": "for the program"},
                        DO: {**text, "enum": list(HOW), "default": HOW[0]}, GPU: _GPU, WAIT: _WAIT}, PROGRAM),
               envelope(programs.OUTPUT)),
        Listed(READ_REPORT, "Read a profiler's report",
               "Why is a kernel slow, by a report that Nsight Compute (.ncu-rep), nsys, nvprof or rocprof wrote.",
               _object({REPORT: {**text, "description": "path of the report"},
                        KERNEL: {**text, "description": "name or index of the kernel in it"}}, REPORT),
               envelope(reports.OUTPUT)),
    )  # fmt: skip


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
    return Listed(spec.name, title, spec.description, parameters, output, read_only=spec.name not in WRITES)


def _object(properties: dict[str, JsonValue], *required: str) -> Schema:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def token_cost(tool: Listed) -> int:
    """What a tool's listing takes of a model's context: a high estimate."""
    return tokens(json.dumps({"name": tool.name, "description": tool.description, "input_schema": tool.parameters}))
