"""The Anthropic Messages format, with thinking blocks (signed) between calls.

`raw` is the `content` array: as it stood in the body, or, streamed, its blocks put together from their deltas, with the
arguments of a call as the very text that came. Thinking is asked for through extra fields, e.g.
`{"thinking": {"type": "adaptive"}}`; which form a model takes is the provider's to say. The format has no `seed`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from pydantic import JsonValue

from warpsight.models.errors import BadReply
from warpsight.models.key import ApiKey
from warpsight.models.messages_stream import BlockAssembly
from warpsight.models.model import (
    AssistantMessage,
    Message,
    Reply,
    Request,
    StopReason,
    SystemMessage,
    ToolCall,
    ToolMessage,
    Usage,
    Wire,
)
from warpsight.models.sse import ServerEvent
from warpsight.models.verbatim import array_of, dump, items_of, object_of, span
from warpsight.models.wire import (
    Extra,
    ProviderFault,
    at,
    checked,
    count_at,
    json_of,
    require_own,
    text_at,
    with_extra,
)

VERSION = "2023-06-01"
STOPS: dict[str, StopReason] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refused",
}
# What asking again does not change.
FINAL_FAULTS = frozenset(
    {"invalid_request_error", "authentication_error", "permission_error", "not_found_error", "billing_error"}
)


class MessagesFormat:
    name: Wire = "messages"
    path = "/v1/messages"

    def __init__(self, *, extra: Extra | None = None) -> None:
        self._extra = extra or {}

    def headers(self, key: ApiKey | None) -> dict[str, str]:
        return {"anthropic-version": VERSION} | ({} if key is None else {"x-api-key": key.reveal()})

    def body(self, request: Request, *, model: str, stream: bool) -> str:
        system = [m.text for m in request.messages if isinstance(m, SystemMessage)]
        pairs = [("model", dump(model)), ("max_tokens", dump(request.max_tokens))]
        if system:
            pairs.append(("system", dump("\n\n".join(system))))
        pairs.append(("messages", array_of(_turns(request.messages))))
        if request.tools:
            tools = [
                {"name": t.name, "description": t.description, "input_schema": t.model_dump(mode="json")["parameters"]}
                for t in request.tools
            ]
            pairs.append(("tools", dump(tools)))
        if request.stop:
            pairs.append(("stop_sequences", dump(request.stop)))
        if request.temperature is not None:
            pairs.append(("temperature", dump(request.temperature)))
        if stream:
            pairs.append(("stream", "true"))
        return object_of(with_extra(pairs, self._extra))

    def read(self, text: str) -> Reply:
        value = json_of(text, "a message")
        raise_fault(value)
        if not isinstance(at(value, "content"), list):
            raise BadReply("expected a `content` array in a message, found none", usage=_usage(at(value, "usage")))
        return _reply(span(text, ("content",)), at(value, "stop_reason"), _usage(at(value, "usage")))

    def assembler(self) -> MessagesAssembler:
        return MessagesAssembler()


class MessagesAssembler:
    """Blocks by index, usage from the first event and then from the last, which has the final counts."""

    def __init__(self) -> None:
        self._blocks = BlockAssembly()
        self._counts: dict[str, JsonValue] = {}
        self._stop: JsonValue = None

    @property
    def complete(self) -> bool:
        return self._stop is not None

    def feed(self, event: ServerEvent) -> str:
        value = json_of(event.data, "an event of a message")
        kind = text_at(value, "type") or event.name
        if kind == "error":
            raise_fault(value)
        found = at(value, "message", "usage") if kind == "message_start" else at(value, "usage")
        if kind in ("message_start", "message_delta") and isinstance(found, dict):
            self._counts |= {name: count for name, count in found.items() if count is not None}
        if kind == "message_delta":
            self._stop = at(value, "delta", "stop_reason") or self._stop
        return self._blocks.feed(kind, event.data, value)

    def usage(self) -> Usage:
        return _usage(self._counts or None)

    def reply(self) -> Reply:
        return _reply(self._blocks.raw(cut=self._stop == "max_tokens", usage=self.usage()), self._stop, self.usage())


def _turns(messages: Sequence[Message]) -> list[str]:
    """Turns in turn: results of calls, and what the user says after them, are one user turn, results first."""
    spoken = [m for m in messages if not isinstance(m, SystemMessage)]
    turns: list[str] = []
    for is_assistant, group in groupby(spoken, key=lambda m: isinstance(m, AssistantMessage)):
        if is_assistant:
            turns += [_assistant(m) for m in group if isinstance(m, AssistantMessage)]
        else:
            blocks = array_of(_user_block(m) for m in group)
            turns.append(object_of([("role", '"user"'), ("content", blocks)]))
    return turns


def _user_block(message: Message) -> str:
    if not isinstance(message, ToolMessage):
        return dump({"type": "text", "text": message.text})
    block: dict[str, object] = {"type": "tool_result", "tool_use_id": message.call_id, "content": message.text}
    return dump(block | ({"is_error": True} if message.is_error else {}))


def _assistant(message: AssistantMessage) -> str:
    require_own(message, "messages")
    raw = message.raw
    if raw is None:
        said = [dump({"type": "text", "text": message.text})] if message.text else []
        calls = [
            object_of(
                [("type", '"tool_use"'), ("id", dump(c.id)), ("name", dump(c.name)), ("input", c.arguments or "{}")]
            )
            for c in message.calls
        ]
        raw = array_of([*said, *calls])
    return object_of([("role", '"assistant"'), ("content", raw)])


def _reply(raw: str, stop: JsonValue, usage: Usage) -> Reply:
    texts = items_of(raw)
    blocks = [json_of(text, "a content block") for text in texts]
    calls = tuple(
        ToolCall(id=text_at(block, "id"), name=text_at(block, "name"), arguments=_input(text, block))
        for text, block in zip(texts, blocks, strict=True)
        if text_at(block, "type") == "tool_use"
    )
    reply = Reply(
        text="".join(text_at(b, "text") for b in blocks if text_at(b, "type") == "text"),
        reasoning="\n\n".join(text_at(b, "thinking") for b in blocks if text_at(b, "type") == "thinking"),
        calls=calls,
        raw=raw,
        wire="messages",
        usage=usage,
        stop_reason=STOPS.get(stop, "other") if isinstance(stop, str) else "other",
    )
    return reply if reply.stop_reason == "refused" else checked(reply)


def _input(text: str, block: JsonValue) -> str:
    return span(text, ("input",)) if isinstance(block, dict) and "input" in block else "{}"


def _usage(counts: JsonValue) -> Usage:
    if not isinstance(counts, dict):
        return Usage(known=False)
    cached = count_at(counts, "cache_read_input_tokens")
    written = count_at(counts, "cache_creation_input_tokens")
    return Usage(
        input_tokens=count_at(counts, "input_tokens") + cached + written,
        output_tokens=count_at(counts, "output_tokens"),
        cached_tokens=cached,
        cache_write_tokens=written,
    )


def raise_fault(value: JsonValue) -> None:
    fault = at(value, "error")
    if fault is not None:
        final = text_at(fault, "type") in FINAL_FAULTS
        raise ProviderFault(text_at(fault, "message") or dump(fault), again=not final)
