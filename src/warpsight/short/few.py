"""A few tools in few words, for small models that nobody trained on them: `--prompt small`.

Two to four of the task's own tools, with short schemas and short results; a kernel that is not named is the best so
far. The profile of the given kernel stands in the opening, and a result of `rewrite` ends with that of the new kernel,
so that no call is spent on looking. What must stay true: verdicts, times and profiles are the real tools' own, and a
feedback mode that hides something hides it here too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from string import Template

from pydantic import JsonValue

from warpsight.causes import STOP, causes, with_behind
from warpsight.errors import UsageError
from warpsight.lens import tokens
from warpsight.nouns import Task
from warpsight.reason.budget import Budget
from warpsight.reason.fence import fence, neutral
from warpsight.reason.job import Job, Opening
from warpsight.reason.opening import prompt_file, target_of
from warpsight.reason.optimize import FEW_BOX, as_asked, asked_of
from warpsight.reason.resume import OpenedBox
from warpsight.rewrite import rewritable
from warpsight.short.words import profile_words, submit_words, time_words
from warpsight.tasks import written_in
from warpsight.tools.box import SUBMIT, ToolResult, ToolSpec
from warpsight.tools.edits import BASE, BEST, EDITS, KERNEL
from warpsight.tools.form import form_of
from warpsight.tools.profile import Profiled
from warpsight.tools.rewrite import Rewritten
from warpsight.tools.submit import Submitted
from warpsight.tools.task_box import TaskBox, tools
from warpsight.tools.time import Timed

FEW = ("rewrite", "what_if", SUBMIT)  # where a tool of that name exists
WITHOUT = ("rewrite", "time", SUBMIT)  # where there is none
EDITS_ONLY = ("time", SUBMIT)  # for kernels in languages that no rewrite knows
CALLS = 8
REPLY_TOKENS = 1024
RESULT_TOKENS = 160
LOOKED = "looked"  # in the settings of a job: its opening has the profile
TOOLS = "tools"  # in the settings of a job: the names of its tools
CAUSE = "cause"
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
    if name == "rewrite":
        kinds: dict[str, JsonValue] = {"type": "string", "enum": list(_causes())}
        return _made(name, "try fixes for a cause", {CAUSE: kinds, BASE: _BASE}, [CAUSE])
    if name == "time":
        return _made(name, "try your own change", {EDITS: _EDITS, BASE: _BASE}, [EDITS])
    if name == SUBMIT:
        return _made(name, "hand in the best", {BASE: _BASE})
    return _shortened(tools()[name].spec)


def _causes() -> tuple[str, ...]:
    """Every name that a profile may show and `rewrite` knows something for."""
    can = set(rewritable())
    shown = [
        one.name
        for one in causes().values()
        if not one.vague and one.name not in STOP and can & set(with_behind(one.name))
    ]
    return tuple(dict.fromkeys((*shown, *rewritable())))


def _made(name: str, said: str, properties: dict[str, JsonValue], required: list[JsonValue] | None = None) -> ToolSpec:
    needed: dict[str, JsonValue] = {"required": required} if required else {}
    return ToolSpec(name=name, description=said, parameters={"type": "object", "properties": properties, **needed})


def _shortened(spec: ToolSpec) -> ToolSpec:
    """A tool that has no short form here: its first sentence, and what it takes beside a kernel."""
    properties = spec.parameters.get("properties")
    assert isinstance(properties, dict)
    shown = {name: part for name, part in properties.items() if name not in (KERNEL, EDITS, BASE)}
    if KERNEL in properties:
        shown[BASE] = _BASE
    needed = spec.parameters.get("required")
    left: list[JsonValue] = [name for name in needed if name != KERNEL] if isinstance(needed, list) else []
    return _made(spec.name, spec.description.partition(". ")[0], shown, left)


class FewBox:
    """A ToolBox: the calls go to the task's own tools, what they say is made short."""

    def __init__(self, box: TaskBox, names: Sequence[str]) -> None:
        self._box = box
        self._names = tuple(names)
        self._tried = False

    def specs(self) -> tuple[ToolSpec, ...]:
        return few_specs(self._names)

    def call(self, name: str, arguments: Mapping[str, JsonValue]) -> ToolResult:
        """One call, by the real tool."""
        asked = dict(arguments)
        if name != SUBMIT:
            self._tried = True
        elif not self._tried and asked.get(KERNEL) == self._box.session.given.source:
            return ToolResult(text=f"error: nothing was tried yet; call {self._names[0]} first", is_error=True)
        if name == SUBMIT:
            asked.setdefault(CAUSE, "not said")
        result = self._box.call(name, asked)
        if result.is_error:
            return result
        return result.model_copy(update={"text": cut_to(self._said(name, result), RESULT_TOKENS)})

    def _said(self, name: str, result: ToolResult) -> str:
        record = json.dumps(result.data)
        if name == "rewrite":
            return self._rewritten(Rewritten.model_validate_json(record), result)
        if name == "time":
            found = Timed.model_validate_json(record)
            return f"{found.kernel}: {time_words(found)}"
        if name == SUBMIT:
            return submit_words(Submitted.model_validate_json(record))
        return result.text

    def _rewritten(self, found: Rewritten, result: ToolResult) -> str:
        """Whether it helped, and what is slow now."""
        if not found.found or result.made is None:
            why = "no known fix fits" if not found.tried else "no known fix is right and faster"
            return f"{found.cause}: {why}. Name another cause, or submit."
        told = f"{found.cause}: {found.rewrite} is right"
        if found.ratio is not None:
            told += f", {found.ratio:.2f}x as fast as before"
        if found.ratio_to_given is not None:
            told += f", {found.ratio_to_given:.2f}x as the given kernel"
        profile = profile_of(self._box, result.made)
        return f"{told}. It is `best` now, {found.kernel}." + (f"\nIts profile:\n{profile}" if profile else "")


