"""The way of a run in numbers: the ratio of each kernel that was timed, and the best so far. Reads records only."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, cast

from warpsight.nouns.timing import IMPROVEMENTS
from warpsight.report.html import Html, tag
from warpsight.runs.store import Store

WIDTH, HEIGHT, EDGE = 132, 36, 4
KINDS = ("mark", "mark faster")
TIMED = '"timing":{'


class TimedKernel(NamedTuple):
    """A kernel that was timed: its ratio to the given one, and whether the gate found it faster."""

    ratio: float
    improves: bool


def trail_of(store: Store, run_id: str) -> tuple[TimedKernel, ...]:
    """What was timed, in order; of a run that is made of attempts, those of all."""
    parts = [run_id, *reversed([line.id for line in store.list_runs(parent=run_id)])]
    return tuple(one for part in parts for one in _timed(store, part))


def _timed(store: Store, run_id: str) -> Iterator[TimedKernel]:
    for record in store.records(run_id):
        if record.kind != "result" or TIMED not in record.body:
            continue
        result = cast("dict[str, Any]", json.loads(record.body)["result"])
        evaluation = cast("dict[str, Any]", result.get("evaluation") or {})
        timing = cast("dict[str, Any]", evaluation.get("timing") or {})
        ratio = timing.get("ratio")
        if isinstance(ratio, (int, float)):
            yield TimedKernel(float(ratio), timing.get("decision") in IMPROVEMENTS)


def best_of(trail: Sequence[TimedKernel]) -> float:
    return max([1.0, *(one.ratio for one in trail if one.improves)])


def sparkline(trail: Sequence[TimedKernel]) -> Html | None:
    """The best so far as a line, and each kernel as a dot; None where nothing was timed."""
    if not trail:
        return None
    best = [max([1.0, *(one.ratio for one in trail[: at + 1] if one.improves)]) for at in range(len(trail))]
    top = max([*best, *(one.ratio for one in trail)]) * 1.05
    x = [EDGE + at * (WIDTH - 2 * EDGE) / max(1, len(trail)) for at in range(len(trail) + 1)]

    def y(ratio: float) -> float:
        return HEIGHT - EDGE - min(ratio, top) / top * (HEIGHT - 2 * EDGE)

    points = [f"{x[0]:.1f},{y(1.0):.1f}"]
    for at, value in enumerate(best, 1):
        points += [f"{x[at]:.1f},{y(best[at - 2] if at > 1 else 1.0):.1f}", f"{x[at]:.1f},{y(value):.1f}"]
    dots = [
        tag("circle", cx=round(x[at], 1), cy=round(y(one.ratio), 1), r=2, class_=KINDS[one.improves])
        for at, one in enumerate(trail, 1)
    ]
    base = tag("line", x1=EDGE, y1=round(y(1.0), 1), x2=WIDTH - EDGE, y2=round(y(1.0), 1), class_="reference")
    line = tag("polyline", points=" ".join(points), class_="best")
    said = f"Best so far after each of {len(trail)} timed kernels, from 1 to {best[-1]:.2f} times the given kernel"
    return tag("svg", base, line, dots, viewBox=f"0 0 {WIDTH} {HEIGHT}", class_="spark", role="img", aria_label=said)
