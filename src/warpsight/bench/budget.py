"""One unit of the suite `budget`: few tries, then the answer. From a table of outcomes where the task is in it.

What is said of a unit: how fast what is handed in is, how fast the fastest known kernel is, whether the change that the
model names gains within 10 % of the best measured one, and whether it is the very name. What must stay true: a task
that the table does not have is measured by the tools, and its outcome says how many tries were.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from warpsight.bench.budget_rivals import open_budget_rival
from warpsight.bench.kept import keep_failure, run_name
from warpsight.bench.tasks import BenchTask
from warpsight.bench.units import BenchOutcome, BenchUnit, outcome_of
from warpsight.corpus.outcomes import OutcomeTable, is_within
from warpsight.models.model import Model
from warpsight.nouns import Task
from warpsight.short.ask import ask
from warpsight.short.budget_box import BudgetBox


@dataclass(frozen=True)
class BudgetPlan:
    """What all units of a plan share."""

    table: Path | None
    train: Path | None
    temperature: float | None
    keep: Path | None
    asked: str
    rival: str
    listed: bool


def ask_budget(
    plan: BudgetPlan, row: BenchTask, unit: BenchUnit, model: Model, decoys: tuple[Task, ...] = ()
) -> BenchOutcome:
    """One conversation with a model."""
    return _asked(plan, row, unit, box_of(plan, row, unit, decoys), model)


def play_rival(plan: BudgetPlan, row: BenchTask, unit: BenchUnit) -> BenchOutcome:
    """One conversation with the plan's rival."""
    box, table = box_of(plan, row, unit), read_table(plan.table)
    model = open_budget_rival(plan.rival, box, task=row.key, family=row.family, table=table, train=plan.train)
    return _asked(plan, row, unit, box, model)


def box_of(plan: BudgetPlan, row: BenchTask, unit: BenchUnit, decoys: tuple[Task, ...] = ()) -> BudgetBox:
    table = read_table(plan.table)
    known = None if table is None else functools.partial(table.tries_of, row.key)
    return BudgetBox(
        row.task, "budget", unit.feedback, tries=unit.tries, known=known, decoys=decoys, listed=plan.listed,
        plain=row.plain,
    )  # fmt: skip


@functools.lru_cache(maxsize=4)
def read_table(file: Path | None) -> OutcomeTable | None:
    return None if file is None else OutcomeTable.read(file)


def _asked(plan: BudgetPlan, row: BenchTask, unit: BenchUnit, box: BudgetBox, model: Model) -> BenchOutcome:
    run = ask(
        box, model, run_id=run_name(unit), temperature=plan.temperature, seed=unit.seed, settings={"row": row.number}
    )
    table = read_table(plan.table)
    line = None if table is None else table.line(row.key)
    spent = box.spent
    outcome = outcome_of(unit, row, run, plan.asked)
    told = {
        "verdict": spent.verdict, "decision": "FASTER" if spent.speed > 1 else "SAME", "ratio": spent.speed,
        "source": "simulated", "tries": spent.tries, "measured": spent.measured,
        "best_ratio": None if table is None or line is None else max(spent.speed, table.best_speed(row.key)),
        "within": None if line is None else outcome.answer is not None and is_within(line, outcome.answer),
        "table": "" if line is None else " ".join(f"{name} {value}" for name, value in line.version.items()),
    }  # fmt: skip
    found = outcome.model_copy(update=told)
    keep_failure(plan.keep, found, run)
    return found
