"""`warpsight train traces|sft|rl`: traces from a corpus, supervised tuning, reinforcement. Times are simulated."""

from __future__ import annotations

import importlib.util
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from warpsight.cli.output import emit

train = typer.Typer(no_args_is_help=True, epilog="Example: warpsight train sft configs/sft-tools.toml")
CONFIG_HELP = "A TOML file; see configs/ and docs/training.md."
PACKAGES = ("torch", "transformers", "trl", "peft", "datasets", "accelerate", "gguf")


class SuiteName(StrEnum):
    RECOMMEND = "recommend"
    OPTIMIZE = "optimize"


class FeedbackName(StrEnum):
    NONE = "none"
    TIME = "time"
    RAW = "raw"
    CURATED = "curated"


@train.command()
def traces(
    corpus: Annotated[Path, typer.Argument(metavar="CORPUS", help="A corpus file of the training split.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write, one JSON row a trace.")],
    suite: Annotated[SuiteName, typer.Option(help="What is asked.")] = SuiteName.RECOMMEND,
    feedback: Annotated[FeedbackName, typer.Option(help="What the tools show.")] = FeedbackName.CURATED,
    count: Annotated[int | None, typer.Option(min=1, help="Only the first tasks.")] = None,
    short_first: Annotated[
        bool, typer.Option("--short-first", help="Tasks whose kernel is soon done first: with --count, the cheap ones.")
    ] = False,
    variants: Annotated[int, typer.Option(min=1, help="How many ways to write each task and trace.")] = 1,
    suspects: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="How often the oracle first says what stands in the text.")
    ] = 0.3,
    vain: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="With feedback none: how often it looks, and is told there is none.")
    ] = 0.0,
    types: Annotated[
        bool, typer.Option("--types", help="Suite optimize: write the edits, instead of naming a cause to `rewrite`.")
    ] = False,
    detours: Annotated[
        float,
        typer.Option(
            min=0.0, max=1.0, help="Suite optimize: how often it first tries what does not help, and goes back."
        ),
    ] = 0.0,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same traces.")] = 0,
    teacher: Annotated[str | None, typer.Option(help="A model that writes them instead of the oracle.")] = None,
    base_url: Annotated[str | None, typer.Option(help="Where the teacher is served.")] = None,
    tries: Annotated[int, typer.Option(min=1, help="How often a teacher may try a task.")] = 1,
    processes: Annotated[int, typer.Option(min=1, help="Processes for the tools; the traces are the same.")] = 1,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Write traces that call the real tools; only those that the measurement confirms are kept.

    \b
    Examples:
      warpsight train traces train.jsonl traces.jsonl --variants 4
      warpsight train traces train.jsonl text.jsonl --feedback none
      warpsight train traces train.jsonl taught.jsonl --teacher openai:NAME
    """
    from warpsight.cli.progress import counted_on_stderr
    from warpsight.corpus.build import read_rows
    from warpsight.errors import UsageError
    from warpsight.learn.traces import Words, build_traces
    from warpsight.models.open import open_model

    rows = read_rows(corpus)
    if short_first:
        rows = sorted(rows, key=lambda row: row.truth.time_us)
    rows = rows[:count]
    if any(row.split != "train" for row in rows):
        raise UsageError(f"{corpus} has tasks of test families: they are never trained on", hint="--split train")
    model = open_model(teacher, base_url=base_url) if teacher else None
    with counted_on_stderr("traces", quiet=quiet) as count_done:
        kept = build_traces(
            rows,
            file,
            suite=suite.value,
            feedback=feedback.value,
            seed=seed,
            teacher=model,
            tries=tries,
            variants=variants,
            words=Words(suspects, vain, types, detours),
            processes=processes,
            progress=count_done,
        )
    made = len(rows) * variants
    emit(
        {"file": str(file), "kept": kept, "made": made},
        as_json=as_json,
        render=lambda console: console.print(f"{kept} of {made} traces confirmed, in {file}", markup=False),
    )


@train.command()
def sft(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help=CONFIG_HELP)],
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Supervised tuning on traces; goes on from the last checkpoint of its output folder.

    \b
    Example:
      warpsight train sft configs/sft-tools.toml
    """
    from warpsight.learn.config import Sft, read_config

    read = read_config(config, "sft")
    assert isinstance(read, Sft)
    _require_packages()
    from warpsight.cli.progress import lines_on_stderr
    from warpsight.learn.sft import train_sft

    with lines_on_stderr(quiet=quiet):
        folder = train_sft(read)
    _done(folder, as_json)


@train.command()
def rl(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help=CONFIG_HELP)],
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Reinforcement by GRPO, with the loop, the tools and the gate; goes on from its last checkpoint.

    \b
    Example:
      warpsight train rl configs/rl.toml
    """
    from warpsight.learn.config import Rl, read_config

    read = read_config(config, "rl")
    assert isinstance(read, Rl)
    _require_packages()
    from warpsight.cli.progress import lines_on_stderr
    from warpsight.learn.rl import train_rl

    with lines_on_stderr(quiet=quiet):
        folder = train_rl(read)
    _done(folder, as_json)


def _require_packages() -> None:
    import os

    from warpsight.errors import ToolMissing

    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        raise ToolMissing(
            f"training needs {', '.join(missing)}", hint="pip install torch==2.13.0, then 'warpsight[train]'"
        )
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # read when torch is loaded; see models/local.py
    os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # everything that is needed is on this machine


def _done(folder: Path, as_json: bool) -> None:
    emit(
        {"folder": str(folder)},
        as_json=as_json,
        render=lambda console: console.print(f"learned: {folder}; curves: {folder.parent}/curves.svg", markup=False),
    )
