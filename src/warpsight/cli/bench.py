"""`warpsight bench run|compare|report|choose`: what models do with the tools, on tasks nobody was trained on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from warpsight.cli.options import AsJson, FirstTasks, On, Quiet
from warpsight.cli.output import emit

bench = typer.Typer(no_args_is_help=True, epilog="Example: warpsight bench run test.jsonl out.jsonl --model local")
FILE_HELP = "A file of outcomes, one JSON row a finished unit."
ROUNDS_HELP = "In the suite optimize: ask again about the faster kernel, as long as that helps."
TASKS_HELP = "A corpus file of the test split, a task folder, or a folder of task folders."
BOX_HELP = "short: the few tools of small models. full: all ten, as `optimize` gives them to a large model."
CALLS_HELP = "Tool calls that a run may make, with --box full; 20 by default."
MEASURED_HELP = "Suite classify: a table of measured launches (RTX 3080) that says what is right."
RECORDED_HELP = "A cache file of Kernel Tuner, its T4 results, or results of KTT; .gz too."
TRAIN_HELP = "What rival:most-common learns from: a training corpus; suite budget: a table of outcomes, ranker too."
TRIES_HELP = "Suite budget: how many changes may be tried, with commas; 1,2,4,8 by default."
TABLE_HELP = "Suite budget: a table of `corpus outcomes`; what is in it is not measured again."
KEEP_HELP = "Keep the runs that failed here, for the report."
HTML_HELP = "Write one HTML file that needs no network: table, ablation, families, curves, failures."
CORPUS_HELP = "The corpus file of the tasks; it says what a wrong answer cost."
CURVES_HELP = "The output folder of a training, for its curves; may be given more than once."
RUNS_HELP = "The folder that `bench run --keep` wrote."
PAIR_HELP = "Two conditions to compare, ONE=OTHER, each MODEL:FEEDBACK; may be given more than once."
PROCESSES_HELP = "Processes, which share the cores; each loads a local model."
ANSWERS_HELP = "Only the answers of this model; may be given more than once."
ADAPTER_HELP = "An adapter on the local model; without one, `local` is the weights before any training."
MODEL_HELP = "A model as `optimize` takes it, or rival:NAME; docs/bench.md lists the rivals of each suite."


@bench.command()
def run(
    corpus: Annotated[Path, typer.Argument(metavar="TASKS", help=TASKS_HELP)],
    file: Annotated[Path, typer.Argument(metavar="FILE", help=FILE_HELP)],
    model: Annotated[str, typer.Option(help=MODEL_HELP)] = "local",
    suite: Annotated[str, typer.Option(help="recommend, optimize, budget or classify.")] = "recommend",
    feedback: Annotated[str, typer.Option(help="Modes, with commas: none,time,raw,curated,wrong.")] = "curated",
    adapter: Annotated[Path | None, typer.Option(help=ADAPTER_HELP)] = None,
    base_url: Annotated[str | None, typer.Option(help="Where the model is served.")] = None,
    name: Annotated[str | None, typer.Option(help="What the results call the model.")] = None,
    train: Annotated[Path | None, typer.Option(help=TRAIN_HELP)] = None,
    count: FirstTasks = None,
    seeds: Annotated[int, typer.Option(min=1, help="How many times each task, with another seed.")] = 1,
    temperature: Annotated[float | None, typer.Option(min=0.0, help="Of sampling; none is greedy.")] = None,
    rounds: Annotated[int, typer.Option(min=1, help=ROUNDS_HELP)] = 1,
    processes: Annotated[int, typer.Option(min=1, help=PROCESSES_HELP)] = 1,
    on: On = None,
    batch: Annotated[int, typer.Option(min=1, help="Conversations at a time with a local model.")] = 8,
    box: Annotated[str, typer.Option(help=BOX_HELP)] = "short",
    calls: Annotated[int | None, typer.Option(min=1, help=CALLS_HELP)] = None,
    tries: Annotated[str | None, typer.Option(help=TRIES_HELP)] = None,
    table: Annotated[Path | None, typer.Option(metavar="TABLE", help=TABLE_HELP)] = None,
    measured: Annotated[Path | None, typer.Option(metavar="CSV", help=MEASURED_HELP)] = None,
    allow_train: Annotated[bool, typer.Option("--allow-train", help="Also tasks that are trained on.")] = False,
    keep: Annotated[Path | None, typer.Option(metavar="FOLDER", help=KEEP_HELP)] = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Put every task to a model with each kind of feedback; goes on where an earlier run stopped.

    \b
    Examples:
      warpsight bench run test.jsonl out.jsonl --adapter adapter/ --name tools
      warpsight bench run test.jsonl out.jsonl --model rival:top-finding
      warpsight bench run tasks/ out.jsonl --suite optimize --model openai:MODEL
      warpsight bench run t.jsonl o.jsonl --suite budget --table t.table
    """
    from warpsight.bench.suite import BenchPlan, run_bench
    from warpsight.cli.progress import counted_on_stderr
    from warpsight.cli.text.bench import document_of, table_of
    from warpsight.processes.executor import executor_for
    from warpsight.verbs.bench import plain_weights_words, require_box, require_modes, require_suite, require_tries

    plan = BenchPlan(
        corpus=corpus, suite=require_suite(suite, rounds), model=model, feedback=require_modes(feedback),
        adapter=adapter, base_url=base_url, name=name, train=train, count=count, seeds=tuple(range(seeds)),
        temperature=temperature, rounds=rounds, allow_train=allow_train, keep=keep, box=require_box(box), calls=calls,
        tries=require_tries(tries, suite), table=table, measured=measured,
    )  # fmt: skip
    if not quiet and (told := plain_weights_words(model, adapter)):
        typer.echo(told, err=True)
    with counted_on_stderr("units", quiet=quiet) as count_done:
        found = run_bench(
            plan, file, processes=processes, executor=executor_for(on, processes), batch=batch, progress=count_done
        )
    emit(document_of(found), as_json=as_json, render=table_of(found))


