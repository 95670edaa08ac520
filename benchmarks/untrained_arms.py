"""The arms of `benchmarks/untrained.py`: how one task is asked in each, and which one thing is off.

Every arm is the shipped way (`small`) with one thing changed, so that a difference says what that thing is worth. The
switches are here and not in the package, which offers none of the worse ways. Scripts that need no model are arms too.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast
from unittest import mock

from pydantic import JsonValue

from warpsight.models.guided import open_guided
from warpsight.models.model import Model, Request
from warpsight.models.scripted import ScriptedCall, ScriptedModel, ScriptedTurn
from warpsight.models.text_calls import read_calls
from warpsight.nouns import Task
from warpsight.reason import calls
from warpsight.reason.budget import Budget
from warpsight.reason.fence import neutral
from warpsight.reason.job import Job, Opening
from warpsight.serve.skill import skill_text
from warpsight.short import few
from warpsight.short.few import few_opening, few_specs, names_of
from warpsight.short.few_box import NO_LOOK, FewBox, known_causes, look_at
from warpsight.tools.box import SUBMIT, ToolBox, ToolResult
from warpsight.tools.edits import KERNEL
from warpsight.tools.task_box import TaskBox
from warpsight.verbs.optimize import plan_job

ARMS = {
    "small": "as shipped: --prompt small, held to a call by a grammar",
    "full": "the full prompt, all tools and their whole results, held to a call",
    "unconstrained": "not held to a call",
    "only-tags": "not held to a call, and calls in fences or bare JSON are not taken",
    "no-profile": "the opening has no profile; a tool `profile` gives it",
    "long-results": "results as the tools write them for large models",
    "hashes": "data fences carry hashes, as they did before",
    "fixed-example": "the call in the prompt names a cause that is not in the profile",
    "named-example": "the call in the prompt names NAME and no cause",
    "no-next": "results do not show the call to make next, and calls in vain are run",
    "same-turn": "results stand inside the model's own turn, as for models trained here",
    "own-edits": "the model writes its own edits: `time` and `submit` alone",
    "skill": "the text of the skill for coding agents, all tools and their whole results, held to a call",
    "no-skill": "the same with one sentence in place of the skill",
    "script": "no model: the first cause that is left, again and again, by the same few tools",
    "guided": "no model: `rewrite` without a cause, the search that `optimize` runs by itself",
}
CALLS = 8
NO_MODEL = ("script", "guided")
WHOLE = ("full", "guided", "skill", "no-skill")  # all tools, as large models have them
ONE_SENTENCE = "Make the GPU kernel faster with the tools, then submit it."
_CAUSE = re.compile(r"^(\w+) \d+\.\d+x", re.MULTILINE)
_LEFT = re.compile(r'Now call .*"cause":"(\w+)"')


def job_of(task: Task, model: str, arm: str, feedback: str) -> Job:
    """The job of one unit, before anything is looked at."""
    prompt = "full" if arm in WHOLE else "small"
    tools = {"own-edits": ["time"], "no-profile": ["profile", *few.FEW]}.get(arm, [])
    held = arm not in ("unconstrained", "only-tags")
    return plan_job(
        task, model="guided" if arm in NO_MODEL else f"local:{model}", prompt=prompt, tools=tools, feedback=feedback,
        constrain=held, budget=Budget(tool_calls=CALLS), max_tokens=1024,
    ).job  # fmt: skip


def begun(job: Job, task: Task, box: TaskBox, arm: str) -> tuple[Job, ToolBox]:
    """The job with its opening, and the tools as the arm has them."""
    if arm in WHOLE:
        system = {"skill": f"{ONE_SENTENCE}\n\n{skill_text()}".strip(), "no-skill": ONE_SENTENCE}.get(arm)
        opening = job.opening.model_copy(update={"system": system}) if system else job.opening
        return job.model_copy(update={"opening": opening}), cast(ToolBox, box)
    names, kernel = names_of(job), job.opening.kernel
    seen = NO_LOOK if arm == "no-profile" else look_at(box, kernel, names)
    opening = _changed(few_opening(task, kernel, names, seen), arm, seen.causes)
    kinds: dict[str, Callable[..., FewBox]] = {"long-results": LongBox, "no-next": NoNextBox}
    return job.model_copy(update={"opening": opening}), kinds.get(arm, FewBox)(box, few_specs(names))


def _changed(opening: Opening, arm: str, causes: tuple[str, ...]) -> Opening:
    if arm not in ("fixed-example", "named-example"):
        return opening
    other = next(name for name in ("spills", *known_causes()) if name not in causes)
    word = other if arm == "fixed-example" else "NAME"
    system = re.sub(r'(<tool_call>.*"cause": )"\w+"', rf'\1"{word}"', opening.system)
    return opening.model_copy(update={"system": system})


class LongBox(FewBox):
    """Results as they are written for large models."""

    def said(self, name: str, asked: Mapping[str, JsonValue], result: ToolResult) -> str:
        text = result.text
        if result.made is not None:
            text += "\n" + self._box.call("profile", {KERNEL: result.made}).text
        return text


class NoNextBox(FewBox):
    """As it was before: the model is told to name another cause, and may name one twice."""

    def in_vain(self, name: str, asked: Mapping[str, JsonValue]) -> str:
        kernel = str(asked.get(KERNEL))
        vain = name == SUBMIT and not self._tried[kernel] and kernel == self._box.session.given.source
        return f"nothing was tried yet; call {self._names[0]} first" if vain else ""

    def next_words(self, kernel: str) -> str:
        return "Name another cause, or submit."


@contextlib.contextmanager
def switched(arm: str) -> Iterator[None]:
    """What of the package itself is off in this arm."""
    with contextlib.ExitStack() as stack:
        if arm == "only-tags":
            stack.enter_context(mock.patch.object(calls, "read_written", read_calls))
        if arm == "hashes":
            stack.enter_context(mock.patch.object(few, "fence", _hashed_fence))
        yield


def _hashed_fence(name: str, text: str) -> str:
    body = neutral(text)
    mark = hashlib.sha256(body.encode()).hexdigest()[:16]
    return f"--- begin {name} (data {mark}) ---\n{body}\n--- end {name} (data {mark}) ---"


def script_of(arm: str) -> Model:
    """The model of an arm that has none."""
    return open_guided() if arm == "guided" else ScriptedModel(_first_left, name="script")


def _first_left(request: Request) -> ScriptedTurn:
    """The first cause of the newest profile, or the first that is said to be left; else submit."""
    text = cast(Any, request.messages[-1]).text
    named = _LEFT.findall(text) or [name for name in _CAUSE.findall(text) if name in known_causes()]
    call = ScriptedCall(name="rewrite", arguments={"cause": named[0]}) if named else ScriptedCall(name=SUBMIT)
    return ScriptedTurn(calls=(call,))
