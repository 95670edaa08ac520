"""Axes and scales for inline SVG: ticks at round numbers, labels with units, colours by class so that both themes fit.

A figure is drawn in its own coordinates and scales with the page. No script, no style attributes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from warpsight.report.html import Child, Html, tag

WIDTH, HEIGHT = 420, 290
LEFT, RIGHT, TOP, BOTTOM = 56, 20, 14, 44


@dataclass(frozen=True)
class Scale:
    """A value's place between two ends, linear or logarithmic."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        if self.log:
            share = (math.log10(value) - math.log10(self.low)) / (math.log10(self.high) - math.log10(self.low))
        else:
            share = (value - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 2)


def across(low: float, high: float, *, log: bool = False) -> Scale:
    return Scale(low, high, LEFT, WIDTH - RIGHT, log)


def upward(low: float, high: float, *, log: bool = False) -> Scale:
    return Scale(low, high, HEIGHT - BOTTOM, TOP, log)


def nice_ticks(high: float, about: int = 5) -> list[float]:
    """Round numbers from zero to at least `high`; where all is zero, there is still an axis."""
    if high <= 0:
        return [0.0, 1.0]
    raw = max(high, 1e-12) / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(s * power for s in (1, 2, 2.5, 5, 10) if s * power >= raw * 0.999)
    return [round(i * step, 12) for i in range(math.ceil(high / step - 1e-9) + 1)]


def decades(low: float, high: float) -> list[float]:
    """Powers of ten that enclose both numbers."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    return [10.0**power for power in range(first, max(last, first + 1) + 1)]


def short(value: float) -> str:
    """A number as short as it can be read: 1.5k, 20M."""
    for limit, mark in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= limit * 0.9995:
            return f"{value / (1e3 if mark == 'k' else limit):.3g}{mark}"
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def words(x: float, y: float, said: str, *, anchor: str = "start", class_: str = "") -> Html:
    return tag("text", said, x=x, y=y, text_anchor=anchor, class_=class_ or None)


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Html:
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def axis_below(scale: Scale, ticks: Sequence[float], label: str, *, grid: bool = True, axis: bool = True) -> list[Html]:
    """Ticks and label under the figure."""
    base = HEIGHT - BOTTOM
    drawn = [line(LEFT, base, WIDTH - RIGHT, base, "axis")] if axis else []
    for tick in ticks:
        x = scale(tick)
        drawn += [line(x, TOP if grid else base, x, base + 4, "grid")]
        drawn += [words(x, base + 17, short(tick), anchor="middle")]
    if not label:
        return drawn
    return [*drawn, words((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, label, anchor="middle", class_="label")]


def axis_left(scale: Scale, ticks: Sequence[float], label: str, *, axis: bool = True) -> list[Html]:
    """Ticks and label at the left."""
    drawn = [line(LEFT, TOP, LEFT, HEIGHT - BOTTOM, "axis")] if axis else []
    for tick in ticks:
        y = scale(tick)
        drawn += [line(LEFT - 4, y, WIDTH - RIGHT, y, "grid"), words(LEFT - 7, y + 4, short(tick), anchor="end")]
    if not label:
        return drawn
    middle = (TOP + HEIGHT - BOTTOM) / 2
    turned = tag(
        "text", label, x=13, y=middle, text_anchor="middle", class_="label", transform=f"rotate(-90 13 {middle:g})"
    )
    return [*drawn, turned]


def plot_area(marks: Child, *, x: float = LEFT, y: float = TOP, w: float = 0, h: float = 0) -> Html:
    """Where marks move when a chart is zoomed: a picture within the picture, which cuts what leaves it."""
    w, h = w or WIDTH - RIGHT - LEFT, h or HEIGHT - BOTTOM - TOP
    return tag("svg", marks, class_="plot", x=x, y=y, width=w, height=h, viewBox=f"{x:g} {y:g} {w:g} {h:g}")


def zoom_buttons() -> Html:
    """Shown where the page's script runs."""
    kinds = (("in", "+", "zoom in"), ("out", "−", "zoom out"), ("all", "all", "show all"))
    buttons = [tag("button", said, type="button", data_zoom=way, aria_label=name) for way, said, name in kinds]
    return tag("span", buttons, class_="zooms")


def readout(hint: str = "Point at a mark, or go to it with the tab key; drag to move.") -> Html:
    """The line that tells what the mark under the pointer is."""
    return tag("p", hint, class_="readout", role="status")


def figure(
    title: str,
    caption: Child,
    drawn: Child,
    *,
    height: int = HEIGHT,
    says: str = "",
    above: Child = None,
    **axes: str,
) -> Html:
    """A figure with its heading, its words for those who cannot see it, and its caption. `above`: what one can choose;
    `axes` make it a chart that can be zoomed."""
    picture = tag("svg", drawn, viewBox=f"0 0 {WIDTH} {height}", role="group", aria_label=says or title, **axes)
    tools = tag("div", above, class_="tools") if above else None
    return tag("figure", tag("h3", title), tools, picture, readout() if axes else None, tag("figcaption", caption))
