"""`train`: what a training is given and what it needs; the training itself is in `learn`."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from warpsight.errors import ToolMissing, UsageError
from warpsight.learn.config import LoggerName, Sft, read_config

if TYPE_CHECKING:
    from warpsight.corpus.build import CorpusRow
    from warpsight.learn.budget_traces import BudgetTraces
    from warpsight.session.feedback import Feedback

PACKAGES = ("torch", "transformers", "trl", "peft", "datasets", "accelerate", "gguf")


def rows_to_train_on(corpus: Path, count: int | None = None, *, short_first: bool = False) -> list[CorpusRow]:
    """The first `count` tasks of a corpus file, or those whose kernel is soonest done; never of a test family."""
    from warpsight.corpus.build import read_rows

    rows = read_rows(corpus)
    if short_first:
        rows = sorted(rows, key=lambda row: row.truth.time_us)
    rows = rows[:count]
    if any(row.split != "train" for row in rows):
        raise UsageError(f"{corpus} has tasks of test families: they are never trained on", hint="--split train")
    return rows


def budget_traces_of(
    table: Path | None, feedback: Feedback, budget: str, seed: int, detours: float, teacher: str | None
) -> BudgetTraces:
    """How traces of the suite budget are made; they need a table, and nobody but the oracle writes them."""
    from warpsight.learn.budget_traces import BudgetTraces
    from warpsight.verbs.bench import require_tries

    if table is None:
        raise UsageError("traces of the suite budget need a table of outcomes", hint="--table TABLE")
    if teacher is not None:
        raise UsageError("a teacher writes traces of the other suites", hint="leave out --teacher")
    return BudgetTraces(table, feedback, require_tries(budget, "budget"), seed, detours)


def require_log(word: str | None) -> LoggerName | None:
    """Where logs go beside our own curves; None leaves it to the configuration."""
    known: tuple[LoggerName, ...] = ("none", "tensorboard", "wandb", "trackio")
    for name in known:
        if word == name:
            return name
    if word is not None:
        raise UsageError(f"expected --log of {', '.join(known)}, got {word!r}")
    return None


def train_by(config: Path, kind: Literal["sft", "rl"], log: LoggerName | None = None) -> Path:
    """Train by a configuration file; gives the folder of what was learned."""
    read = read_config(config, kind)
    if log is not None:
        read = read.model_copy(update={"train": read.train.model_copy(update={"log": log})})
    require_packages()
    if isinstance(read, Sft):
        from warpsight.learn.sft import train_sft

        return train_sft(read)
    from warpsight.learn.rl import train_rl

    return train_rl(read)


def require_packages() -> None:
    """ToolMissing unless all that training needs is installed. What is set here is read when torch is loaded."""
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        raise ToolMissing(
            f"training needs {', '.join(missing)}",
            hint="pip install 'warpsight[train]'; where a GPU build of torch is not wanted, first a CPU build of torch",
        )
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # see models/local.py
    os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # everything that is needed is on this machine


def card_of(folder: Path, files: Sequence[Path], model: str | None = None) -> Path:
    """The model card of what was trained, from outcomes of the bench; of this model alone where it is named."""
    from warpsight.bench.metrics import summary_of
    from warpsight.bench.table import conditions, report
    from warpsight.learn.card import write_card
    from warpsight.verbs.bench import read_files

    found = [one for one in read_files(files) if model is None or one.unit.label == model]
    if not found:
        raise UsageError(f"the outcomes have nothing of {model}", hint="warpsight bench report FILE")
    sides = [
        {"suite": suite, "model": label, "feedback": mode, **summary_of(some)}
        for (suite, label, mode), some in conditions(found).items()
    ]
    if any(one.trained_on for one in found):
        raise UsageError("some of these tasks are of families that are trained on: they are no results")
    return write_card(folder, sides, files, report(found), name=model or "")
