"""How machine code is shown to a person: source lines as headings, one instruction a line, the costliest marked.

Draws only; fits 100 columns but for the longest operands, which are never cut. What must stay true: shares are of the
whole kernel, also when only some lines are shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.text import Text

from warpsight.cli.task_argument import sizes_text
from warpsight.cli.text.profile import number_text, percent_text
from warpsight.cli.text.time import time_text
from warpsight.nouns import Profile, Workload
from warpsight.verbs.sass import SassRow
from warpsight.vgpu.gpu import Gpu

MARKED = 5
MARKED_SHARE = 0.05
LEGEND = (
    "schedule: B = scoreboards waited for, R and W = scoreboard set until operands are read, until the result is "
    "written, S = cycles before the next instruction of the warp"
)
LEGEND_RUN = f"warps: times executed by a warp; stalls: share of stall samples; > the {MARKED} costliest above 5 %"


@dataclass(frozen=True)
class ShownSass:
    """What is shown: `kept` of all `rows`. `workload` and `profile` are None when nothing ran."""

    task: str
    file: str
    source: str
    gpu: Gpu
    workload: Workload | None
    profile: Profile | None
    rows: Sequence[SassRow]
    kept: Sequence[SassRow]

    @property
    def counted(self) -> bool:
        return self.profile is not None and self.profile.isa == "sass"


def render(console: Console, shown: ShownSass) -> None:
    """The whole listing."""
    for line in _head(shown):
        console.print(Text(line), soft_wrap=False)
    console.print()
    columns = "    warps  stalls" if shown.counted else ""
    console.print(Text(f"  addr  schedule         {columns}  instruction", style="bold"))
    texts, hottest = shown.source.splitlines(), hot_addresses(shown.rows)
    total = sum(row.samples for row in shown.rows)
    heading: int | None = -1
    for row in shown.kept:
        if row.line != heading:
            heading = row.line
            console.print(Text(_heading(heading, texts, console.width), style="cyan"))
        line = _row_text(row, total, row.address in hottest, shown.counted)
        console.print(Text(line, style="bold red" if row.address in hottest else ""))
    console.print(Text(f"\n{LEGEND}", style="dim"), soft_wrap=False)
    if shown.counted:
        console.print(Text(LEGEND_RUN, style="dim"), soft_wrap=False)


def hot_addresses(rows: Sequence[SassRow]) -> frozenset[int]:
    """The few instructions at which warps waited most, if they have a real share of it."""
    total = sum(row.samples for row in rows)
    costliest = sorted(rows, key=lambda row: -row.samples)[:MARKED]
    return frozenset(row.address for row in costliest if total and row.samples >= MARKED_SHARE * total)


def _head(shown: ShownSass) -> Iterator[str]:
    part = "" if len(shown.kept) == len(shown.rows) else f"{len(shown.kept)} of "
    code = f"{part}{len(shown.rows)} instructions for {shown.gpu.arch} ({shown.gpu.key})"
    if shown.profile is None or shown.workload is None:
        yield f"{shown.task}: {shown.file}, {code}, not run"
        return
    yield f"{shown.task}: {shown.file}, {code}, workload {shown.workload.name} ({sizes_text(shown.workload)})"
    if shown.counted:
        yield time_text(shown.profile.counters, shown.gpu)
    for note in shown.profile.notes:
        yield f"note: {note}"


def _heading(line: int | None, texts: Sequence[str], width: int) -> str:
    if line is None or not 1 <= line <= len(texts):
        return "   - | (no line of the kernel)"
    text = f"{line:4} | {texts[line - 1].strip()}"
    return text if len(text) <= width else f"{text[: width - 3]}..."


def _row_text(row: SassRow, total: int | float, hot: bool, counted: bool) -> str:
    start = f"{'>' if hot else ' '} {row.address:04x}  {row.schedule}"
    if not counted:
        return f"{start}  {row.text}"
    warps = number_text(int(row.counters.get("warps", 0)), short=True)
    share = percent_text(row.samples, total) if row.samples else ""
    return f"{start} {warps:>9}  {share:>6}  {row.text}"


def outcome(profile: Profile | None) -> dict[str, Any]:
    if profile is None:
        return {"source": None, "isa": "sass", "duration_us": None, "bound": "", "notes": []}
    time = profile.counters.get("duration_us")
    notes = list(profile.notes)
    return {"source": profile.source, "isa": profile.isa, "duration_us": time, "bound": profile.bound, "notes": notes}
