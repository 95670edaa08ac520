"""The ablation as pictures: every condition with its interval over the kinds of feedback, and differences in pairs.

A model keeps its colour and its shape in all figures of a page. Whiskers are 95 % bootstrap intervals over tasks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from warpsight.bench.metrics import MeanInterval
from warpsight.report.bench_data import Bench, BenchCondition, DrawnMeasure, paired
from warpsight.report.html import Html, join, tag
from warpsight.report.svg import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Scale,
    axis_left,
    figure,
    line,
    nice_ticks,
    upward,
    words,
)
from warpsight.session.feedback import MODES

_NAMES, _END, _ROW, _FOOT = 172, 26, 24, 46
_MOST_ROWS = 14
SHAPES = 4


def colours(bench: Bench) -> dict[str, int]:
    """The number of each model's colour and shape."""
    return {model: at for at, model in enumerate(dict.fromkeys(side.model for side in bench.sides))}


def ablation_figure(
    sides: Sequence[BenchCondition], shown: DrawnMeasure, number: Mapping[str, int], source: str
) -> Html:
    """Kinds of feedback side by side; the conditions of a model are joined where it has several."""
    modes = [mode for mode in MODES if any(side.feedback == mode for side in sides)]
    models = list(dict.fromkeys(side.model for side in sides))
    found = {(side.model, side.feedback): shown.of(side.outcomes) for side in sides}
    ticks = nice_ticks(max(interval.high for interval in found.values()))
    high = upward(0, ticks[-1])
    wide = Scale(0, len(modes), LEFT, WIDTH - RIGHT)
    drawn = [*axis_left(high, ticks, shown.axis), *_modes_below(modes, wide)]
    for at, model in enumerate(models):
        shift = (at + 1) / (len(models) + 1)
        points = [(wide(m + shift), found[model, mode]) for m, mode in enumerate(modes) if (model, mode) in found]
        told = [f"{model}, {mode}: {_said(found[model, mode], shown)}" for mode in modes if (model, mode) in found]
        drawn += _series(points, told, high, number[model])
    caption = tag(
        "span",
        legend_of(models, number),
        "Whiskers: 95 % intervals over tasks.",
        f" Times are {source}." if source else "",
    )
    says = "; ".join(f"{model} with {mode}: {_said(i, shown)}" for (model, mode), i in found.items())
    return figure(f"{shown.title} by feedback", caption, drawn, says=f"{shown.title} by feedback. {says}")


def pairs_figure(bench: Bench, suite: str, shown: DrawnMeasure) -> Html | None:
    """Each kind of feedback against none with the same model, and the pairs that were asked for."""
    rows = [(f"{one.name} vs {_short(one, other)}", paired(one, other, shown)) for one, other in compared(bench, suite)]
    rows = rows[:_MOST_ROWS]
    if not rows:
        return None
    most = max(max(abs(found.low), abs(found.high)) for _, found in rows) or 1.0
    side = nice_ticks(math.expm1(most) if shown.geometric else most, about=2)
    edge = math.log1p(side[-1]) if shown.geometric else side[-1]
    wide = Scale(-edge, edge, _NAMES, WIDTH - _END)
    height = TOP + _ROW * len(rows) + _FOOT
    base = height - _FOOT + 2
    drawn = [line(wide(0), TOP, wide(0), base, "axis"), *_ticks(wide, side, base, shown)]
    for at, (name, found) in enumerate(rows):
        drawn += _difference(name, found, TOP + at * _ROW + _ROW / 2, wide, shown)
    unit = "ratio of the speed-ups" if shown.geometric else "points of percent"
    drawn.append(words((_NAMES + WIDTH - _END) / 2, height - 6, unit, anchor="middle", class_="label"))
    caption = "Pair by pair, on the tasks that both have. A whisker that leaves the middle line free is a difference."
    says = "; ".join(f"{name}: {_difference_said(found, shown)}" for name, found in rows)
    return figure(f"{shown.title}: differences in pairs", caption, drawn, height=height, says=says)


def compared(bench: Bench, suite: str) -> list[tuple[BenchCondition, BenchCondition]]:
    """First what was asked for, then every kind of feedback against none."""
    sides = {side.name: side for side in bench.of_suite(suite)}
    asked = [(sides[a], sides[b]) for a, b in bench.pairs if a in sides and b in sides]
    within = [
        (side, sides[f"{side.model}:none"])
        for side in sides.values()
        if side.feedback != "none" and f"{side.model}:none" in sides
    ]
    both = [pair for pair in (*asked, *within) if _in_common(*pair)]
    return list({(one.name, other.name): (one, other) for one, other in both}.values())


