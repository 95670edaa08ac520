"""No model at all: a script that profiles, lets `rewrite` search by rule, and submits what came of it.

What `warpsight optimize` runs where no model is installed. It goes through the same loop as every model, so budgets,
records and reports are the same.
"""

from __future__ import annotations

from warpsight.models.model import AssistantMessage, Request, ToolMessage
from warpsight.models.scripted import ScriptedCall, ScriptedModel, ScriptedTurn

GUIDED = "guided"


def open_guided() -> ScriptedModel:
    """The script as a model."""
    return ScriptedModel(_turn, name=GUIDED)


def _turn(request: Request) -> ScriptedTurn:
    played = sum(isinstance(message, AssistantMessage) for message in request.messages)
    results = [message for message in request.messages if isinstance(message, ToolMessage)]
    if played == 0:
        return _called("I look at what the kernel does.", "profile", base="given")
    if played == 1:
        return _called("I try what is known by rule, and look again after each step.", "rewrite", base="given")
    found = next((one for one in results if one.name == "rewrite" and not one.is_error), None)
    steps = [] if found is None else _steps(found.text)
    if not steps:
        return _called("No rule made it faster: the kernel stays as it is.", "submit", base="given", cause="nothing")
    return _called("The last kernel that was right and faster is handed in.", "submit", cause="; ".join(steps)[:4000])


def _steps(text: str) -> list[str]:
    """The lines between `steps:` and `left:`."""
    lines = text.split("\n")
    if "steps:" not in lines or "left:" not in lines:
        return []
    return lines[lines.index("steps:") + 1 : lines.index("left:")]


def _called(text: str, tool: str, **arguments: str) -> ScriptedTurn:
    return ScriptedTurn(text=text, calls=(ScriptedCall(name=tool, arguments=dict(arguments)),))
