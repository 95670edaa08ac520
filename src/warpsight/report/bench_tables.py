"""The tables of a bench: all conditions with intervals, and what came of each family and each GPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from warpsight.bench.metrics import by_task, diagnosed, summary_of
from warpsight.bench.table import percent, times
from warpsight.bench.units import BenchOutcome
from warpsight.report.bench_data import Bench, BenchCondition, DrawnMeasure, family_of, gpu_of, measures_of
from warpsight.report.html import Child, Html, join, tag
from warpsight.short.prompting import ANSWERS_ALONE

_SHADES = (80.0, 60.0, 40.0, 20.0, 0.0)
_FEW = 5
_ASKED_WHAT = "Asked: which one change makes the kernel faster, or nothing. Right is what was found to help most."
_ASKED_FOR_A_KERNEL = (
    "Asked: a faster kernel. One that is wrong or not faster counts as a speed-up of 1, and not as absent. For "
    "models that only recommend, the rewrite by rule of what they recommended was submitted."
)


def results_section(bench: Bench) -> Html:
    """One table a suite."""
    parts = [_results(bench, suite) for suite in bench.suites]
    return tag("section", tag("h2", "Results"), parts, id="results")


def families_section(bench: Bench) -> Html:
    """Families and GPUs, each against every condition."""
    parts: list[Html] = []
    for suite in bench.suites:
        shown = measures_of(suite)[0]
        sides = bench.of_suite(suite)
        title = tag("h3", f"Suite {suite}") if len(bench.suites) > 1 else None
        parts += [join(title, _by("family", family_of, sides, shown)), _by("GPU", gpu_of, sides, shown)]
    note = f"Columns are the conditions above. Cells of fewer than {_FEW} tasks are pale: they say little."
    return tag("section", tag("h2", "By family and by GPU"), tag("p", note), parts, id="families")


def table(heads: Sequence[Child], rows: Sequence[Sequence[Child]], *, name: str | None = None) -> Html:
    """A table that scrolls by itself where it is wider than the page; cells may be ready-made."""
    head = tag("thead", tag("tr", [told if _is_cell(told) else tag("th", told, scope="col") for told in heads]))
    body = [tag("tr", [cell if _is_cell(cell) else tag("td", cell) for cell in row]) for row in rows]
    return tag("div", tag("table", head, tag("tbody", body), class_="list", id=name), class_="wide", tabindex=0)


def _is_cell(cell: Child) -> bool:
    return isinstance(cell, Html) and cell.startswith(("<td", "<th"))


def _results(bench: Bench, suite: str) -> Html:
    rows = [(side, cast("dict[str, Any]", summary_of(side.outcomes))) for side in bench.of_suite(suite)]
    title = tag("h3", f"Suite {suite}")
    asked = suite in ANSWERS_ALONE
    made = _recommend(rows) if asked else _optimize(rows)
    return join(title, tag("p", _ASKED_WHAT if asked else _ASKED_FOR_A_KERNEL), made)


def _recommend(rows: Sequence[tuple[BenchCondition, dict[str, Any]]]) -> Html:
    heads = ("model", "feedback", "tasks", "right (95 % interval)", "answered", "calls", "tokens written")
    return table(heads, [(*_who(s, f), percent(f["accuracy"]), *_cost(f)) for s, f in rows], name="table-recommend")


def _optimize(rows: Sequence[tuple[BenchCondition, dict[str, Any]]]) -> Html:
    fast = [f"fast_{p}" for p in rows[0][1]["fast_p"]]
    heads = ("model", "feedback", "tasks", "speed-up (95 % interval)", "right kernel", *fast, "of the roofline")
    heads = (*heads, "diagnosis", "predictions", "answered", "calls", "tokens written")
    made = [
        (
            *_who(side, found),
            times(found["geomean_speedup"], found["source"]),
            f"{found['right']:.0%}",
            *(f"{share:.0%}" for share in found["fast_p"].values()),
            _maybe(found["roofline_share"]),
            percent(found["accuracy"]),
            _maybe(found["predictions_right"]),
            *_cost(found),
        )
        for side, found in rows
    ]
    return table(heads, made, name=f"table-{rows[0][0].suite}")


def _who(side: BenchCondition, found: dict[str, Any]) -> tuple[Child, ...]:
    return side.model, side.feedback, str(found["tasks"])


def _cost(found: dict[str, Any]) -> tuple[str, ...]:
    return f"{found['answered']:.0%}", f"{found['tool_calls']:.1f}", f"{found['output_tokens']:.0f}"


def _maybe(share: float | None) -> str:
    return "–" if share is None else f"{share:.0%}"


def _by(what: str, key: Callable[[BenchOutcome], str], sides: Sequence[BenchCondition], shown: DrawnMeasure) -> Html:
    groups = sorted({key(outcome) for side in sides for outcome in side.outcomes})
    rows: list[list[Child]] = []
    for group in groups:
        some = [[outcome for outcome in side.outcomes if key(outcome) == group] for side in sides]
        rows.append([tag("th", group, scope="row"), *(_cell(part, shown) for part in some)])
    heads = (what, *(tag("th", side.name, scope="col", class_="n") for side in sides))
    return table(heads, rows, name=f"by-{what.lower()}-{sides[0].suite}")


def _cell(outcomes: Sequence[BenchOutcome], shown: DrawnMeasure) -> Html:
    """The mean of a group, and over how many tasks; a shade where the measure is a share."""
    if not outcomes:
        return tag("td", "–", class_="n")
    found = shown.of(outcomes)
    few = " few" if found.tasks < _FEW else ""
    if shown.geometric:
        return tag("td", shown.say(found.value), tag("small", f" of {found.tasks}"), class_=f"n{few}")
    right = sum(by_task(outcomes, diagnosed).values())
    shade = next(level for level, least in zip((5, 4, 3, 2, 1), _SHADES, strict=True) if found.value >= least)
    said = f"{right:g}" if right == int(right) else f"{right:.1f}"
    return tag("td", f"{said} of {found.tasks}", class_=f"n g{shade}{few}", title=shown.say(found.value))
