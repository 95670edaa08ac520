"""The transcript: every step as the model saw it, folded, linked to the kernels it is about. All of it is text.

Long texts are cut so that the page stays light; each cut says how much is missing and where the whole stands.
"""

from __future__ import annotations

import json

from pydantic import JsonValue

from warpsight.nouns.run import Run, Step
from warpsight.report.html import Html, join, tag
from warpsight.report.story import Story
from warpsight.report.tried import step_anchor
from warpsight.runs.atif import arguments_of

ALL_CHARACTERS = 420_000  # of the transcript
MOST_CHARACTERS = 16_000  # of one step
LEAST_CHARACTERS = 600
_HINT_CHARACTERS = 140


def transcript_section(story: Story) -> Html:
    """Every part of the run with its steps."""
    steps = sum(len(part.steps) for part in story.parts)
    most = max(LEAST_CHARACTERS, min(MOST_CHARACTERS, ALL_CHARACTERS // max(1, steps)))
    parts = [_part(story, part, most, named=len(story.parts) > 1) for part in story.parts]
    keys = tag("p", "Keys: j and k go to the next and last step, o opens or closes all.", class_="keys")
    return tag("section", tag("h2", f"Transcript, {steps} steps"), keys, parts, id="transcript")


def _part(story: Story, part: Run, most: int, *, named: bool) -> Html:
    title = tag("h3", part.id) if named else None
    return join(title, [_step(story, part, step, most) for step in part.steps])


def _step(story: Story, part: Run, step: Step, most: int) -> Html:
    number = story.attempt_of_step.get((part.id, step.index))
    prose = "prose" if step.kind in ("assistant", "user", "system") else None
    shown = tag("pre", _cut(_content(step), most, part.id), class_=prose) if step.content else None
    body = [_reasoning(step, most), shown, _about(number)]
    return tag(
        "details",
        tag("summary", _summary(step, number)),
        body,
        id=step_anchor(part.id, step.index),
        class_=f"step {step.kind}{' error' if step.is_error else ''}",
        open=step.kind == "assistant",
    )


def _about(number: int | None) -> Html | None:
    if number is None:
        return None
    return tag("p", "about ", tag("a", f"attempt {number}", href=f"#a{number}"), class_="about")


def _summary(step: Step, number: int | None) -> Html:
    tool = tag("code", step.tool) if step.tool else None
    error = tag("b", " error", class_="state wrong") if step.is_error else None
    about = tag("span", f"attempt {number}", class_="chip") if number is not None else None
    said = tag("span", _hint(step), class_="hint")
    return join(tag("span", str(step.index), class_="n"), " ", step.kind, " ", tool, error, " ", about, " ", said)


def _reasoning(step: Step, most: int) -> Html | None:
    if not step.reasoning:
        return None
    return tag(
        "div",
        tag("p", "reasoning", class_="lead"),
        tag("pre", _cut(step.reasoning, most, ""), class_="prose"),
        class_="thought",
    )


def _content(step: Step) -> str:
    """Arguments of a call with their texts laid out; everything else as it is."""
    arguments = arguments_of(step) if step.kind == "call" else {}
    if step.kind != "call" or "malformed" in arguments:
        return step.content
    said: list[str] = []
    for name, value in arguments.items():
        shown = value if isinstance(value, str) else json.dumps(value, indent=1, ensure_ascii=False)
        said.append(f"{name}: {shown}" if "\n" not in shown else f"{name}:\n{shown}")
    return "\n".join(said)


def _hint(step: Step) -> str:
    """What a folded step is about: the arguments of a call, the first line of all else."""
    if step.kind == "assistant":
        return ""
    arguments = arguments_of(step) if step.kind == "call" else {}
    if step.kind != "call" or "malformed" in arguments:
        return _first_line(step)
    return _short(", ".join(f"{name}: {_value(value)}" for name, value in arguments.items()))


def _value(value: JsonValue) -> str:
    if isinstance(value, str) and "\n" in value:
        return f"{len(value.splitlines())} lines"
    if isinstance(value, list):
        return str(len(value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _first_line(step: Step) -> str:
    return _short(next((line.strip() for line in step.content.splitlines() if line.strip()), ""))


def _short(line: str) -> str:
    return line if len(line) <= _HINT_CHARACTERS else f"{line[:_HINT_CHARACTERS]}…"


def _cut(text: str, most: int, run_id: str) -> str:
    if len(text) <= most:
        return text
    where = f"; `warpsight show {run_id} --full` has all" if run_id else ""
    return f"{text[:most]}\n… {len(text) - most} more characters{where}"
