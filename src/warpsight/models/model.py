"""The Model seam and the records that cross it: a Request goes in, a Reply comes out, whatever stands behind it.

An assistant turn carries `raw`, the provider's message as JSON text exactly as it came, and `wire`, its format.
What must stay true: `raw` is sent back byte for byte. Providers sign or encrypt reasoning, so a rebuilt turn is refused
or loses it. A turn without `raw` was written by us (an example in a prompt) and is built from `text` and `calls`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Literal, Protocol

from pydantic import Field

from warpsight.nouns.base import Count, Noun
from warpsight.nouns.tool import ToolSpec

if TYPE_CHECKING:
    from warpsight.models.errors import ModelError

__all__ = [
    "AssistantMessage",
    "BatchModel",
    "MalformedCall",
    "Message",
    "Model",
    "Reply",
    "Request",
    "StopReason",
    "SystemMessage",
    "ToolCall",
    "ToolMessage",
    "ToolSpec",
    "Usage",
    "UserMessage",
    "Wire",
    "add_usage",
    "turn_of",
]

Wire = Literal["chat", "responses", "messages", "local", "scripted"]
# end: it was finished; calls: it waits for results; length: cut at max_tokens; time: cut when the seconds were over;
# refused: it declined; other: unknown.
StopReason = Literal["end", "calls", "length", "time", "refused", "other"]
OnText = Callable[[str], None]


class ToolCall(Noun):
    """A call the model made, as data: the name may be unknown and `arguments` is its JSON text, not yet believed."""

    id: str
    name: str
    arguments: str


class MalformedCall(Noun):
    """Text that was meant as a call and is none: what it says, and why it is not taken as one."""

    text: str
    reason: str


class SystemMessage(Noun):
    role: Literal["system"] = "system"
    text: str


class UserMessage(Noun):
    role: Literal["user"] = "user"
    text: str


class AssistantMessage(Noun):
    """A turn of the model. Made by `turn_of(reply)`; only examples that we write ourselves have no `raw`."""

    role: Literal["assistant"] = "assistant"
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    raw: str | None = None
    wire: Wire | None = None


class ToolMessage(Noun):
    """The result of one call. Results stand directly after the turn that called, in the order of its calls."""

    role: Literal["tool"] = "tool"
    call_id: str
    name: str
    text: str
    is_error: bool = False


Message = Annotated[SystemMessage | UserMessage | AssistantMessage | ToolMessage, Field(discriminator="role")]


class Request(Noun):
    """What is asked. A temperature of None is not sent: some models refuse to be given one.

    `seed` is a wish: formats without one (`responses`, `messages`) leave it out. After `seconds` the reply is what came
    until then, with the stop reason `time`: it is for the record, and is not sent back. `must_call` is a wish too: the
    reply is to be one call of a tool and nothing else, where the server or the engine can hold the model to that.
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    max_tokens: Annotated[int, Field(gt=0)] = 4096
    stop: tuple[str, ...] = ()
    temperature: Annotated[float, Field(ge=0)] | None = None
    seed: Count | None = None
    seconds: Annotated[float, Field(gt=0)] | None = None
    must_call: bool = False


class Usage(Noun):
    """Tokens of one reply. `input_tokens` includes the cached and cache-written ones; `cost_usd` is None if unknown.

    `known` is False when the provider said nothing: the zeros are then no measurement.
    """

    input_tokens: Count = 0
    output_tokens: Count = 0
    cached_tokens: Count = 0
    cache_write_tokens: Count = 0
    cost_usd: float | None = None
    known: bool = True


class Reply(Noun):
    """What came. `usage` is of this reply alone; `wasted` is what attempts that broke off had used before it."""

    text: str
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    malformed: tuple[MalformedCall, ...] = ()
    raw: str
    wire: Wire
    usage: Usage
    stop_reason: StopReason
    wasted: Usage = Usage()
    attempts: Annotated[int, Field(ge=1)] = 1


class Model(Protocol):
    """One language model. `reply` may raise ModelError and nothing else of its own; it holds no conversation."""

    @property
    def name(self) -> str: ...

    def reply(self, request: Request, on_text: OnText | None = None) -> Reply: ...

    def close(self) -> None: ...


class BatchModel(Model, Protocol):
    """A model for which many requests at once are cheaper than one after the other. A request that gets no usable
    reply gets its error instead; the others are not asked again for it."""

    def reply_batch(self, requests: Sequence[Request]) -> tuple[Reply | ModelError, ...]: ...


def turn_of(reply: Reply) -> AssistantMessage:
    """The turn to append to the messages: the reply as it came."""
    return AssistantMessage(text=reply.text, calls=reply.calls, raw=reply.raw, wire=reply.wire)


def add_usage(one: Usage, other: Usage) -> Usage:
    """The sum; a cost that is unknown on one side stays unknown, unless that side used nothing."""
    nothing = Usage()
    if one == nothing or other == nothing:
        return other if one == nothing else one
    cost = None if one.cost_usd is None or other.cost_usd is None else one.cost_usd + other.cost_usd
    return Usage(
        input_tokens=one.input_tokens + other.input_tokens,
        output_tokens=one.output_tokens + other.output_tokens,
        cached_tokens=one.cached_tokens + other.cached_tokens,
        cache_write_tokens=one.cache_write_tokens + other.cache_write_tokens,
        cost_usd=cost,
        known=one.known and other.known,
    )
