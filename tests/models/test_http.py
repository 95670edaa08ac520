"""What goes wrong between us and a provider: asked again where that helps, told clearly where not, charged once."""

from __future__ import annotations

import socket
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from tests.models.conftest import QUICK, Wired
from tests.models.server import Answer, stream
from tests.models.shapes import (
    CHAT_BODY,
    MESSAGES_BODY,
    MESSAGES_EVENTS,
    REQUEST,
    RESPONSES_BODY,
    chat_stream,
    messages_stream,
    responses_stream,
    whole,
)

from warpsight.models.errors import BadReply, ModelRefused, ModelUnavailable, ReplyTooLarge
from warpsight.models.model import Request, Usage, add_usage
from warpsight.models.open import open_model
from warpsight.models.prices import Price
from warpsight.models.retry import Patience, asked_wait_s, wait_s

BODIES = {"openai": CHAT_BODY, "responses": RESPONSES_BODY, "anthropic": MESSAGES_BODY}
STREAMS = {"openai": chat_stream, "responses": responses_stream, "anthropic": messages_stream}
KINDS = list(BODIES)


def fault(status: int, message: str = "busy", **headers: str) -> Answer:
    return Answer(f'{{"error": {{"message": "{message}"}}}}'.encode(), status, headers)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("status", [429, 500, 503, 529, 408])
def test_asked_again_after_a_failure_that_may_pass(wired: Wired, kind: str, status: int) -> None:
    model, server = wired(kind, fault(status), whole(BODIES[kind]))
    reply = model.reply(REQUEST)
    assert reply.attempts == 2 and len(server.asked) == 2 and reply.wasted == Usage()
    assert server.asked[0].body == server.asked[1].body
    assert server.asked[0].headers["idempotency-key"] == server.asked[1].headers["idempotency-key"]


@pytest.mark.parametrize("kind", KINDS)
def test_retry_after_is_waited_for(wired: Wired, kind: str) -> None:
    waits: list[float] = []
    busy = fault(429, **{"Retry-After": "7"})
    model, _ = wired(kind, busy, whole(BODIES[kind]))
    model._sleep = waits.append
    assert model.reply(REQUEST).attempts == 2 and waits == [7.0]


def test_retry_after_longer_than_our_patience_ends_it_at_once(wired: Wired) -> None:
    model, server = wired("openai", fault(429, **{"Retry-After": "3600"}))
    with pytest.raises(ModelUnavailable, match="asks to wait 3600 s"):
        model.reply(REQUEST)
    assert len(server.asked) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_gives_up_after_the_last_attempt(wired: Wired, kind: str) -> None:
    model, server = wired(kind, fault(500, "out of order"))
    with pytest.raises(ModelUnavailable, match=r"in 3 attempts: HTTP 500: 'out of order'") as caught:
        model.reply(REQUEST)
    assert len(server.asked) == 3 and caught.value.exit_code == 6


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 422, 301, 307])
def test_a_refusal_is_not_asked_again(wired: Wired, kind: str, status: int) -> None:
    model, server = wired(kind, fault(status, "no such thing", Location="/elsewhere"))
    with pytest.raises(ModelRefused, match=f"HTTP {status}: 'no such thing'") as caught:
        model.reply(REQUEST)
    assert len(server.asked) == 1 and caught.value.exit_code == 2


def test_a_spent_quota_is_a_refusal(wired: Wired) -> None:
    spent = Answer(b'{"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}', 429)
    model, server = wired("openai", spent)
    with pytest.raises(ModelRefused, match="quota"):
        model.reply(REQUEST)
    assert len(server.asked) == 1


def test_failures_inside_a_good_answer(wired: Wired) -> None:
    busy = whole('{"error": {"code": 502, "message": "upstream"}}')
    model, _ = wired("openai", busy, whole(CHAT_BODY))
    assert model.reply(REQUEST).attempts == 2
    model, server = wired("openai", whole('{"error": {"code": 400, "message": "too long"}}'))
    with pytest.raises(ModelRefused, match="too long"):
        model.reply(REQUEST)
    assert len(server.asked) == 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("share", [0.05, 0.3, 0.6, 0.8])
def test_a_stream_cut_in_the_middle_is_asked_again_and_charged_once(wired: Wired, kind: str, share: float) -> None:
    good = STREAMS[kind]()
    broken = Answer(good.body[: int(len(good.body) * share)], kind=good.kind, cut=True)
    model, server = wired(kind, broken, good)
    reply = model.reply(REQUEST)
    alone, _ = wired(kind, good)
    assert reply.usage == alone.reply(REQUEST).usage and reply.attempts == 2 and len(server.asked) == 2


