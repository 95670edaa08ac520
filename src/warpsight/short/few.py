"""A few tools in few words, for small models that nobody trained on them: `--prompt small`.

Which tools they get, how these are described, and how a conversation begins; what the tools answer is `few_box.py`. A
kernel that is not named is the best so far. The profile of the given kernel stands in the opening, so that no call is
spent on looking. The call in the prompt is one that fits this kernel: models of half a billion parameters copy it. What
must stay true: a feedback mode that hides something hides it here too.
"""

from __future__ import annotations

from collections.abc import Sequence
from string import Template

from pydantic import JsonValue

from warpsight.errors import UsageError
from warpsight.nouns import Task
from warpsight.reason.budget import Budget
from warpsight.reason.fence import fence, neutral
from warpsight.reason.job import Job, Opening
from warpsight.reason.opening import prompt_file, target_of
from warpsight.reason.optimize import FEW_BOX, as_asked, asked_of
from warpsight.reason.resume import OpenedBox
from warpsight.short.few_box import CAUSE, NO_LOOK, REWRITE, FewBox, Look, known_causes, look_at
from warpsight.tasks import written_in
from warpsight.tools.box import SUBMIT, ToolSpec
from warpsight.tools.edits import BASE, BEST, EDITS, KERNEL
from warpsight.tools.form import form_of
from warpsight.tools.task_box import TaskBox, tools

FEW = (REWRITE, "what_if", SUBMIT)  # where a tool of that name exists
WITHOUT = (REWRITE, "time", SUBMIT)  # where there is none
ANY_NAME = "NAME"  # of a cause, where the profile shows none
EDITS_ONLY = ("time", SUBMIT)  # for kernels in languages that no rewrite knows
CALLS = 8
REPLY_TOKENS = 1024
LOOKED = "looked"  # in the settings of a job: its opening has the profile
TOOLS = "tools"  # in the settings of a job: the names of its tools
_TEXT: dict[str, JsonValue] = {"type": "string"}
_BASE: dict[str, JsonValue] = {"enum": [BEST], "default": BEST}
_EDITS: dict[str, JsonValue] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"search": _TEXT, "replace": _TEXT},
    },
}


def names_for(kernel: str, wanted: Sequence[str] = (), *, device: str = "virtual") -> tuple[str, ...]:
    """The tools for a kernel: those that are wanted, or the few that exist and that its language has."""
    known = tools()
    if wanted:
        missing = [name for name in wanted if name not in known]
        if missing:
            told = f"no tool {', '.join(missing)}; the tools are {', '.join(known)}"
            raise UsageError(told, hint="--tools rewrite,time")
        return tuple(dict.fromkeys((*wanted, SUBMIT)))
    if device == "opencl" or written_in(kernel) != "cuda":
        return EDITS_ONLY
    return FEW if set(FEW) <= set(known) else WITHOUT


def few_specs(names: Sequence[str]) -> tuple[ToolSpec, ...]:
    """The tools as a small model is told of them. Its prompt lists them, so no client does."""
    return tuple(_spec(name).model_copy(update={"listed": False}) for name in names)


def _spec(name: str) -> ToolSpec:
    if name == REWRITE:
        kinds: dict[str, JsonValue] = {"type": "string", "enum": list(known_causes())}
        return _made(name, "try fixes for a cause", {CAUSE: kinds, BASE: _BASE}, [CAUSE])
    if name == "time":
        return _made(name, "try your own change", {EDITS: _EDITS, BASE: _BASE}, [EDITS])
    if name == SUBMIT:
        return _made(name, "hand in the best", {BASE: _BASE})
    return _shortened(tools()[name].spec)


def _made(name: str, said: str, properties: dict[str, JsonValue], required: list[JsonValue] | None = None) -> ToolSpec:
    needed: dict[str, JsonValue] = {"required": required} if required else {}
    return ToolSpec(name=name, description=said, parameters={"type": "object", "properties": properties, **needed})