def legend_of(models: Sequence[str], number: Mapping[str, int]) -> Html:
    """The models by colour and shape: there may be more of them than colours."""

    def key(model: str) -> Html:
        return tag("svg", mark(6, 6, number[model]), width=12, height=12, viewBox="0 0 12 12", aria_hidden="true")

    return tag("span", [tag("span", key(model), f" {model}  ") for model in models], class_="legend")


def mark(x: float, y: float, number: int) -> Html:
    """Circle, square, triangle, diamond: models can be told apart without colours."""
    kind = f"dot s{number % 6}"
    paths = (
        "",
        f"M{x - 4} {y - 4}h8v8h-8z",
        f"M{x} {y - 5.5}l5 9h-10z",
        f"M{x} {y - 5.5}l5 5.5l-5 5.5l-5 -5.5z",
    )
    path = paths[number % SHAPES]
    return tag("path", d=path, class_=kind) if path else tag("circle", cx=x, cy=y, r=4.5, class_=kind)


def _series(points: Sequence[tuple[float, MeanInterval]], told: Sequence[str], high: Scale, number: int) -> list[Html]:
    drawn: list[Html] = []
    if len(points) > 1:
        joined = " ".join(f"{x},{high(interval.value)}" for x, interval in points)
        drawn.append(tag("polyline", points=joined, class_=f"curve thin s{number % 6}"))
    for (x, interval), said in zip(points, told, strict=True):
        whisker = tag(
            "line", x1=x, y1=high(interval.low), x2=x, y2=high(interval.high), class_=f"whisker s{number % 6}"
        )
        drawn.append(tag("g", tag("title", said), whisker, mark(x, high(interval.value), number)))
    return drawn


def _modes_below(modes: Sequence[str], wide: Scale) -> list[Html]:
    base = HEIGHT - BOTTOM
    drawn = [line(LEFT, base, WIDTH - RIGHT, base, "axis")]
    for at, mode in enumerate(modes):
        if at:
            drawn.append(line(wide(at), TOP, wide(at), base + 4, "grid"))
        drawn.append(words(wide(at + 0.5), base + 17, mode, anchor="middle"))
    middle = (LEFT + WIDTH - RIGHT) / 2
    return [*drawn, words(middle, HEIGHT - 6, "what a look shows", anchor="middle", class_="label")]


def _ticks(wide: Scale, side: Sequence[float], base: float, shown: DrawnMeasure) -> list[Html]:
    drawn: list[Html] = []
    for value in (*(-tick for tick in side[:0:-1]), *side):
        at = math.copysign(math.log1p(abs(value)), value) if shown.geometric else value
        told = f"{math.exp(at):.2f}×" if shown.geometric else f"{value:+g}" if value else "0"
        drawn += [line(wide(at), TOP, wide(at), base + 4, "grid")]
        drawn += [words(wide(at), base + 17, told, anchor="middle", class_="small")]
    return drawn


def _difference(name: str, found: MeanInterval, y: float, wide: Scale, shown: DrawnMeasure) -> list[Html]:
    way = "more" if found.low > 0 else "less" if found.high < 0 else "open"
    told = tag("title", f"{name}: {_difference_said(found, shown)}")
    whisker = tag("line", x1=wide(found.low), y1=y, x2=wide(found.high), y2=y, class_=f"whisker {way}")
    dot = tag("circle", cx=wide(found.value), cy=y, r=4.5, class_=f"dot {way}")
    return [words(_NAMES - 7, y + 4, _cut(name), anchor="end", class_="small"), tag("g", told, whisker, dot)]


def difference_words(one: BenchCondition, other: BenchCondition, shown: DrawnMeasure) -> Html:
    """A difference with its interval, as a sentence."""
    found = paired(one, other, shown)
    return join(tag("b", f"{one.name} against {other.name}"), f": {_difference_said(found, shown)}")


def _difference_said(found: MeanInterval, shown: DrawnMeasure) -> str:
    if shown.geometric:
        value, low, high = (math.exp(part) for part in found[:3])
        return f"{value:.2f}× ({low:.2f} to {high:.2f}), {found.tasks} tasks"
    return f"{found.value:+.1f} points ({found.low:+.1f} to {found.high:+.1f}), {found.tasks} tasks"


def _said(found: MeanInterval, shown: DrawnMeasure) -> str:
    return f"{shown.say(found.value)} ({shown.say(found.low)} to {shown.say(found.high)})"


def _short(one: BenchCondition, other: BenchCondition) -> str:
    return other.feedback if one.model == other.model else other.name


def _in_common(one: BenchCondition, other: BenchCondition) -> bool:
    return bool({(o.unit.row, o.task) for o in one.outcomes} & {(o.unit.row, o.task) for o in other.outcomes})


def _cut(name: str, most: int = 28) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"
