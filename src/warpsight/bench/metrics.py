"""Numbers of a benchmark: pure functions of outcomes, with bootstrap intervals over tasks.

Two conditions are compared on the tasks that both have, pair by pair. Sources of times are never mixed. A kernel that
is wrong or was not accepted leaves the given one in place, so its speed-up is 1 and it still counts.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from warpsight.bench.units import BenchOutcome
from warpsight.errors import UsageError
from warpsight.short.prompting import ANSWERS_ALONE

FAST_P = (1.0, 1.2, 1.5, 2.0)
DRAWS = 4000
LEVEL = 0.95
AS_FAST = 1e-3  # speeds that differ by less are those of the same kernel
Measure = Callable[[BenchOutcome], float]


class MeanInterval(NamedTuple):
    """A mean over tasks with its 95 % bootstrap interval."""

    value: float
    low: float
    high: float
    tasks: int


def diagnosed(outcome: BenchOutcome) -> float:
    return float(outcome.diagnosed)


def log_speed(outcome: BenchOutcome) -> float:
    return math.log(outcome.speed)


def within(outcome: BenchOutcome) -> float:
    """Whether the change that is named gains within 10 % of the best measured one."""
    return float(bool(outcome.within))


def log_best(outcome: BenchOutcome) -> float:
    """What the fastest known kernel gains."""
    return math.log(outcome.best_ratio or outcome.speed)


def share_of_best(outcomes: Sequence[BenchOutcome], *, seed: int = 0) -> MeanInterval | None:
    """The share of the gain of the fastest known kernels that was reached, by logarithms: over all tasks together,
    since a share of a task where little is to gain says nothing. None where nothing is known to gain."""
    known = [outcome for outcome in outcomes if outcome.best_ratio is not None]
    mine, best = by_task(known, log_speed), by_task(known, log_best)
    got, most = np.array(list(mine.values())), np.array([best[task] for task in mine])
    if not len(got) or most.sum() <= 0:
        return None
    at = np.random.default_rng(seed).integers(0, len(got), size=(DRAWS, len(got)))
    sums = most[at].sum(axis=1)
    shares = got[at].sum(axis=1)[sums > 0] / sums[sums > 0]
    low, high = np.quantile(shares, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return MeanInterval(float(got.sum() / most.sum()), float(low), float(high), len(got))


def faster_than(p: float) -> Measure:
    """fast_p: right, accepted by the gate, and more than p times as fast."""
    return lambda outcome: float(outcome.speed > p)


def mean_of(
    outcomes: Sequence[BenchOutcome], measure: Measure, *, seed: int = 0, geometric: bool = False
) -> MeanInterval:
    """The mean over tasks; seeds of one task are averaged first, since they are not independent."""
    found = mean_of_tasks(list(by_task(outcomes, measure).values()), seed=seed)
    return (
        MeanInterval(math.exp(found.value), math.exp(found.low), math.exp(found.high), found.tasks)
        if geometric
        else found
    )


def mean_of_tasks(values: Sequence[float], *, seed: int = 0) -> MeanInterval:
    """The mean of one value a task."""
    if not values:
        raise UsageError("no outcomes to take a mean of")
    some = np.array(values)
    low, high = _bootstrap(some, seed)
    return MeanInterval(float(some.mean()), low, high, len(some))


def difference(
    one: Sequence[BenchOutcome], other: Sequence[BenchOutcome], measure: Measure, *, seed: int = 0
) -> MeanInterval:
    """The mean of `one` minus that of `other` on the tasks that both have, in pairs."""
    mine, theirs = by_task(one, measure), by_task(other, measure)
    both = sorted(mine.keys() & theirs.keys())
    if not both:
        raise UsageError("the two have no task in common")
    values = np.array([mine[task] - theirs[task] for task in both])
    low, high = _bootstrap(values, seed)
    return MeanInterval(float(values.mean()), low, high, len(values))


def alike(one: Sequence[BenchOutcome], other: Sequence[BenchOutcome]) -> dict[str, int]:
    """Of the units that both have, how many got the same answer, and how many a kernel as fast."""
    theirs = {(o.unit.row, o.unit.seed, o.task): o for o in other}
    pairs = [(o, theirs[key]) for o in one if (key := (o.unit.row, o.unit.seed, o.task)) in theirs]
    return {
        "pairs": len(pairs),
        "same_answer": sum(mine.answer == yours.answer for mine, yours in pairs),
        "as_fast": sum(abs(mine.speed / yours.speed - 1) < AS_FAST for mine, yours in pairs),
    }


def answers_of(outcomes: Iterable[BenchOutcome]) -> dict[str, int]:
    """How often each answer was given, the most common first; no answer is not counted."""
    found = Counter(outcome.answer for outcome in outcomes if outcome.answer is not None)
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def by_task(outcomes: Iterable[BenchOutcome], measure: Measure) -> dict[tuple[int, str], float]:
    """The mean of each task, by its number and what it is: the same number of another corpus is another task."""
    found: dict[tuple[int, str], list[float]] = {}
    for outcome in outcomes:
        found.setdefault((outcome.unit.row, outcome.task), []).append(measure(outcome))
    return {task: sum(values) / len(values) for task, values in found.items()}


def scored(outcomes: Sequence[BenchOutcome]) -> list[BenchOutcome]:
    """Those of tasks whose right answer is known."""
    return [outcome for outcome in outcomes if outcome.right_answers]


def accuracy_of(outcomes: Sequence[BenchOutcome]) -> dict[str, float] | None:
    """How often the answer is right; None where of no task a right one is known."""
    known = scored(outcomes)
    return mean_of(known, diagnosed)._asdict() if known else None


def summary_of(outcomes: Sequence[BenchOutcome]) -> dict[str, object]:
    """Everything that is reported of one condition (a model with one kind of feedback)."""
    sources = sorted({outcome.source for outcome in outcomes if outcome.source})
    if len(sources) > 1:
        raise UsageError(f"times of {' and '.join(sources)} cannot be put into one number")
    scored = sum(outcome.predictions_scored for outcome in outcomes)
    found: dict[str, object] = {
        "tasks": len(by_task(outcomes, diagnosed)),
        "answered": _share(outcomes, lambda o: o.answer is not None),
        "answers": answers_of(outcomes),
        "accuracy": accuracy_of(outcomes),
        "tool_calls": _mean(outcomes, lambda o: o.tool_calls),
        "input_tokens": _mean(outcomes, lambda o: o.input_tokens),
        "output_tokens": _mean(outcomes, lambda o: o.output_tokens),
        "seconds": _mean(outcomes, lambda o: o.seconds),
    }
    if outcomes[0].unit.suite not in ANSWERS_ALONE:
        roofs = [outcome.roofline_share for outcome in outcomes if outcome.roofline_share is not None]
        # `bench apply` does not know it of every kernel; a mean over the others would be one over other tasks.
        whole = bool(roofs) and not any(o.is_right and o.roofline_share is None for o in outcomes)
        found |= {
            "source": sources[0] if sources else "",
            "right": _share(outcomes, lambda o: o.is_right),
            "fast_p": {f"{p:g}": _mean(outcomes, faster_than(p)) for p in FAST_P},
            "geomean_speedup": mean_of(outcomes, log_speed, geometric=True)._asdict(),
            "roofline_share": sum(roofs) / len(roofs) if whole else None,
            "predictions_right": sum(o.predictions_right for o in outcomes) / scored if scored else None,
        }
    return found | (_budget_of(outcomes) if outcomes[0].unit.tries else {})


def _budget_of(outcomes: Sequence[BenchOutcome]) -> dict[str, object]:
    """What is said of a budget beside."""
    share = share_of_best(outcomes)
    judged = [outcome for outcome in outcomes if outcome.within is not None]
    return {
        "tries_allowed": outcomes[0].unit.tries,
        "tries": _mean(outcomes, lambda o: o.tries),
        "measured": sum(o.measured for o in outcomes),
        "share_of_best": share._asdict() if share is not None else None,
        "within": mean_of(judged, within)._asdict() if judged else None,
        "table": sorted({o.table for o in outcomes if o.table}),
    }


def _mean(outcomes: Sequence[BenchOutcome], measure: Measure) -> float:
    return sum(map(measure, outcomes)) / len(outcomes)


def _share(outcomes: Sequence[BenchOutcome], test: Callable[[BenchOutcome], bool]) -> float:
    return _mean(outcomes, lambda outcome: float(test(outcome)))


def _bootstrap(values: np.ndarray, seed: int) -> tuple[float, float]:
    """The percentile interval of the mean."""
    draw = np.random.default_rng(seed)
    means = values[draw.integers(0, len(values), size=(DRAWS, len(values)))].mean(axis=1)
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)
