"""A program's timeline as a figure: a lane for kernels, one for each way of copies, simulated time from left to right.

Events nearer than a part of a pixel are drawn as one, so a page stays small whatever the program did. The kernels that
take most have a colour each. `zoom.js` makes it a chart to look into.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from warpsight.nouns import TimelineEvent
from warpsight.report.html import Html, tag
from warpsight.report.svg import Scale, line, nice_ticks, plot_area, readout, words, zoom_buttons
from warpsight.vgpu.symbols import kernel_title

WIDTH, LEFT, RIGHT, TOP, ROW, BAR, FOOT = 1060, 150, 14, 6, 30, 20, 40
FINE, FEW = 16, 3000  # parts of a pixel that are told apart, where there are not more pieces than this
COLOURS = 5  # the sixth is for all others
LANES = ("launch", "host to device", "device to host", "within the device", "fill")
TITLES = {"launch": "kernels", "within the device": "within device", "fill": "fills"}


class DrawnSpan(NamedTuple):
    """Events that are drawn as one: from, to, how many, which colour, what they are."""

    start: float
    end: float
    events: int
    colour: int
    name: str


def colours_of(events: Sequence[TimelineEvent]) -> dict[str, int]:
    """The number of a colour by kernel, the longest first; all beyond share the last."""
    taken: Counter[str] = Counter()
    for event in events:
        if event.way == "launch":
            taken[event.name] += int(1e3 * (event.time_us + event.gap_us))
    return {name: min(number, COLOURS) for number, (name, _) in enumerate(taken.most_common())}


def timeline_figure(events: Sequence[TimelineEvent], caption: str) -> Html | None:
    """None where nothing has a time."""
    whole = max((event.end_us for event in events), default=0.0)
    if not whole:
        return None
    colours = colours_of(events)
    unit, size = next((u for u in (("s", 1e6), ("ms", 1e3)) if whole >= 2 * u[1]), ("us", 1.0))
    ticks = [t for t in nice_ticks(whole / size, 8) if t <= whole / size * 1.0001]
    across = Scale(0, whole, LEFT, WIDTH - RIGHT)
    lanes = [way for way in LANES if any(event.way == way for event in events)]
    height = TOP + ROW * len(lanes) + FOOT
    base = height - FOOT + 2
    below: list[Html] = []
    for tick in ticks:
        x = across(tick * size)
        below += [line(x, TOP, x, base + 4, "grid"), words(x, base + 17, f"{tick:g}", anchor="middle")]
    drawn = [tag("g", below, class_="ticks")]
    drawn.append(words((LEFT + WIDTH) / 2, height - 4, f"simulated time, {unit}", anchor="middle", class_="label"))
    bars: list[Html] = []
    for row, way in enumerate(lanes):
        y = TOP + row * ROW
        drawn.append(words(LEFT - 10, y + BAR / 2 + 6, TITLES.get(way, way), anchor="end"))
        bars += [_bar(piece, across, y + 2) for piece in _lane(events, way, colours, whole / (WIDTH - LEFT - RIGHT))]
    drawn.append(plot_area(bars, x=LEFT, y=TOP, w=WIDTH - LEFT - RIGHT, h=base - TOP))
    axis = {"data_x": f"lin,0,{whole / size:g}"}
    picture = tag(
        "svg", drawn, viewBox=f"0 0 {WIDTH} {height}", role="group", aria_label=f"Timeline: {caption}", **axis
    )
    wide = tag("div", picture, class_="wide", tabindex=0, role="region", aria_label="Timeline")
    tools = tag("div", zoom_buttons(), class_="tools")
    return tag(
        "figure",
        tools,
        wide,
        readout("Point at a bar; zoom in, and drag to move."),
        _legend(colours),
        tag("figcaption", caption),
        class_="timeline",
    )


def _lane(events: Sequence[TimelineEvent], way: str, colours: Mapping[str, int], pixel: float) -> list[DrawnSpan]:
    """As fine as can be zoomed into, or by whole pixels where that would be too much for a page."""
    fine = list(pieces(events, way, colours, pixel / FINE))
    return fine if len(fine) <= FEW else list(pieces(events, way, colours, pixel))


def _bar(piece: DrawnSpan, across: Scale, y: float) -> Html:
    x = across(piece.start)
    many = f", {piece.events:,} of them" if piece.events > 1 else ""
    title = f"{piece.name}{many}: {piece.end - piece.start:,.4g} us"
    width = max(0.6, round(across(piece.end) - x, 2))
    return tag("rect", tag("title", title), x=x, y=y, width=width, height=BAR, class_=f"span says s{piece.colour}")


def pieces(events: Sequence[TimelineEvent], way: str, colours: Mapping[str, int], pixel: float) -> Iterator[DrawnSpan]:
    """The events of one lane, those of one name that lie together as one."""
    held: DrawnSpan | None = None
    for event in events:
        if event.way != way:
            continue
        name = kernel_title(event.name) if way == "launch" else way
        start = event.start_us + event.gap_us
        piece = DrawnSpan(start, event.end_us, 1, colours.get(event.name, COLOURS), name)
        if held is not None and held.colour == piece.colour and start - held.end < pixel and _small(held, piece, pixel):
            named = name if held.name == name else "several kernels"
            held = DrawnSpan(held.start, piece.end, held.events + 1, held.colour, named)
            continue
        if held is not None and start < held.start + pixel and piece.end < held.start + pixel:
            continue  # another one in the same pixel: the first stands for it
        if held is not None:
            yield held
        held = piece
    if held is not None:
        yield held


def _small(held: DrawnSpan, piece: DrawnSpan, pixel: float) -> bool:
    """Whether they cannot be told apart, or are short ones of a row."""
    return piece.end - piece.start < 3 * pixel or (held.end - held.start) / held.events < 3 * pixel


def _legend(colours: Mapping[str, int]) -> Html:
    named = [(name, colour) for name, colour in colours.items() if colour < COLOURS]
    keys = [tag("span", tag("span", class_=f"key s{colour}"), f" {kernel_title(name)}") for name, colour in named]
    if len(colours) > len(named):
        keys.append(tag("span", tag("span", class_=f"key s{COLOURS}"), f" {len(colours) - len(named)} others"))
    return tag("p", keys, class_="legend")
