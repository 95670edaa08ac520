"""The chat completions format: OpenAI's own, and what vLLM, SGLang, llama.cpp and OpenRouter serve by base URL.

`raw` is the `message` object: as it stood in the body, or, streamed, put together once from its deltas with every field
that came (`reasoning`, `reasoning_content`, `reasoning_details`, also empty ones, which some servers want back).
"""

from __future__ import annotations

from typing import cast

from pydantic import JsonValue

from warpsight.models.errors import BadReply
from warpsight.models.key import ApiKey
from warpsight.models.model import (
    AssistantMessage,
    Message,
    Reply,
    Request,
    StopReason,
    ToolCall,
    ToolMessage,
    Usage,
    Wire,
)
from warpsight.models.retry import worth_again
from warpsight.models.sse import ServerEvent
from warpsight.models.verbatim import array_of, dump, object_of, span
from warpsight.models.wire import (
    Extra,
    ProviderFault,
    at,
    checked,
    count_at,
    json_of,
    list_at,
    require_own,
    text_at,
    with_extra,
)

STOPS: dict[str, StopReason] = {
    "stop": "end",
    "tool_calls": "calls",
    "function_call": "calls",
    "length": "length",
    "content_filter": "refused",
}


class ChatFormat:
    """`limit_name` is what the server calls the token limit: OpenAI renamed it, others kept the old name."""

    name: Wire = "chat"
    path = "/chat/completions"

    def __init__(self, *, limit_name: str = "max_tokens", extra: Extra | None = None) -> None:
        self._limit_name = limit_name
        self._extra = extra or {}

    def headers(self, key: ApiKey | None) -> dict[str, str]:
        return {} if key is None else {"Authorization": f"Bearer {key.reveal()}"}

    def body(self, request: Request, *, model: str, stream: bool) -> str:
        pairs = [
            ("model", dump(model)),
            ("messages", array_of(_message_text(m) for m in request.messages)),
            (self._limit_name, dump(request.max_tokens)),
        ]
        if request.tools:
            tools = [{"type": "function", "function": spec.model_dump(mode="json")} for spec in request.tools]
            pairs.append(("tools", dump(tools)))
        if request.stop:
            pairs.append(("stop", dump(request.stop)))
        if request.temperature is not None:
            pairs.append(("temperature", dump(request.temperature)))
        if request.seed is not None:
            pairs.append(("seed", dump(request.seed)))
        if stream:
            pairs += [("stream", "true"), ("stream_options", dump({"include_usage": True}))]
        return object_of(with_extra(pairs, self._extra))

    def read(self, text: str) -> Reply:
        value = json_of(text, "a chat completion")
        raise_fault(value)
        if not isinstance(at(value, "choices", 0, "message"), dict):
            raise BadReply("expected `choices[0].message` in a chat completion, found none", usage=_usage(value))
        finish = at(value, "choices", 0, "finish_reason")
        return _reply(span(text, ("choices", 0, "message")), at(value, "choices", 0, "message"), finish, _usage(value))

    def assembler(self) -> ChatAssembler:
        return ChatAssembler()


class ChatAssembler:
    """Deltas of choice 0 to one message. Strings are joined, calls and reasoning details by their index."""

    def __init__(self) -> None:
        self._message: dict[str, JsonValue] = {"role": "assistant", "content": None}
        self._calls: dict[int, dict[str, JsonValue]] = {}
        self._details: dict[tuple[int, str], dict[str, JsonValue]] = {}
        self._finish: JsonValue = None
        self._usage: JsonValue = None

    @property
    def complete(self) -> bool:
        return self._finish is not None

    def feed(self, event: ServerEvent) -> str:
        if event.data.strip() == "[DONE]":
            return ""
        value = json_of(event.data, "a chunk of a chat completion")
        raise_fault(value)
        if isinstance(at(value, "usage"), dict):
            self._usage = value
        choice = next((c for c in list_at(value, "choices") if count_at(c, "index") == 0), None)
        delta = at(choice, "delta")
        if isinstance(delta, dict):
            self._take(delta)
        self._finish = at(choice, "finish_reason") or self._finish
        return text_at(delta, "content")

    def _take(self, delta: dict[str, JsonValue]) -> None:
        for name, value in delta.items():
            if name == "tool_calls":
                for position, part in enumerate(list_at(value)):
                    _join_call(self._calls.setdefault(_index(part, position), {}), part)
            elif name == "reasoning_details":
                for position, part in enumerate(list_at(value)):
                    place = (_index(part, position), text_at(part, "type"))
                    _join(self._details.setdefault(place, {}), part)
            elif name != "role":
                _join(self._message, {name: value})

    def usage(self) -> Usage:
        return _usage(self._usage)

    def reply(self) -> Reply:
        message = dict(self._message)
        if self._details:
            message["reasoning_details"] = list(self._details.values())
        if self._calls:
            message["tool_calls"] = [self._calls[index] for index in sorted(self._calls)]
        return _reply(dump(message), message, self._finish, self.usage())


