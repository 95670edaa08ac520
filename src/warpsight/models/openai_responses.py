"""The OpenAI Responses format. Nothing is stored at the provider: reasoning comes encrypted and goes back as it came.

`raw` is the `output` array; its items are put into the next `input` one by one, as they stood. A stream ends with an
event that holds the whole response, so streamed replies are verbatim too. The format has no `stop` and no `seed`.
"""

from __future__ import annotations

from pydantic import JsonValue

from warpsight.errors import UsageError
from warpsight.models.errors import BadReply
from warpsight.models.key import ApiKey
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
    list_at,
    require_own,
    text_at,
    with_extra,
)

LAST_EVENTS = ("response.completed", "response.incomplete")
# What asking again does not change.
FINAL_FAULTS = frozenset({"invalid_prompt", "invalid_request_error", "insufficient_quota", "invalid_api_key"})


class ResponsesFormat:
    name: Wire = "responses"
    path = "/responses"

    def __init__(self, *, extra: Extra | None = None) -> None:
        self._extra = extra or {}

    def headers(self, key: ApiKey | None) -> dict[str, str]:
        return {} if key is None else {"Authorization": f"Bearer {key.reveal()}"}

    def body(self, request: Request, *, model: str, stream: bool) -> str:
        if request.stop:
            raise UsageError("the Responses format has no stop sequences", hint="use `openai:` (chat completions)")
        system = [m.text for m in request.messages if isinstance(m, SystemMessage)]
        pairs = [
            ("model", dump(model)),
            ("input", array_of(item for m in request.messages for item in _items(m))),
            ("max_output_tokens", dump(request.max_tokens)),
            ("store", "false"),
            ("include", dump(["reasoning.encrypted_content"])),
        ]
        if system:
            pairs.insert(1, ("instructions", dump("\n\n".join(system))))
        if request.tools:
            # Not strict: the strict subset of JSON schema forbids optional arguments, and the loop checks them anyway.
            tools = [{"type": "function", **t.model_dump(mode="json"), "strict": False} for t in request.tools]
            pairs.append(("tools", dump(tools)))
        if request.temperature is not None:
            pairs.append(("temperature", dump(request.temperature)))
        if stream:
            pairs.append(("stream", "true"))
        return object_of(with_extra(pairs, self._extra))

    def read(self, text: str) -> Reply:
        value = json_of(text, "a response")
        _raise_fault(at(value, "error"))
        if not isinstance(at(value, "output"), list):
            raise BadReply("expected an `output` array in a response, found none", usage=_usage(value))
        return _reply(span(text, ("output",)), value)

    def assembler(self) -> ResponsesAssembler:
        return ResponsesAssembler()


class ResponsesAssembler:
    """Waits for the last event; finished items are kept for servers that leave `output` empty there."""

    def __init__(self) -> None:
        self._last: JsonValue = None
        self._raw = ""
        self._items: list[str] = []

    @property
    def complete(self) -> bool:
        return self._last is not None

    def feed(self, event: ServerEvent) -> str:
        if event.data.strip() == "[DONE]":
            return ""
        value = json_of(event.data, "an event of a response")
        kind = text_at(value, "type") or event.name
        if kind == "error":
            _raise_fault(at(value, "error") or value)
        if kind == "response.failed":
            _raise_fault(at(value, "response", "error") or value)
        if kind == "response.output_item.done":
            self._items.append(span(event.data, ("item",)))
        if kind in LAST_EVENTS:
            self._last = at(value, "response")
            has_output = bool(list_at(self._last, "output"))
            self._raw = span(event.data, ("response", "output")) if has_output else array_of(self._items)
        return text_at(value, "delta") if kind == "response.output_text.delta" else ""

    def usage(self) -> Usage:
        return _usage(self._last)

    def reply(self) -> Reply:
        return _reply(self._raw, self._last)


def _items(message: Message) -> tuple[str, ...]:
    if isinstance(message, SystemMessage):
        return ()
    if isinstance(message, ToolMessage):
        return (dump({"type": "function_call_output", "call_id": message.call_id, "output": message.text}),)
    if not isinstance(message, AssistantMessage):
        return (dump({"role": "user", "content": message.text}),)
    require_own(message, "responses")
    if message.raw is not None:
        return items_of(message.raw)
    said = [{"role": "assistant", "content": message.text}] if message.text else []
    calls = [
        {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments}
        for call in message.calls
    ]
    return tuple(dump(item) for item in [*said, *calls])


def _reply(raw: str, response: JsonValue) -> Reply:
    items = [json_of(item, "an output item") for item in items_of(raw)]
    calls = tuple(
        ToolCall(id=text_at(i, "call_id"), name=text_at(i, "name"), arguments=text_at(i, "arguments"))
        for i in items
        if text_at(i, "type") == "function_call"
    )
    parts = [part for i in items if text_at(i, "type") == "message" for part in list_at(i, "content")]
    refused = any(text_at(part, "type") == "refusal" for part in parts)
    reply = Reply(
        text="".join(text_at(part, "text") or text_at(part, "refusal") for part in parts),
        reasoning="\n\n".join(_reasoning(i) for i in items if text_at(i, "type") == "reasoning").strip(),
        calls=calls,
        raw=raw,
        wire="responses",
        usage=_usage(response),
        stop_reason=_stop(response, bool(calls), refused),
    )
    # A reasoning item may be all encrypted: it is no text for us, but it is no empty reply either.
    return reply if reply.stop_reason == "length" and items and not calls else checked(reply)


def _reasoning(item: JsonValue) -> str:
    return "\n\n".join(text_at(part, "text") for part in [*list_at(item, "summary"), *list_at(item, "content")])


def _stop(response: JsonValue, has_calls: bool, refused: bool) -> StopReason:
    if text_at(response, "status") == "incomplete":
        reason = text_at(response, "incomplete_details", "reason")
        return {"max_output_tokens": "length", "content_filter": "refused"}.get(reason, "other")  # type: ignore[return-value]
    return "calls" if has_calls else "refused" if refused else "end"


def _usage(response: JsonValue) -> Usage:
    usage = at(response, "usage")
    if not isinstance(usage, dict):
        return Usage(known=False)
    return Usage(
        input_tokens=count_at(usage, "input_tokens"),
        output_tokens=count_at(usage, "output_tokens"),
        cached_tokens=count_at(usage, "input_tokens_details", "cached_tokens"),
    )


def _raise_fault(fault: JsonValue) -> None:
    if fault is None:
        return
    code = text_at(fault, "code") or text_at(fault, "type")
    raise ProviderFault(text_at(fault, "message") or dump(fault), again=code not in FINAL_FAULTS)
