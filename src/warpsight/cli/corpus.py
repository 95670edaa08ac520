"""`warpsight corpus build|show|stats|try`: tasks with planted defects, whose right answer was measured (simulated)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from warpsight.cli.output import emit

if TYPE_CHECKING:
    from rich.console import Console

    from warpsight.corpus.build import CorpusRow
    from warpsight.corpus.stats import Stats
    from warpsight.corpus.trial import DefectTrial

corpus = typer.Typer(no_args_is_help=True, epilog="Example: warpsight corpus build train.jsonl --count 200")
FILE_HELP = "A corpus file, one JSON row a task."


class SplitName(StrEnum):
    TRAIN = "train"
    TEST = "test"


@corpus.command()
def build(
    file: Annotated[Path, typer.Argument(metavar="FILE", help=FILE_HELP)],
    count: Annotated[int, typer.Option(min=1, help="How many tasks the file is to have.")] = 100,
    split: Annotated[SplitName, typer.Option(help="Families to draw from; test families are never trained on.")] = (
        SplitName.TRAIN
    ),
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same tasks.")] = 0,
    cores: Annotated[int, typer.Option(min=1, help="Processes to use.")] = 1,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
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

    with counted_on_stderr("tasks", quiet=quiet) as count_done:
        rows = build_corpus(file, seed=seed, split=split.value, count=count, cores=cores, progress=count_done)
    stats = summarise(rows)
    unfit = unfit_file(file)
    emit(
        {"file": str(file), "unfit": str(unfit) if unfit.exists() else None, **asdict(stats)},
        as_json=as_json,
        render=lambda console: _show_built(console, stats, unfit),
    )


@corpus.command()
def show(
    file: Annotated[Path, typer.Argument(metavar="FILE", help=FILE_HELP)],
    number: Annotated[int, typer.Argument(min=0, help="Which task.")] = 0,
    out: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Also write it as a task folder.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
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
        raise UsageError(f"expected a number below {len(rows)}, the tasks of {file}; {number} came")
    row = rows[number]
    if out is not None:
        write_folder(row.spec, out)
    kernel = text_of(row.spec)
    emit(
        {"row": row, "kernel": kernel, "gain": row.truth.gain},
        as_json=as_json,
        render=lambda console: _show_row(console, row, kernel),
    )


@corpus.command()
def stats(
    file: Annotated[Path, typer.Argument(metavar="FILE", help=FILE_HELP)],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """What a corpus holds, how common its traps are, and how often the text alone determines the answer.

    \b
    Example:
      warpsight corpus stats train.jsonl
    """
    from warpsight.corpus.build import read_rows
    from warpsight.corpus.stats import summarise

    found = summarise(read_rows(file))
    emit(asdict(found), as_json=as_json, render=lambda console: _show_stats(console, found))


@corpus.command(name="try")
def try_(
    family: Annotated[str, typer.Argument(metavar="FAMILY", help="A family of kernels, such as `matmul`.")],
    gpu: Annotated[list[str] | None, typer.Option(help="On this GPU; may be given more than once.")] = None,
    pairs: Annotated[bool, typer.Option("--pairs", help="Pairs of defects too, each at the first size.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Plant each defect of a family alone: is it right, and what does it cost at each size (simulated)?

    \b
    Examples:
      warpsight corpus try matmul
      warpsight corpus try softmax --gpu l4 --pairs
    """
    from warpsight.cli.progress import progress_on_stderr
    from warpsight.corpus.families import find_family
    from warpsight.corpus.trial import pairs_that_apply, try_together

    chosen = find_family(family)
    gpus = tuple(gpu or ("a100", "t4"))
    planted = [(defect,) for defect in chosen.defects]
    with progress_on_stderr() as say:
        found: list[DefectTrial] = []
        for defects in (*planted, *(pairs_that_apply(chosen) if pairs else ())):
            say(", ".join(defects))
            found.append(try_together(chosen, defects, gpus, sizes=1 if len(defects) > 1 else None))
    emit({"family": family, "trials": found}, as_json=as_json, render=lambda console: _show_trials(console, found))


def _show_trials(console: Console, found: Sequence[DefectTrial]) -> None:
    for number, where in enumerate(found[0].ratios, start=1):
        console.print(f"({number}) {where}", markup=False)
    console.print("time with the defect over the fast kernel's (simulated):")
    for trial in found:
        ratios = " ".join(f"{ratio:6.2f}" for ratio in trial.ratios.values())
        console.print(f"  {' + '.join(trial.defects):36} {ratios}  {trial.says}".rstrip(), markup=False)


def _show_row(console: Console, row: CorpusRow, kernel: str) -> None:
    size = ", ".join(f"{axis} = {value}" for axis, value in row.spec.size.items())
    console.print(f"task {row.number}: {row.spec.family}, {size}, on {row.spec.gpu}\n", markup=False)
    console.print(kernel, markup=False)
    console.print(f"{row.truth.time_us:.2f} us (simulated); the family's fast kernel {row.truth.fast_us:.2f} us")
    for defect, time in sorted(row.truth.without_us.items(), key=lambda item: item[1]):
        console.print(f"  without {defect:18} {time:8.2f} us  {row.truth.time_us / time:.2f}x", markup=False)
    console.print(f"right to recommend: {', '.join(row.truth.right)}", markup=False)


def _show_built(console: Console, found: Stats, unfit: Path) -> None:
    _show_stats(console, found)
    if unfit.exists():
        console.print(f"some draws were left out as unfit: see {unfit}", markup=False)


def _show_stats(console: Console, found: Stats) -> None:
    console.print(f"{found.tasks} tasks of {len(found.families)} families on {', '.join(found.gpus)}", markup=False)
    console.print(
        f"best single removal: {found.median_gain:.2f}x (median), {found.geomean_gain:.2f}x (geometric mean), simulated"
    )
    console.print(f"all defects removed: {found.geomean_gain_of_all:.2f}x (geometric mean, simulated)")
    console.print(f"with a defect in the text that does not matter: {found.with_trap:.0%}")
    console.print(f"where nothing helps: {found.nothing:.0%}")
    console.print(f"always the most common answer is right: {found.most_common_answer:.0%}")
    if found.text_decides is not None:
        console.print(
            f"the best guess from the text alone is right: {found.text_decides:.0%}"
            f" (of {found.texts_seen_twice} tasks whose text occurs more than once)"
        )
    if found.text_carries is not None:
        console.print(f"the answer of one task is right for another of the same text: {found.text_carries:.0%}")
    for kind, many in found.answers.items():
        console.print(f"  {kind:20} {many}", markup=False)
