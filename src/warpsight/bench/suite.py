"""Runs a benchmark: the same tasks and seeds for every model and every feedback, one JSON line a finished unit.

An interrupted run goes on where it stopped: what is in the file is not asked again. What must stay true: the tasks are
not of families that models are trained on, unless the caller says otherwise; then every line says so.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from warpsight.bench.budget import BudgetPlan, ask_budget, play_rival
from warpsight.bench.classify import ROOFLINE, play_roofline, sides_known
from warpsight.bench.full import ask_full
from warpsight.bench.kept import keep_failure, run_name
from warpsight.bench.rivals import PREFIX, open_rival
from warpsight.bench.tasks import BenchTask, read_bench_tasks
from warpsight.bench.units import BenchOutcome, BenchUnit, BoxName, outcome_of
from warpsight.errors import UsageError
from warpsight.models.catalogue import is_known_weights, require_pulled
from warpsight.models.local import embedded_weights, open_local
from warpsight.models.model import BatchModel, Model
from warpsight.models.open import open_model
from warpsight.models.together import Together
from warpsight.nouns import Task
from warpsight.processes.executor import Executor, executor_for
from warpsight.runs.lines import cut_half_line, put_in_order, read_records
from warpsight.session.feedback import Feedback
from warpsight.short.ask import ask
from warpsight.short.box import SmallBox
from warpsight.short.prompting import Suite
from warpsight.short.trained import knows_first_words, must_list_tools

Progress = Callable[[int, int], None]
Job = tuple[BenchUnit, ...]  # one, or a batch of conversations that share each generation of a local model
DECOYS = 12


@dataclass(frozen=True)
class BenchPlan:
    """What is to be measured. `corpus` is where the tasks are: a corpus file, or a folder of task folders. `train` is
    the corpus that rivals may learn from; `box` is which tools the model has, `calls` how many calls (full box)."""

    corpus: Path
    suite: Suite
    model: str
    feedback: tuple[Feedback, ...]
    adapter: Path | None = None
    base_url: str | None = None
    name: str | None = None  # what the results call the model
    train: Path | None = None
    count: int | None = None
    seeds: tuple[int, ...] = (0,)
    temperature: float | None = None
    rounds: int = 1  # from the faster kernel on, while it gains
    allow_train: bool = False
    keep: Path | None = None  # a folder for the runs that failed
    box: BoxName = "short"
    calls: int | None = None
    tries: tuple[int, ...] = ()  # suite budget: one condition each
    measured: Path | None = None  # suite classify: a table of measured launches that says what is right
    table: Path | None = None  # suite budget: a table of outcomes


def units_of(plan: BenchPlan) -> list[BenchUnit]:
    """Every unit, in an order that spreads an early stop over tasks and not over modes."""
    rows = rows_of(plan)
    return [
        BenchUnit(
            suite=plan.suite,
            model=plan.name or plan.model,
            feedback=mode,
            row=row.number,
            seed=seed,
            box=plan.box,
            tries=tries,
        )
        for seed in plan.seeds
        for tries in plan.tries or (0,)
        for row in rows
        for mode in plan.feedback
    ]


def run_bench(
    plan: BenchPlan,
    file: Path,
    *,
    processes: int = 1,
    executor: Executor | None = None,
    batch: int = 8,
    progress: Progress = lambda _done, _all: None,
) -> list[BenchOutcome]:
    """Run what is not in the file yet, and return all outcomes of the plan. A line is written when its unit is done;
    once all are, the lines of the plan stand in the order of its units, wherever they were run."""
    units = units_of(plan)
    wanted = {unit.key for unit in units}
    before = read_outcomes(file) if file.exists() else []
    found = [outcome for outcome in before if outcome.unit.key in wanted]
    _require_same(plan, found)
    done = {outcome.unit.key for outcome in found}
    todo = [unit for unit in units if unit.key not in done]
    progress(len(found), len(units))
    if todo:
        jobs = jobs_of(plan, todo, batch)
        begin = functools.partial(_share_cores, processes) if processes > 1 else None
        at_work = executor or executor_for(None, processes)
        running = at_work.run(functools.partial(work, plan), jobs, ordered=False, begin=begin)
        for outcome in _written(file, running):
            found.append(outcome)
            progress(len(found), len(units))
    places = {unit.key: place for place, unit in enumerate(units)}
    put_in_order(file, lambda line: places.get(BenchOutcome.model_validate_json(line).unit.key))
    return found


def _written(file: Path, running: Generator[list[BenchOutcome]]) -> Iterator[BenchOutcome]:
    """The outcomes, each once its line is in the file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    cut_half_line(file)
    with file.open("a") as out, closing(running):
        for outcomes in running:
            for outcome in outcomes:
                out.write(outcome.model_dump_json() + "\n")
                out.flush()
                yield outcome