@bench.command()
def apply(
    corpus: Annotated[Path, typer.Argument(metavar="CORPUS", help="The corpus file that was asked from.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help=FILE_HELP)],
    tried: Annotated[Path, typer.Argument(metavar="TRIED", help="Where each pair of task and answer is kept.")],
    out: Annotated[Path, typer.Option(help="Where the outcomes of suite optimize go; written anew.")],
    model: Annotated[list[str] | None, typer.Option(metavar="NAME", help=ANSWERS_HELP)] = None,
    count: FirstTasks = None,
    processes: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    on: On = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """What recommendations are worth: `rewrite` makes the edit for each, and the gate judges it (simulated).

    `always-right` is what the right answers would be worth, with the same rewrites.

    \b
    Example:
      warpsight bench apply test.jsonl out.jsonl tried.jsonl --out applied.jsonl
    """
    from warpsight.bench.apply import apply_answers
    from warpsight.cli.progress import counted_on_stderr
    from warpsight.cli.text.bench import document_of, table_of
    from warpsight.processes.executor import executor_for
    from warpsight.verbs.bench import answers_to_apply, write_outcomes

    asked = answers_to_apply(corpus, file, model or (), count)
    with counted_on_stderr("kernels", quiet=quiet) as count_done:
        at_work = executor_for(on, processes)
        found = apply_answers(corpus, asked, tried, count=count, executor=at_work, progress=count_done)
    write_outcomes(out, found)
    emit(document_of(found), as_json=as_json, render=table_of(found))


@bench.command()
def report(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help=FILE_HELP)],
    html: Annotated[Path | None, typer.Option(metavar="OUT", help=HTML_HELP)] = None,
    corpus: Annotated[Path | None, typer.Option(metavar="FILE", help=CORPUS_HELP)] = None,
    curves: Annotated[list[Path] | None, typer.Option(metavar="FOLDER", help=CURVES_HELP)] = None,
    runs: Annotated[Path | None, typer.Option(metavar="FOLDER", help=RUNS_HELP)] = None,
    pair: Annotated[list[str] | None, typer.Option(metavar="ONE=OTHER", help=PAIR_HELP)] = None,
    count: Annotated[int | None, typer.Option(min=1, help="Only the first tasks, in the table.")] = None,
    as_json: AsJson = False,
) -> None:
    """All conditions of some files in one table, with 95 % intervals over tasks; or as a page to look at.

    \b
    Examples:
      warpsight bench report out.jsonl
      warpsight bench report out.jsonl --count 16
      warpsight bench report out.jsonl --html bench.html --corpus test.jsonl
      warpsight bench report out.jsonl --html b.html --pair tools:raw=text:none
    """
    from warpsight.cli.text.bench import document_of, table_of
    from warpsight.errors import UsageError
    from warpsight.verbs.bench import read_files, write_page

    if count is not None and html is not None:
        raise UsageError("--count is for the table: the page shows all tasks", hint="leave one of the two out")
    found = read_files(files, count)
    if html is None:
        emit(document_of(found), as_json=as_json, render=table_of(found))
        return
    page = html.resolve()
    size = write_page(page, files, pairs=pair or (), corpus=corpus, trainings=curves or (), runs=runs)
    emit(
        document_of(found) | {"report_file": str(page), "bytes": size},
        as_json=as_json,
        render=lambda console: console.print(f"{page} ({size / 1024:.0f} kB)", markup=False),
    )


@bench.command()
def compare(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help=FILE_HELP)],
    one: Annotated[str, typer.Option(help="A condition, MODEL:FEEDBACK as the report names them.")],
    other: Annotated[str, typer.Option(help="The condition it is compared with.")],
    suite: Annotated[str, typer.Option(help="recommend, optimize, or budget-4 for four tries.")] = "recommend",
    as_json: AsJson = False,
) -> None:
    """Two conditions on the tasks that both have, pair by pair.

    \b
    Example:
      warpsight bench compare out.jsonl --one tools:curated --other text:none
    """
    from warpsight.cli.text.bench import comparison_of
    from warpsight.verbs.bench import compare_conditions

    made = compare_conditions(files, one, other, suite)
    emit({"one": one, "other": other, **made}, as_json=as_json, render=comparison_of(one, other, made))


