"""`warpsight tune TASK`: what plain autotuning gives: launch and named constants searched through the gate, no model.

Thin: the search is in `tuning/`, what is shown in `text/tune.py`. Exit code 0 when a right and faster kernel was found,
1 when not, 130 when interrupted; an interrupted tuning goes on with --resume.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from warpsight.cli.check import TASK_HELP
from warpsight.cli.compare import UNSAFE_HELP
from warpsight.cli.device_argument import DEVICE_HELP, DEVICES
from warpsight.cli.options import On
from warpsight.cli.output import ExitCode, emit
from warpsight.cli.profile import GPU_HELP
from warpsight.errors import UsageError

if TYPE_CHECKING:
    from warpsight.nouns import Candidate, Task
    from warpsight.processes.executor import Executor
    from warpsight.tuning.journal import TuningJournal
    from warpsight.tuning.records import SearchSpace

INTERRUPTED = 130  # what shells give a program that Ctrl-C ended
STRATEGY_HELP = (
    "auto, exhaustive, random, tpe (Optuna), kernel-tuner or kernel-tuner:NAME. `auto` tries everything where that is"
    " within --tries, else tpe on the virtual GPU and kernel-tuner on real devices."
)
PROCESSES_HELP = "How many configurations to try at once; for exhaustive and random, which `auto` then chooses from."
SET_HELP = "Values of one parameter, instead of those that were found: TILE=8,16,32. Can be repeated."
SPACE_HELP = "A file that says what varies; by default tune.toml beside the task, else it is read from the kernel."
RESUME_HELP = "Go on with a tuning: its id, a part of it, or `last`. --tries is then how many in all."
OUT_HELP = (
    "Where to write the new kernel; by default a file named after the tuning, in this folder. With --top also a folder:"
    " it gets best.cu and top-1.cu, top-2.cu, ..."
)
TOP_HELP = "Also list the N fastest right kernels with their likely times, to measure them on a real card."


def tune(
    task: Annotated[str | None, typer.Argument(metavar="[TASK]", help=TASK_HELP)] = None,
    device: Annotated[str | None, typer.Option(metavar=DEVICES, help=DEVICE_HELP)] = None,
    gpu: Annotated[str | None, typer.Option(metavar="NAME", help=GPU_HELP)] = None,
    kernel: Annotated[
        Path | None, typer.Option("--kernel", "--candidate", metavar="FILE", help="Tune this kernel, and beat it.")
    ] = None,
    space: Annotated[Path | None, typer.Option(metavar="FILE", help=SPACE_HELP)] = None,
    values: Annotated[list[str] | None, typer.Option("--set", metavar="NAME=A,B,C", help=SET_HELP)] = None,
    strategy: Annotated[str, typer.Option(metavar="NAME", help=STRATEGY_HELP)] = "auto",
    tries: Annotated[int | None, typer.Option(min=1, help="The most configurations to try; 60 by default.")] = None,
    seconds: Annotated[float | None, typer.Option(min=1, help="Begin no try after so many seconds.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the search.")] = 0,
    processes: Annotated[int, typer.Option(min=1, help=PROCESSES_HELP)] = 1,
    on: On = None,
    resume: Annotated[str | None, typer.Option(metavar="ID", help=RESUME_HELP)] = None,
    show_space: Annotated[bool, typer.Option("--show-space", help="Only say what would be searched.")] = False,
    top: Annotated[int, typer.Option(metavar="N", min=0, help=TOP_HELP)] = 0,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help=OUT_HELP)] = None,
    unsafe: Annotated[bool, typer.Option("--unsafe", help=UNSAFE_HELP)] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Search the launch and the named constants of a kernel; every configuration is checked and timed by the gate.

    \b
    Examples:
      warpsight tune matmul_tiled
      warpsight tune transpose_tiled --set TILE=16,32 --set ROWS=2,4,8 --tries 20
      warpsight tune saxpy --device opencl --strategy kernel-tuner
      warpsight tune matmul_tiled --top 5 --out to-measure
      warpsight tune --resume last
    """
    from warpsight.processes.executor import executor_for
    from warpsight.tuning.ahead import order_ahead
    from warpsight.tuning.journal import TuningJournal
    from warpsight.tuning.run import plan
    from warpsight.tuning.space import Configurations

    executor = None if on is None and processes == 1 else executor_for(on, processes)
    if (task is None) == (resume is None):
        raise UsageError("expected either a task or --resume ID", hint="warpsight tune matmul_tiled")
    if resume is not None:
        run_and_report(_resumed(resume, tries, seconds), out, top=top, executor=executor, quiet=quiet, as_json=as_json)
        return
    assert task is not None
    found, given, where = _kernel(task, kernel, device)
    searched = _space(found, given, space, values or [])
    if show_space:
        _show(found, given, searched, as_json)
        return
    asked = plan(
        found, given, searched, device=where, gpu=gpu, strategy=strategy, tries=tries or 60, seconds=seconds,
        search_seed=seed, unsafe=unsafe, at_once=executor is not None,
    )  # fmt: skip
    if executor is not None:
        order_ahead(asked, Configurations(found, given, searched))
    run_and_report(TuningJournal.create(asked), out, top=top, executor=executor, quiet=quiet, as_json=as_json)


