"""Speed over attempts: the ratio to the given kernel for each kernel that was tried, and the best so far."""

from __future__ import annotations

from collections.abc import Sequence

from warpsight.report.html import Html, tag, text
from warpsight.report.story import Attempt
from warpsight.report.svg import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    WIDTH,
    Scale,
    across,
    axis_below,
    axis_left,
    figure,
    line,
    nice_ticks,
    upward,
)

_MOST_TICKS = 12


def state_of(attempt: Attempt) -> str:
    """What is known of a kernel, in one word: given, faster, likely, slower, same, unclear, wrong, unknown."""
    if attempt.number == 0:
        return "given"
    found = attempt.evaluation
    if found is None:
        return "unknown"
    if found.check.verdict != "right":
        return "wrong"
    if found.timing is None:
        return "right"
    named = {"FASTER": "faster", "LIKELY_FASTER": "likely", "SLOWER": "slower", "SAME": "same"}
    return named.get(found.timing.decision or "", "unclear")


def ratio_of(attempt: Attempt) -> float | None:
    """The ratio to the given kernel; that one's own is 1."""
    if attempt.number == 0:
        return 1.0
    timing = attempt.evaluation.timing if attempt.evaluation else None
    return None if timing is None else timing.ratio


def speed_figure(attempts: Sequence[Attempt], source: str) -> Html:
    """One mark a kernel, linked to what was tried; whiskers are the interval."""
    ratios = [ratio for a in attempts if (ratio := ratio_of(a)) is not None]
    tops = [interval[1] for a in attempts if (interval := whisker_of(a)) is not None]
    ticks = nice_ticks(max([*ratios, *tops, 1.0]) * 1.05)
    high = upward(0, ticks[-1])
    wide = across(-0.5, max(len(attempts) - 0.5, 1.5))
    step = max(1, -(-len(attempts) // _MOST_TICKS))
    drawn = [
        *axis_left(high, ticks, "speed, times the given kernel"),
        *axis_below(wide, list(range(0, len(attempts), step)), "attempt (0 is the given kernel)", grid=False),
        line(LEFT, high(1.0), WIDTH - RIGHT, high(1.0), "reference"),
        best_line(attempts, wide, high),
        *(_mark(a, wide, high) for a in attempts),
    ]
    caption = (
        "Filled: right and faster. Green ring: right, likely faster. Grey or yellow ring: right, not faster. "
        "Cross on the axis: not right, or never timed. Whisker: the interval, cut at twice the ratio. "
        f"The stepped line is the best so far. Ratios are {source or 'not known'}."
    )
    return figure("Speed over attempts", text(caption), drawn, says=_says(attempts))


def best_line(attempts: Sequence[Attempt], wide: Scale, high: Scale, class_: str = "best") -> Html:
    """The best kernel so far, by the gate's decision."""
    best, points = 1.0, [f"{wide(-0.5)},{high(1.0)}"]
    for attempt in attempts:
        ratio = ratio_of(attempt)
        if ratio is not None and state_of(attempt) in ("faster", "likely") and ratio > best:
            points.append(f"{wide(attempt.number)},{high(best)}")
            best = ratio
            points.append(f"{wide(attempt.number)},{high(best)}")
    points.append(f"{wide(wide.high)},{high(best)}")
    return tag("polyline", points=" ".join(points), class_=class_)


def whisker_of(attempt: Attempt) -> tuple[float, float] | None:
    """The interval of the ratio, cut at twice the ratio: a likely range that is very wide would hide the rest."""
    timing = attempt.evaluation.timing if attempt.evaluation else None
    if timing is None or timing.interval is None or timing.ratio is None:
        return None
    return timing.interval[0], min(timing.interval[1], 2 * timing.ratio)


def _mark(attempt: Attempt, wide: Scale, high: Scale) -> Html:
    x, ratio, state = wide(attempt.number), ratio_of(attempt), state_of(attempt)
    told = f"attempt {attempt.number}, {attempt.name}: {state}" + ("" if ratio is None else f", {ratio:.3f}x")
    parts: list[Html] = [tag("title", told)]
    if ratio is None:
        y = HEIGHT - BOTTOM
        parts.append(tag("path", d=f"M{x - 4} {y - 4}l8 8m0 -8l-8 8", class_=f"cross {state}"))
    else:
        if (interval := whisker_of(attempt)) is not None:
            parts.append(line(x, high(interval[0]), x, high(interval[1]), "whisker"))
        parts.append(tag("circle", cx=x, cy=high(ratio), r=5, class_=f"mark {state}"))
    return tag("a", *parts, href=f"#a{attempt.number}")


def _says(attempts: Sequence[Attempt]) -> str:
    told = [f"{a.number}: {ratio:.2f}" for a in attempts[:40] if (ratio := ratio_of(a)) is not None]
    return "Speed over attempts, times the given kernel. " + ", ".join(told)