def test_what_a_cut_stream_used_is_told_apart(wired: Wired) -> None:
    broken = stream(*MESSAGES_EVENTS[:5], names=True, cut=True)
    model, _ = wired("anthropic", broken, broken, messages_stream())
    reply = model.reply(REQUEST)
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (70, 25)
    assert (reply.wasted.input_tokens, reply.wasted.output_tokens) == (140, 2) and reply.attempts == 3
    model, _ = wired("anthropic", broken)
    with pytest.raises(ModelUnavailable, match="broke off") as caught:
        model.reply(REQUEST)
    assert caught.value.wasted.input_tokens == 210


@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_that_ends_early_without_a_fault_is_cut_too(wired: Wired, kind: str) -> None:
    good = STREAMS[kind]()
    model, _ = wired(kind, Answer(good.body[: len(good.body) // 2], kind=good.kind), good)
    assert model.reply(REQUEST).attempts == 2


def test_a_fault_in_a_stream(wired: Wired) -> None:
    overloaded = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    model, _ = wired("anthropic", stream(*MESSAGES_EVENTS[:3], overloaded, names=True), messages_stream())
    reply = model.reply(REQUEST)
    assert reply.attempts == 2 and reply.wasted.input_tokens == 70
    wrong = {"type": "error", "error": {"type": "invalid_request_error", "message": "bad block"}}
    model, server = wired("anthropic", stream(*MESSAGES_EVENTS[:3], wrong, names=True))
    with pytest.raises(ModelRefused, match="bad block"):
        model.reply(REQUEST)
    assert len(server.asked) == 1
    failed = {"type": "response.failed", "response": {"error": {"code": "server_error", "message": "oh"}}}
    model, _ = wired("responses", stream(failed), responses_stream())
    assert model.reply(REQUEST).attempts == 2
    model, _ = wired("openai", stream({"error": {"message": "oh", "code": 503}}), chat_stream())
    assert model.reply(REQUEST).attempts == 2


def test_a_reply_that_lacks_only_its_farewell_is_taken(wired: Wired) -> None:
    model, _ = wired("anthropic", stream(*MESSAGES_EVENTS[:-1], names=True, cut=True))
    assert model.reply(REQUEST).attempts == 1


@pytest.mark.parametrize("streamed", [False, True])
def test_a_body_cut_in_the_middle_is_asked_again(wired: Wired, streamed: bool) -> None:
    broken = Answer(CHAT_BODY[:100].encode(), cut=True)
    model, _ = wired("openai", broken, whole(CHAT_BODY), stream=streamed)
    assert model.reply(REQUEST).attempts == 2


@pytest.mark.parametrize("kind", KINDS)
def test_silence_ends_by_a_time_out(wired: Wired, kind: str) -> None:
    patience = Patience(attempts=2, first_wait_s=0.01, read_s=0.2, total_s=20)
    model, server = wired(kind, Answer(b'{"a', stall=True), patience=patience)
    with pytest.raises(ModelUnavailable, match=r"nothing came for 0.2 s"):
        model.reply(REQUEST)
    assert len(server.asked) == 2


def test_the_total_time_has_an_end(wired: Wired) -> None:
    patience = Patience(attempts=1000, first_wait_s=0.05, longest_wait_s=0.05, total_s=0.4)
    model, server = wired("openai", fault(500), patience=patience)
    with pytest.raises(ModelUnavailable):
        model.reply(REQUEST)
    assert 1 < len(server.asked) < 30


def test_nobody_there() -> None:
    with socket.socket() as held:  # bound and not listening: nobody else can take the port meanwhile
        held.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{held.getsockname()[1]}"
        model = open_model("openai:x", base_url=url, patience=QUICK)
        with pytest.raises(ModelUnavailable, match="connection failed"):
            model.reply(REQUEST)
        model.close()


@pytest.mark.parametrize("kind", KINDS)
def test_a_reply_over_ten_mebibytes_is_refused(wired: Wired, kind: str) -> None:
    model, server = wired(kind, whole(BODIES[kind] + " " * (10 << 20)))
    with pytest.raises(ReplyTooLarge, match="at most 10 MiB"):
        model.reply(REQUEST)
    assert len(server.asked) == 1


def test_a_streamed_message_over_the_cap_is_refused(wired: Wired) -> None:
    piece = {"choices": [{"index": 0, "delta": {"content": "x" * (1 << 20)}}]}
    last = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    model, _ = wired("openai", stream(*[piece] * 11, last))
    with pytest.raises(ReplyTooLarge):
        model.reply(REQUEST)


def test_a_long_reply_under_the_cap_is_fine(wired: Wired) -> None:
    piece = {"choices": [{"index": 0, "delta": {"content": "x" * (1 << 20)}}]}
    last = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    model, _ = wired("openai", stream(*[piece] * 9, last))
    assert len(model.reply(REQUEST).text) == 9 << 20


def test_a_compressed_answer_is_refused(wired: Wired) -> None:
    model, _ = wired("openai", Answer(b"\x1f\x8b", headers={"Content-Encoding": "gzip"}))
    with pytest.raises(BadReply, match="compressed"):
        model.reply(REQUEST)


def test_cost_is_counted_from_a_price_list_and_never_guessed(wired: Wired) -> None:
    broken = stream(*MESSAGES_EVENTS[:5], names=True, cut=True)
    model, _ = wired("anthropic", broken, messages_stream(), prices={"test-model": Price(input=10.0, output=100.0)})
    reply = model.reply(REQUEST)
    assert reply.usage.cost_usd == pytest.approx((70 * 10 + 25 * 100) / 1e6)
    assert reply.wasted.cost_usd == pytest.approx((70 * 10 + 1 * 100) / 1e6)
    cached, _ = wired("anthropic", whole(MESSAGES_BODY), prices={"test-model": Price(input=10.0, output=100.0)})
    assert cached.reply(REQUEST).usage.cost_usd is None  # 80 tokens came from a cache whose price nobody gave
    other, _ = wired("anthropic", messages_stream(), prices={"other": Price(input=10.0, output=100.0)})
    assert other.reply(REQUEST).usage.cost_usd is None


def test_retry_after_in_all_its_forms() -> None:
    now = datetime(2026, 11, 16, 12, 0, 0, tzinfo=UTC)
    later = format_datetime(now + timedelta(seconds=90), usegmt=True)
    assert asked_wait_s({"retry-after": "2.5"}, now) == 2.5
    assert asked_wait_s({"retry-after": later}, now) == 90
    assert asked_wait_s({"retry-after": format_datetime(now - timedelta(hours=1), usegmt=True)}, now) == 0
    assert asked_wait_s({"retry-after-ms": "250", "retry-after": "1"}, now) == 0.25
    for odd in ("", "soon", "-3", "nan", "1e400", "Mon, 99 Nov 2026 99:00:00 GMT"):
        assert asked_wait_s({"retry-after": odd}, now) is None
    assert asked_wait_s({}, now) is None


def test_waits_grow_to_a_limit_and_never_undercut_the_server() -> None:
    patience = Patience(first_wait_s=1, longest_wait_s=8)
    assert [wait_s(patience, n, None, 1.0) for n in (1, 2, 3, 4, 5, 5000)] == [1, 2, 4, 8, 8, 8]
    assert wait_s(patience, 1, None, 0.0) == 0.5 and wait_s(patience, 3, 60.0, 0.3) == 60.0


def test_usage_adds_up() -> None:
    one = Usage(input_tokens=3, output_tokens=2, cost_usd=0.5)
    assert add_usage(Usage(), one) == one == add_usage(one, Usage())
    assert add_usage(one, one) == Usage(input_tokens=6, output_tokens=4, cost_usd=1.0)
    assert add_usage(one, Usage(input_tokens=1)).cost_usd is None
    assert not add_usage(one, Usage(known=False)).known


def late(request: Request = REQUEST, seconds: float = 0.3) -> Request:
    return request.model_copy(update={"seconds": seconds})


@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_is_left_when_the_seconds_are_over(wired: Wired, kind: str) -> None:
    good = STREAMS[kind]()
    half = Answer(good.body[: int(len(good.body) * 0.7)], kind=good.kind, stall=True)
    model, server = wired(kind, half)
    pieces: list[str] = []
    reply = model.reply(late(), pieces.append)
    assert reply.stop_reason == "time" and reply.text == "".join(pieces) and not reply.calls
    assert len(server.asked) == 1 and reply.wasted == Usage() and reply.usage != Usage()


@pytest.mark.parametrize("stream", [True, False])
def test_a_server_that_says_nothing_is_left_when_the_seconds_are_over(wired: Wired, stream: bool) -> None:
    model, server = wired("openai", Answer(b"", stall=True), stream=stream)
    reply = model.reply(late())
    assert (reply.stop_reason, reply.text, reply.usage.known, len(server.asked)) == ("time", "", False, 1)


def test_a_wait_that_is_longer_than_the_seconds_leaves_the_run_to_be_resumed(wired: Wired) -> None:
    model, server = wired("openai", fault(429, **{"Retry-After": "20"}))
    with pytest.raises(ModelUnavailable, match="asks to wait 20 s"):
        model.reply(late(seconds=5))
    assert len(server.asked) == 1


def test_a_reply_in_time_is_whole(wired: Wired) -> None:
    model, _ = wired("openai", chat_stream())
    alone, _ = wired("openai", chat_stream())
    assert model.reply(late(seconds=60)) == alone.reply(REQUEST)


def test_patience_ends_a_stream_that_stalls(wired: Wired) -> None:
    good = chat_stream()
    model, _ = wired(
        "openai",
        Answer(good.body[: len(good.body) // 2], kind=good.kind, stall=True),
        patience=Patience(attempts=1, total_s=0.3, read_s=5),
    )
    with pytest.raises(ModelUnavailable, match="broke off"):
        model.reply(REQUEST)
