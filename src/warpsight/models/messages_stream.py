"""Content blocks of a streamed Anthropic message, put together from their deltas.

What must stay true: a block keeps every field it began with, in that order; the arguments of a call are the text that
came, never parsed and written again; a kind of delta that is not known is an error, because leaving it out would change
a block that is signed.
"""

from __future__ import annotations

from pydantic import JsonValue

from warpsight.models.errors import BadReply, CutReply
from warpsight.models.model import Usage
from warpsight.models.verbatim import array_of, dump, object_of, parse
from warpsight.models.wire import at, count_at, text_at

# Kind of delta: (its field, the block's field).
JOINED = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("signature", "signature"),
}


class BlockAssembly:
    def __init__(self) -> None:
        self._blocks: dict[int, dict[str, JsonValue]] = {}
        self._arguments: dict[int, str] = {}

    def feed(self, kind: str, data: str, value: JsonValue) -> str:
        """Take an event that may concern a block; the visible text it adds."""
        index = count_at(value, "index")
        if kind == "content_block_start":
            block = at(value, "content_block")
            if not isinstance(block, dict):
                raise BadReply("expected a content block to begin, found none")
            self._blocks[index] = dict(block)
            return text_at(block, "text")
        if kind != "content_block_delta":
            return ""
        if index not in self._blocks:
            raise BadReply(f"content block {index} goes on but never began")
        return self._join(index, at(value, "delta"))

    def _join(self, index: int, delta: JsonValue) -> str:
        block, kind = self._blocks[index], text_at(delta, "type")
        if kind in JOINED:
            source, target = JOINED[kind]
            block[target] = text_at(block, target) + text_at(delta, source)
            return text_at(delta, "text")
        if kind == "input_json_delta":
            self._arguments[index] = self._arguments.get(index, "") + text_at(delta, "partial_json")
        elif kind == "citations_delta":
            old = block.get("citations")
            block["citations"] = [*(old if isinstance(old, list) else []), at(delta, "citation")]
        else:
            raise BadReply(f"expected a known kind of delta, got `{kind}`", hint="turn off what the request adds to it")
        return ""

    def raw(self, *, cut: bool, usage: Usage) -> str:
        """The content array. CutReply when the last call's arguments are not whole because the reply was cut."""
        return array_of(self._block(index, cut, usage) for index in sorted(self._blocks))

    def _block(self, index: int, cut: bool, usage: Usage) -> str:
        block, arguments = self._blocks[index], self._arguments.get(index, "")
        if not arguments:
            return dump(block)
        try:
            parse(arguments)
        except ValueError as problem:
            name = text_at(block, "name")
            if cut:
                text = "".join(text_at(b, "text") for b in self._blocks.values())
                raise CutReply(
                    f"the reply ended inside the arguments of `{name}`: it reached its limit of tokens",
                    hint="allow more tokens a reply",
                    text=text,
                    usage=usage,
                ) from None
            raise BadReply(f"the arguments of `{name}` are not JSON ({problem})", usage=usage) from None
        return object_of((field, arguments if field == "input" else dump(v)) for field, v in block.items())
