"""A conversation as the one text that a local model goes on writing, in parts that say who wrote them.

ChatML (`<|im_start|>role ... <|im_end|>`), with tools listed in the system turn. For models that were trained here the
results of calls are put INTO the assistant's turn as `<tool_response>`, so that the model goes on where it called; for
others into a turn of the user, as Qwen's own template does. What must stay true: `written` parts
are what the model wrote and nothing else is (training masks follow them); `data` parts are foreign text and must be
made into tokens without special ones, so that no kernel, log or task can end a turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from warpsight.models.model import AssistantMessage, Message, SystemMessage, ToolMessage
from warpsight.models.text_calls import CLOSE, OPEN, RESULT_CLOSE, RESULT_OPEN
from warpsight.models.tool_list import tool_lines
from warpsight.models.verbatim import dump
from warpsight.nouns.tool import ToolSpec

TURN, TURN_END = "<|im_start|>", "<|im_end|>"


@dataclass(frozen=True)
class PromptPart:
    """A stretch of the prompt: `control` is ours, `data` is foreign, `written` is the model's own `turn`."""

    kind: Literal["control", "data", "written"]
    text: str
    turn: AssistantMessage | None = None


def tools_text(tools: Sequence[ToolSpec]) -> str:
    """What the system turn says of the tools; empty when none is listed."""
    listed = tool_lines([tool for tool in tools if tool.listed])
    if not listed:
        return ""
    return (
        f"\n\nYou have tools, one JSON object a line:\n{listed}\n"
        f'To call one, write {OPEN}{{"name": ..., "arguments": {{...}}}}{CLOSE} and stop. '
        f"Its result follows between {RESULT_OPEN} and {RESULT_CLOSE}; then go on."
    )


def inert(text: str) -> str:
    """A result that cannot pretend to be over: its tags are broken where it holds our own."""
    for tag in (OPEN, CLOSE, RESULT_OPEN, RESULT_CLOSE):
        text = text.replace(tag, tag.replace("<", "&lt;"))
    return text


def parts_of(
    messages: Sequence[Message], tools: Sequence[ToolSpec], *, results_inside: bool = True
) -> Iterator[PromptPart]:
    """The prompt in parts, ending where the model goes on; `results_inside` its turn, or in turns of the user."""
    system = "\n\n".join(m.text for m in messages if isinstance(m, SystemMessage))
    if system or tools_text(tools):
        yield PromptPart("control", f"{TURN}system\n")
        yield PromptPart("data", (system + tools_text(tools)).strip())
        yield PromptPart("control", f"{TURN_END}\n")
    inside = False  # an assistant turn that is still open
    for message in messages:
        if isinstance(message, AssistantMessage):
            if not inside:
                yield PromptPart("control", f"{TURN}assistant\n")
            yield PromptPart("written", written_text(message), message)
            inside = True
        elif isinstance(message, ToolMessage):
            ended = f"{TURN_END}\n" if inside else ""
            yield PromptPart("control", ("" if results_inside else f"{ended}{TURN}user") + f"\n{RESULT_OPEN}\n")
            yield PromptPart("data", inert(message.text))
            yield PromptPart("control", f"\n{RESULT_CLOSE}" + ("\n" if results_inside else f"{TURN_END}\n"))
            inside = inside and results_inside
        elif not isinstance(message, SystemMessage):
            yield PromptPart("control", f"{TURN_END}\n{TURN}user\n" if inside else f"{TURN}user\n")
            yield PromptPart("data", message.text)
            yield PromptPart("control", f"{TURN_END}\n")
            inside = False
    if not inside or isinstance(messages[-1], AssistantMessage):
        yield PromptPart("control", f"{TURN_END}\n{TURN}assistant\n" if inside else f"{TURN}assistant\n")


def written_text(turn: AssistantMessage) -> str:
    """A turn's text with its calls in it; calls of a turn that we wrote ourselves are added at its end."""
    if turn.raw is not None or OPEN in turn.text:
        return turn.text
    calls = [f'{OPEN}{{"name": {dump(c.name)}, "arguments": {c.arguments}}}{CLOSE}' for c in turn.calls]
    return "\n".join([turn.text, *calls] if turn.text else calls)