def _resumed(name: str, tries: int | None, seconds: float | None) -> TuningJournal:
    """The journal of a search that goes on, with other limits where some are given."""
    from warpsight.tuning.journal import find_tuning

    journal = find_tuning(name)
    if tries is not None or seconds is not None:
        before = journal.asked()
        changes = {"tries": tries or before.tries, "seconds": seconds or before.seconds}
        journal.write_asked(before.model_copy(update=changes))
    return journal


def run_and_report(
    journal: TuningJournal,
    out: Path | None,
    *,
    top: int = 0,
    executor: Executor | None = None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Start a tuning or go on with it, and end the command as it ended."""
    from warpsight.cli.text import tune as tune_text
    from warpsight.folders import data_folder
    from warpsight.tuning.run import ENDINGS, LEDGER, tune
    from warpsight.verbs.tune import write_kernels

    with tune_text.TuneView(journal.asked(), quiet=quiet) as view:
        found = tune(journal, data_folder() / LEDGER, watch=view.watch, say=view.say, top=top, executor=executor)
    file, listed = write_kernels(found, out, ENDINGS[found.language], to_folder=top > 0)
    emit(
        tune_text.document_of(found, file, listed),
        as_json=as_json,
        render=lambda console: tune_text.render(console, found, file, listed),
    )
    if found.stopped == "interrupted":
        raise typer.Exit(INTERRUPTED)
    raise typer.Exit(int(ExitCode.WRONG if found.final is None else ExitCode.FINE))


def _kernel(word: str, file: Path | None, device: str | None) -> tuple[Task, Candidate, str]:
    from warpsight.cli.device_argument import device_for, language_for
    from warpsight.cli.task_argument import find_task, read_kernel

    task = find_task(word)
    name, candidate = read_kernel(task, file, language_for(device))
    return task, candidate, device_for(device, candidate, name)


def _space(task: Task, given: Candidate, file: Path | None, words: list[str]) -> SearchSpace:
    from warpsight.tuning.declared import space_of
    from warpsight.verbs.tune import values

    return space_of(task, given, file, dict(values(word) for word in words))


def _show(task: Task, given: Candidate, space: SearchSpace, as_json: bool) -> None:
    from warpsight.cli.task_argument import document_of
    from warpsight.cli.text import tune as tune_text
    from warpsight.tuning.space import Configurations

    configurations = Configurations(task, given, space)
    count, document = len(configurations.allowed), document_of(space)
    emit(
        {"task": task.name, "configurations": count, **document},
        as_json=as_json,
        render=lambda console: tune_text.render_space(console, task, space, count),
    )