@bench.command()
def choose(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help=RECORDED_HELP)],
    out: Annotated[Path, typer.Option(metavar="OUT", help="One JSON row a finished choice.")],
    model: Annotated[str, typer.Option(help="As `optimize` takes it, or rival:random, middle, elsewhere.")] = "local",
    adapter: Annotated[Path | None, typer.Option(help=ADAPTER_HELP)] = None,
    base_url: Annotated[str | None, typer.Option(help="Where the model is served.")] = None,
    name: Annotated[str | None, typer.Option(help="What the results call the model.")] = None,
    tries: Annotated[str, typer.Option(help="How many configurations may be timed, with commas.")] = "1,2,4,8",
    seeds: Annotated[int, typer.Option(min=1, help="How many times each file, with another seed.")] = 1,
    temperature: Annotated[float | None, typer.Option(min=0.0, help="Of sampling; none is greedy.")] = None,
    kernel: Annotated[Path | None, typer.Option(metavar="FILE", help="The text of the kernel, for the model.")] = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Choose a kernel's parameters on real cards, judged by times that others published (replayed).

    \b
    Example:
      warpsight bench choose A100.json.gz --out o.jsonl --model rival:random
    """
    from warpsight.cli.progress import counted_on_stderr
    from warpsight.verbs.bench import choices_made

    with counted_on_stderr("choices", quiet=quiet) as count_done:
        document, table = choices_made(
            files, out, model=model, adapter=adapter, base_url=base_url, name=name, tries=tries, seeds=seeds,
            temperature=temperature, kernel=kernel, progress=count_done,
        )  # fmt: skip
    emit(document, as_json=as_json, render=lambda console: console.print(table, markup=False))
