"""How a profile is shown to a person: what ran, its time, costly source lines, counters in groups, notes, findings.

One set of tables for every source, simulated or measured: what a profile lacks is left out and said at the end. Draws
only, for 80 columns and more; the time is drawn by `time_text`. A counter's full name is its group's prefix and its
own, as `--json` has it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from warpsight.cli.text import time as time_text
from warpsight.lens.render import gain_note, nothing_found
from warpsight.lens.vocabulary import vocabulary
from warpsight.nouns import Finding, LineCounters, Profile

MIX = "mix_"
GROUPS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("instructions", "", ("instructions", "thread_instructions", "lanes_per_instruction", "flops")),
    ("global loads", "global_load_", ("requests", "sectors", "bytes", "efficiency", "sectors_per_request")),
    ("global stores", "global_store_", ("requests", "sectors", "bytes", "efficiency", "sectors_per_request")),
    ("local memory", "local_", ("sectors",)),
    ("shared memory", "shared_", ("load_requests", "store_requests", "wavefronts", "bank_conflicts")),
    ("branches", "", ("branches", "branches_divergent", "branch_efficiency")),
    ("atomics and barriers", "", ("atomic_requests", "atomic_lanes", "atomic_passes", "barriers")),
    ("launch", "", (
        "blocks", "threads_per_block", "registers_per_thread", "static_shared_bytes", "dynamic_shared_bytes",
        "spilled_bytes", "multiprocessors", "launch_overhead_us",
    )),
)  # fmt: skip
NARROW = 100
NOT_MEASURED = {
    "duration_us": "time",
    "dram_bytes": "DRAM traffic",
    "l1_hit_rate": "cache hits",
    "occupancy": "warps over time",
    "stall_samples": "stalls",
}


@dataclass(frozen=True)
class ShownProfile:
    """What stands above the tables, and how much is to be shown (`lines` None: all, in the order of the source)."""

    head: Sequence[str]
    facts: Sequence[tuple[str, str]]
    findings: Sequence[Finding]
    lines: int | None
    all_counters: bool


def render(console: Console, profile: Profile, shown: ShownProfile) -> None:
    """The whole profile."""
    for line in shown.head:
        console.print(Text(line))
    console.print()
    console.print(time_text.facts_table(shown.facts), soft_wrap=False)
    time_text.render_time(console, profile, everything=shown.all_counters)
    if profile.lines and shown.lines != 0:
        console.print()
        console.print(_lines(profile, shown.lines, console.width), soft_wrap=False)
    _counters(console, profile, shown.all_counters)
    if mix := _mix(profile.counters):
        console.print(Text(f"\ninstruction mix  {mix}"), soft_wrap=False)
    for note in profile.notes:
        console.print(Text(f"\nnote: {note}"), soft_wrap=False)
    if profile.not_measured:
        console.print(Text(f"\nnot measured: {_not_measured(profile)}"), soft_wrap=False)
    _findings(console, shown.findings, nothing_found(profile), gain_note(profile, shown.findings))


def _findings(console: Console, findings: Sequence[Finding], none: str, note: str) -> None:
    """What each finding says and what to try; the evidence is left to `diagnose`."""
    console.print(Text("\nfindings", style="bold").append("  gains are estimated", style="dim"))
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column("number", no_wrap=True)
    table.add_column("text", overflow="fold")
    for index, finding in enumerate(findings, start=1):
        gained = "" if finding.estimated_gain is None else f" (about {finding.estimated_gain:.2f}x)"
        said = Text(f"{finding.name}{gained}: ", style="bold").append(finding.message, style="not bold")
        table.add_row(f"  {index}.", said.append(f"; try: {finding.suggestion}", style="dim not bold"))
    if not findings:
        table.add_row("  ", none)
    console.print(table, soft_wrap=False)
    if note:
        console.print(Text(f"  {note}", style="dim"), soft_wrap=False)


def _not_measured(profile: Profile) -> str:
    """What is missing, the instruction mix as one."""
    names = [NOT_MEASURED.get(n, n.replace("_", " ")) for n in profile.not_measured if not n.startswith(MIX)]
    return ", ".join([*names, "instruction mix"] if len(names) < len(profile.not_measured) else names)


def _counters(console: Console, profile: Profile, everything: bool) -> None:
    """The counters that the profile has, in groups; zeros only when everything is asked for."""
    narrow = console.width < NARROW
    for title, prefix, names in GROUPS:
        rows = [(name, profile.counters[prefix + name]) for name in names if prefix + name in profile.counters]
        if not rows or not (everything or _says_something(rows)):
            continue
        console.print(Text(f"\n{title}", style="bold").append(f"  {prefix}..." if prefix else "", style="dim"))
        table = Table(box=None, pad_edge=False, show_header=False)
        table.add_column("counter", no_wrap=True, width=23)
        table.add_column("value", justify="right", no_wrap=True, width=9 if narrow else 17)
        table.add_column("unit", no_wrap=True, width=15)
        table.add_column("meaning", style="dim")
        for name, value in rows:
            if value or everything:
                entry = vocabulary()[prefix + name]
                table.add_row(f"  {name}", number_text(value, short=narrow), entry.unit, Text(entry.meaning))
        console.print(table, soft_wrap=False)


def _says_something(rows: Sequence[tuple[str, int | float]]) -> bool:
    """An efficiency of nothing (100 % of no branches) does not."""
    return any(value for name, value in rows if not name.endswith("efficiency"))


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
    """Source lines, where warps waited longest first (without samples: those with the most instructions)."""
    first = "stall_samples" if _sampled(profile) else "instructions"
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

    if _sampled(profile):
        samples = sum(i.counters.get("stall_samples", 0) for i in profile.instructions)
        yield _Column("stall samples", 7, shares("stall_samples", samples))
    executed = sum(i.counters.get("warps", 0) for i in profile.instructions)
    yield _Column("instr.", 6, shares("instructions", executed))
    cells = [_line_cells(line) for line in chosen] + [("", "", "")] * bool(rest)
    titles = (("sectors/ request", 8), ("bank conflicts", 9), ("divergent branches", 9))
    for k, (title, width) in enumerate(titles):
        yield _Column(title, width, [cell[k] for cell in cells])


def _sampled(profile: Profile) -> bool:
    return any(line.counters.get("stall_samples") for line in profile.lines)


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
