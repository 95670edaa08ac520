"""A small model from nothing: a tokenizer made from the texts it will see, and random weights of a Llama shape.

For machines where a pretrained model sees too few tokens: the 4.4 million parameters of configs/sft-scratch-tools.toml,
with a vocabulary of CUDA and of our own words, see six to eight times as many an hour.
"""

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from warpsight.learn.config import Scratch
from warpsight.models.template import TURN, TURN_END

END = "<|endoftext|>"


def make_scratch(shape: Scratch, texts: Iterable[str], seed: int, dtype: str) -> tuple[Any, Any]:
    """Tokenizer and model; the same texts and seed give the same ones."""
    tokenizer = make_tokenizer(texts, shape.vocabulary, shape.context_tokens)
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=shape.hidden,
        intermediate_size=64 * round(shape.hidden * 8 / 3 / 64),
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.heads,
        max_position_embeddings=shape.context_tokens,
        tie_word_embeddings=True,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    torch.manual_seed(seed)
    model = transformers.LlamaForCausalLM(config)
    return tokenizer, model.to(getattr(torch, dtype))


def make_tokenizer(texts: Iterable[str], vocabulary: int, context_tokens: int) -> Any:
    """A byte-level BPE tokenizer: any text can be written, digits one by one as in the large models."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[END, TURN, TURN_END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator(texts, trainer)
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, bos_token=TURN, eos_token=TURN_END, pad_token=END, model_max_length=context_tokens
    )
