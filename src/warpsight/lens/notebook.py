"""A diagnosis as HTML for a notebook: time, what binds, how busy each part is, the roofline, the findings.

Self-contained: no script, no file, no colour that only one theme can show. All text is escaped: kernels are untrusted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from warpsight.lens.render import likely_words, number
from warpsight.nouns import Finding, Profile

if TYPE_CHECKING:
    from warpsight.lens.diagnosis import Diagnosis
    from warpsight.lens.roofline import Roofline

BUSY = "busy_"
MOST_LINES = 8
WIDTH, HEIGHT, EDGE = 300, 150, 24


def diagnosis_html(found: Diagnosis) -> str:
    """One `<div>`; the same input gives the same text."""
    parts = [*_head(found), *_bars(found.profile)]
    if found.roofline is not None:
        parts.append(_roofline(found.roofline))
    parts.extend(_findings(found.findings))
    parts.extend(_lines(found.profile))
    parts.extend(f"<p><small>note: {escape(note)}</small></p>" for note in found.profile.notes)
    return f'<div class="warpsight">{"".join(parts)}</div>'


def _head(found: Diagnosis) -> Iterator[str]:
    profile = found.profile
    where = profile.gpu or profile.device
    yield f"<p><b>{escape(profile.kernel)}</b> on {escape(where)}, {escape(profile.source)}"
    if found.time_us is not None:
        yield f": <b>{number(found.time_us)} us</b>{escape(likely_words(profile))}, bound by {escape(profile.bound)}"
    yield "</p>"
    if found.usage is not None:
        fits = found.occupancy
        room = "" if fits is None else f", {100 * fits.fraction:.0f} % occupancy"
        needs = f"{found.usage.registers} registers a thread, {found.usage.shared_bytes} bytes of shared memory"
        yield f"<p>{needs}{room}</p>"


def _bars(profile: Profile) -> Iterator[str]:
    busy = {name.removeprefix(BUSY): value for name, value in profile.counters.items() if name.startswith(BUSY)}
    if not busy:
        return
    yield '<table><tr><th style="text-align:left">busy</th><th>% of the time</th></tr>'
    for name, share in sorted(busy.items(), key=lambda one: -one[1]):
        if share:
            bar = f'<meter min="0" max="100" value="{share:.1f}"></meter>'
            yield f'<tr><td style="text-align:left">{escape(name)}</td><td>{bar} {share:.1f}</td></tr>'
    yield "</table>"


def _roofline(roof: Roofline) -> str:
    """The roof on logarithmic axes, and where the kernel stands under it."""
    told = f"{roof.achieved_gflops:.4g} of {roof.attainable_gflops:.4g} GFLOP/s ({roof.share:.0f} % of the roofline)"
    if not roof.flops_per_dram_byte:
        return f"<p>{told}; nothing comes from DRAM</p>"
    ridge, peak, at = roof.ridge_flops_per_byte, roof.peak_gflops, roof.flops_per_dram_byte
    low, high = min(at, ridge) / 8, max(at, ridge) * 8
    bottom = min(roof.achieved_gflops, peak * low / ridge) / 2

    def place(x: float, y: float) -> str:
        across = (math.log(x) - math.log(low)) / (math.log(high) - math.log(low))
        up = (math.log(y) - math.log(bottom)) / (math.log(2 * peak) - math.log(bottom))
        return f"{EDGE + across * (WIDTH - 2 * EDGE):.1f},{HEIGHT - EDGE - up * (HEIGHT - 2 * EDGE):.1f}"

    roofs = " ".join((place(low, peak * low / ridge), place(ridge, peak), place(high, peak)))
    x, y = place(at, roof.achieved_gflops).split(",")
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="roofline: {told}">'
        f'<polyline points="{roofs}" fill="none" stroke="currentColor"/>'
        f'<circle cx="{x}" cy="{y}" r="4" fill="currentColor"/>'
        f'<text x="{EDGE}" y="{HEIGHT - 6}" font-size="10" fill="currentColor">FLOP per byte of DRAM</text>'
        f'<text x="{EDGE}" y="12" font-size="10" fill="currentColor">GFLOP/s, {roof.arithmetic}</text>'
        f"</svg><p>{told}</p>"
    )


def _findings(findings: tuple[Finding, ...]) -> Iterator[str]:
    if not findings:
        yield "<p>Nothing was found that slows it down.</p>"
        return
    yield "<ol>"
    for one in findings:
        gain = "" if one.estimated_gain is None else f" (about {one.estimated_gain:.2f}x, estimated)"
        yield f"<li><b>{escape(one.name)}</b>{gain}: {escape(one.message)}<br>Try: {escape(one.suggestion)}</li>"
    yield "</ol>"


def _lines(profile: Profile) -> Iterator[str]:
    """The lines that most instructions are issued for."""
    costly = sorted(profile.lines, key=lambda line: -line.counters.get("instructions", 0))[:MOST_LINES]
    costly = [line for line in costly if line.counters.get("instructions")]
    if not costly:
        return
    yield '<table><tr><th>line</th><th style="text-align:left">source</th><th>instructions</th></tr>'
    for line in costly:
        code = f'<td style="text-align:left"><code>{escape(line.text.strip())}</code></td>'
        yield f"<tr><td>{line.line}</td>{code}<td>{line.counters['instructions']:,}</td></tr>"
    yield "</table>"
