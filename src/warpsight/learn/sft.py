"""Supervised tuning on traces, with TRL: `warpsight train sft CONFIG`. Reads top to bottom.

Rows become tokens by our own template with our own mask, so TRL is given tokens and labels and decides neither. An
interrupted run goes on from its last checkpoint. Runs on the CPU here and on GPUs with the same file.
"""

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false, reportPrivateImportUsage=false
# pyright: reportOptionalMemberAccess=false, reportArgumentType=false

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from transformers.trainer_pt_utils import LengthGroupedSampler
from trl import SFTConfig, SFTTrainer

from warpsight.errors import UsageError
from warpsight.learn.base import Pace, arguments_of, begin, last_checkpoint, load_start, quieten, save_final
from warpsight.learn.config import Sft
from warpsight.learn.tokens import Tokens, fit_of, tokens_of
from warpsight.learn.traces import read_traces
from warpsight.short.trained import lists_tools

IGNORED = -100  # a label that has no part in the loss
CURVES = ("loss", "mean_token_accuracy", "learning_rate")


def train_sft(config: Sft) -> Path:
    """Train, and return the folder of what was learned."""
    output = Path(config.output)
    if (learned := begin(config, output, map(Path, config.traces))) is not None:
        return learned
    traces = read_all(config.traces)
    texts = (message["content"] for trace in traces for message in trace["messages"])
    tokenizer, model = load_start(config.start, config.train, texts)

    def encode(text: str, special: bool) -> list[int]:
        return tokenizer(text, add_special_tokens=False, split_special_tokens=not special)["input_ids"]

    kept, too_long, nothing_to_learn = fit_of([tokens_of(trace, encode) for trace in traces], config.train.max_tokens)
    if not kept:
        told = f"{too_long} have more than {config.train.max_tokens} tokens, {nothing_to_learn} have nothing to learn"
        raise UsageError(f"no trace to train on: {told}", hint="raise [train] max_tokens, or make other traces")
    data = Dataset.from_list([{"input_ids": row.ids, "labels": labels_of(row), "length": len(row.ids)} for row in kept])
    arguments = SFTConfig(
        **arguments_of(config.train, output),
        max_length=None,  # what is too long was left out, never cut
        packing=False,
        train_sampling_strategy="group_by_length",
        length_column_name="length",
    )
    pace = Pace(config.train, output, CURVES)
    trainer = WrittenOnly(
        model=model,
        args=arguments,
        train_dataset=data,
        processing_class=tokenizer,
        callbacks=[pace],
    )
    quieten(trainer)
    result = trainer.train(resume_from_checkpoint=last_checkpoint(output))
    seconds = pace.seconds
    tokens = sum(len(row.ids) for row in kept) / len(kept)
    seen = result.global_step * config.train.batch * config.train.accumulate
    summary = {
        "config": config.model_dump(mode="json"),
        "traces": len(kept),
        "too_long": too_long,
        "nothing_to_learn": nothing_to_learn,
        "tokens_a_trace": tokens,
        "written_tokens_a_trace": sum(sum(row.mask) for row in kept) / len(kept),
        "steps": result.global_step,
        "traces_seen": seen,
        "seconds": seconds,
        "tokens_per_second_about": seen * tokens / seconds if seconds else None,
        "parameters": sum(p.numel() for p in trainer.model.parameters()),
        "trained_parameters": sum(p.numel() for p in trainer.model.parameters() if p.requires_grad),
        "loss": result.training_loss,
    }
    return save_final(
        trainer, tokenizer, output, summary, listed=lists_tools(traces), suites={t["suite"] for t in traces}
    )


class ByLength(LengthGroupedSampler):
    """Traces of about the same length together. A later epoch is shuffled by its number, not by what was drawn before,
    so that a run that goes on within it sees the rest of that epoch."""

    def set_epoch(self, epoch: int) -> None:
        self.generator = torch.Generator().manual_seed(epoch) if epoch else None


class WrittenOnly(SFTTrainer):
    """The loss of the tokens that the model wrote, and the scores of no others: of a vocabulary of fifty thousand words
    they are a fifth of the work, and nine in ten tokens of a trace were not written by the model."""

    def _get_train_sampler(self, train_dataset: Any = None) -> ByLength:
        found: Any = super()._get_train_sampler(train_dataset)
        return ByLength(found.batch_size, lengths=found.lengths)

    def compute_loss(
        self, model: Any, inputs: Any, return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        if self.accelerator.num_processes > 1:  # gradients are put together by the wrapper's own forward
            return super().compute_loss(model, inputs, return_outputs, num_items_in_batch)
        labels = inputs["labels"][:, 1:]
        causal = getattr(model, "base_model", model)
        causal = getattr(causal, "model", causal) if hasattr(model, "peft_config") else model
        hidden = causal.model(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"])[0]
        written = labels != IGNORED
        scores = causal.lm_head(hidden[:, :-1][written]).float()
        loss = torch.nn.functional.cross_entropy(scores, labels[written], reduction="sum")
        right = (scores.argmax(-1) == labels[written]).float().mean()
        self._metrics["train" if model.training else "eval"]["mean_token_accuracy"].append(right.item())
        return loss / (written.sum() if num_items_in_batch is None else num_items_in_batch)


def read_all(files: Sequence[str]) -> list[dict[str, Any]]:
    """The traces of several files, mixed in a fixed order."""
    traces: list[dict[str, Any]] = []
    for name in files:
        found = list(read_traces(Path(name)))
        if not found:
            raise UsageError(f"no traces in {name}", hint="make them: warpsight train traces CORPUS FILE")
        traces += found
    random.Random(0).shuffle(traces)
    return traces


def labels_of(row: Tokens) -> list[int]:
    """What is to be predicted: the tokens the model wrote, and nothing else."""
    return [token if written else IGNORED for token, written in zip(row.ids, row.mask, strict=True)]
