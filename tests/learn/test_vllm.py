"""Answers from vLLM, as far as that can be tested without a GPU: what it is asked, and what is made of its answers."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.learn.test_train import TINY, needs_torch

from warpsight.errors import ToolMissing, UsageError
from warpsight.learn.config import Rl, Train

STOP = "</tool_call>"


class Llm:
    """Answers as `vllm.LLM` gives them; what it was asked is kept."""

    def __init__(self, answers: list[list[int]]) -> None:
        self._answers = answers
        self.asked: list[tuple[dict[str, Any], dict[str, Any]]] = []

    def generate(self, prompts: list[Any], *, sampling_params: list[Any], use_tqdm: bool) -> list[Any]:
        self.asked += zip(prompts, sampling_params, strict=True)
        assert not use_tqdm
        return [SimpleNamespace(outputs=[SimpleNamespace(token_ids=tuple(answer))]) for answer in self._answers]


def test_the_answers_of_a_group_are_drawn_apart_and_end_with_the_call() -> None:
    needs_torch()
    from warpsight.learn.scratch import make_scratch
    from warpsight.learn.vllm_weights import VllmWeights
    from warpsight.models.template import TURN_END

    tokenizer, model = make_scratch(TINY, [f"call it {STOP}"], 0, "float32")
    called = tokenizer(f"call it {STOP}", add_special_tokens=False)["input_ids"]
    end = tokenizer.convert_tokens_to_ids(TURN_END)
    llm = Llm([called, [*called[:2], end]])
    weights = VllmWeights(tokenizer, model, llm, dict)
    written = weights.generate(
        [[5, 6], [7]], max_tokens=9, stops=(STOP,), temperature=1.0, seed=40, on_text=None, seconds=None
    )
    assert written.rows == [called, [*called[:2], end]] and not written.late
    assert [prompt["prompt_token_ids"] for prompt, _ in llm.asked] == [[5, 6], [7]]
    settings = [asked for _, asked in llm.asked]
    assert [asked["seed"] for asked in settings] == [40, 41]
    assert all(asked["max_tokens"] == 9 and asked["temperature"] == 1.0 for asked in settings)
    assert all(asked["stop"] == [STOP] and asked["include_stop_str_in_output"] for asked in settings)
    assert all(end in asked["stop_token_ids"] for asked in settings)


def test_trl_is_told_of_vllm_and_of_nothing_without(monkeypatch: pytest.MonkeyPatch) -> None:
    needs_torch()
    from trl.trainer.grpo_config import GRPOConfig

    from warpsight.learn import rl

    assert rl.vllm_arguments(Rl(corpus="x", output="y")) == {}
    there = Rl(corpus="x", output="y", vllm_memory=0.4, train=Train(cpu=False))
    monkeypatch.setattr(rl.importlib.util, "find_spec", lambda _name: object())
    told = rl.vllm_arguments(there)
    assert told["use_vllm"] and told["vllm_gpu_memory_utilization"] == 0.4
    assert told.keys() <= GRPOConfig.__dataclass_fields__.keys(), "as this TRL names them"


def test_vllm_is_asked_for_only_where_it_can_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    needs_torch()
    from warpsight.learn import rl

    here = Rl(corpus="x", output=str(tmp_path), vllm_memory=0.4)
    with pytest.raises(UsageError, match="cpu = true"):
        rl.vllm_arguments(here)
    monkeypatch.setattr(rl.importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(ToolMissing, match="not installed"):
        rl.vllm_arguments(here.model_copy(update={"train": Train(cpu=False)}))
