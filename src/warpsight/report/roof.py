"""The roofline: what the GPU allows at each intensity, and where each kernel that was profiled stands under it.

Work is floating-point operations; where a kernel has none, instructions of warps, whose roof is the issue rate. A level
of the memory hierarchy (DRAM, L2, L1) has its own slope, and each kernel a point by the bytes that it moved there. All
at the boost clock. Draws nothing for a device without a data sheet. `zoom.js` makes it a chart to look into; without a
script it is a picture.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from warpsight.errors import WarpsightError
from warpsight.nouns import Profile
from warpsight.report.html import Html, join, tag
from warpsight.report.story import Attempt
from warpsight.report.svg import (
    Scale,
    across,
    axis_below,
    axis_left,
    decades,
    figure,
    plot_area,
    upward,
    words,
    zoom_buttons,
)
from warpsight.vgpu.gpu import Arithmetic, Gpu
from warpsight.vgpu.gpus import find_gpu

# Which peaks are drawn beside FP32, by the counter that says that a kernel uses them.
_MORE_ROOFS: dict[str, tuple[Arithmetic, str]] = {
    "mix_double": ("f64", "FP64"),
    "mix_half": ("f16", "FP16"),
    "mix_tensor": ("tensor_f16", "tensor FP16"),
}
_L1_SECTORS = ("global_load_sectors", "global_store_sectors", "local_sectors")
_SECTOR = 32


@dataclass(frozen=True)
class Level:
    """A level of the memory hierarchy: its name, what it moves at most, and what a kernel moved there."""

    key: str
    name: str
    gb_per_s: float
    bytes_of: Callable[[Profile], float]


@dataclass(frozen=True)
class Point:
    """One kernel under the roof of one level."""

    number: int
    name: str
    level: Level
    intensity: float
    rate: float
    time_us: float


@dataclass(frozen=True)
class Roofs:
    """What work is counted in, and the flat roofs: their names and heights in 10^9 a second."""

    work: str
    unit: str
    flat: tuple[tuple[str, float], ...]

    @property
    def peak(self) -> float:
        return max(height for _, height in self.flat)


def levels_of(gpu: Gpu) -> tuple[Level, ...]:
    """From far to near. Shared memory is not in L1's bytes: its width is another one."""
    l1 = gpu.sms * gpu.l1_bytes_per_clock * gpu.boost_mhz / 1000
    return (
        Level("dram", "DRAM", gpu.dram_gb_per_s, lambda p: p.counters.get("dram_bytes", 0)),
        Level("l2", "L2", gpu.l2_gb_per_s(), lambda p: p.counters.get("l2_bytes", 0)),
        Level("l1", "L1", l1, lambda p: _SECTOR * sum(p.counters.get(name, 0) for name in _L1_SECTORS)),
    )


def roofline_figure(attempts: Sequence[Attempt], winner: int | None) -> Html | None:
    """None where no kernel was profiled on a known GPU, or none touched memory."""
    profiled = [(a, a.profile) for a in attempts if a.profile is not None and a.profile.counters.get("duration_us")]
    gpu = _gpu([profile for _, profile in profiled])
    if gpu is None:
        return None
    roofs, levels = _roofs([profile for _, profile in profiled], gpu), levels_of(gpu)
    points = [p for level in levels for a, profile in profiled if (p := _point(a, profile, roofs.work, level))]
    if not points:
        return None
    wide, high = _scales(points, levels, roofs)
    # The highest roof first, so that a label is over its line; a level that is near is over those that are far.
    marks = join(
        [_flat(name, height, gpu, wide, high) for name, height in roofs.flat],
        [_level_marks(level, points, roofs, wide, high, winner) for level in levels if _has(level, points)],
    )
    ticks = [
        *axis_left(high, decades(high.low, high.high), "", axis=False),
        *axis_below(wide, decades(wide.low, wide.high), "", axis=False),
    ]
    drawn = [
        tag("g", ticks, class_="ticks"),
        plot_area(marks),
        *axis_left(high, (), f"10⁹ {roofs.unit} a second"),
        *axis_below(wide, (), f"{roofs.unit} per byte moved"),
    ]
    caption = (
        f"Roofs of {gpu.name} from its data sheet at the boost clock: DRAM {gpu.dram_gb_per_s:,.0f}, L2 "
        f"{gpu.l2_gb_per_s():,.0f}, L1 {levels[2].gb_per_s:,.0f} GB/s. Points are {profiled[0][1].source}, by attempt, "
        "with the launch overhead in their time. A point is at the bytes that the kernel moved at that level. "
        "The filled green one is the kernel that won."
    )
    x, y = (f"log,{scale.low:g},{scale.high:g}" for scale in (wide, high))
    above = join(_choices(levels, points), zoom_buttons())
    return figure("Roofline", caption, drawn, says=_says(points, roofs), above=above, data_x=x, data_y=y)


def _scales(points: Sequence[Point], levels: Sequence[Level], roofs: Roofs) -> tuple[Scale, Scale]:
    ridges = [roofs.peak / level.gb_per_s for level in levels]
    reach = [*(p.intensity for p in points), *ridges]
    x = decades(min(reach) / 2, max(reach) * 2)
    y = decades(min(p.rate for p in points) / 2, roofs.peak * 1.2)
    return across(x[0], x[-1], log=True), upward(y[0], y[-1], log=True)


