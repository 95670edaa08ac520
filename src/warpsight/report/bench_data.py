"""What the page of a bench shows: outcomes by condition, the measures of each suite, and what was given beside them.

Numbers are those of `bench/metrics.py`; nothing is computed here that the tables of `warpsight bench` do not have. What
must stay true: times of different sources are never in one picture.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from warpsight.bench.apply import CEILING
from warpsight.bench.metrics import MeanInterval, Measure, diagnosed, difference, log_speed, mean_of, scored
from warpsight.bench.suite import read_outcomes
from warpsight.bench.table import conditions
from warpsight.bench.units import BenchOutcome
from warpsight.corpus.build import CorpusRow, read_rows
from warpsight.errors import UsageError
from warpsight.nouns.run import Run
from warpsight.report.curves import Training, read_training
from warpsight.session.feedback import MODES, Feedback
from warpsight.short.prompting import ANSWERS_ALONE

RIVAL = "rival:"
PairOf = tuple[str, str]


@dataclass(frozen=True)
class BenchCondition:
    """One condition: a suite, a model, a kind of feedback, and all that came of it."""

    suite: str
    model: str
    feedback: Feedback
    outcomes: tuple[BenchOutcome, ...]

    @property
    def name(self) -> str:
        return f"{self.model}:{self.feedback}"


@dataclass(frozen=True)
class DrawnMeasure:
    """A measure as it is drawn: `scale` turns the mean into what stands on the axis, `say` into words."""

    title: str
    axis: str
    measure: Measure
    scale: Callable[[float], float]
    say: Callable[[float], str]
    geometric: bool = False

    def of(self, outcomes: Sequence[BenchOutcome]) -> MeanInterval:
        found = mean_of(outcomes, self.measure, geometric=self.geometric)
        return MeanInterval(self.scale(found.value), self.scale(found.low), self.scale(found.high), found.tasks)


def _percent(value: float) -> float:
    return 100 * value


def _same(value: float) -> float:
    return value


RIGHT = DrawnMeasure("Right recommendation", "right, % of tasks", diagnosed, _percent, lambda v: f"{v:.1f} %")
SPEED = DrawnMeasure("Speed-up", "geometric mean speed-up", log_speed, _same, lambda v: f"{v:.2f}×", geometric=True)
DIAGNOSIS = replace(RIGHT, title="Right diagnosis")


def measures_of(suite: str, sides: Sequence[BenchCondition] = ()) -> tuple[DrawnMeasure, ...]:
    """What is drawn of a suite, the main one first; every suite but one ends with a kernel. Diagnoses are drawn where
    every condition has tasks whose right answer is known."""
    if suite in ANSWERS_ALONE:
        return (RIGHT,)
    return (SPEED, DIAGNOSIS) if all(scored(side.outcomes) for side in sides) else (SPEED,)


@dataclass(frozen=True)
class Bench:
    """Everything for one page. `tasks`, `runs` and `trainings` are empty where they were not given."""

    sides: tuple[BenchCondition, ...]
    files: Mapping[str, str]
    pairs: tuple[PairOf, ...] = ()
    tasks: Mapping[int, CorpusRow] = field(default_factory=dict[int, CorpusRow])
    runs: Mapping[str, Run] = field(default_factory=dict[str, Run])
    trainings: tuple[Training, ...] = ()

    @property
    def suites(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(side.suite for side in self.sides))

    def of_suite(self, suite: str) -> tuple[BenchCondition, ...]:
        return tuple(side for side in self.sides if side.suite == suite)

    def source(self, suite: str) -> str:
        """What kind of times a suite has; empty where nothing was timed."""
        found = sorted({o.source for side in self.of_suite(suite) for o in side.outcomes if o.source})
        if len(found) > 1:
            raise UsageError(
                f"times of {' and '.join(found)} cannot be put into one picture", hint="one report for each"
            )
        return found[0] if found else ""


def read_bench(
    files: Sequence[Path],
    *,
    pairs: Sequence[PairOf] = (),
    corpus: Path | None = None,
    trainings: Sequence[Path] = (),
    runs: Mapping[str, Run] | None = None,
) -> Bench:
    """Read the files; a pair that names a condition which is not there is a UsageError."""
    outcomes = [outcome for file in files for outcome in read_outcomes(file)]
    if not outcomes:
        raise UsageError("no outcomes in these files", hint="make some: warpsight bench run CORPUS FILE")
    found = Bench(
        sides=sides_of(outcomes),
        files={file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files},
        pairs=tuple(pairs),
        tasks={row.number: row for row in read_rows(corpus)} if corpus is not None else {},
        runs=runs or {},
        trainings=tuple(read_training(place) for place in trainings),
    )
    names = {side.name for side in found.sides}
    unknown = [name for pair in found.pairs for name in pair if name not in names]
    if unknown:
        raise UsageError(f"no outcomes of {unknown[0]}", hint=f"there are {', '.join(sorted(names))}")
    return found


def kind_of_model(model: str) -> int:
    """0 a model, 1 a script, 2 the right answers themselves."""
    return 2 if model == CEILING else 1 if model.startswith(RIVAL) else 0


def sides_of(outcomes: Sequence[BenchOutcome]) -> tuple[BenchCondition, ...]:
    """Models, then scripts, then the right answers; in the order they came, feedback from none to wrong."""
    order = {model: at for at, model in enumerate(dict.fromkeys(outcome.unit.label for outcome in outcomes))}
    found = [
        BenchCondition(suite, model, some[0].unit.feedback, tuple(some)) for (suite, model, _), some in _by(outcomes)
    ]
    modes = {mode: at for at, mode in enumerate(MODES)}

    def place(side: BenchCondition) -> tuple[bool, str, int, int, int]:
        recommends = side.suite == "recommend"
        return recommends, side.suite, kind_of_model(side.model), order[side.model], modes[side.feedback]

    return tuple(sorted(found, key=place))


def paired(one: BenchCondition, other: BenchCondition, shown: DrawnMeasure) -> MeanInterval:
    """The difference in pairs: points of percent, or the logarithm of the ratio of speeds."""
    found = difference(one.outcomes, other.outcomes, shown.measure)
    scale = _same if shown.geometric else _percent
    return MeanInterval(scale(found.value), scale(found.low), scale(found.high), found.tasks)


def family_of(outcome: BenchOutcome) -> str:
    """The family of a task, which its key begins with."""
    return outcome.task.partition("|")[0]


def gpu_of(outcome: BenchOutcome) -> str:
    """The GPU of a task, which its key ends with."""
    return outcome.task.rpartition("|")[2]


def _by(outcomes: Sequence[BenchOutcome]) -> list[tuple[tuple[str, str, str], list[BenchOutcome]]]:
    return list(conditions(outcomes).items())
