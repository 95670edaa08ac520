"""Learning curves: what trainers logged (`curves.json`, one JSON row a line), drawn as one figure for each quantity.

Several trainings stand in one figure, so that they can be compared; steps of different trainings are not the same work,
and the caption says so.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from warpsight.errors import UsageError
from warpsight.report.html import Html, tag
from warpsight.report.svg import across, axis_below, axis_left, figure, nice_ticks, upward

FILE = "curves.json"
Point = tuple[float, float]
NAMES: Mapping[str, tuple[str, str]] = {
    "loss": ("Loss", "loss"),
    "mean_token_accuracy": ("Tokens that were right", "share of the tokens written"),
    "reward": ("Reward", "mean reward of an answer"),
    "frac_reward_zero_std": ("Groups of equal reward", "share of the groups"),
}
MOST_POINTS = 400  # a line of more looks the same, and weighs more


@dataclass(frozen=True)
class Training:
    """One training: its name and what was logged of each quantity over its steps."""

    name: str
    logged: Mapping[str, tuple[Point, ...]]


def read_training(place: Path) -> Training:
    """The curves of an output folder, or of a file; the folder's name is the training's."""
    file = place / FILE if place.is_dir() else place
    try:
        rows = [cast("dict[str, Any]", json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines()]
    except (OSError, ValueError) as problem:
        raise UsageError(f"expected the curves of a training at {file}: {problem}", hint="its output folder") from None
    logged = {
        name: tuple((float(row["step"]), float(row[name])) for row in rows if "step" in row and name in row)
        for name in NAMES
    }
    return Training(file.resolve().parent.name, {name: points for name, points in logged.items() if points})


def curve_figures(trainings: Sequence[Training]) -> list[Html]:
    """A figure for each quantity that any training logged."""
    return [_figure(name, found) for name in NAMES if (found := [t for t in trainings if name in t.logged])]


def thinned(points: Sequence[Point]) -> list[Point]:
    """So many that a line can show; the first and the last are always there."""
    step = max(1, -(-len(points) // MOST_POINTS))
    kept = list(points[::step])
    return kept if kept[-1] == points[-1] else [*kept, points[-1]]


def _figure(name: str, trainings: Sequence[Training]) -> Html:
    title, axis = NAMES[name]
    lines = [(training.name, thinned(training.logged[name])) for training in trainings]
    every = [point for _, points in lines for point in points]
    low, top = min(0.0, min(y for _, y in every)), max(y for _, y in every)
    ticks = nice_ticks(top) if low >= 0 else _ticks_between(low, top)
    steps = nice_ticks(max(x for x, _ in every))
    wide, high = across(0, steps[-1]), upward(ticks[0], ticks[-1])
    drawn = [*axis_left(high, ticks, axis), *axis_below(wide, steps, "step", grid=False)]
    for at, (_, points) in enumerate(lines):
        drawn.append(_line(at, points, wide, high))
    last = "; ".join(f"{told} ends at {points[-1][1]:.3g} after {points[-1][0]:g} steps" for told, points in lines)
    caption = tag("span", legend([told for told, _ in lines]), "A step of one training is not one of another.")
    return figure(title, caption, drawn, says=f"{title} over steps: {last}")


def _line(at: int, points: Sequence[Point], wide: Any, high: Any) -> Html:
    if len(points) == 1:
        return tag("circle", cx=wide(points[0][0]), cy=high(points[0][1]), r=4, class_=f"dot s{at % 6}")
    return tag("polyline", points=" ".join(f"{wide(x)},{high(y)}" for x, y in points), class_=f"curve s{at % 6}")


def _ticks_between(low: float, high: float) -> list[float]:
    """Round numbers around both, for rewards below nothing."""
    step = nice_ticks(high - low)[1]
    first = int(low // step)
    ticks = [round(first * step, 12)]
    while ticks[-1] < high:
        ticks.append(round(ticks[-1] + step, 12))
    return ticks


def legend(names: Sequence[str]) -> Html:
    """A key for each series, in the colour of its line."""
    keys = [tag("span", tag("span", class_=f"key s{at % 6}"), f" {name}  ") for at, name in enumerate(names)]
    return tag("span", keys, class_="legend")