def _share_cores(processes: int) -> None:
    """Read when torch is loaded, which is later."""
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // processes)))


def _require_same(plan: BenchPlan, found: Sequence[BenchOutcome]) -> None:
    """Refuse to go on with results of another model under the same name, or of other tasks."""
    tasks = {row.number: row.key for row in rows_of(plan)}
    asked = asked_of(plan)
    for one in found:
        if one.task != tasks[one.unit.row]:
            raise UsageError(f"task {one.unit.row} of {plan.corpus} is not the one in the results", hint="another FILE")
        if one.asked and one.asked != asked:
            raise UsageError(
                f"the results have {one.unit.model} with another adapter, other rounds or another temperature",
                hint="give it another --name, or write to another FILE",
            )


@functools.lru_cache(maxsize=4)
def asked_of(plan: BenchPlan) -> str:
    """A digest of what an outcome depends on beyond its unit."""
    calls = f" {plan.calls}" if plan.calls else ""
    digest = hashlib.sha256(f"{plan.model} {plan.base_url} {plan.rounds} {plan.temperature}{calls}".encode())
    for file in (plan.table, plan.measured):
        digest.update(b"" if file is None else file.read_bytes())
    for file in sorted(plan.adapter.iterdir()) if plan.adapter is not None and plan.adapter.is_dir() else ():
        if file.name.startswith("adapter_"):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def read_outcomes(file: Path) -> list[BenchOutcome]:
    """All finished lines of a file, also of one that a bench is adding to."""
    return read_records(file, BenchOutcome, "an outcome of a bench", hint="make some: warpsight bench run CORPUS FILE")


def work(plan: BenchPlan, job: Job) -> list[BenchOutcome]:
    """One job, in whatever process."""
    if plan.suite == "budget" and plan.model.startswith(PREFIX):  # one for each conversation
        return [play_rival(budget_plan(plan), row_of(plan, unit), unit) for unit in job]
    if plan.suite == "classify" and plan.model == PREFIX + ROOFLINE:
        return [work_with(plan, unit, play_roofline(row_of(plan, unit))) for unit in job]
    model = _model(plan)
    if len(job) == 1:
        return [work_with(plan, job[0], model)]
    return Together(cast(BatchModel, model)).run([functools.partial(work_with, plan, unit) for unit in job])


def work_with(plan: BenchPlan, unit: BenchUnit, model: Model) -> BenchOutcome:
    """One unit with a model that is open."""
    row = row_of(plan, unit)
    decoys = _decoys(plan, row) if unit.feedback == "wrong" else ()
    if unit.suite == "budget":
        return ask_budget(budget_plan(plan), row, unit, model, decoys)
    if unit.suite == "classify":
        row = sides_known(row, plan.measured)
    if unit.box == "full":
        run, final = ask_full(
            row.task, model, unit.feedback, run_id=run_name(unit), decoys=decoys, calls=plan.calls,
            temperature=plan.temperature, seed=unit.seed,
        )  # fmt: skip
        outcome = outcome_of(unit, row, run, asked_of(plan), final)
        keep_failure(plan.keep, outcome, run)
        return outcome
    box = SmallBox(
        row.task, unit.suite, unit.feedback, decoys=decoys, listed=must_list_tools(_folder_of(plan)),
        plain=row.plain, first_words=knows_first_words(_folder_of(plan)),
    )  # fmt: skip
    run = ask(
        box, model, run_id=run_name(unit), temperature=plan.temperature, seed=unit.seed, rounds=plan.rounds,
        settings={"row": row.number},
    )  # fmt: skip
    outcome = outcome_of(unit, row, run, asked_of(plan))
    keep_failure(plan.keep, outcome, run)
    return outcome


