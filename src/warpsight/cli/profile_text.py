"""How a profile is shown to a person: what ran, its time, the costly source lines, the counters in groups, notes.

Draws only, for 80 columns and more; the time is drawn by `time_text`. A counter's full name is its group's prefix and
its own, as `--json` has it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from warpsight.cli import time_text
from warpsight.cli.roofline import Roofline
from warpsight.cli.task_argument import sizes_text
from warpsight.nouns import Build, LineCounters, Profile, Workload
from warpsight.tasks import LaunchSize
from warpsight.vgpu.counters import DERIVED
from warpsight.vgpu.gpu import Gpu
from warpsight.vgpu.occupancy import Occupancy

MIX = "mix_"
GROUPS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("instructions", "", ("instructions", "thread_instructions", "lanes_per_instruction", "flops")),
    ("global loads", "global_load_", ("requests", "sectors", "bytes", "efficiency", "sectors_per_request")),
    ("global stores", "global_store_", ("requests", "sectors", "bytes", "efficiency", "sectors_per_request")),
    ("local memory", "local_", ("sectors",)),
    ("shared memory", "shared_", ("load_requests", "store_requests", "wavefronts", "bank_conflicts")),
    ("branches", "", ("branches", "branches_divergent", "branch_efficiency")),
    ("atomics and barriers", "", ("atomic_requests", "atomic_lanes", "atomic_passes", "barriers")),
)
NARROW = 100
NOT_MEASURED = {
    "duration_us": "time",
    "dram_bytes": "DRAM traffic",
    "l1_hit_rate": "cache hits",
    "occupancy": "warps over time",
    "stall_samples": "stalls",
}


@dataclass(frozen=True)
class Shown:
    """What was profiled and how much of it is to be shown (`lines` None: all, in the order of the source)."""

    task: str
    file: str
    workload: Workload
    size: LaunchSize
    build: Build
    entry: str
    gpu: Gpu
    fits: Occupancy
    roof: Roofline | None
    lines: int | None
    all_counters: bool


def render(console: Console, profile: Profile, shown: Shown) -> None:
    """The whole profile."""
    for line in _ran(profile, shown):
        console.print(Text(line))
    console.print()
    console.print(time_text.headline(profile, shown.gpu, shown.fits, shown.roof), soft_wrap=False)
    if timed(profile):
        time_text.render_time(console, profile, everything=shown.all_counters)
    if profile.lines and shown.lines != 0:
        console.print()
        console.print(_lines(profile, shown.lines, console.width), soft_wrap=False)
    _counters(console, profile, shown.all_counters)
    console.print(Text(f"\ninstruction mix  {_mix(profile.counters)}"), soft_wrap=False)
    for note in profile.notes:
        console.print(Text(f"\nnote: {note}"), soft_wrap=False)
    if profile.not_measured:
        missing = ", ".join(NOT_MEASURED.get(name, name.replace("_", " ")) for name in profile.not_measured)
        console.print(Text(f"\nnot measured: {missing}"), soft_wrap=False)


def timed(profile: Profile) -> bool:
    return "duration_us" in profile.counters


def _ran(profile: Profile, shown: Shown) -> Iterator[str]:
    size, use = shown.size, next(use for use in shown.build.entries if use.name == shown.entry)
    workload = f"workload {shown.workload.name} ({sizes_text(shown.workload)})"
    yield f"{shown.task}: {shown.file}, kernel {profile.kernel}, {workload}"
    yield f"launch     grid {_dim(size.grid)}, block {_dim(size.block)}, dynamic shared {size.shared_bytes} bytes"
    what = "counters and time, machine code" if timed(profile) else "counters, PTX"
    yield f"device     virtual GPU as {shown.gpu.key} (simulated {what})"
    if profile.sampled_blocks == profile.total_blocks:
        yield f"counted    all {profile.total_blocks} blocks"
    else:
        yield f"counted    {profile.sampled_blocks} of {profile.total_blocks} blocks, scaled to the whole launch"
    spills = use.spill_store_bytes + use.spill_load_bytes
    memory = f"{use.shared_bytes} bytes static shared, {f'{spills} bytes of spills' if spills else 'no spills'}"
    yield f"build      {shown.build.gpu_arch}: {use.registers} registers a thread, {memory}"


def _counters(console: Console, profile: Profile, everything: bool) -> None:
    for title, prefix, names in GROUPS:
        full = [prefix + name for name in names]
        if not everything and not _has_something(profile.counters, full):
            continue
        console.print(Text(f"\n{title}", style="bold").append(f"  {prefix}..." if prefix else "", style="dim"))
        narrow = console.width < NARROW
        table = Table(box=None, pad_edge=False, show_header=False)
        table.add_column("counter", no_wrap=True, width=23)
        table.add_column("value", justify="right", no_wrap=True, width=9 if narrow else 17)
        table.add_column("unit", no_wrap=True, width=15)
        table.add_column("meaning", style="dim")
        for name, key in zip(names, full, strict=True):
            value = profile.counters.get(key, 0)
            if value or everything:
                table.add_row(f"  {name}", number_text(value, short=narrow), profile.units[key], DERIVED[key].meaning)
        console.print(table, soft_wrap=False)


def _has_something(counters: Mapping[str, int | float], names: list[str]) -> bool:
    """Whether a group says anything: an efficiency of nothing (100 % of no branches) does not."""
    return any(counters.get(name, 0) for name in names if not name.endswith("efficiency"))


def _mix(counters: Mapping[str, int | float]) -> str:
    kinds = {name.removeprefix(MIX): value for name, value in counters.items() if name.startswith(MIX) and value}
    total = sum(kinds.values())
    ordered = sorted(kinds.items(), key=lambda kind: -kind[1])
    return ", ".join(f"{kind} {percent_text(value, total)}" for kind, value in ordered)


@dataclass(frozen=True)
class _Column:
    """A column of the table of lines, with its cell for every line that is shown."""

    title: str
    width: int
    cells: Sequence[str]


def _lines(profile: Profile, most: int | None, width: int) -> Table:
    """Source lines, where warps waited longest first (without a time: those with the most instructions)."""
    first = "stall_samples" if timed(profile) else "instructions"
    rows = sorted(profile.lines, key=lambda line: -line.counters.get(first, 0))
    chosen = rows[:most] if most is not None else profile.lines
    rest = rows[len(chosen) :]
    # A column that has nothing to say (no shared memory, no divergence) would only take room from the source.
    columns = [column for column in _columns(profile, chosen, rest) if any(column.cells)]
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("line", justify="right", width=4)
    for column in columns:
        table.add_column(column.title, justify="right", width=column.width)
    # Cut here and not by rich, which would rather take the room from the numbers.
    room = max(width - 6 - sum(column.width + 2 for column in columns), 20)
    table.add_column("source", no_wrap=True)
    texts = [(str(line.line), line.text) for line in chosen]
    texts += [("", f"{len(rest)} more lines: --all-lines")] if rest else []
    for (number, text), cells in zip(texts, zip(*(column.cells for column in columns), strict=True), strict=True):
        table.add_row(number, *cells, Text(_cut(text, room)))
    return table


def _columns(profile: Profile, chosen: Sequence[LineCounters], rest: Sequence[LineCounters]) -> Iterator[_Column]:
    def shares(counter: str, total: int | float) -> list[str]:
        each = [percent_text(line.counters.get(counter, 0), total) for line in chosen]
        left = sum(line.counters.get(counter, 0) for line in rest)
        return [*each, percent_text(left, total)] if rest else each

    if timed(profile):
        samples = sum(i.counters.get("stall_samples", 0) for i in profile.instructions)
        yield _Column("stall samples", 7, shares("stall_samples", samples))
    yield _Column("instr.", 6, shares("instructions", profile.counters["instructions"]))
    cells = [_line_cells(line) for line in chosen] + [("", "", "")] * bool(rest)
    titles = (("sectors/ request", 8), ("bank conflicts", 9), ("divergent branches", 9))
    for k, (title, width) in enumerate(titles):
        yield _Column(title, width, [cell[k] for cell in cells])


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."


def _line_cells(line: LineCounters) -> tuple[str, str, str]:
    counters = line.counters
    requests = counters.get("global_load_requests", 0) + counters.get("global_store_requests", 0)
    sectors = counters.get("global_load_sectors", 0) + counters.get("global_store_sectors", 0)
    branches, divergent = counters.get("branches", 0), counters.get("branches_divergent", 0)
    conflicts = counters.get("shared_bank_conflicts", 0)
    touches_shared = counters.get("shared_wavefronts", 0)
    return (
        f"{sectors / requests:.2f}" if requests else "",
        number_text(conflicts, short=True) if touches_shared else "",
        percent_text(divergent, branches) if divergent else "",
    )


def number_text(value: int | float, *, short: bool) -> str:
    """Thousands apart; short: four digits and a unit prefix above ten million."""
    if short and abs(value) >= 1e7:
        power = min(int(math.log10(abs(value)) // 3), 5)
        return f"{value / 1000**power:.4g} {' kMGTP'[power]}"
    return f"{value:,}" if isinstance(value, int) or value.is_integer() is False else f"{value:,.0f}"


def percent_text(part: int | float, whole: int | float) -> str:
    """One digit after the point; what is not nothing does not look like nothing."""
    share = 100 * part / whole if whole else 0.0
    return "<0.1 %" if 0 < share < 0.05 else f"{share:.1f} %"


def _dim(value: tuple[int, int, int]) -> str:
    return f"({', '.join(map(str, value))})"
