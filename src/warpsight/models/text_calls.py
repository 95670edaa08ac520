"""Calls that a model writes into its text: `<tool_call>{"name": ..., "arguments": {...}}</tool_call>`.

Read strictly. A block is a call when its inside is one JSON object with a string `name` and an object `arguments`, and
nothing else; anything near that is a MalformedCall with the reason, for the loop to tell the model. Nothing is repaired
or guessed. Models that do not know the tags write the same object in a code fence, or alone: `read_written` takes these
too. What must stay true: `arguments` is the text that the model wrote, not a copy of its value.
"""

from __future__ import annotations

import re

from warpsight.models.model import MalformedCall, ToolCall
from warpsight.models.verbatim import parse, span

OPEN, CLOSE = "<tool_call>", "</tool_call>"
RESULT_OPEN, RESULT_CLOSE = "<tool_response>", "</tool_response>"
_TAG = re.compile(re.escape(OPEN) + "|" + re.escape(CLOSE))
_FENCE = re.compile(r"^[ \t]*```[ \t]*(\w*)[ \t]*\n(.*?)\n?^[ \t]*```[ \t]*$", re.MULTILINE | re.DOTALL)
_LANGUAGES = ("", "json", "tool_call", "tool_code")
_MEANT = re.compile(r'\{\s*"(?:name|arguments)"')


def read_calls(text: str, id_prefix: str = "call_") -> tuple[tuple[ToolCall, ...], tuple[MalformedCall, ...]]:
    """The calls in a text in their order, and what was meant as one and is none. Ids are the prefix and a number."""
    calls: list[ToolCall] = []
    malformed: list[MalformedCall] = []
    opened: int | None = None
    for tag in _TAG.finditer(text):
        if tag.group() == OPEN:
            if opened is not None:
                malformed.append(_never_closed(text[opened : tag.start()]))
            opened = tag.end()
        elif opened is None:
            malformed.append(MalformedCall(text=CLOSE, reason=f"{CLOSE} without {OPEN} before it"))
        else:
            found = read_call(text[opened : tag.start()], f"{id_prefix}{len(calls)}")
            calls.append(found) if isinstance(found, ToolCall) else malformed.append(found)
            opened = None
    if opened is not None:
        malformed.append(_never_closed(text[opened:]))
    return tuple(calls), tuple(malformed)


def read_written(text: str, id_prefix: str = "call_") -> tuple[tuple[ToolCall, ...], tuple[MalformedCall, ...]]:
    """The calls in a text that may have no tags: then those in code fences, or the one that is the whole text."""
    calls, malformed = read_calls(text, id_prefix)
    if calls or malformed:
        return calls, malformed
    fenced = [found[2] for found in _FENCE.finditer(text) if found[1].lower() in _LANGUAGES]
    meant = [inside for inside in fenced or [text.strip()] if _MEANT.match(inside.strip())]
    found = [read_call(inside, f"{id_prefix}{number}") for number, inside in enumerate(meant)]
    calls = tuple(one for one in found if isinstance(one, ToolCall))
    return calls, tuple(one for one in found if isinstance(one, MalformedCall))


def read_call(inside: str, call_id: str) -> ToolCall | MalformedCall:
    """One block's inside as a call, or why it is none."""
    try:
        value = parse(inside, unique_keys=True)
    except ValueError as problem:
        return MalformedCall(text=inside, reason=f"not JSON: {problem}")
    reason = _fault(value)
    if reason is not None:
        return MalformedCall(text=inside, reason=reason)
    name, arguments = span(inside, ("name",)), span(inside, ("arguments",))
    return ToolCall(id=call_id, name=str(parse(name)), arguments=arguments)


def _fault(value: object) -> str | None:
    if not isinstance(value, dict):
        return "expected one JSON object with `name` and `arguments`"
    keys: set[object] = set(value)  # pyright: ignore[reportUnknownArgumentType]
    if keys != {"name", "arguments"}:
        return f"expected the keys `name` and `arguments`, found {', '.join(sorted(map(str, keys))) or 'none'}"
    if not isinstance(value["name"], str) or not value["name"]:
        return "expected a text as `name`"
    if not isinstance(value["arguments"], dict):
        return "expected an object as `arguments`"
    return None


def _never_closed(text: str) -> MalformedCall:
    return MalformedCall(text=text, reason=f"{OPEN} without {CLOSE} after it")