def row_of(plan: BenchPlan, unit: BenchUnit) -> BenchTask:
    return next(row for row in rows_of(plan) if row.number == unit.row)


def budget_plan(plan: BenchPlan) -> BudgetPlan:
    """What conversations of the suite budget need of a plan."""
    folder = _folder_of(plan)
    return BudgetPlan(
        table=plan.table, train=plan.train, temperature=plan.temperature, keep=plan.keep, asked=asked_of(plan),
        rival=plan.model.removeprefix(PREFIX) if plan.model.startswith(PREFIX) else "", listed=must_list_tools(folder),
    )  # fmt: skip


@functools.lru_cache(maxsize=4)
def _all_tasks(place: Path) -> tuple[BenchTask, ...]:
    return read_bench_tasks(place)


@functools.lru_cache(maxsize=4)
def rows_of(plan: BenchPlan) -> tuple[BenchTask, ...]:
    """The tasks; those of training families are refused, since a number on them would mean nothing."""
    if (plan.suite == "budget") != bool(plan.tries):
        raise UsageError("the suite budget needs how many changes may be tried", hint="--suite budget --tries 1,2,4,8")
    if plan.box == "full" and (plan.suite != "optimize" or plan.rounds > 1):
        raise UsageError("the full box makes kernels faster, in one round", hint="--suite optimize, no --rounds")
    rows = _all_tasks(plan.corpus)
    if not plan.allow_train and any(row.trained_on for row in rows):
        raise UsageError(
            f"{plan.corpus} has tasks of families that are trained on",
            hint="build one with --split test, or say --allow-train for a look that is not a result",
        )
    return rows[: plan.count]


def _decoys(plan: BenchPlan, row: BenchTask) -> tuple[Task, ...]:
    """Tasks of other families, for a diagnosis that is not of this kernel."""
    others = [other for other in _all_tasks(plan.corpus) if other.family != row.family]
    step = max(1, len(others) // DECOYS)
    start = int(hashlib.sha256(row.key.encode()).hexdigest()[:8], 16) % max(1, len(others))
    turned = [*others[start:], *others[:start]]
    return tuple(other.task for other in turned[::step][:DECOYS])


def _folder_of(plan: BenchPlan) -> Path | None:
    """Where a local model says how it is asked."""
    kind, _, path = plan.model.partition(":")
    return plan.adapter or (Path(path) if kind == "local" and path else None)


def jobs_of(plan: BenchPlan, units: Sequence[BenchUnit], batch: int) -> list[Job]:
    """Units one by one, or in batches for a local model; those of one mode together, since a batch that asks alike is
    as long as its longest."""
    ordered = sorted(units, key=lambda unit: (unit.seed, unit.row // 8, unit.feedback, unit.row))
    size = batch if plan.model.partition(":")[0] == "local" else 1
    return [tuple(ordered[start : start + size]) for start in range(0, len(ordered), size)]


@functools.lru_cache(maxsize=2)
def _model(plan: BenchPlan) -> Model:
    if plan.model.startswith(PREFIX):
        return open_rival(plan.model.removeprefix(PREFIX), train=plan.train)
    kind, _, path = plan.model.partition(":")
    if kind == "local":
        weights = require_pulled(path) if is_known_weights(path) else Path(path) if path else embedded_weights()
        # torch where it is there: the results that ship were made with it, and engines round differently
        engine = "torch" if importlib.util.find_spec("torch") else None
        return open_local(weights, adapter=plan.adapter, engine=engine, results_inside=True)  # as in those that ship
    return open_model(plan.model, adapter=plan.adapter, base_url=plan.base_url)
