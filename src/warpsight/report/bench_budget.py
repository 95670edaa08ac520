"""The suite `budget` as curves: what each model and script reaches with 1, 2, 4 and 8 tries, with a table beside.

Tries are on a logarithmic axis. A curve ends where no longer budget was measured; each point is the mean over the tasks
of its condition, whose interval is in the table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from warpsight.bench.metrics import MeanInterval, diagnosed, mean_of, scored, share_of_best, within
from warpsight.bench.units import BenchOutcome
from warpsight.report.bench_data import Bench, BenchCondition
from warpsight.report.bench_tables import table
from warpsight.report.curves import legend
from warpsight.report.html import Html, tag
from warpsight.report.svg import across, axis_below, axis_left, figure, upward

BUDGET = "budget"
Shown = Callable[[Sequence[BenchOutcome]], MeanInterval | None]


class BudgetMeasure(NamedTuple):
    """One figure: its title, its axis, and what it shows of a condition."""

    title: str
    axis: str
    of: Shown


def _within(outcomes: Sequence[BenchOutcome]) -> MeanInterval | None:
    judged = [one for one in outcomes if one.within is not None]
    return mean_of(judged, within) if judged else None


def _named(outcomes: Sequence[BenchOutcome]) -> MeanInterval | None:
    known = scored(outcomes)
    return mean_of(known, diagnosed) if known else None


MEASURED = (
    BudgetMeasure("Of the best known gain", "share of the gain (log)", share_of_best),
    BudgetMeasure("Named change within 10 % of the best", "share of the tasks", _within),
    BudgetMeasure("The very name", "share of the tasks", _named),
)


def budget_section(bench: Bench) -> Html | None:
    """The curves, and the numbers they are drawn from; None where nothing of this suite was measured."""
    curves = _curves(bench)
    if not curves:
        return None
    figures = [_figure(shown, curves) for shown in MEASURED]
    says = "A model may have so many changes tried, then submits. Points are means over tasks; the table has intervals."
    made = [_row(name, tries, side) for name, sides in curves.items() for tries, side in sides]
    heads = ("model", "tries", "tasks", *(shown.title for shown in MEASURED))
    return tag(
        "section", tag("h2", "Few tries"), tag("p", says), tag("div", figures, class_="figures"),
        table(heads, made, name="table-budget"), id=BUDGET,
    )  # fmt: skip


def _curves(bench: Bench) -> dict[str, list[tuple[int, BenchCondition]]]:
    """The conditions of this suite by model and feedback, the smaller budgets first."""
    found: dict[str, list[tuple[int, BenchCondition]]] = {}
    for side in (side for side in bench.sides if side.outcomes[0].unit.tries):
        found.setdefault(side.name, []).append((side.outcomes[0].unit.tries, side))
    return {name: sorted(sides, key=lambda one: one[0]) for name, sides in found.items()}


def _figure(shown: BudgetMeasure, curves: Mapping[str, Sequence[tuple[int, BenchCondition]]]) -> Html:
    budgets = sorted({tries for sides in curves.values() for tries, _ in sides})
    wide, high = across(budgets[0], max(budgets[-1], budgets[0] + 1), log=True), upward(0.0, 1.0)
    drawn = [*axis_left(high, [0.0, 0.25, 0.5, 0.75, 1.0], shown.axis), *axis_below(wide, budgets, "tries", grid=False)]
    said: list[str] = []
    for at, (name, sides) in enumerate(curves.items()):
        points = [(tries, value) for tries, side in sides if (value := shown.of(side.outcomes)) is not None]
        places = [(wide(tries), high(max(0.0, min(1.0, value.value)))) for tries, value in points]
        drawn.append(tag("polyline", points=" ".join(f"{x},{y}" for x, y in places), class_=f"curve s{at % 6}"))
        drawn += [tag("circle", cx=x, cy=y, r=3.5, class_=f"dot s{at % 6}") for x, y in places]
        said += [f"{name} with {tries}: {100 * value.value:.1f} %" for tries, value in points]
    return figure(shown.title, legend(list(curves)), drawn, says=f"{shown.title} over tries. {'; '.join(said)}")


def _row(name: str, tries: int, side: BenchCondition) -> tuple[str, ...]:
    tasks = len({(one.unit.row, one.task) for one in side.outcomes})
    return (name, str(tries), str(tasks), *(_percent(shown.of(side.outcomes)) for shown in MEASURED))


def _percent(found: MeanInterval | None) -> str:
    return "-" if found is None else f"{100 * found.value:.1f} % ({100 * found.low:.1f} to {100 * found.high:.1f})"