def _shortened(spec: ToolSpec) -> ToolSpec:
    """A tool that has no short form here: its first sentence, and what it takes beside a kernel."""
    properties = _properties(spec)
    shown = {name: part for name, part in properties.items() if name not in (KERNEL, EDITS, BASE)}
    if KERNEL in properties:
        shown[BASE] = _BASE
    needed = spec.parameters.get("required")
    left: list[JsonValue] = [name for name in needed if name != KERNEL] if isinstance(needed, list) else []
    return _made(spec.name, spec.description.partition(". ")[0], shown, left)


def ask_few(
    job: Job, task: Task, *, wanted: Sequence[str] = (), budget: Budget | None = None, max_tokens: int | None = None
) -> Job:
    """The job with the small prompt and few tools. The profile is put in when the tools are open (`look`)."""
    kernel = job.opening.kernel
    names = names_for(kernel, wanted, device=asked_of(job).device)
    changes = {
        "tools": few_specs(names),
        "opening": few_opening(as_asked(task, asked_of(job)), kernel, names),
        "budget": budget or Budget(tool_calls=CALLS),
        "max_tokens": max_tokens or REPLY_TOKENS,
        "calls_a_reply": 1,
        "settings": {**job.settings, "box": FEW_BOX, TOOLS: list(names)},
    }
    return Job.model_validate({**dict(job), **changes})


def open_few(job: Job, box: TaskBox) -> OpenedBox:
    """The few tools over the real ones, and how a conversation about another kernel begins."""
    names, task = names_of(job), as_asked(box.session.task, asked_of(job))

    def open_with(kernel: str, note: str) -> Opening:
        return few_opening(task, kernel, names, look_at(box, kernel, names), note)

    return OpenedBox(FewBox(box, few_specs(names)), open_with)


def look(job: Job, opened: OpenedBox) -> Job:
    """The job with the profile of its kernel in the opening; once, since a run that goes on has it."""
    if job.settings.get(LOOKED) is True:
        return job
    opening = opened.open_with(job.opening.kernel, "")
    return job.model_copy(update={"opening": opening, "settings": {**job.settings, LOOKED: True}})


def names_of(job: Job) -> tuple[str, ...]:
    return tuple(spec.name for spec in job.tools)


def few_opening(task: Task, kernel: str, names: Sequence[str], seen: Look = NO_LOOK, note: str = "") -> Opening:
    """The first two messages, about this kernel."""
    listed = "\n".join(_line(spec, named=bool(seen.causes)) for spec in few_specs(names))
    first = seen.causes[0] if seen.causes else ANY_NAME
    system = Template(prompt_file("small" if REWRITE in names else "small_edits")).substitute(tools=listed, cause=first)
    sizes = next((w.axes for w in task.workloads if w.profile), task.workloads[0].axes)
    user = Template(prompt_file("small_task")).substitute(
        gpu=neutral(target_of(task)),
        task=task.name,
        size=", ".join(f"{name} {value}" for name, value in sizes.items()) or "fixed",
        kernel=fence("kernel", kernel.strip()),
        profile=fence("profile", seen.words) if seen.words else "",
        note=neutral(note),
    )
    lines = [line for line in user.split("\n") if line.strip()]
    return Opening(system=system.strip(), user="\n".join(lines), kernel=kernel)


def _line(spec: ToolSpec, *, named: bool) -> str:
    """A tool in the prompt, without `base`, whose default is meant. The causes stand in the profile; else here."""
    shown = {name: part for name, part in _properties(spec).items() if name != BASE}
    form = form_of({**spec.parameters, "properties": shown})
    if spec.name == REWRITE:
        form = f'{{"{CAUSE}": {ANY_NAME if named else " or ".join(known_causes())}}}'
    return f"- {spec.name} {form}: {spec.description}"


def _properties(spec: ToolSpec) -> dict[str, JsonValue]:
    properties = spec.parameters.get("properties")
    assert isinstance(properties, dict)
    return properties
