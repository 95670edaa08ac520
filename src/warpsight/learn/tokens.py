"""A trace as tokens with a loss mask: exactly what a local model is given, and which of it the model wrote.

The template is the one that inference uses (models/template.py), so what is trained is what is later generated. What
must stay true: a token is trained on only if it is of a `written` part, and foreign text is made into tokens without
special ones. What follows the last written token is left out: it would cost time and teach nothing.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from warpsight.models.local import kept_tokens
from warpsight.models.model import AssistantMessage, Message, SystemMessage, ToolCall, ToolMessage, UserMessage
from warpsight.models.template import parts_of
from warpsight.models.text_calls import OPEN
from warpsight.nouns.run import Run
from warpsight.nouns.tool import ToolSpec
from warpsight.reason.job import job_of

Encode = Callable[[str, bool], list[int]]  # a text, and whether its special tokens count as such


class Tokens(NamedTuple):
    """One trace. `mask` is 1 where the model wrote the token."""

    ids: list[int]
    mask: list[int]


class FittingTraces(NamedTuple):
    """The traces that are trained on, and how many were left out, by why."""

    kept: list[Tokens]
    too_long: int
    nothing_to_learn: int  # however long: no token of it is trained on


def fit_of(rows: Sequence[Tokens], max_tokens: int) -> FittingTraces:
    """What can be trained on; what is too long is left out, never cut."""
    taught = [row for row in rows if 1 in row.mask]
    kept = [row for row in taught if len(row.ids) <= max_tokens]
    return FittingTraces(kept, too_long=len(taught) - len(kept), nothing_to_learn=len(rows) - len(taught))


def tokens_of(trace: Mapping[str, Any], encode: Encode) -> Tokens:
    """The tokens of a training row as `traces.py` writes it."""
    messages = messages_of(trace["messages"], trace["train"])
    learned = [on for on, one in zip(trace["train"], messages, strict=True) if isinstance(one, AssistantMessage)]
    return tokens_of_messages(messages, specs_of(trace["tools"]), encode, learned)


def tokens_of_messages(
    messages: Sequence[Message], tools: Sequence[ToolSpec], encode: Encode, learned: Sequence[bool] | None = None
) -> Tokens:
    """The tokens of a conversation, as a local model would be given it to go on; `learned` says of each of its turns
    whether it is trained on, and without it all are."""
    ids: list[int] = []
    mask: list[int] = []
    turns = itertools.repeat(True) if learned is None else iter(learned)
    for part in parts_of(messages, tools):
        kept = kept_tokens(part.turn) if part.turn is not None else []
        found = kept or encode(part.text, part.kind == "control")
        ids += found
        mask += [int(part.kind == "written" and next(turns))] * len(found)
    end = len(mask) - mask[::-1].index(1) if 1 in mask else len(mask)
    return Tokens(ids[:end], mask[:end])


def messages_of(written: Sequence[Mapping[str, Any]], train: Sequence[bool]) -> tuple[Message, ...]:
    """The messages of a row; one whose mask is true for anything else than an assistant's message is refused."""
    if any(on and message["role"] != "assistant" for message, on in zip(written, train, strict=True)):
        raise ValueError("expected the mask of a row to be true for assistant messages and no others")
    return tuple(map(_message, written))


def specs_of(tools: Sequence[Mapping[str, Any]]) -> tuple[ToolSpec, ...]:
    return tuple(ToolSpec.model_validate(dict(tool["function"])) for tool in tools)


def _message(written: Mapping[str, Any]) -> Message:
    text = str(written["content"])
    if written["role"] == "system":
        return SystemMessage(text=text)
    if written["role"] == "user":
        return UserMessage(text=text)
    if written["role"] == "assistant":
        calls = () if OPEN in text else map(_call, written.get("tool_calls", ()))
        return AssistantMessage(text=text, calls=tuple(calls))
    return ToolMessage(call_id=str(written["tool_call_id"]), name=str(written["name"]), text=text)


def _call(written: Mapping[str, Any]) -> ToolCall:
    """A call that was no text, as models behind an endpoint make them: it is written out as local models write it."""
    called = written["function"]
    return ToolCall(id=str(written["id"]), name=str(called["name"]), arguments=json.dumps(called["arguments"]))


def tokens_of_run(run: Run, encode: Encode) -> Tokens:
    """The tokens of a run that a local model made: its own tokens as it sampled them, not split anew."""
    made: list[Message] = []
    for step in run.steps:
        if step.kind == "assistant":
            made.append(AssistantMessage(text=step.content, raw=step.raw, wire="local"))
        elif step.kind == "result":
            made.append(ToolMessage(call_id=step.call_id or "", name=step.tool or "", text=step.content))
        elif step.kind in ("system", "user"):
            made.append(SystemMessage(text=step.content) if step.kind == "system" else UserMessage(text=step.content))
    return tokens_of_messages(made, job_of(run).tools, encode)
