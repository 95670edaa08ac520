"""What the three HTTP formats have in common: the WireFormat seam, and reading values out of JSON that is not trusted.

A wire format is pure: it turns a Request into a body, and a body or a stream of events into a Reply. It opens nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from pydantic import JsonValue

from warpsight.errors import UsageError
from warpsight.models.errors import BadReply, CutReply, EmptyReply
from warpsight.models.key import ApiKey
from warpsight.models.model import AssistantMessage, Reply, Request, ToolCall, Usage, Wire
from warpsight.models.sse import ServerEvent
from warpsight.models.verbatim import dump, parse

Extra = Mapping[str, JsonValue]


class ProviderFault(Exception):
    """The provider reports a failure inside an answer; the HTTP driver decides whether to ask again."""

    def __init__(self, message: str, *, again: bool) -> None:
        super().__init__(message)
        self.message = message
        self.again = again


class Assembler(Protocol):
    """Puts one streamed reply together. `complete` once the end was announced: before that a stream was cut."""

    @property
    def complete(self) -> bool: ...

    def feed(self, event: ServerEvent) -> str:
        """Take one event; the visible text that it adds."""
        ...

    def usage(self) -> Usage:
        """What is known to be used so far."""
        ...

    def reply(self) -> Reply: ...


class WireFormat(Protocol):
    """One provider's format."""

    @property
    def name(self) -> Wire: ...

    @property
    def path(self) -> str: ...

    def headers(self, key: ApiKey | None) -> dict[str, str]: ...

    def body(self, request: Request, *, model: str, stream: bool) -> str: ...

    def read(self, text: str) -> Reply: ...

    def assembler(self) -> Assembler: ...


def json_of(text: str, what: str) -> JsonValue:
    """The JSON value of something a server sent, or BadReply."""
    try:
        return parse(text)
    except ValueError as problem:
        raise BadReply(f"expected JSON in {what}, got {shown(text)} ({problem})", hint="check the base URL") from None


def at(value: JsonValue, *path: str | int) -> JsonValue:
    """The value at a path, None where there is none."""
    for step in path:
        if isinstance(step, str):
            value = value.get(step) if isinstance(value, dict) else None
        else:
            value = value[step] if isinstance(value, list) and -len(value) <= step < len(value) else None
    return value


def text_at(value: JsonValue, *path: str | int) -> str:
    found = at(value, *path)
    return found if isinstance(found, str) else ""


def count_at(value: JsonValue, *path: str | int) -> int:
    found = at(value, *path)
    return found if isinstance(found, int) and not isinstance(found, bool) and found >= 0 else 0


def list_at(value: JsonValue, *path: str | int) -> list[JsonValue]:
    found = at(value, *path)
    return found if isinstance(found, list) else []


def shown(text: str, limit: int = 200) -> str:
    """The beginning of a foreign text, on one line, fit to be printed."""
    line = "".join(c if c.isprintable() else " " for c in text[: 2 * limit]).strip()
    return repr(line if len(line) <= limit else line[:limit] + "...") if line else "nothing"


def require_own(turn: AssistantMessage, wire: Wire) -> None:
    """A turn can only go back to where it came from: its reasoning is signed or encrypted there."""
    if turn.raw is not None and turn.wire != wire:
        raise UsageError(
            f"expected assistant turns of the `{wire}` format, found one of `{turn.wire}`",
            hint="go on with the kind of model that the conversation began with",
        )


def with_extra(pairs: list[tuple[str, str]], extra: Extra) -> list[tuple[str, str]]:
    """The body's fields with those that the user adds or replaces; the conversation itself cannot be replaced."""
    own = {"model", "messages", "input", "tools", "stream", "system", "instructions"}
    clash = own & set(extra)
    if clash:
        raise UsageError(f"extra fields of a request may not be {', '.join(sorted(clash))}", hint="leave them out")
    return [pair for pair in pairs if pair[0] not in extra] + [(name, dump(value)) for name, value in extra.items()]


def checked(reply: Reply) -> Reply:
    """The reply, unless it is empty or was cut inside a call."""
    if not (reply.text or reply.reasoning or reply.calls):
        raise EmptyReply(
            f"expected text or a call, got an empty reply (it stopped by `{reply.stop_reason}`)", usage=reply.usage
        )
    if reply.stop_reason == "length" and reply.calls and not is_json(reply.calls[-1]):
        raise CutReply(
            f"the reply ended inside the arguments of `{reply.calls[-1].name}`: it reached its limit of tokens",
            hint="allow more tokens a reply",
            text=reply.text,
            usage=reply.usage,
        )
    return reply


def is_json(call: ToolCall) -> bool:
    try:
        parse(call.arguments)
    except ValueError:
        return False
    return True
