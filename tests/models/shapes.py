"""Replies in the shapes that providers send: reasoning and calls in turn, odd spacing, escapes, unknown fields.

The whole bodies are text, not dumps, so that the tests compare bytes which no JSON writer of ours would produce.
"""

from __future__ import annotations

from typing import Any

from tests.models.server import Answer, stream

from warpsight.models.model import Request, SystemMessage, UserMessage
from warpsight.nouns.tool import ToolSpec

TOOLS = (
    ToolSpec(
        name="profile",
        description="Counters of the kernel.",
        parameters={"type": "object", "properties": {"kernel": {"type": "string"}}},
    ),
)
REQUEST = Request(
    messages=(SystemMessage(text="Be exact."), UserMessage(text="Make it faster: größer, 速い")),
    tools=TOOLS,
    max_tokens=500,
)

# Spaces, an escaped slash, 1.0 and 1e2, a surrogate pair as escapes: each is lost by a parser and a writer.
CHAT_MESSAGE = (
    '{ "role": "assistant",  "content": null, "reasoning_content": '
    '"Sectors per request \\u2265 8\\/4, so \\ud83d\\ude00",\n'
    '  "x_unknown": 1.0, "tool_calls": [ {"id": "call_a", "type": "function", "function": '
    '{"name": "profile", "arguments": "{\\"kernel\\":  \\"a.cu\\", \\"n\\": 1e2}"}},'
    ' {"id": "call_b", "type": "function", "function": {"name": "no_such_tool", "arguments": "{}"}} ] }'
)
CHAT_BODY = (
    '{"id":"c1","object":"chat.completion","choices": [ {"index":0, "message" : ' + CHAT_MESSAGE + ' ,"finish_reason":'
    '"tool_calls"}],"usage":{"prompt_tokens":100,"completion_tokens":20,"prompt_tokens_details":{"cached_tokens":64}}}'
)
RESPONSES_ITEMS = (
    '{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"Look first."}],'
    '"encrypted_content":"gAAAA\\/b==" }',
    '{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text",'
    '"annotations":[],"text":"I look at the counters."}]}',
    '{"id":"rs_2","type":"reasoning","summary":[],"encrypted_content":"gBBBB=="}',
    '{"id":"fc_1","type":"function_call","status":"completed","call_id":"call_a","name":"profile",'
    '"arguments":"{ \\"kernel\\": \\"a.cu\\" }"}',
)
RESPONSES_OUTPUT = "[ " + " , ".join(RESPONSES_ITEMS) + " ]"
RESPONSES_USAGE = '{"input_tokens":90,"output_tokens":30,"input_tokens_details":{"cached_tokens":10}}'
RESPONSES_BODY = (
    '{"id":"resp_1","object":"response","status":"completed","error":null,"output": '
    + RESPONSES_OUTPUT
    + ' ,"usage":'
    + RESPONSES_USAGE
    + "}"
)
MESSAGES_CONTENT = (
    '[ {"type":"thinking","thinking":"The loads are \\u00fcber-strided\\/8.","signature":"EqQB+\\/=="},\n'
    ' {"type":"redacted_thinking","data":"Emw="}, {"type":"text","text":"I look."},'
    ' {"type":"tool_use","id":"toolu_1","name":"profile","input":{ "kernel":"a.cu","n":1.0 }},'
    ' {"type":"tool_use","id":"toolu_2","name":"device","input":{}} ]'
)
MESSAGES_BODY = (
    '{"id":"msg_1","type":"message","role":"assistant","content":'
    + MESSAGES_CONTENT
    + ',"stop_reason":"tool_use","usage":{"input_tokens":10,"cache_read_input_tokens":80,'
    '"cache_creation_input_tokens":5,"output_tokens":40}}'
)


def whole(body: str) -> Answer:
    return Answer(body.encode())


def chat_stream(**more: Any) -> Answer:
    """Reasoning, text, two calls whose arguments come in pieces, usage in a last chunk without choices."""

    def chunk(delta: dict[str, object], finish: str | None = None) -> dict[str, object]:
        return {"id": "c1", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    def call(index: int, **fields: object) -> dict[str, object]:
        return {"tool_calls": [{"index": index, **fields}]}

    return stream(
        chunk({"role": "assistant", "content": "", "reasoning": "Sectors ≥ "}),
        chunk({"reasoning": "8."}),
        chunk({"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "Sectors "}]}),
        chunk({"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "≥ 8.", "signature": "s=="}]}),
        chunk({"content": "I "}),
        chunk({"content": "look."}),
        chunk(call(0, id="call_a", type="function", function={"name": "profile", "arguments": ""})),
        chunk(call(0, function={"arguments": '{"ker'})),
        chunk(call(1, id="call_b", type="function", function={"name": "device", "arguments": "{}"})),
        chunk(call(0, function={"arguments": 'nel":  "a.cu"}'})),
        chunk({}, "tool_calls"),
        {"id": "c1", "choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 20, "cost": 0.25}},
        "[DONE]",
        **more,
    )


def responses_stream(**more: Any) -> Answer:
    """Text in pieces, finished items, then the whole response as text of our choosing."""
    last = '{"type":"response.completed","response":' + RESPONSES_BODY + "}"
    return stream(
        {"type": "response.created", "response": {"id": "resp_1", "status": "in_progress", "output": []}},
        {"type": "response.output_text.delta", "delta": "I look at "},
        {"type": "response.output_text.delta", "delta": "the counters."},
        *('{"type":"response.output_item.done","item":' + item + "}" for item in RESPONSES_ITEMS),
        last,
        **more,
    )


MESSAGES_EVENTS: tuple[dict[str, object], ...] = (
    {"type": "message_start", "message": {"id": "m", "content": [], "usage": {"input_tokens": 70, "output_tokens": 1}}},
    {"type": "ping"},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Strided "}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "loads."}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "EqQB+/=="}},
    {"type": "content_block_stop", "index": 0},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "I look."}},
    {"type": "content_block_stop", "index": 1},
    {
        "type": "content_block_start",
        "index": 2,
        "content_block": {"type": "tool_use", "id": "toolu_1", "name": "profile", "input": {}},
    },
    {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": '{ "n":1.0, '}},
    {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": '"kernel":"a"}'}},
    {"type": "content_block_stop", "index": 2},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 25}},
    {"type": "message_stop"},
)


def messages_stream(**more: Any) -> Answer:
    return stream(*MESSAGES_EVENTS, names=True, **more)
