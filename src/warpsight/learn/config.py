"""A training run as one TOML file: the data, the model to begin with, how to train, where to write.

The same file works without a GPU and with one: only [train] changes (batch, precision, device). Unknown keys are
errors. What must stay true: everything that the result depends on is in here, with the seed.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationError, model_validator

from warpsight.bundled import find_bundled
from warpsight.errors import UsageError
from warpsight.learn.reward import Prices
from warpsight.nouns.base import Count, Noun, require
from warpsight.session.feedback import Feedback
from warpsight.short.prompting import Suite

Positive = Annotated[int, Field(gt=0)]


LoggerName = Literal["none", "tensorboard", "wandb", "trackio"]
LOGGERS: dict[LoggerName, tuple[str, ...]] = {
    "tensorboard": ("tensorboard", "tensorboardX"),
    "wandb": ("wandb",),
    "trackio": ("trackio",),
}
"""The packages of each, of which one must be there."""


class Scratch(Noun):
    """A small model from nothing, with a tokenizer of its own made from the traces."""

    vocabulary: Positive = 4096
    hidden: Positive = 256
    layers: Positive = 6
    heads: Positive = 4
    context_tokens: Positive = 2048


class Start(Noun):
    """What to begin with: weights (a folder or a GGUF file; empty: the embedded ones), or a model from nothing."""

    weights: str = ""
    adapter: str = ""
    scratch: Scratch | None = None
    dtype: Literal["auto", "bfloat16", "float32"] = "auto"  # auto: what is fast on this processor
    lora_rank: Count = 16  # 0: all weights are trained
    lora_alpha: Positive = 32
    lora_layers: Count = 0  # the last so many layers; the others are not even gone back through. 0: all


class Train(Noun):
    """How long, how fast, how large. `minutes` ends it early, with what was learned saved."""

    seed: Count = 0
    max_steps: Positive = 100
    minutes: Annotated[float, Field(gt=0)] | None = None
    batch: Positive = 8
    accumulate: Positive = 1
    learning_rate: Annotated[float, Field(gt=0)] = 1e-3
    schedule: Literal["constant_with_warmup", "cosine", "linear"] = "cosine"
    warmup_steps: Count = 10
    max_tokens: Positive = 1024
    save_minutes: Annotated[float, Field(gt=0)] = 4.0
    log_steps: Positive = 5
    cpu: bool = True
    threads: Count = 0  # of torch; 0 leaves it as it is
    log: LoggerName = Field(default="none", exclude_if=lambda log: log == "none")  # where logs go beside our curves


class Sft(Noun):
    """Supervised tuning on traces; several files are mixed."""

    traces: tuple[str, ...] = Field(min_length=1)
    start: Start = Start()
    train: Train = Train()
    output: str


class Rl(Noun):
    """Reinforcement on corpus tasks: `group` answers to each question, compared with one another."""

    corpus: str
    count: Count = 0  # only so many tasks, those whose kernels are soon done; 0 is all
    suite: Suite = "recommend"
    feedback: Feedback = "curated"
    start: Start = Start()
    train: Train = Train(batch=8, learning_rate=1e-4, schedule="constant_with_warmup")
    group: Annotated[int, Field(ge=2)] = 8
    temperature: Annotated[float, Field(gt=0)] = 1.0
    reply_tokens: Count = 0  # the longest reply; 0 is what the suite allows. A group waits for its longest
    table: str = ""  # suite budget: the table of outcomes that answers the tries
    tries: tuple[Positive, ...] = (1, 2, 4)  # suite budget: how many a group may have, drawn for each
    resample: Count = 2  # other questions tried where all answers to one earned the same
    kl: Annotated[float, Field(ge=0)] = 0.0
    vllm_memory: Annotated[float, Field(ge=0, lt=1)] = 0.0  # the share of a GPU's memory for vLLM; 0: not with vLLM
    # Where the tools run: in this process, or `ray`, or `ray://HOST:PORT`.
    on: str = Field(default="", exclude_if=lambda on: not on)
    # How advantages are scaled. By the spread of their group, the price of a call would count as much as a wrong kernel
    # wherever nothing else differs.
    scale: Literal["none", "group", "batch"] = "none"
    prices: Prices = Prices()
    output: str

    @model_validator(mode="after")
    def _budget_has_a_table(self) -> Self:
        require((self.suite == "budget") == bool(self.table), "`table` goes with the suite budget, and it needs one")
        return self


def read_config(file: Path, kind: Literal["sft", "rl"]) -> Sft | Rl:
    """The configuration of a file, or the one of that name that ships with the package.

    Paths in it are from the folder that the command is run in.
    """
    if not file.exists():
        file = find_bundled("configs", file) or file
    try:
        written = tomllib.loads(file.read_text())
        return Sft.model_validate(written) if kind == "sft" else Rl.model_validate(written)
    except OSError as problem:
        raise UsageError(f"could not read {file}: {problem.strerror}") from None
    except tomllib.TOMLDecodeError as problem:
        raise UsageError(f"{file}: not TOML: {problem}") from None
    except ValidationError as problem:
        told = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in problem.errors()[:5])
        raise UsageError(f"{file}: {told}", hint="`warpsight docs training` has the keys") from None
