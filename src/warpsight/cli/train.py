"""`warpsight train traces|sft|rl|card`: traces of a corpus, supervised tuning, reinforcement. Times are simulated."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from warpsight.cli.options import AsJson, FirstTasks, On, Quiet
from warpsight.cli.output import emit

train = typer.Typer(no_args_is_help=True, epilog="Example: warpsight train sft configs/sft-tools.toml")
CONFIG_HELP = "A TOML file, or the name of one that ships, such as sft-tools.toml."
SHORT_HELP = "Tasks whose kernel is soon done first: with --count, the cheap ones."
SUSPECTS_HELP = "How often the oracle first says what stands in the text."
VAIN_HELP = "With feedback none: how often it looks, and is told there is none."
TYPES_HELP = "Suite optimize: write the edits, instead of naming a cause to `rewrite`."
TABLE_HELP = "Suite budget: the table of `corpus outcomes` that the tries are answered from."
BUDGET_HELP = "Suite budget: how many changes may be tried, with commas; each task is written for each."
LOG_HELP = "Also log to tensorboard, wandb or trackio."
DETOURS_HELP = "Suite optimize: how often it first tries what does not help, and goes back."


Log = Annotated[str | None, typer.Option(metavar="WHERE", help=LOG_HELP)]


class SuiteName(StrEnum):
    RECOMMEND = "recommend"
    OPTIMIZE = "optimize"
    BUDGET = "budget"


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
    count: FirstTasks = None,
    short_first: Annotated[bool, typer.Option("--short-first", help=SHORT_HELP)] = False,
    variants: Annotated[int, typer.Option(min=1, help="How many ways to write each task and trace.")] = 1,
    suspects: Annotated[float, typer.Option(min=0.0, max=1.0, help=SUSPECTS_HELP)] = 0.3,
    vain: Annotated[float, typer.Option(min=0.0, max=1.0, help=VAIN_HELP)] = 0.0,
    types: Annotated[bool, typer.Option("--types", help=TYPES_HELP)] = False,
    detours: Annotated[float, typer.Option(min=0.0, max=1.0, help=DETOURS_HELP)] = 0.0,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same traces.")] = 0,
    table: Annotated[Path | None, typer.Option(metavar="TABLE", help=TABLE_HELP)] = None,
    budget: Annotated[str, typer.Option(help=BUDGET_HELP)] = "1,2,4",
    teacher: Annotated[str | None, typer.Option(help="A model that writes them instead of the oracle.")] = None,
    base_url: Annotated[str | None, typer.Option(help="Where the teacher is served.")] = None,
    tries: Annotated[int, typer.Option(min=1, help="How often a teacher may try a task.")] = 1,
    processes: Annotated[int, typer.Option(min=1, help="Processes for the tools; the traces are the same.")] = 1,
    on: On = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Write traces that call the real tools; only those that the measurement confirms are kept.

    \b
    Examples:
      warpsight train traces train.jsonl traces.jsonl --variants 4
      warpsight train traces train.jsonl text.jsonl --feedback none
      warpsight train traces train.jsonl taught.jsonl --teacher openai:NAME
      warpsight train traces t.jsonl traces.jsonl --suite budget --table t.table
    """
    from warpsight.cli.progress import counted_on_stderr
    from warpsight.learn.budget_traces import build_budget_traces
    from warpsight.learn.traces import Words, build_traces
    from warpsight.models.open import open_model
    from warpsight.processes.executor import executor_for
    from warpsight.verbs.train import budget_traces_of, rows_to_train_on

    rows = rows_to_train_on(corpus, count, short_first=short_first)
    if suite is SuiteName.BUDGET:
        how = budget_traces_of(table, feedback.value, budget, seed, detours, teacher)
        with counted_on_stderr("traces", quiet=quiet) as count_done:
            at_work = executor_for(on, processes)
            kept = build_budget_traces(rows, file, how, variants=variants, executor=at_work, progress=count_done)
        _told(file, kept, len(rows) * variants * len(how.tries), as_json)
        return
    with counted_on_stderr("traces", quiet=quiet) as count_done:
        kept = build_traces(
            rows, file, suite=suite.value, feedback=feedback.value, seed=seed,
            teacher=open_model(teacher, base_url=base_url) if teacher else None, tries=tries, variants=variants,
            words=Words(suspects, vain, types, detours), executor=executor_for(on, processes),
            progress=count_done,
        )  # fmt: skip
    _told(file, kept, len(rows) * variants, as_json)


def _told(file: Path, kept: int, made: int, as_json: bool) -> None:
    emit(
        {"file": str(file), "kept": kept, "made": made},
        as_json=as_json,
        render=lambda console: console.print(f"{kept} of {made} traces confirmed, in {file}", markup=False),
    )


@train.command()
def sft(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help=CONFIG_HELP)],
    log: Log = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Supervised tuning on traces; goes on from the last checkpoint of its output folder.

    \b
    Example:
      warpsight train sft configs/sft-tools.toml
    """
    from warpsight.cli.progress import lines_on_stderr
    from warpsight.verbs.train import require_log, train_by

    with lines_on_stderr(quiet=quiet):
        folder = train_by(config, "sft", require_log(log))
    _done(folder, as_json)


@train.command()
def rl(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help=CONFIG_HELP)],
    log: Log = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Reinforcement by GRPO, with the loop, the tools and the gate; goes on from its last checkpoint.

    \b
    Example:
      warpsight train rl configs/rl.toml
    """
    from warpsight.cli.progress import lines_on_stderr
    from warpsight.verbs.train import require_log, train_by

    with lines_on_stderr(quiet=quiet):
        folder = train_by(config, "rl", require_log(log))
    _done(folder, as_json)


@train.command()
def card(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The `final` folder of a training.")],
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Outcomes of `bench run`.")],
    model: Annotated[str | None, typer.Option(help="Only the outcomes of this model, as the bench named it.")] = None,
    as_json: AsJson = False,
) -> None:
    """Write a model card with the results of a bench, in the form that model hubs read (`model-index`).

    \b
    Example:
      warpsight train card results/sft-tools/final bench.jsonl --model tools
    """
    from warpsight.verbs.train import card_of

    written = card_of(folder, files, model)
    emit({"card": str(written)}, as_json=as_json, render=lambda console: console.print(str(written), markup=False))


def _done(folder: Path, as_json: bool) -> None:
    emit(
        {"folder": str(folder)},
        as_json=as_json,
        render=lambda console: console.print(f"learned: {folder}; curves: {folder.parent}/curves.svg", markup=False),
    )
