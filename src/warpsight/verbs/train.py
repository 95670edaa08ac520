"""`train`: what a training is given and what it needs; the training itself is in `learn`."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from warpsight.errors import ToolMissing, UsageError
from warpsight.learn.config import Sft, read_config

if TYPE_CHECKING:
    from warpsight.corpus.build import CorpusRow

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


def train_by(config: Path, kind: Literal["sft", "rl"]) -> Path:
    """Train by a configuration file; gives the folder of what was learned."""
    read = read_config(config, kind)
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
