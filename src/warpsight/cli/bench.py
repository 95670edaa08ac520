"""`warpsight bench run|compare|report`: what models do with the tools, on tasks nobody was trained on (simulated)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from warpsight.cli.output import emit

if TYPE_CHECKING:
    from warpsight.bench.units import BenchOutcome
    from warpsight.session.feedback import Feedback

bench = typer.Typer(no_args_is_help=True, epilog="Example: warpsight bench run test.jsonl out.jsonl --model local")
FILE_HELP = "A file of outcomes, one JSON row a finished unit."
ROUNDS_HELP = "In the suite optimize: ask again about the faster kernel, while it gains."
TASKS_HELP = "A corpus file of the test split, a task folder, or a folder of task folders."
BOX_HELP = "short: the few tools of small models. full: all ten, as `optimize` gives them to a large model."
CALLS_HELP = "Tool calls that a run may make, with --box full; 20 by default."
KEEP_HELP = "Keep the runs that failed here, for the report."
HTML_HELP = "Write one HTML file that needs no network: table, ablation, families, curves, failures."
CORPUS_HELP = "The corpus file of the tasks: says what a wrong answer cost."
CURVES_HELP = "The output folder of a training, for its curves; may be given more than once."
RUNS_HELP = "The folder that `bench run --keep` wrote."
PAIR_HELP = "Two conditions to compare, ONE=OTHER, each MODEL:FEEDBACK; may be given more than once."
PROCESSES_HELP = "Processes, which share the cores; each loads a local model."
ANSWERS_HELP = "Only the answers of this model; may be given more than once."
MODEL_HELP = "A model as `optimize` takes it, or rival:most-common, top-finding, known-finding, tries, any, random."


@bench.command()
def run(
    corpus: Annotated[Path, typer.Argument(metavar="TASKS", help=TASKS_HELP)],
    file: Annotated[Path, typer.Argument(metavar="FILE", help=FILE_HELP)],
    model: Annotated[str, typer.Option(help=MODEL_HELP)] = "local",
    suite: Annotated[str, typer.Option(help="recommend or optimize.")] = "recommend",
    feedback: Annotated[str, typer.Option(help="Modes, with commas: none,time,raw,curated,wrong.")] = "curated",
    adapter: Annotated[Path | None, typer.Option(help="An adapter for the local model.")] = None,
    base_url: Annotated[str | None, typer.Option(help="Where the model is served.")] = None,
    name: Annotated[str | None, typer.Option(help="What the results call the model.")] = None,
    train: Annotated[Path | None, typer.Option(help="The training corpus, for rival:most-common.")] = None,
    count: Annotated[int | None, typer.Option(min=1, help="Only the first tasks.")] = None,
    seeds: Annotated[int, typer.Option(min=1, help="How many times each task, with another seed.")] = 1,
    temperature: Annotated[float | None, typer.Option(min=0.0, help="Of sampling; none is greedy.")] = None,
    rounds: Annotated[int, typer.Option(min=1, help=ROUNDS_HELP)] = 1,
    processes: Annotated[int, typer.Option(min=1, help=PROCESSES_HELP)] = 1,
    batch: Annotated[int, typer.Option(min=1, help="Conversations at a time with a local model.")] = 8,
    box: Annotated[str, typer.Option(help=BOX_HELP)] = "short",
    calls: Annotated[int | None, typer.Option(min=1, help=CALLS_HELP)] = None,
    allow_train: Annotated[bool, typer.Option("--allow-train", help="Also tasks that are trained on.")] = False,
    keep: Annotated[Path | None, typer.Option(metavar="FOLDER", help=KEEP_HELP)] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Put every task to a model with each kind of feedback; goes on where an earlier run stopped.

    \b
    Examples:
      warpsight bench run test.jsonl out.jsonl --adapter adapter/ --name tools --feedback none,curated,wrong
      warpsight bench run test.jsonl out.jsonl --model rival:top-finding
      warpsight bench run tasks/ out.jsonl --suite optimize --box full --model openai:MODEL
    """
    from warpsight.bench.suite import BenchPlan, run_bench
    from warpsight.bench.table import report as table
    from warpsight.cli.progress import counted_on_stderr
    from warpsight.errors import UsageError

    if rounds > 1 and suite != "optimize":
        raise UsageError("--rounds is for kernels that are made faster", hint="--suite optimize")
    plan = BenchPlan(
        corpus=corpus,
        suite=_suite(suite),
        model=model,
        feedback=_modes(feedback),
        adapter=adapter,
        base_url=base_url,
        name=name,
        train=train,
        count=count,
        seeds=tuple(range(seeds)),
        temperature=temperature,
        rounds=rounds,
        allow_train=allow_train,
        keep=keep,
        box=_box(box),
        calls=calls,
    )
    with counted_on_stderr("units", quiet=quiet) as count_done:
        found = run_bench(plan, file, processes=processes, batch=batch, progress=count_done)
    emit(_document(found), as_json=as_json, render=lambda console: console.print(table(found), markup=False))


