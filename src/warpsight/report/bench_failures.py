"""The worst failures of a bench: what was asked, what was answered, what that cost, and the run where it was kept.

Without the corpus the cost of a wrong answer is not known, and wrong kernels come first. With it, a failure is as bad
as the speed that was left on the table. Of each task only the worst failure is shown, so that one hard task does not
fill the list. Transcripts are text, and folded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from warpsight.bench.kept import run_name
from warpsight.bench.units import BenchOutcome
from warpsight.causes import NOTHING
from warpsight.corpus.build import CorpusRow
from warpsight.nouns.run import Run, Step
from warpsight.report.bench_data import Bench, family_of, gpu_of
from warpsight.report.bench_tables import table
from warpsight.report.html import Child, Html, join, tag
from warpsight.short.prompting import ANSWERS_ALONE

MOST = 20
STEP_CHARACTERS = 6000
_HEADS = ("rank", "task", "model", "feedback", "answered", "right would be", "left on the table", "run")


@dataclass(frozen=True)
class Failure:
    """An outcome that is not what it should be. `missed` is how many times faster the right answer would have been."""

    outcome: BenchOutcome
    kind: str
    missed: float | None

    @property
    def rank(self) -> tuple[float, float, bool, str]:
        """Worst first. Looking and still failing is worse than failing blind."""
        grave = {"wrong kernel": 0.0, "slower kernel": 1.0, "no answer": 2.0}.get(self.kind, 3.0)
        return (-(self.missed or 0.0), grave, self.outcome.unit.feedback != "curated", self.outcome.unit.key)


def failures_of(bench: Bench) -> list[Failure]:
    """All of them, the worst first. Those with feedback that misleads on purpose are not failures of anybody."""
    found = [
        Failure(outcome, kind, missed_by(outcome, bench.tasks))
        for side in bench.sides
        if side.feedback != "wrong"
        for outcome in side.outcomes
        if (kind := kind_of(outcome)) is not None
    ]
    return sorted(found, key=lambda failure: failure.rank)


def kind_of(outcome: BenchOutcome) -> str | None:
    """What went wrong, in two words; None where nothing did."""
    if outcome.verdict and not outcome.is_right:
        return "wrong kernel"
    if outcome.decision == "SLOWER":
        return "slower kernel"
    if outcome.answer is None:
        return "no answer"
    return None if outcome.diagnosed or not outcome.right_answers else "wrong answer"


def missed_by(outcome: BenchOutcome, tasks: Mapping[int, CorpusRow]) -> float | None:
    """The best time that one change gives, against the time that the answer gives; by the task's measured truth."""
    row = tasks.get(outcome.unit.row)
    if row is None or row.spec.key != outcome.task:
        return None
    truth = row.truth
    best = truth.time_us if NOTHING in truth.right else min(truth.without_us.values())
    if outcome.unit.suite not in ANSWERS_ALONE:
        return max(1.0, truth.time_us / outcome.speed / best)
    answered = truth.without_us.get(outcome.answer or NOTHING, truth.time_us)
    return max(1.0, answered / best)


def failures_section(bench: Bench) -> Html:
    """A table, then the runs that were kept, folded."""
    every = failures_of(bench)
    worst = _one_a_task(every)[:MOST]
    if not worst:
        return tag("section", tag("h2", "Worst failures"), tag("p", "There are none."), id="failures")
    numbered = list(enumerate(worst, 1))
    rows = [_row(number, failure, bench) for number, failure in numbered]
    runs = [_run(number, failure, bench.runs[name]) for number, failure in numbered if (name := _kept(failure, bench))]
    outcomes = sum(len(side.outcomes) for side in bench.sides)
    count = f"{len(every)} of {outcomes} outcomes are failures; the {len(worst)} worst, one a task."
    told = "Worst is where the answer leaves most speed on the table (simulated)." if bench.tasks else _unranked()
    return tag(
        "section", tag("h2", "Worst failures"), tag("p", count, " ", told), table(_HEADS, rows), runs, id="failures"
    )


def _unranked() -> Html:
    return join(
        "What a wrong answer cost is not known without the tasks: ", tag("code", "--corpus FILE"), " names them."
    )


def _one_a_task(found: list[Failure]) -> list[Failure]:
    first: dict[str, Failure] = {}
    for failure in found:
        first.setdefault(failure.outcome.task, failure)
    return list(first.values())


def _kept(failure: Failure, bench: Bench) -> str | None:
    """The name of its run. A kernel that was typed from a recommendation has that one's run."""
    unit = failure.outcome.unit
    names = (run_name(unit), run_name(unit.model_copy(update={"suite": "recommend"})))
    return next((name for name in names if name in bench.runs), None)


def _row(number: int, failure: Failure, bench: Bench) -> tuple[Child, ...]:
    outcome = failure.outcome
    run = tag("a", "transcript", href=f"#f{number}") if _kept(failure, bench) else "not kept"
    said = outcome.answer if failure.kind == "wrong answer" else join(outcome.answer, " ", tag("b", failure.kind))
    missed = "" if failure.missed is None else f"{failure.missed:.2f}×"
    task = join(tag("b", family_of(outcome)), f" on {gpu_of(outcome)}, {_size(outcome)}, no. {outcome.unit.row}")
    right = ", ".join(outcome.right_answers)
    return str(number), task, outcome.unit.model, outcome.unit.feedback, said, right, missed, run


def _size(outcome: BenchOutcome) -> str:
    parts = outcome.task.split("|")
    return parts[-2].replace(",", ", ") if len(parts) > 2 else ""


def _run(number: int, failure: Failure, run: Run) -> Html:
    outcome = failure.outcome
    told = f"{family_of(outcome)} on {gpu_of(outcome)}: answered {outcome.answer or 'nothing at all'}"
    head = tag("summary", f"{number}  ", outcome.unit.model, ", ", outcome.unit.feedback, ": ", told)
    return tag("details", head, [_step(step) for step in run.steps], id=f"f{number}", class_="attempt")


def _step(step: Step) -> Html:
    """Who spoke, and what was said; a call is part of what the model wrote, so it is not said twice."""
    if step.kind == "call":
        return join()
    who = f"result of {step.tool}" if step.kind == "result" else step.kind
    words = [part for part in (step.reasoning, step.content) if part]
    return join(tag("p", who, class_="lead"), [tag("pre", _cut(part)) for part in words])


def _cut(text: str) -> str:
    if len(text) <= STEP_CHARACTERS:
        return text
    return f"{text[:STEP_CHARACTERS]}\n… {len(text) - STEP_CHARACTERS} more characters"
