"""Keys: from the environment alone, to the right host alone, and in nothing that we produce."""

from __future__ import annotations

import json
import logging
import pickle
import traceback

import pytest
from tests.models.conftest import KEY, Wired
from tests.models.server import Answer, stream
from tests.models.shapes import CHAT_BODY, MESSAGES_BODY, REQUEST, RESPONSES_BODY, chat_stream, whole

from warpsight.errors import UsageError
from warpsight.models.errors import BadReply, ModelError
from warpsight.models.key import ApiKey, find_key
from warpsight.models.model import turn_of
from warpsight.models.open import open_model
from warpsight.models.retry import Patience

BODIES = {"openai": CHAT_BODY, "responses": RESPONSES_BODY, "anthropic": MESSAGES_BODY}
ECHO = f"Incorrect API key provided: {KEY}"
FAULTS = {
    "refused": Answer(json.dumps({"error": {"message": ECHO}}).encode(), 401),
    "server error": Answer(ECHO.encode(), 500),
    "fault in a good answer": whole(json.dumps({"error": {"message": ECHO, "type": "invalid_request_error"}})),
    "not JSON": whole(ECHO),
    "reply": whole(CHAT_BODY.replace("Sectors", KEY)),
    "redirect": Answer(b"", 302, {"Location": f"https://elsewhere.example/{KEY}"}),
    "cut": stream("x", cut=True),
    "silence": Answer(b"", stall=True),
    "streamed fault": stream({"type": "error", "error": {"message": ECHO}}),
}


@pytest.mark.parametrize("kind", list(BODIES))
@pytest.mark.parametrize("what", list(FAULTS))
def test_the_key_is_in_no_error_and_no_log(
    wired: Wired, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str], kind: str, what: str
) -> None:
    caplog.set_level(logging.DEBUG)
    patience = Patience(attempts=2, first_wait_s=0.01, read_s=0.2)
    model, server = wired(kind, FAULTS[what], patience=patience)
    with pytest.raises(ModelError) as caught:
        model.reply(REQUEST)
    sent = server.asked[0].headers
    assert KEY in (sent.get("authorization", ""), sent.get("x-api-key", "")) or sent["authorization"] == f"Bearer {KEY}"
    shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value) + str(vars(caught.value))
    printed = capfd.readouterr()
    everything = [shown, caplog.text, repr(model), printed.out, printed.err, *map(repr, caplog.records)]
    assert KEY not in "\n".join(everything)
    reached = caught.value.__context__ or caught.value.__cause__
    assert KEY not in repr(reached)


@pytest.mark.parametrize("kind", list(BODIES))
def test_the_key_is_in_no_reply_and_no_turn(wired: Wired, caplog: pytest.LogCaptureFixture, kind: str) -> None:
    caplog.set_level(logging.DEBUG)
    model, server = wired(kind, whole(BODIES[kind]))
    reply = model.reply(REQUEST)
    kept = reply.model_dump_json() + turn_of(reply).model_dump_json() + repr(reply) + caplog.text
    assert KEY not in kept and all(KEY.encode() not in asked.body for asked in server.asked)


def test_a_reply_that_holds_the_key_is_not_kept(wired: Wired) -> None:
    model, _ = wired("openai", whole(CHAT_BODY.replace("Sectors", KEY)))
    with pytest.raises(BadReply, match="holds the API key") as caught:
        model.reply(REQUEST)
    assert caught.value.usage.output_tokens == 20


def test_a_key_cannot_be_stored_or_shown() -> None:
    key = ApiKey("SOME_KEY", KEY)
    assert KEY not in f"{key} {key!r} {[key]}" and not hasattr(key, "__dict__")
    with pytest.raises(TypeError):
        pickle.dumps(key)


def test_a_placeholder_is_no_secret(wired: Wired, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPSIGHT_API_KEY", "EMPTY")
    model, server = wired("openai", whole(CHAT_BODY.replace("Sectors", "EMPTY")))
    assert "EMPTY" in model.reply(REQUEST).reasoning
    assert server.asked[0].headers["authorization"] == "Bearer EMPTY"


def test_no_key_no_header(wired: Wired, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WARPSIGHT_API_KEY")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    model, server = wired("openai", chat_stream())
    model.reply(REQUEST)
    assert "authorization" not in server.asked[0].headers  # a provider's key goes to that provider alone


def test_a_named_variable_is_used(wired: Wired, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "another-key-456")
    model, server = wired("anthropic", whole(MESSAGES_BODY), api_key_env="MY_KEY")
    model.reply(REQUEST)
    assert server.asked[0].headers["x-api-key"] == "another-key-456"


OFFICIAL = {"official_host": "api.openai.com", "official_variable": "OPENAI_API_KEY"}


def test_which_key_goes_where() -> None:
    environment = {"OPENAI_API_KEY": "openai-key-1", "WARPSIGHT_API_KEY": "own-key-12", "MINE": "mine-key-3"}

    def chosen(url: str, variable: str | None = None, without: str = "") -> str | None:
        left = {name: text for name, text in environment.items() if name != without}
        key = find_key(url, **OFFICIAL, variable=variable, environment=left)
        return None if key is None else key.variable

    assert chosen("https://api.openai.com/v1") == "OPENAI_API_KEY"
    assert chosen("https://api.openai.com/v1", without="OPENAI_API_KEY") == "WARPSIGHT_API_KEY"
    assert chosen("https://api.openai.com.evil.example/v1") == "WARPSIGHT_API_KEY"
    assert chosen("https://openrouter.example/api/v1", "MINE") == "MINE"
    assert chosen("http://192.168.1.5:8000/v1") == "WARPSIGHT_API_KEY"
    assert chosen("http://127.0.0.1:1/v1", without="WARPSIGHT_API_KEY") is None
    with pytest.raises(UsageError, match="unencrypted"):
        chosen("http://models.example/v1")


def test_a_missing_key_names_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "WARPSIGHT_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UsageError, match="ANTHROPIC_API_KEY"):
        open_model("anthropic:some-model")
    with pytest.raises(UsageError, match="NO_SUCH_KEY"):
        open_model("openai:m", base_url="http://127.0.0.1:1", api_key_env="NO_SUCH_KEY")


def test_a_key_with_a_line_break_is_refused_without_being_shown() -> None:
    with pytest.raises(UsageError, match="OPENAI_API_KEY holds") as caught:
        find_key("https://api.openai.com/v1", **OFFICIAL, environment={"OPENAI_API_KEY": "abc\ndefghijk"})
    assert "defghijk" not in str(caught.value)
