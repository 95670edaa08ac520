"""The three wire formats against a real server: what comes is understood, and goes back byte for byte."""

from __future__ import annotations

import json

import pytest
from tests.models.conftest import Wired
from tests.models.server import Answer, stream
from tests.models.shapes import (
    CHAT_BODY,
    CHAT_MESSAGE,
    MESSAGES_BODY,
    MESSAGES_CONTENT,
    REQUEST,
    RESPONSES_BODY,
    RESPONSES_ITEMS,
    RESPONSES_OUTPUT,
    RESPONSES_USAGE,
    chat_stream,
    messages_stream,
    responses_stream,
    whole,
)

from warpsight.errors import UsageError
from warpsight.models.errors import BadReply, CutReply, EmptyReply
from warpsight.models.model import AssistantMessage, Reply, Request, ToolCall, ToolMessage, UserMessage, turn_of

WHOLE = {"openai": CHAT_BODY, "responses": RESPONSES_BODY, "anthropic": MESSAGES_BODY}
STREAMED = {"openai": chat_stream, "responses": responses_stream, "anthropic": messages_stream}


def next_request(reply: Reply) -> Request:
    """The conversation with the reply and a result for each of its calls."""
    results = tuple(ToolMessage(call_id=c.id, name=c.name, text=f"result of {c.name}") for c in reply.calls)
    return REQUEST.model_copy(update={"messages": (*REQUEST.messages, turn_of(reply), *results)})


@pytest.mark.parametrize(
    ("kind", "sent_back"),
    [("openai", CHAT_MESSAGE), ("anthropic", MESSAGES_CONTENT), ("responses", ",".join(RESPONSES_ITEMS))],
)
def test_the_turn_goes_back_byte_for_byte(wired: Wired, kind: str, sent_back: str) -> None:
    model, server = wired(kind, whole(WHOLE[kind]), stream=False)
    model.reply(next_request(model.reply(REQUEST)))
    assert sent_back.encode() in server.asked[1].body


@pytest.mark.parametrize("kind", ["openai", "responses", "anthropic"])
def test_a_streamed_turn_goes_back_as_it_was_kept(wired: Wired, kind: str) -> None:
    model, server = wired(kind, STREAMED[kind](chunk_bytes=7))
    reply = model.reply(REQUEST)
    model.reply(next_request(reply))
    kept = reply.raw.encode() if kind != "responses" else ",".join(RESPONSES_ITEMS).encode()
    assert kept in server.asked[1].body
    assert json.loads(server.asked[0].body)["stream"] is True


def test_chat_whole(wired: Wired) -> None:
    model, server = wired("openai", whole(CHAT_BODY), stream=False)
    reply = model.reply(REQUEST)
    assert reply.raw == CHAT_MESSAGE and reply.stop_reason == "calls" and reply.text == ""
    assert reply.reasoning == "Sectors per request ≥ 8/4, so 😀"
    assert reply.calls == (
        ToolCall(id="call_a", name="profile", arguments='{"kernel":  "a.cu", "n": 1e2}'),
        ToolCall(id="call_b", name="no_such_tool", arguments="{}"),
    )
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.cached_tokens) == (100, 20, 64)
    assert reply.usage.cost_usd is None and reply.usage.known
    asked = server.asked[0]
    assert asked.path == "/chat/completions" and asked.json["max_tokens"] == 500
    assert asked.json["messages"][1] == {"role": "user", "content": "Make it faster: größer, 速い"}
    assert asked.json["tools"][0]["function"]["parameters"]["properties"] == {"kernel": {"type": "string"}}
    assert "temperature" not in asked.json and "seed" not in asked.json and "stream" not in asked.json


def test_chat_streamed(wired: Wired) -> None:
    model, _ = wired("openai", chat_stream())
    pieces: list[str] = []
    reply = model.reply(REQUEST, pieces.append)
    assert pieces == ["I ", "look."] and reply.text == "I look." and reply.reasoning == "Sectors ≥ 8."
    assert json.loads(reply.raw) == {
        "role": "assistant",
        "content": "I look.",
        "reasoning": "Sectors ≥ 8.",
        "reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "Sectors ≥ 8.", "signature": "s=="}],
        "tool_calls": [
            {"id": "call_a", "type": "function", "function": {"name": "profile", "arguments": '{"kernel":  "a.cu"}'}},
            {"id": "call_b", "type": "function", "function": {"name": "device", "arguments": "{}"}},
        ],
    }
    assert reply.usage.cost_usd == 0.25  # what the provider says itself


def test_empty_reasoning_content_is_kept(wired: Wired) -> None:
    first = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "a", "reasoning_content": ""}}]}
    last = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    model, _ = wired("openai", stream(first, last, "[DONE]"))
    reply = model.reply(REQUEST)
    assert json.loads(reply.raw) == {"role": "assistant", "content": "a", "reasoning_content": ""}
    assert not reply.usage.known and reply.stop_reason == "end"


