"""`warpsight corpus build|show|stats|try|outcomes`: tasks with planted defects, with measured answers (simulated)."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from warpsight.cli.options import AsJson, FirstTasks, On, Quiet
from warpsight.cli.output import emit
from warpsight.cli.text import corpus as corpus_text

corpus = typer.Typer(no_args_is_help=True, epilog="Example: warpsight corpus build train.jsonl --count 200")
FILE_HELP = "A corpus file, one JSON row a task."
SECOND_HELP = "What a second rewrite is put on: the best one, or each cause that helps by itself."


class SplitName(StrEnum):
    TRAIN = "train"
    TEST = "test"
    FRESH = "fresh"


@corpus.command()
def build(
    file: Annotated[Path, typer.Argument(metavar="FILE", help=FILE_HELP)],
    count: Annotated[int, typer.Option(min=1, help="How many tasks the file is to have.")] = 100,
    split: Annotated[
        SplitName, typer.Option(help="Families to draw from; test and fresh ones are never trained on.")
    ] = (SplitName.TRAIN),
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same tasks.")] = 0,
    cores: Annotated[int, typer.Option(min=1, help="Processes to use.")] = 1,
    on: On = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Draw tasks and measure what is right to recommend for each; goes on where an earlier build stopped.

    \b
    Examples:
      warpsight corpus build train.jsonl --count 200
      warpsight corpus build test.jsonl --split test --count 100 --cores 2
    """
    from warpsight.cli.progress import counted_on_stderr
    from warpsight.corpus.build import build_corpus, unfit_file
    from warpsight.corpus.stats import summarise
    from warpsight.processes.executor import executor_for

    at_work = executor_for(on, cores)
    with counted_on_stderr("tasks", quiet=quiet) as count_done:
        rows = build_corpus(file, seed=seed, split=split.value, count=count, executor=at_work, progress=count_done)
    stats = summarise(rows)
    unfit = unfit_file(file)
    emit(
        {"file": str(file), "unfit": str(unfit) if unfit.exists() else None, **asdict(stats)},
        as_json=as_json,
        render=lambda console: corpus_text.show_built(console, stats, unfit),
    )


@corpus.command()
def show(
    file: Annotated[Path, typer.Argument(metavar="FILE", help=FILE_HELP)],
    number: Annotated[int, typer.Argument(min=0, help="Which task.")] = 0,
    out: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Also write it as a task folder.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show one task: its kernel, its size and GPU, and what each removal gives (simulated).

    \b
    Example:
      warpsight corpus show train.jsonl 3
      warpsight corpus show train.jsonl 3 --out slow
    """
    from warpsight.corpus.build import read_rows
    from warpsight.corpus.folder import write_folder
    from warpsight.corpus.specs import text_of
    from warpsight.errors import UsageError

    rows = read_rows(file)
    if number >= len(rows):
        raise UsageError(f"expected a number below {len(rows)}, the tasks of {file}; got {number}")
    row = rows[number]
    if out is not None:
        write_folder(row.spec, out)
    kernel = text_of(row.spec)
    emit(
        {"row": row, "kernel": kernel, "gain": row.truth.gain},
        as_json=as_json,
        render=lambda console: corpus_text.show_row(console, row, kernel),
    )


@corpus.command()
def stats(
    file: Annotated[Path, typer.Argument(metavar="FILE", help=FILE_HELP)],
    as_json: AsJson = False,
) -> None:
    """What a corpus holds, how common its traps are, and how often the text alone determines the answer.

    \b
    Example:
      warpsight corpus stats train.jsonl
    """
    from warpsight.corpus.build import read_rows
    from warpsight.corpus.stats import summarise

    found = summarise(read_rows(file))
    emit(asdict(found), as_json=as_json, render=lambda console: corpus_text.show_stats(console, found))


@corpus.command(name="try")
def try_(
    family: Annotated[str, typer.Argument(metavar="FAMILY", help="A family of kernels, such as `matmul`.")],
    gpu: Annotated[list[str] | None, typer.Option(help="On this GPU; may be given more than once.")] = None,
    pairs: Annotated[bool, typer.Option("--pairs", help="Pairs of defects too, each at the first size.")] = False,
    as_json: AsJson = False,
) -> None:
    """Plant each defect of a family alone: is it right, and what does it cost at each size (simulated)?

    \b
    Examples:
      warpsight corpus try matmul
      warpsight corpus try softmax --gpu l4 --pairs
    """
    from warpsight.cli.progress import progress_on_stderr
    from warpsight.corpus.trial import try_family

    with progress_on_stderr() as say:
        found = try_family(family, tuple(gpu or ("a100", "t4")), pairs=pairs, say=say)
    emit(
        {"family": family, "trials": found},
        as_json=as_json,
        render=lambda console: corpus_text.show_trials(console, found),
    )


class SecondName(StrEnum):
    BEST = "best"
    EACH = "each"


@corpus.command()
def outcomes(
    file: Annotated[Path, typer.Argument(metavar="TASKS", help=FILE_HELP)],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The table, one JSON row a task and way.")],
    steps: Annotated[int, typer.Option(min=1, max=8, help="Rewrites on top of one another.")] = 2,
    second: Annotated[SecondName, typer.Option(help=SECOND_HELP)] = SecondName.BEST,
    count: FirstTasks = None,
    cores: Annotated[int, typer.Option(min=1, help="Processes to use.")] = 1,
    on: On = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Try every known rewrite of every task once and keep what came of it; goes on where an earlier call stopped.

    \b
    Examples:
      warpsight corpus outcomes train.jsonl table.jsonl --cores 2
      warpsight corpus outcomes train.jsonl table.jsonl --steps 3 --second each
    """
    from warpsight.cli.progress import counted_on_stderr
    from warpsight.corpus.build import read_rows
    from warpsight.corpus.outcomes import build_outcomes, summary_of_table
    from warpsight.processes.executor import executor_for

    rows = read_rows(file)[:count]
    with counted_on_stderr("lines", quiet=quiet) as count_done:
        found = build_outcomes(
            rows, out, steps=steps, second=second.value, executor=executor_for(on, cores), progress=count_done
        )
    told = summary_of_table(found)
    emit(
        {"file": str(out), **told},
        as_json=as_json,
        render=lambda console: corpus_text.show_outcomes(console, told, out),
    )
