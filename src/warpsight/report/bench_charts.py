"""The bench as pictures, one for each claim: every condition with its interval, and differences in pairs.

A model keeps its colour and its shape in all figures of a page; models come before scripts. Beside each mark stand its
value and over how many tasks it is. Whiskers are 95 % bootstrap intervals over tasks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from warpsight.bench.metrics import MeanInterval
from warpsight.report.bench_data import Bench, BenchCondition, DrawnMeasure, paired
from warpsight.report.html import Html, join, tag
from warpsight.report.svg import (
    TOP,
    WIDTH,
    Scale,
    figure,
    line,
    nice_ticks,
    short,
    words,
)

_MARGIN, _VALUES, _ROW, _HEAD, _FOOT = 62, 118, 20, 18, 46
_MOST_ROWS = 14
SHAPES = 4


def colours(bench: Bench) -> dict[str, int]:
    """The number of each model's colour and shape."""
    return {model: at for at, model in enumerate(dict.fromkeys(side.model for side in bench.sides))}


def means_figure(
    sides: Sequence[BenchCondition], shown: DrawnMeasure, number: Mapping[str, int], source: str, title: str
) -> Html:
    """A row for each condition, by model: its mean with the interval, and n."""
    found = [(side, shown.of(side.outcomes)) for side in sides]
    ticks = nice_ticks(max(interval.high for _, interval in found), about=4)
    wide = Scale(0, ticks[-1], _MARGIN, WIDTH - _VALUES)
    rows = [
        _MeanRow(
            head=side.model if first else "",
            name=side.feedback,
            value=f"{shown.say(interval.value)}, n = {interval.tasks}",
            found=interval,
            number=number[side.model],
        )
        for (side, interval), first in zip(found, _firsts([side.model for side, _ in found]), strict=True)
    ]
    height = TOP + sum(_ROW + (_HEAD if row.head else 0) for row in rows) + _FOOT
    base = height - _FOOT + 2
    drawn = [line(_MARGIN, TOP, _MARGIN, base, "axis"), *_plain_ticks(wide, ticks, base)]
    if shown.geometric:
        drawn.append(line(wide(1), TOP, wide(1), base, "reference"))
    y = float(TOP)
    for row in rows:
        y += _HEAD if row.head else 0
        drawn += _mean_row(row, y, wide)
        y += _ROW
    drawn.append(words((_MARGIN + WIDTH - _VALUES) / 2, height - 6, shown.axis, anchor="middle", class_="label"))
    caption = f"Whiskers: 95 % intervals over n tasks.{f' Times are {source}.' if source else ''}"
    says = "; ".join(f"{side.model} with {side.feedback}: {_said(i, shown)}, n = {i.tasks}" for side, i in found)
    return figure(title, caption, drawn, height=height, says=f"{shown.title}. {says}")


class _MeanRow(NamedTuple):
    head: str
    name: str
    value: str
    found: MeanInterval
    number: int


def _firsts(names: Sequence[str]) -> list[bool]:
    return [at == 0 or name != names[at - 1] for at, name in enumerate(names)]


def _mean_row(row: _MeanRow, y: float, wide: Scale) -> list[Html]:
    middle = y + _ROW / 2
    told = tag("title", f"{row.name}: {row.value}")
    whisker = line(wide(row.found.low), middle, wide(row.found.high), middle, f"whisker s{row.number % 6}")
    head = [words(4, y - 4, row.head, class_="head")] if row.head else []
    return [
        *head,
        words(_MARGIN - 7, middle + 4, row.name, anchor="end", class_="small"),
        tag("g", told, whisker, mark(wide(row.found.value), middle, row.number)),
        words(WIDTH - 4, middle + 4, row.value, anchor="end", class_="small"),
    ]


def pairs_figure(bench: Bench, suite: str, shown: DrawnMeasure, title: str) -> Html | None:
    """Each kind of feedback against none with the same model, and the pairs that were asked for."""
    rows = [(f"{one.name} vs {_short(one, other)}", paired(one, other, shown)) for one, other in compared(bench, suite)]
    rows = rows[:_MOST_ROWS]
    if not rows:
        return None
    most = max(max(abs(found.low), abs(found.high)) for _, found in rows) or 1.0
    side = nice_ticks(math.expm1(most) if shown.geometric else most, about=2)
    edge = math.log1p(side[-1]) if shown.geometric else side[-1]
    wide = Scale(-edge, edge, 24, WIDTH - 24)
    height = TOP + (_ROW + _HEAD) * len(rows) + _FOOT
    base = height - _FOOT + 2
    drawn = [line(wide(0), TOP, wide(0), base, "axis"), *_ticks(wide, side, base, shown)]
    for at, (name, found) in enumerate(rows):
        drawn += _difference(name, found, TOP + at * (_ROW + _HEAD), wide, shown)
    unit = "ratio of the speed-ups" if shown.geometric else "points of percent"
    drawn.append(words(WIDTH / 2, height - 6, unit, anchor="middle", class_="label"))
    caption = "Pair by pair, on the n tasks that both have. A whisker that leaves the middle line free is a difference."
    says = "; ".join(f"{name}: {difference_said(found, shown)}" for name, found in rows)
    return figure(title, caption, drawn, height=height, says=says)


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


def _plain_ticks(wide: Scale, ticks: Sequence[float], base: float) -> list[Html]:
    drawn: list[Html] = []
    for tick in ticks:
        drawn += [line(wide(tick), TOP, wide(tick), base + 4, "grid")]
        drawn += [words(wide(tick), base + 17, short(tick), anchor="middle", class_="small")]
    return drawn


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
    middle = y + _HEAD + _ROW / 2 - 4
    whisker = line(wide(found.low), middle, wide(found.high), middle, f"whisker {way}")
    dot = tag("circle", cx=wide(found.value), cy=middle, r=4.5, class_=f"dot {way}")
    return [
        words(4, y + _HEAD - 3, name, class_="small"),
        words(WIDTH - 4, y + _HEAD - 3, _short_difference(found, shown), anchor="end", class_="small"),
        tag("g", tag("title", f"{name}: {difference_said(found, shown)}"), whisker, dot),
    ]


def _short_difference(found: MeanInterval, shown: DrawnMeasure) -> str:
    value = f"{math.exp(found.value):.2f}×" if shown.geometric else f"{found.value:+.1f}"
    return f"{value}, n = {found.tasks}"


def difference_words(one: BenchCondition, other: BenchCondition, shown: DrawnMeasure) -> Html:
    """A difference with its interval, as a sentence."""
    found = paired(one, other, shown)
    return join(tag("b", f"{one.name} against {other.name}"), f": {difference_said(found, shown)}")


def difference_said(found: MeanInterval, shown: DrawnMeasure) -> str:
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