def test_responses_whole_and_streamed_are_one(wired: Wired) -> None:
    model, server = wired("responses", whole(RESPONSES_BODY), responses_stream(chunk_bytes=11))
    one, other = model.reply(REQUEST), model.reply(REQUEST)
    assert one == other and one.raw == RESPONSES_OUTPUT and one.stop_reason == "calls"
    assert one.text == "I look at the counters." and one.reasoning == "Look first."
    assert one.calls == (ToolCall(id="call_a", name="profile", arguments='{ "kernel": "a.cu" }'),)
    assert (one.usage.input_tokens, one.usage.output_tokens, one.usage.cached_tokens) == (90, 30, 10)
    asked = server.asked[0].json
    assert asked["store"] is False and asked["include"] == ["reasoning.encrypted_content"]
    assert asked["instructions"] == "Be exact." and asked["input"][0]["role"] == "user"


def test_responses_results_go_back_by_call_id(wired: Wired) -> None:
    model, server = wired("responses", whole(RESPONSES_BODY), stream=False)
    model.reply(next_request(model.reply(REQUEST)))
    assert server.asked[1].json["input"][-1] == {
        "type": "function_call_output",
        "call_id": "call_a",
        "output": "result of profile",
    }


def test_responses_items_count_when_the_last_event_has_none(wired: Wired) -> None:
    items = ['{"type":"response.output_item.done","item":' + item + "}" for item in RESPONSES_ITEMS]
    last = '{"type":"response.completed","response":{"status":"completed","output":[],"usage":' + RESPONSES_USAGE + "}}"
    model, _ = wired("responses", stream(*items, last))
    assert model.reply(REQUEST).raw == "[" + ",".join(RESPONSES_ITEMS) + "]"


def test_messages_whole(wired: Wired) -> None:
    model, server = wired("anthropic", whole(MESSAGES_BODY), stream=False)
    reply = model.reply(REQUEST)
    assert reply.raw == MESSAGES_CONTENT and reply.stop_reason == "calls" and reply.text == "I look."
    assert reply.reasoning == "The loads are über-strided/8."
    assert reply.calls[0] == ToolCall(id="toolu_1", name="profile", arguments='{ "kernel":"a.cu","n":1.0 }')
    assert (reply.usage.input_tokens, reply.usage.cached_tokens, reply.usage.cache_write_tokens) == (95, 80, 5)
    asked = server.asked[0]
    assert asked.path == "/v1/messages" and asked.json["system"] == "Be exact."
    assert asked.headers["anthropic-version"] and asked.json["tools"][0]["input_schema"]["type"] == "object"


def test_messages_streamed(wired: Wired) -> None:
    model, _ = wired("anthropic", messages_stream(chunk_bytes=5))
    reply = model.reply(REQUEST)
    assert reply.raw == (
        '[{"type":"thinking","thinking":"Strided loads.","signature":"EqQB+/=="},{"type":"text","text":"I look."},'
        '{"type":"tool_use","id":"toolu_1","name":"profile","input":{ "n":1.0, "kernel":"a"}}]'
    )
    assert reply.calls[0].arguments == '{ "n":1.0, "kernel":"a"}'
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (70, 25)


def test_messages_puts_results_and_words_into_one_user_turn(wired: Wired) -> None:
    model, server = wired("anthropic", whole(MESSAGES_BODY), stream=False)
    request = next_request(model.reply(REQUEST))
    model.reply(request.model_copy(update={"messages": (*request.messages, UserMessage(text="Go on."))}))
    turns = server.asked[1].json["messages"]
    assert [turn["role"] for turn in turns] == ["user", "assistant", "user"]
    assert [block["type"] for block in turns[2]["content"]] == ["tool_result", "tool_result", "text"]


@pytest.mark.parametrize("kind", ["openai", "responses", "anthropic"])
def test_turns_that_we_wrote_are_built(wired: Wired, kind: str) -> None:
    example = AssistantMessage(text="I look.", calls=(ToolCall(id="x1", name="profile", arguments='{"kernel": "b"}'),))
    result = ToolMessage(call_id="x1", name="profile", text="slow", is_error=True)
    model, server = wired(kind, whole(WHOLE[kind]), stream=False)
    model.reply(REQUEST.model_copy(update={"messages": (*REQUEST.messages, example, result)}))
    body = server.asked[0].body.decode()
    assert body.count('"x1"') == 2 and "I look." in body and "slow" in body


@pytest.mark.parametrize("kind", ["openai", "responses", "anthropic"])
def test_a_turn_of_another_format_is_refused(wired: Wired, kind: str) -> None:
    foreign = AssistantMessage(text="a", raw="{}", wire="local")
    model, server = wired(kind, whole(WHOLE[kind]))
    with pytest.raises(UsageError, match="found one of `local`"):
        model.reply(REQUEST.model_copy(update={"messages": (*REQUEST.messages, foreign)}))
    assert server.asked == []