def _gpu(profiles: Sequence[Profile]) -> Gpu | None:
    names = {profile.gpu for profile in profiles if profile.gpu}
    if len(names) != 1:
        return None
    try:
        return find_gpu(names.pop())
    except WarpsightError:
        return None


def _roofs(profiles: Sequence[Profile], gpu: Gpu) -> Roofs:
    if not all(profile.counters.get("flops") for profile in profiles):
        issue = gpu.sms * gpu.schedulers * gpu.issue_per_scheduler * gpu.boost_mhz / 1000
        return Roofs("instructions", "warp instructions", (("issue rate", issue),))
    flat = [("FP32", gpu.peak_gflops("f32"))]
    for counter, (kind, name) in _MORE_ROOFS.items():
        if gpu.fma_per_clock(kind) and any(profile.counters.get(counter) for profile in profiles):
            flat.append((name, gpu.peak_gflops(kind)))
    return Roofs("flops", "FLOP", tuple(flat))


def _point(attempt: Attempt, profile: Profile, work: str, level: Level) -> Point | None:
    done, moved, time_us = profile.counters.get(work, 0), level.bytes_of(profile), profile.counters["duration_us"]
    if not done or not moved:
        return None
    return Point(attempt.number, attempt.name, level, done / moved, done / time_us / 1000, float(time_us))


def _has(level: Level, points: Sequence[Point]) -> bool:
    return any(point.level.key == level.key for point in points)


def _flat(name: str, height: float, gpu: Gpu, wide: Scale, high: Scale) -> Html:
    """A flat roof, from where the slope of DRAM meets it; those of nearer levels meet it further left."""
    start = max(height / levels_of(gpu)[-1].gb_per_s, wide.low)
    said = f"{name} {height:,.0f}"
    at = {"x": wide(wide.high) - 4, "y": high(height)}
    label = tag("g", words(0, -5, said, anchor="end", class_="roof"), **_placed(at["x"], at["y"]))
    return join(_segment(wide, high, (start, height), (wide.high, height), "roofline"), label)


def _level_marks(
    level: Level, points: Sequence[Point], roofs: Roofs, wide: Scale, high: Scale, winner: int | None
) -> Html:
    """The slope of a level up to the highest roof, its name, and the kernels at its intensity."""
    start = max(wide.low, high.low / level.gb_per_s)
    end = min(roofs.peak / level.gb_per_s, wide.high)
    ends = (start, start * level.gb_per_s), (end, end * level.gb_per_s)
    middle = (start * end) ** 0.5
    name = tag(
        "g",
        words(-6, -4, level.name, anchor="end", class_="roof"),
        **_placed(wide(middle), high(middle * level.gb_per_s)),
    )
    dots = [_dot(point, roofs, wide, high, winner) for point in points if point.level.key == level.key]
    return tag("g", _segment(wide, high, *ends, "roofline"), name, dots, class_=f"level {level.key}")


def _segment(wide: Scale, high: Scale, one: tuple[float, float], other: tuple[float, float], class_: str) -> Html:
    return tag("line", x1=wide(one[0]), y1=high(one[1]), x2=wide(other[0]), y2=high(other[1]), class_=class_)


def _placed(x: float, y: float) -> dict[str, str | float]:
    """A mark that keeps its size where the chart is zoomed."""
    return {"class_": "at", "data_at_x": x, "data_at_y": y, "transform": f"translate({x:g} {y:g})"}


def _dot(point: Point, roofs: Roofs, wide: Scale, high: Scale, winner: int | None) -> Html:
    kind = "given" if point.number == 0 else "faster" if point.number == winner else "right"
    dot = tag("circle", cx=0, cy=0, r=5, class_=f"mark {kind}")
    inside = (tag("title", _told(point, roofs)), dot, words(7, 12, str(point.number)))
    placed = _placed(wide(point.intensity), high(point.rate))
    return tag("g", tag("a", *inside, href=f"#a{point.number}", class_="says"), **placed)


def _told(point: Point, roofs: Roofs) -> str:
    roof = min(roofs.peak, point.intensity * point.level.gb_per_s)
    which = "given kernel" if point.number == 0 else f"attempt {point.number}"
    return (
        f"{which}, {point.name}: {point.time_us:.4g} µs, {point.rate:.4g}·10⁹ {roofs.unit} a second at "
        f"{point.intensity:.3g} per byte of {point.level.name}: {point.rate / roof:.0%} of the roof there"
    )


def _choices(levels: Sequence[Level], points: Sequence[Point]) -> Html:
    """A box for each level; the style hides what is not chosen, so no script is needed."""
    known = {point.level.key for point in points}
    there = [level for level in levels if level.key in known]
    boxes = [
        tag("label", tag("input", type="checkbox", value=level.key, checked=level is there[0]), " ", level.name)
        for level in there
    ]
    return tag("span", boxes, class_="choices", role="group", aria_label="Levels of memory")


def _says(points: Sequence[Point], roofs: Roofs) -> str:
    told = "; ".join(f"attempt {p.number}, {p.level.name}: {p.rate:.4g} at {p.intensity:.4g}" for p in points[:40])
    return f"Roofline, 10^9 {roofs.unit} a second over {roofs.unit} per byte. {told}"