def profile_of(box: TaskBox, kernel: str) -> str:
    """What the profile of a kernel says in few words; nothing where profiles are off."""
    result = box.call("profile", {KERNEL: kernel})
    if result.is_error:
        return ""
    found = Profiled.model_validate_json(json.dumps(result.data))
    return profile_words(found, kernel, smaller=True) if found.profiled else ""


def cut_to(text: str, most: int) -> str:
    """As many whole lines as fit, at least the first."""
    kept: list[str] = []
    for line in text.split("\n"):
        if kept and tokens("\n".join((*kept, line))) > most:
            break
        kept.append(line)
    return "\n".join(kept)


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
        return few_opening(task, kernel, names, profile_of(box, kernel), note)

    return OpenedBox(FewBox(box, names), open_with)


def look(job: Job, opened: OpenedBox) -> Job:
    """The job with the profile of its kernel in the opening; once, since a run that goes on has it."""
    if job.settings.get(LOOKED) is True:
        return job
    opening = opened.open_with(job.opening.kernel, "")
    return job.model_copy(update={"opening": opening, "settings": {**job.settings, LOOKED: True}})


def names_of(job: Job) -> tuple[str, ...]:
    return tuple(spec.name for spec in job.tools)


def _line(spec: ToolSpec, *, profiled: bool) -> str:
    """A tool in the prompt. The causes stand in the profile; where there is none, here."""
    form = form_of(spec.parameters)
    if spec.name == "rewrite":
        causes_said = "NAME" if profiled else " or ".join(_causes())
        form = f'{{"{CAUSE}": {causes_said}, "{BASE}"?: text}}'
    return f"- {spec.name} {form}: {spec.description}"


def few_opening(task: Task, kernel: str, names: Sequence[str], profile: str = "", note: str = "") -> Opening:
    """The first two messages, about this kernel."""
    listed = "\n".join(_line(spec, profiled=bool(profile)) for spec in few_specs(names))
    system = Template(prompt_file("small" if "rewrite" in names else "small_edits")).substitute(tools=listed)
    sizes = next((w.axes for w in task.workloads if w.profile), task.workloads[0].axes)
    user = Template(prompt_file("small_task")).substitute(
        gpu=neutral(target_of(task)),
        task=task.name,
        size=", ".join(f"{name} {value}" for name, value in sizes.items()) or "fixed",
        kernel=fence("kernel", kernel.strip()),
        profile=fence("profile", profile) if profile else "",
        note=neutral(note),
    )
    lines = [line for line in user.split("\n") if line.strip()]
    return Opening(system=system.strip(), user="\n".join(lines), kernel=kernel)
