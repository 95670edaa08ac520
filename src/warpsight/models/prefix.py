"""What a model has read already: keys and values of the last conversations, so that a turn reads only what is new.

A conversation grows at its end, so the next prompt begins with the tokens of the last one. Each row is kept by itself,
without the fill that made rows of a batch equally long; `begin` puts rows of different length side by side again.
Positions count from a row's own first token, so the fill changes nothing. What must stay true: a row is only used for a
prompt that begins with its very tokens, and the memory is bounded.
"""

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
import transformers

MOST_TOKENS = 16_384
Layers = list[tuple[Any, Any]]  # keys and values of each layer: heads, tokens, width


@dataclass(frozen=True)
class PrefixRow:
    """One row: its tokens and what each layer made of them."""

    tokens: list[int]
    layers: Layers


class Prefixes:
    """The rows that were read last."""

    def __init__(self, most_tokens: int = MOST_TOKENS) -> None:
        self._most = most_tokens
        self._rows: deque[PrefixRow] = deque()

    def begin(self, prompts: Sequence[list[int]], width: int) -> Any:
        """A cache for prompts filled up on the left to `width`, or None where too little is known to be worth it. All
        rows then read as many new tokens as the one of which least is known."""
        known = [self._longest(prompt) for prompt in prompts]
        fresh = max(len(prompt) - shared for prompt, (_, shared) in zip(prompts, known, strict=True))
        kept = width - fresh
        if any(len(prompt) <= fresh for prompt in prompts) or 2 * kept < width:
            return None
        pairs: Layers = []
        for layer in range(len(known[0][0].layers)):
            side = [
                [_filled(row.layers[layer][part][:, : len(prompt) - fresh], kept) for part in (0, 1)]
                for prompt, (row, _) in zip(prompts, known, strict=True)
            ]
            pairs.append((torch.stack([one[0] for one in side]), torch.stack([one[1] for one in side])))
        return transformers.DynamicCache(pairs)

    def keep(self, prompts: Sequence[list[int]], written: Sequence[list[int]], cache: Any, width: int) -> None:
        """Remember what was read: the prompts and what was written after them, but for the last token."""
        layers = [(layer.keys, layer.values) for layer in cache.layers]
        length = layers[0][0].shape[-2]
        for number, (prompt, row) in enumerate(zip(prompts, written, strict=True)):
            start = width - len(prompt)
            tokens = [*prompt, *row][: length - start]
            end = start + len(tokens)
            own = [(k[number, :, start:end].clone(), v[number, :, start:end].clone()) for k, v in layers]
            self._rows.append(PrefixRow(tokens, own))
        while len(self._rows) > 1 and sum(len(row.tokens) for row in self._rows) > self._most:
            self._rows.popleft()

    def _longest(self, prompt: list[int]) -> tuple[PrefixRow, int]:
        """The row that shares most with a prompt. One token of a prompt is always left to read."""
        best, most = PrefixRow([], []), 0
        for row in reversed(self._rows):
            shared = _shared(row.tokens, prompt)
            if shared > most:
                best, most = row, shared
        return best, min(most, len(prompt) - 1)


def _shared(one: list[int], other: list[int]) -> int:
    if len(one) <= len(other) and other[: len(one)] == one:
        return len(one)
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _filled(row: Any, width: int) -> Any:
    return torch.nn.functional.pad(row, (0, 0, width - row.shape[-2], 0))
