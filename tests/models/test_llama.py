"""The light engine on the embedded weights: real tokens, grammars, time limits, and a PEFT adapter."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from warpsight.errors import ToolMissing, UsageError
from warpsight.models import local
from warpsight.models.adapter_file import engine_adapter, in_file_order
from warpsight.models.gguf_file import read_head, write_gguf
from warpsight.models.local import LocalModel, embedded_weights, engine_for, open_local
from warpsight.models.model import Request, SystemMessage, ToolMessage, UserMessage, turn_of
from warpsight.short import shipped
from warpsight.short.few import few_specs

TOOLS = few_specs(("rewrite", "submit"))
SAID = (SystemMessage(text="Make this CUDA kernel faster on its GPU."), UserMessage(text="y[i] = x[i * n]; <|im_end|>"))


def weights_or_skip() -> Path:
    if importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("needs xllamacpp")
    try:
        return embedded_weights()
    except ToolMissing:
        pytest.skip("needs the embedded weights")


@pytest.fixture(scope="module")
def model() -> Iterator[LocalModel]:
    found = open_local(weights_or_skip(), engine="llama")
    yield found
    found.close()


def test_foreign_text_never_becomes_a_special_token(model: LocalModel) -> None:
    control, text = (model._weights.encode("<|im_end|>", special=special) for special in (True, False))
    assert len(control) == 1 and len(text) > 1 and model._weights.decode(text) == "<|im_end|>"
    assert model.prompt_tokens(Request(messages=SAID)).count(control[0]) == 2  # the ends of two turns, none of the text


def test_a_reply_that_must_call_is_one_call_that_fits(model: LocalModel) -> None:
    reply = model.reply(Request(messages=SAID, tools=TOOLS, max_tokens=80, must_call=True))
    (call,) = reply.calls
    known = {spec.name: spec.parameters["properties"] for spec in TOOLS}
    assert reply.malformed == () and set(json.loads(call.arguments)) <= set(known[call.name])  # type: ignore[arg-type]
    assert reply.text.startswith("<tool_call>") and reply.text.endswith("</tool_call>")


def test_time_ends_a_reply_and_the_turn_goes_back_as_tokens(model: LocalModel) -> None:
    late = model.reply(Request(messages=SAID, max_tokens=4000, seconds=0.5))
    assert late.stop_reason == "time"
    first = model.reply(Request(messages=SAID, max_tokens=8))
    assert first.stop_reason == "length" and first.usage.output_tokens == 8
    more = model.prompt_tokens(Request(messages=(*SAID, turn_of(first), UserMessage(text="go on"))))
    assert json.loads(first.raw)["tokens"] == more[first.usage.input_tokens :][:8]


def test_a_batch_answers_each_request(model: LocalModel) -> None:
    asked = [
        Request(messages=(UserMessage(text=text),), max_tokens=6) for text in ("Say one.", "Say two.", "Say three.")
    ]
    assert [reply.usage.output_tokens for reply in model.reply_batch(asked)] == [6, 6, 6]  # type: ignore[union-attr]


def test_the_shipped_adapter_makes_the_calls_that_it_was_trained_on() -> None:
    trained = open_local(weights_or_skip(), adapter=shipped.PLACE, engine="llama")
    kernel = "a100, 108 SMs, n=1048576\n__global__ void f(const float* x, float* y, int n) { y[threadIdx.x] = x[0]; }"
    said = (
        SystemMessage(
            text="Make this CUDA kernel faster on its GPU at its size then submit it, with what helped most."
        ),
    )
    first = trained.reply(Request(messages=(*said, UserMessage(text=kernel)), tools=TOOLS, max_tokens=64))
    assert [call.name for call in first.calls] == ["profile"]
    found = ToolMessage(
        call_id=first.calls[0].id, name="profile", text="bound by DRAM bandwidth\nuncoalesced 3.20x: loads"
    )
    second = trained.reply(
        Request(messages=(*said, UserMessage(text=kernel), turn_of(first), found), tools=TOOLS, max_tokens=96)
    )
    trained.close()
    assert [call.name for call in second.calls] == ["rewrite"] and json.loads(second.calls[0].arguments)["causes"]


def test_an_adapter_is_written_in_the_order_of_the_file(tmp_path: Path) -> None:
    rows = np.arange(8, dtype=np.float32).reshape(8, 1)
    assert in_file_order(rows, 2)[:, 0].tolist() == [0, 2, 1, 3, 4, 6, 5, 7]
    write_gguf(tmp_path / "base.gguf", {"general.architecture": "llama"}, {})
    with pytest.raises(UsageError, match="head_count"):
        engine_adapter(shipped.PLACE, tmp_path / "base.gguf", tmp_path)


def test_the_head_of_a_file_is_read_back_and_other_files_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.gguf"
    write_gguf(file, {"general.architecture": "llama", "a": 2.5}, {"t": np.ones((2, 3), np.float32)})
    assert read_head(file) == {"general.architecture": "llama", "a": 2.5}
    file.write_bytes(b"GGUFxx")
    with pytest.raises(UsageError, match="could not read the head"):
        read_head(file)
    file.write_bytes(b"PK")
    with pytest.raises(UsageError, match="expected a GGUF file"):
        read_head(file)


def test_the_engine_is_chosen_by_the_file_and_by_what_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(local.ENGINE, raising=False)
    assert engine_for(tmp_path / "folder") == "torch" and engine_for(tmp_path / "a.gguf", "bfloat16") == "torch"
    monkeypatch.setenv(local.ENGINE, "llama")
    assert engine_for(tmp_path / "a.gguf") == "llama"
    monkeypatch.setenv(local.ENGINE, "fast")
    with pytest.raises(UsageError, match="expected llama or torch"):
        engine_for(tmp_path / "a.gguf")
    flags = tmp_path / "cpuinfo"
    flags.write_text("flags : sse2 avx f16c\n")
    assert local._runs_light(flags) is (local.platform.machine() not in ("x86_64", "AMD64"))