def test_calls_with_the_same_id_are_data(wired: Wired) -> None:
    body = CHAT_BODY.replace("call_b", "call_a")
    model, server = wired("openai", whole(body), stream=False)
    reply = model.reply(REQUEST)
    assert [c.id for c in reply.calls] == ["call_a", "call_a"]
    model.reply(next_request(reply))
    results = [m for m in server.asked[1].json["messages"] if m["role"] == "tool"]
    assert [m["content"] for m in results] == ["result of profile", "result of no_such_tool"]


EMPTY = {
    "openai": '{"choices":[{"message":{"role":"assistant","content":""},"finish_reason":"stop"}],'
    '"usage":{"prompt_tokens":7,"completion_tokens":0}}',
    "responses": '{"status":"completed","output":[],"usage":{"input_tokens":7,"output_tokens":0}}',
    "anthropic": '{"content":[],"stop_reason":"end_turn","usage":{"input_tokens":7,"output_tokens":0}}',
}


@pytest.mark.parametrize("kind", ["openai", "responses", "anthropic"])
def test_an_empty_reply_is_an_error_that_was_charged(wired: Wired, kind: str) -> None:
    model, server = wired(kind, whole(EMPTY[kind]))
    with pytest.raises(EmptyReply) as caught:
        model.reply(REQUEST)
    assert caught.value.usage.input_tokens == 7 and len(server.asked) == 1


def test_a_call_cut_by_the_token_limit_is_an_error(wired: Wired) -> None:
    chat = CHAT_BODY.replace('"arguments": "{}"', '"arguments": "{\\"a"').replace(
        '"finish_reason":"tool_calls"', '"finish_reason":"length"'
    )
    assert '"length"' in chat
    model, _ = wired("openai", whole(chat), stream=False)
    with pytest.raises(CutReply) as caught:
        model.reply(REQUEST)
    assert caught.value.usage.output_tokens == 20


def test_a_streamed_call_cut_by_the_token_limit_is_an_error(wired: Wired) -> None:
    from tests.models.shapes import MESSAGES_EVENTS

    kept = [e for e in MESSAGES_EVENTS if "kernel" not in json.dumps(e)]
    text = json.dumps(kept).replace('"stop_reason": "tool_use"', '"stop_reason": "max_tokens"')
    model, _ = wired("anthropic", stream(*json.loads(text), names=True))
    with pytest.raises(CutReply) as caught:
        model.reply(REQUEST)
    assert caught.value.text == "I look." and caught.value.usage.output_tokens == 25


def test_text_cut_by_the_token_limit_is_a_reply(wired: Wired) -> None:
    body = '{"content":[{"type":"text","text":"so far"}],"stop_reason":"max_tokens","usage":{"input_tokens":1}}'
    model, _ = wired("anthropic", whole(body))
    assert model.reply(REQUEST).stop_reason == "length"


@pytest.mark.parametrize("kind", ["openai", "responses", "anthropic"])
@pytest.mark.parametrize("body", ["<html>hello</html>", "", "[1, 2", '{"a": NaN}', "[]", "{}", '"x"', "[" * 200_000])
def test_what_is_not_the_format_is_a_bad_reply(wired: Wired, kind: str, body: str) -> None:
    model, server = wired(kind, whole(body))
    with pytest.raises(BadReply):
        model.reply(REQUEST)
    assert len(server.asked) == 1


def test_not_utf8_is_a_bad_reply(wired: Wired) -> None:
    model, _ = wired("openai", Answer(b'{"choices": "\xff"}'))
    with pytest.raises(BadReply, match="UTF-8"):
        model.reply(REQUEST)


def test_an_unknown_kind_of_delta_is_not_left_out(wired: Wired) -> None:
    start = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    odd = {"type": "content_block_delta", "index": 0, "delta": {"type": "odd_delta", "x": 1}}
    model, _ = wired("anthropic", stream(start, odd, names=True))
    with pytest.raises(BadReply, match="odd_delta"):
        model.reply(REQUEST)


def test_extra_fields_are_added_and_cannot_replace_the_conversation(wired: Wired) -> None:
    model, server = wired("anthropic", whole(MESSAGES_BODY), extra={"thinking": {"type": "adaptive"}, "max_tokens": 9})
    model.reply(REQUEST)
    assert server.asked[0].json["thinking"] == {"type": "adaptive"} and server.asked[0].json["max_tokens"] == 9
    model, _ = wired("anthropic", whole(MESSAGES_BODY), extra={"messages": []})
    with pytest.raises(UsageError, match="may not be messages"):
        model.reply(REQUEST)


def test_responses_has_no_stop(wired: Wired) -> None:
    model, _ = wired("responses", whole(RESPONSES_BODY))
    with pytest.raises(UsageError, match="no stop"):
        model.reply(REQUEST.model_copy(update={"stop": ("</tool_call>",)}))


def test_sampling_is_passed_on(wired: Wired) -> None:
    model, server = wired("openai", whole(CHAT_BODY))
    model.reply(REQUEST.model_copy(update={"stop": ("x",), "temperature": 0.5, "seed": 3}))
    asked = server.asked[0].json
    assert (asked["stop"], asked["temperature"], asked["seed"]) == (["x"], 0.5, 3)
