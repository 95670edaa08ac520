"""Pairs of bars, before and after: how long each unit of the GPU was taken, and what warps waited for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from warpsight.lens.vocabulary import vocabulary
from warpsight.nouns import Profile
from warpsight.report.findings import no_counters
from warpsight.report.html import Html, tag, text
from warpsight.report.svg import WIDTH, Scale, figure, line, nice_ticks, short, words

_NAMES, _END, _TOP, _ROW, _BAR, _FOOT = 128, 52, 8, 34, 12, 46
_LEAST_SHARE = 0.5  # percent: what is shorter than a pixel says nothing
_STALLS_SHOWN = 8


class Pair(NamedTuple):
    """One thing before and after; `after` is None where there is only one kernel."""

    name: str
    before: float
    after: float | None


def bounds_figure(before: Profile, after: Profile | None) -> Html | None:
    """How long each unit was taken, in microseconds: the longest is what binds, the rest ran beside it."""
    if "duration_us" not in before.counters or no_counters(before):
        return None
    pairs = [
        Pair(entry.label, _taken(before, name), None if after is None else _taken(after, name))
        for name, entry in vocabulary().items()
        if entry.label and name.startswith("busy_") and _shown(before, after, name)
    ]
    pairs.sort(key=lambda pair: -max(pair.before, pair.after or 0))
    launch = before.counters.get("launch_overhead_us", 0.0)
    if launch:
        pairs.append(Pair("launch overhead", launch, _launch(after)))
    pairs.insert(0, Pair("whole time", before.counters["duration_us"], None if after is None else _time(after)))
    bound = f"Bound by {before.bound or 'nothing named'}" + (f", then by {after.bound}." if after else ".")
    caption = f"{bound} Units work at the same time, so their bars do not add up. {before.source.capitalize()}."
    return pairs_figure("Time and its bounds", caption, pairs, "microseconds")


def stalls_figure(before: Profile, after: Profile | None) -> Html | None:
    """What warps did with their time, in percent."""
    names = [name for name in vocabulary() if name.startswith("stall_") and name in before.counters]
    names = [name for name in names if name != "stall_samples"]
    pairs = [
        Pair(name.removeprefix("stall_").replace("_", " "), before.counters[name], _counter(after, name))
        for name in names
    ]
    pairs = sorted(pairs, key=lambda pair: -max(pair.before, pair.after or 0))[:_STALLS_SHOWN]
    if not any(pair.before or pair.after for pair in pairs):
        return None
    caption = f"Share of the time of warps; “selected” is work, the rest is waiting. {before.source.capitalize()}."
    return pairs_figure("What warps waited for", caption, pairs, "% of the time of warps")


def pairs_figure(title: str, caption: str, pairs: Sequence[Pair], unit: str) -> Html:
    """Horizontal bars, two a row, each with its number."""
    ticks = nice_ticks(max(max(p.before, p.after or 0) for p in pairs))
    wide = Scale(0, ticks[-1], _NAMES, WIDTH - _END)
    height = _TOP + _ROW * len(pairs) + _FOOT
    base = height - _FOOT + 2
    drawn = [line(_NAMES, _TOP, _NAMES, base, "axis")]
    for tick in ticks:
        drawn += [line(wide(tick), _TOP, wide(tick), base + 4, "grid")]
        drawn += [words(wide(tick), base + 17, short(tick), anchor="middle")]
    drawn.append(words((_NAMES + WIDTH - _END) / 2, height - 6, unit, anchor="middle", class_="label"))
    for row, pair in enumerate(pairs):
        drawn += _row(pair, _TOP + row * _ROW + 4, wide)
    said = "; ".join(f"{p.name} {p.before:.4g}" + ("" if p.after is None else f" then {p.after:.4g}") for p in pairs)
    return figure(title, _legend(caption, pairs), drawn, height=height, says=f"{title}, {unit}: {said}")


def _row(pair: Pair, y: float, wide: Scale) -> list[Html]:
    both = [("before", pair.before), *([] if pair.after is None else [("after", pair.after)])]
    drawn = [words(_NAMES - 7, y + _BAR + 4, pair.name, anchor="end")]
    for at, (kind, value) in enumerate(both):
        top = y + at * (_BAR + 1) + (_BAR / 2 if pair.after is None else 0)
        width = max(0.0, wide(value) - _NAMES)
        drawn += [tag("rect", x=_NAMES, y=top, width=round(width, 2), height=_BAR, class_=f"bar {kind}")]
        drawn += [words(_NAMES + width + 4, top + 10, short(value), class_="small")]
    return drawn


def _legend(caption: str, pairs: Sequence[Pair]) -> Html:
    if all(pair.after is None for pair in pairs):
        return text(caption)
    keys = (tag("span", class_="key before"), " given  ", tag("span", class_="key after"), " new. ")
    return tag("span", *keys, caption)


def _shown(before: Profile, after: Profile | None, name: str) -> bool:
    return max(before.counters.get(name, 0.0), _counter(after, name) or 0.0) >= _LEAST_SHARE


def _counter(profile: Profile | None, name: str) -> float | None:
    return None if profile is None else float(profile.counters.get(name, 0.0))


def _time(profile: Profile) -> float:
    return float(profile.counters.get("duration_us", 0.0))


def _launch(profile: Profile | None) -> float | None:
    return _counter(profile, "launch_overhead_us")


def _taken(profile: Profile, name: str) -> float:
    """Microseconds: the share is of the time on the GPU, without the launch."""
    on_gpu = max(0.0, _time(profile) - (_launch(profile) or 0.0))
    return float(profile.counters.get(name, 0.0)) / 100 * on_gpu
