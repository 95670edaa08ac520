"""A call that must come: asked for in the strictest way that a server takes, and in another where it refuses."""

from __future__ import annotations

import json

import pytest
from tests.models.server import Answer, Server
from tests.models.shapes import CHAT_BODY, REQUEST, whole

from warpsight.models.errors import ModelRefused
from warpsight.models.http import HttpModel
from warpsight.models.open import open_model
from warpsight.models.retry import Patience
from warpsight.models.text_calls import read_written

HELD = REQUEST.model_copy(update={"must_call": True})
NO = Answer(b'{"error": {"message": "unknown field"}}', status=400)
JINJA = Answer(b'{"error": {"message": "tools param requires --jinja flag"}}', status=500)


def opened(server: Server) -> HttpModel:
    found = open_model("openai:m", base_url=f"{server.url}/v1", stream=False, patience=Patience(attempts=2))
    assert isinstance(found, HttpModel)
    return found


def ways(server: Server) -> list[str]:
    """How each request put it."""
    told = {"tool_choice": "required", "response_format": "schema", "tools": "asked"}
    return [next((way for field, way in told.items() if field in one.json), "plain") for one in server.asked]


@pytest.mark.parametrize(
    ("answers", "asked"),
    [
        ([whole(CHAT_BODY)], ["required"]),
        ([NO, whole(CHAT_BODY)], ["required", "schema"]),
        ([JINJA, whole(CHAT_BODY)], ["required", "schema"]),
        ([NO, NO, whole(CHAT_BODY)], ["required", "schema", "asked"]),
        ([NO, NO, NO, whole(CHAT_BODY)], ["required", "schema", "asked", "plain"]),
    ],
)
def test_a_server_that_refuses_is_asked_otherwise_and_the_way_is_kept(answers: list[Answer], asked: list[str]) -> None:
    with Server(answers) as server:
        model = opened(server)
        model.reply(HELD)
        model.reply(HELD)
        assert ways(server) == [*asked, asked[-1]]


def test_where_nothing_is_taken_the_first_refusal_is_told_and_a_wrong_key_is_no_reason_to_ask_again() -> None:
    with Server([NO]) as server, pytest.raises(ModelRefused, match="HTTP 400"):
        opened(server).reply(HELD)
    with Server([Answer(b"{}", status=401)]) as server:
        with pytest.raises(ModelRefused, match="HTTP 401"):
            opened(server).reply(HELD)
        assert len(server.asked) == 1


def test_a_request_that_is_free_is_put_as_ever() -> None:
    with Server([whole(CHAT_BODY)]) as server:
        opened(server).reply(REQUEST)
        assert ways(server) == ["asked"]


def test_the_schema_is_that_of_a_call() -> None:
    with Server([NO, whole(CHAT_BODY)]) as server:
        opened(server).reply(HELD)
        schema = server.asked[1].json["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["name"]["enum"] == ["profile"] and schema["required"] == ["name", "arguments"]


CALL = '{"name": "rewrite", "arguments": {"cause": "spills"}}'


@pytest.mark.parametrize(
    "text",
    [
        CALL, f"```json\n{CALL}\n```", f"I think:\n\n```\n{CALL}\n```\nDone.", f"<tool_call>{CALL}</tool_call>",
        f"```tool_call\n{CALL}\n```", f"```cuda\nint x;\n```\nso\n```json\n{CALL}\n```",
    ],
)  # fmt: skip
def test_what_models_write_is_read(text: str) -> None:
    calls, malformed = read_written(text)
    assert malformed == () and [(c.name, json.loads(c.arguments)) for c in calls] == [("rewrite", {"cause": "spills"})]


@pytest.mark.parametrize(
    "text", ["no call", "```json\n[1, 2]\n```", '```json\n{"grid": 3}\n```', f"text before {CALL}", "```cuda\n{}\n```"]
)
def test_other_text_and_other_json_is_no_call(text: str) -> None:
    assert read_written(text) == ((), ())


def test_what_is_near_is_told() -> None:
    calls, malformed = read_written('```json\n{"name": "rewrite", "parameters": {}}\n```')
    assert calls == () and "found name, parameters" in malformed[0].reason
