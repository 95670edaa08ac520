"""What was read already is not read again, and what is written stays the same."""

from __future__ import annotations

from typing import Any

import pytest


def tiny() -> Any:
    """A model from nothing with a few words."""
    for name in ("torch", "transformers", "tokenizers"):
        pytest.importorskip(name)
    from warpsight.learn.config import Scratch
    from warpsight.learn.scratch import make_scratch
    from warpsight.models.weights import Weights

    words = ["the kernel waits for memory", "a tile in shared memory helps", "bank conflicts cost passes"]
    tokenizer, model = make_scratch(Scratch(vocabulary=400, hidden=32, layers=2, heads=2), words, 0, "float32")
    return Weights(tokenizer, model.eval())


def written(weights: Any, prompts: list[list[int]]) -> list[list[int]]:
    return weights.generate(prompts, max_tokens=8, stops=(), temperature=None, seed=0, on_text=None).rows


def test_a_conversation_that_grows_is_answered_as_if_it_were_new() -> None:
    weights, fresh = tiny(), tiny()
    prompts = [
        weights.encode(text * 3, special=False) for text in ("the kernel waits ", "a tile helps the kernel a lot ")
    ]
    first = written(weights, prompts)
    more = weights.encode(" bank conflicts", special=False)
    grown = [[*prompt, *row, *more] for prompt, row in zip(prompts, first, strict=True)]
    assert written(weights, grown) == written(fresh, grown)
    assert written(weights, grown[1:]) == written(tiny(), grown[1:])  # another has ended meanwhile


def test_only_what_is_new_is_read() -> None:
    weights = tiny()
    read: list[int] = []
    weights._model.model.register_forward_pre_hook(
        lambda _module, _args, given: read.append(given["input_ids"].shape[1]), with_kwargs=True
    )
    prompt = weights.encode("the kernel waits for memory " * 6, special=False)
    first = written(weights, [prompt])
    assert read[0] == len(prompt)
    read.clear()
    written(weights, [[*prompt, *first[0], *prompt[:3]]])
    assert read[0] <= 3 + 1  # and the last token that was written, which nothing had read


def test_a_prompt_that_begins_otherwise_shares_nothing() -> None:
    weights = tiny()
    one, other = (weights.encode(text * 5, special=False) for text in ("the kernel ", "bank conflicts "))
    written(weights, [one])
    assert written(weights, [other]) == written(tiny(), [other])


def test_the_memory_is_bounded() -> None:
    weights = tiny()
    from warpsight.models.prefix import Prefixes

    weights._prefixes = Prefixes(most_tokens=100)
    for number in range(12):
        written(weights, [weights.encode(f"{number} the kernel waits for memory " * 2, special=False)])
    assert sum(len(row.tokens) for row in weights._prefixes._rows) <= 100
