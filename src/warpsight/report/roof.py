"""The roofline: what the GPU allows at each intensity, and where each kernel that was profiled stands under it.

Work is floating-point operations; where a kernel has none, instructions of warps, whose roof is the issue rate. Both
axes are per byte of DRAM traffic and at the boost clock. Draws nothing for a device without a data sheet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from warpsight.errors import WarpsightError
from warpsight.nouns import Profile
from warpsight.report.html import Html, tag, text
from warpsight.report.story import Attempt
from warpsight.report.svg import Scale, across, axis_below, axis_left, decades, figure, upward, words
from warpsight.vgpu.gpu import Arithmetic, Gpu
from warpsight.vgpu.gpus import find_gpu

# Which peaks are drawn beside FP32, by the counter that says that a kernel uses them.
_MORE_ROOFS: dict[str, tuple[Arithmetic, str]] = {
    "mix_double": ("f64", "FP64"),
    "mix_half": ("f16", "FP16"),
    "mix_tensor": ("tensor_f16", "tensor FP16"),
}


@dataclass(frozen=True)
class Point:
    """One kernel under the roof."""

    number: int
    name: str
    intensity: float
    rate: float


@dataclass(frozen=True)
class Roofs:
    """What work is counted in, and the flat roofs: their names and heights in 10^9 a second."""

    work: str
    unit: str
    flat: tuple[tuple[str, float], ...]


def roofline_figure(attempts: Sequence[Attempt], winner: int | None) -> Html | None:
    """None where no kernel was profiled on a known GPU, or none touched DRAM."""
    profiled = [(a, a.profile) for a in attempts if a.profile is not None and a.profile.counters.get("duration_us")]
    gpu = _gpu([profile for _, profile in profiled])
    if gpu is None:
        return None
    roofs = _roofs([profile for _, profile in profiled], gpu)
    points = [point for a, p in profiled if (point := _point(a, p, roofs.work)) is not None]
    if not points:
        return None
    ridge = [height / gpu.dram_gb_per_s for _, height in roofs.flat]
    x = decades(
        min(*(p.intensity for p in points), *(r / 4 for r in ridge)) / 2,
        max(*(p.intensity for p in points), *ridge, 0) * 2,
    )
    lowest = min(p.rate for p in points)
    y = decades(lowest / 2, max(height for _, height in roofs.flat) * 1.2)
    wide, high = across(x[0], x[-1], log=True), upward(y[0], y[-1], log=True)
    drawn = [
        *axis_left(high, y, f"10⁹ {roofs.unit} a second"),
        *axis_below(wide, x, f"{roofs.unit} per byte of DRAM traffic"),
        *_lines(gpu, roofs, wide, high),
        *(_dot(point, wide, high, winner) for point in points),
    ]
    caption = (
        f"Roofs of {gpu.name} from its data sheet at the boost clock; DRAM {gpu.dram_gb_per_s:g} GB/s. Points are "
        f"{profiled[0][1].source}, by attempt, with the launch overhead in their time."
    )
    return figure("Roofline", text(caption), drawn, says=_says(points, roofs))


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


def _point(attempt: Attempt, profile: Profile, work: str) -> Point | None:
    done, moved = profile.counters.get(work, 0), profile.counters.get("dram_bytes", 0)
    if not done or not moved:
        return None
    return Point(attempt.number, attempt.name, done / moved, done / profile.counters["duration_us"] / 1000)


def _lines(gpu: Gpu, roofs: Roofs, wide: Scale, high: Scale) -> list[Html]:
    """The slope of DRAM up to the highest roof, and each flat roof from where the slope meets it."""
    peak = max(height for _, height in roofs.flat)
    start = max(wide.low, high.low / gpu.dram_gb_per_s)
    end = min(peak / gpu.dram_gb_per_s, wide.high)
    drawn = [_segment(wide, high, (start, start * gpu.dram_gb_per_s), (end, end * gpu.dram_gb_per_s))]
    for name, height in roofs.flat:
        ridge = height / gpu.dram_gb_per_s
        drawn.append(_segment(wide, high, (max(ridge, wide.low), height), (wide.high, height)))
        drawn.append(words(wide(wide.high) - 3, high(height) - 5, f"{name} {height:.0f}", anchor="end", class_="roof"))
    return drawn


def _segment(wide: Scale, high: Scale, one: tuple[float, float], other: tuple[float, float]) -> Html:
    return tag("line", x1=wide(one[0]), y1=high(one[1]), x2=wide(other[0]), y2=high(other[1]), class_="roofline")


def _dot(point: Point, wide: Scale, high: Scale, winner: int | None) -> Html:
    x, y = wide(point.intensity), high(point.rate)
    kind = "given" if point.number == 0 else "faster" if point.number == winner else "right"
    told = f"attempt {point.number}, {point.name}: {point.rate:.4g} at {point.intensity:.4g}"
    dot = tag("circle", cx=x, cy=y, r=5, class_=f"mark {kind}")
    return tag("a", tag("title", told), dot, words(x + 7, y + 12, str(point.number)), href=f"#a{point.number}")


def _says(points: Sequence[Point], roofs: Roofs) -> str:
    told = "; ".join(f"attempt {p.number}: {p.rate:.4g} at {p.intensity:.4g}" for p in points[:40])
    return f"Roofline, 10^9 {roofs.unit} a second over {roofs.unit} per DRAM byte. {told}"
