"""How a profile is shown to a person: what ran, the counters in groups, the costly source lines, what was not measured.

Draws only, for 80 columns and more. A counter's full name is its group's prefix and its own, as `--json` has it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from warpsight.cli.task_argument import sizes_text
from warpsight.nouns import Build, LineCounters, Profile, Workload
from warpsight.tasks import LaunchSize
from warpsight.vgpu.counters import DERIVED

MIX = "mix_"
GROUPS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("instructions", "", ("instructions", "thread_instructions", "lanes_per_instruction")),
    ("global loads", "global_load_", ("requests", "sectors", "bytes", "efficiency", "sectors_per_request")),
    ("global stores", "global_store_", ("requests", "sectors", "bytes", "efficiency", "sectors_per_request")),
    ("local memory", "local_", ("sectors",)),
    ("shared memory", "shared_", ("load_requests", "store_requests", "wavefronts", "bank_conflicts")),
    ("branches", "", ("branches", "branches_divergent", "branch_efficiency")),
    ("atomics and barriers", "", ("atomic_requests", "atomic_lanes", "atomic_passes", "barriers")),
)
NARROW = 100
NOT_MEASURED = {"duration": "time", "dram_bytes": "DRAM traffic", "l2_hit_rate": "cache hits"}


@dataclass(frozen=True)
class Shown:
    """What was profiled and how much of it is to be shown (`lines` None: all, in the order of the source)."""

    task: str
    file: str
    workload: Workload
    size: LaunchSize
    build: Build
    entry: str
    lines: int | None
    all_counters: bool


def render(console: Console, profile: Profile, shown: Shown) -> None:
    """The whole profile."""
    for line in _ran(profile, shown):
        console.print(Text(line))
    _counters(console, profile, shown.all_counters)
    console.print(Text(f"\ninstruction mix  {_mix(profile.counters)}"), soft_wrap=False)
    if profile.lines and shown.lines != 0:
        console.print()
        console.print(_lines(profile, shown.lines, console.width), soft_wrap=False)
    missing = ", ".join(NOT_MEASURED.get(name, name.replace("_", " ")) for name in profile.not_measured)
    why = "counters alone do not give them, a time model will"
    console.print(Text(f"\nnot measured: {missing} ({why})"), soft_wrap=False)


def _ran(profile: Profile, shown: Shown) -> Iterator[str]:
    size, use = shown.size, next(use for use in shown.build.entries if use.name == shown.entry)
    workload = f"workload {shown.workload.name} ({sizes_text(shown.workload)})"
    yield f"{shown.task}: {shown.file}, kernel {profile.kernel}, {workload}"
    yield f"launch     grid {_dim(size.grid)}, block {_dim(size.block)}, dynamic shared {size.shared_bytes} bytes"
    yield "device     virtual GPU (simulated counters, PTX)"
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
    return ", ".join(f"{kind} {_percent(value, total)}" for kind, value in ordered)


def _lines(profile: Profile, most: int | None, width: int) -> Table:
    total = profile.counters["instructions"]
    rows = sorted(profile.lines, key=lambda line: -line.counters.get("instructions", 0))
    chosen = rows[:most] if most is not None else profile.lines
    table = Table(box=None, pad_edge=False, header_style="bold")
    widths = {"line": 4, "instr.": 6, "sectors/ request": 8, "bank conflicts": 9, "divergent branches": 9}
    for title, columns in widths.items():
        table.add_column(title, justify="right", width=columns)
    # Cut here and not by rich, which would rather take the room from the numbers.
    room = max(width - sum(widths.values()) - 2 * len(widths), 20)
    table.add_column("source", no_wrap=True)
    for line in chosen:
        share = _percent(line.counters.get("instructions", 0), total)
        table.add_row(str(line.line), share, *_line_cells(line), Text(_cut(line.text, room)))
    if len(chosen) < len(rows):
        rest = sum(line.counters.get("instructions", 0) for line in rows[len(chosen) :])
        table.add_row("", _percent(rest, total), "", "", "", f"{len(rows) - len(chosen)} more lines: --all-lines")
    return table


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
        _percent(divergent, branches) if branches else "",
    )


def number_text(value: int | float, *, short: bool) -> str:
    """Thousands apart; short: four digits and a unit prefix above ten million."""
    if short and abs(value) >= 1e7:
        power = min(int(math.log10(abs(value)) // 3), 5)
        return f"{value / 1000**power:.4g} {' kMGTP'[power]}"
    return f"{value:,}" if isinstance(value, int) or value.is_integer() is False else f"{value:,.0f}"


def _percent(part: int | float, whole: int | float) -> str:
    share = 100 * part / whole if whole else 0.0
    return "<0.1 %" if 0 < share < 0.05 else f"{share:.1f} %"


def _dim(value: tuple[int, int, int]) -> str:
    return f"({', '.join(map(str, value))})"
