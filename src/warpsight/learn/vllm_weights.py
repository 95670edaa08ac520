"""The policy as vLLM has it beside the trainer: rollouts of reinforcement on a GPU, many at once. Not run by us.

TRL starts vLLM in the same process and copies the weights to it after every step (its `colocate` mode). What must stay
true: the same contract as `Weights.generate`, so that the loop, the tools and the masks do not know the difference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from warpsight.models.model import OnText
from warpsight.models.weights import Weights, Written


class VllmWeights(Weights):
    """Tokens from a `vllm.LLM`; `sampling` is `vllm.SamplingParams`."""

    def __init__(self, tokenizer: Any, model: Any, llm: Any, sampling: Callable[..., Any]) -> None:
        super().__init__(tokenizer, model)
        self._llm = llm
        self._sampling = sampling

    def generate(
        self,
        prompts: Sequence[list[int]],
        *,
        max_tokens: int,
        stops: Sequence[str],
        temperature: float | None,
        seed: int | None,
        on_text: OnText | None,
        seconds: float | None = None,
    ) -> Written:
        """What is written after each prompt, up to and with its end token, a stop text, or the limit."""
        asked = [
            self._sampling(
                n=1,
                max_tokens=max_tokens,
                temperature=temperature or 0.0,
                top_p=1.0,
                top_k=0,  # all
                repetition_penalty=1.0,
                seed=None if seed is None else seed + row,  # the answers of a group must differ
                stop=list(stops),
                include_stop_str_in_output=True,
                stop_token_ids=self._ends,
            )
            for row in range(len(prompts))
        ]
        given = [{"prompt_token_ids": list(prompt)} for prompt in prompts]
        found = self._llm.generate(given, sampling_params=asked, use_tqdm=False)
        return Written([self._cut(list(one.outputs[0].token_ids), stops) for one in found], late=False)


def open_vllm(tokenizer: Any, trainer: Any) -> VllmWeights:
    """The policy of a trainer that has vLLM beside it."""
    from vllm import SamplingParams  # pyright: ignore[reportMissingImports, reportUnknownVariableType]

    model = trainer.accelerator.unwrap_model(trainer.model)
    return VllmWeights(tokenizer, model, trainer.vllm_generation.llm, SamplingParams)  # pyright: ignore[reportUnknownArgumentType]