@bench.command()
def apply(
    corpus: Annotated[Path, typer.Argument(metavar="CORPUS", help="The corpus file that was asked from.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help=FILE_HELP)],
    tried: Annotated[Path, typer.Argument(metavar="TRIED", help="Where each pair of task and answer is kept.")],
    out: Annotated[Path, typer.Option(help="Where the outcomes of suite optimize go; written anew.")],
    model: Annotated[list[str] | None, typer.Option(metavar="NAME", help=ANSWERS_HELP)] = None,
    count: Annotated[int | None, typer.Option(min=1, help="Only the first tasks.")] = None,
    processes: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """What recommendations are worth: each is typed by `rewrite` and goes through the gate (simulated).

    `always-right` is what the right answers would be worth, typed by the same rules.

    \b
    Example:
      warpsight bench apply test.jsonl out.jsonl tried.jsonl --out optimized.jsonl --model text
    """
    from warpsight.bench.apply import apply_answers, right_answers
    from warpsight.bench.table import report as table
    from warpsight.cli.progress import counted_on_stderr
    from warpsight.errors import UsageError

    answered = _read([file])
    if missing := set(model or ()) - {one.unit.model for one in answered}:
        raise UsageError(f"{file} has no answers of {', '.join(sorted(missing))}", hint="warpsight bench report FILE")
    asked = [*(one for one in answered if not model or one.unit.model in model), *right_answers(corpus, count)]
    with counted_on_stderr("kernels", quiet=quiet) as count_done:
        found = apply_answers(corpus, asked, tried, count=count, processes=processes, progress=count_done)
    out.write_text("".join(outcome.model_dump_json() + "\n" for outcome in found))
    emit(_document(found), as_json=as_json, render=lambda console: console.print(table(found), markup=False))


@bench.command()
def report(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help=FILE_HELP)],
    html: Annotated[Path | None, typer.Option(metavar="OUT", help=HTML_HELP)] = None,
    corpus: Annotated[Path | None, typer.Option(metavar="FILE", help=CORPUS_HELP)] = None,
    curves: Annotated[list[Path] | None, typer.Option(metavar="FOLDER", help=CURVES_HELP)] = None,
    runs: Annotated[Path | None, typer.Option(metavar="FOLDER", help=RUNS_HELP)] = None,
    pair: Annotated[list[str] | None, typer.Option(metavar="ONE=OTHER", help=PAIR_HELP)] = None,
    count: Annotated[int | None, typer.Option(min=1, help="Only the first tasks, in the table.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """All conditions of some files in one table, with 95 % intervals over tasks; or as a page to look at.

    \b
    Examples:
      warpsight bench report out.jsonl
      warpsight bench report out.jsonl --count 16
      warpsight bench report out.jsonl --html bench.html --corpus test.jsonl --runs failed/
      warpsight bench report out.jsonl --html bench.html --curves results/sft-tools --pair tools:curated=text:none
    """
    from warpsight.bench.table import report as table
    from warpsight.errors import UsageError

    if count is not None and html is not None:
        raise UsageError("--count is for the table: the page shows all tasks", hint="leave one of the two out")
    found = _read(files, count)
    document = _document(found)
    if html is None:
        emit(document, as_json=as_json, render=lambda console: console.print(table(found), markup=False))
        return
    from warpsight.bench.kept import read_kept
    from warpsight.report.bench_data import read_bench
    from warpsight.report.bench_page import write_bench_report

    story = read_bench(
        files, pairs=[_pair(word) for word in pair or ()], corpus=corpus, trainings=curves or (), runs=read_kept(runs)
    )
    page = html.resolve()
    size = write_bench_report(story, page)
    emit(
        document | {"report_file": str(page), "bytes": size},
        as_json=as_json,
        render=lambda console: console.print(f"{page} ({size / 1024:.0f} kB)", markup=False),
    )


@bench.command()
def compare(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help=FILE_HELP)],
    one: Annotated[str, typer.Option(help="A condition, MODEL:FEEDBACK as the report names them.")],
    other: Annotated[str, typer.Option(help="The condition it is compared with.")],
    suite: Annotated[str, typer.Option(help="recommend or optimize.")] = "recommend",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Two conditions on the tasks that both have, pair by pair.

    \b
    Example:
      warpsight bench compare out.jsonl --one tools:curated --other text:none
    """
    import math

    from warpsight.bench.table import comparison, conditions
    from warpsight.errors import UsageError

    found = conditions(_read(files))
    sides: list[list[BenchOutcome]] = []
    for wanted in (one, other):
        model, _, feedback = wanted.rpartition(":")
        if (suite, model, feedback) not in found:
            known = ", ".join(f"{key[1]}:{key[2]}" for key in found if key[0] == suite)
            raise UsageError(f"no outcomes of {wanted}", hint=f"there are {known or 'none'}")
        sides.append(found[(suite, model, feedback)])
    made = comparison(sides[0], sides[1])

    def show(console: Any) -> None:
        part = made["accuracy"]
        points = part and f"{100 * part['value']:+.1f} points ({100 * part['low']:+.1f} to {100 * part['high']:+.1f})"
        told = f"right recommendation {points}, {part['tasks']} tasks" if part else "no right answers are known"
        console.print(f"{one} against {other}: {told}", markup=False)
        if "log_speedup" in made:
            ratio = {key: math.exp(made["log_speedup"][key]) for key in ("value", "low", "high")}
            told = f"{ratio['value']:.2f}x ({ratio['low']:.2f} to {ratio['high']:.2f})"
            console.print(f"speed-up, ratio of the geometric means: {told}", markup=False)
            same = made["alike"]
            told = f"the same answer {same['same_answer']} times, a kernel as fast {same['as_fast']} times"
            console.print(f"of {same['pairs']} pairs: {told}", markup=False)

    emit({"one": one, "other": other, **made}, as_json=as_json, render=show)


def _read(files: list[Path], count: int | None = None) -> list[BenchOutcome]:
    from warpsight.bench.suite import read_outcomes
    from warpsight.errors import UsageError

    every = [outcome for file in files for outcome in read_outcomes(file)]
    found = [outcome for outcome in every if count is None or outcome.unit.row < count]
    if not found:
        raise UsageError("no outcomes in these files", hint="make some: warpsight bench run CORPUS FILE")
    return found


def _document(found: list[BenchOutcome]) -> dict[str, Any]:
    from warpsight.bench.metrics import summary_of
    from warpsight.bench.table import conditions

    return {
        "conditions": [
            {"suite": suite, "model": model, "feedback": mode, **summary_of(some)}
            for (suite, model, mode), some in conditions(found).items()
        ]
    }


def _pair(word: str) -> tuple[str, str]:
    from warpsight.errors import UsageError

    one, equals, other = word.partition("=")
    if not (one and equals and other):
        raise UsageError(f"--pair: expected ONE=OTHER, got {word!r}", hint="--pair tools:curated=text:none")
    return one, other


def _suite(word: str) -> Any:
    from warpsight.errors import UsageError
    from warpsight.short.prompting import SUITES

    if word not in SUITES:
        raise UsageError(f"expected a suite of {', '.join(SUITES)}, got {word!r}")
    return word


def _box(word: str) -> Any:
    from warpsight.bench.units import BOXES
    from warpsight.errors import UsageError

    if word not in BOXES:
        raise UsageError(f"expected a box of {', '.join(BOXES)}, got {word!r}")
    return word


def _modes(words: str) -> tuple[Feedback, ...]:
    from warpsight.errors import UsageError
    from warpsight.session.feedback import MODES

    wanted = [word.strip() for word in words.split(",") if word.strip()]
    unknown = [word for word in wanted if word not in MODES]
    if unknown or not wanted:
        raise UsageError(f"expected feedback of {', '.join(MODES)}, got {words!r}", hint="--feedback none,curated")
    return tuple(mode for mode in MODES if mode in wanted)