def _index(part: JsonValue, position: int) -> int:
    found = at(part, "index")
    return found if isinstance(found, int) else position


def _join_call(call: dict[str, JsonValue], part: JsonValue) -> None:
    function = cast("dict[str, JsonValue]", call.setdefault("function", {"name": "", "arguments": ""}))
    function["name"] = text_at(function, "name") + text_at(part, "function", "name")
    function["arguments"] = text_at(function, "arguments") + text_at(part, "function", "arguments")
    for name, value in part.items() if isinstance(part, dict) else ():
        if name not in ("index", "function") and value is not None:
            call[name] = value  # id and type come once, and whole


def _join(into: dict[str, JsonValue], part: JsonValue) -> None:
    for name, value in part.items() if isinstance(part, dict) else ():
        old = into.get(name)
        if name not in ("type", "id", "format") and isinstance(old, str) and isinstance(value, str):
            into[name] = old + value
        elif isinstance(old, list) and isinstance(value, list):
            into[name] = [*old, *value]
        elif value is not None or name not in into:
            into[name] = value


def _message_text(message: Message) -> str:
    if isinstance(message, ToolMessage):
        return dump({"role": "tool", "tool_call_id": message.call_id, "content": message.text})
    if not isinstance(message, AssistantMessage):
        return dump({"role": message.role, "content": message.text})
    require_own(message, "chat")
    if message.raw is not None:
        return message.raw
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in message.calls
    ]
    return dump({"role": "assistant", "content": message.text or None} | ({"tool_calls": calls} if calls else {}))


def _reply(raw: str, message: JsonValue, finish: JsonValue, usage: Usage) -> Reply:
    calls = tuple(
        ToolCall(id=text_at(c, "id"), name=text_at(c, "function", "name"), arguments=_arguments(c))
        for c in list_at(message, "tool_calls")
    )
    stop = STOPS.get(finish, "other") if isinstance(finish, str) else "other"
    reply = Reply(
        text=text_at(message, "content") or text_at(message, "refusal"),
        reasoning=text_at(message, "reasoning_content") or text_at(message, "reasoning"),
        calls=calls,
        raw=raw,
        wire="chat",
        usage=usage,
        # Some servers say "stop" although there are calls.
        stop_reason="calls" if calls and stop == "end" else "refused" if text_at(message, "refusal") else stop,
    )
    return checked(reply)


def _arguments(call: JsonValue) -> str:
    found = at(call, "function", "arguments")
    return found if isinstance(found, str) else dump({} if found is None else found)


def _usage(value: JsonValue) -> Usage:
    usage = at(value, "usage")
    if not isinstance(usage, dict):
        return Usage(known=False)
    cost = at(usage, "cost")
    return Usage(
        input_tokens=count_at(usage, "prompt_tokens"),
        output_tokens=count_at(usage, "completion_tokens"),
        cached_tokens=count_at(usage, "prompt_tokens_details", "cached_tokens"),
        cost_usd=float(cost) if isinstance(cost, int | float) else None,
    )


def raise_fault(value: JsonValue) -> None:
    """Some gateways answer 200 and put the failure into the body."""
    fault = at(value, "error")
    if fault is None:
        return
    code = at(fault, "code") if isinstance(at(fault, "code"), int) else at(fault, "status")
    message = text_at(fault, "message") or text_at(value, "error") or dump(fault)
    raise ProviderFault(message, again=worth_again(code) if isinstance(code, int) else True)
