"""`warpsight profile --from REPORT`: a measured report in the same words and tables as a simulated profile.

Draws what the report has and says what it lacks. There is no task here, so no roofline and no build.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from warpsight.cli.output import emit
from warpsight.cli.profile_text import GROUPS, MIX, NARROW, number_text, percent_text
from warpsight.cli.task_argument import document_of
from warpsight.cli.time_text import BUSY, BUSY_LABELS, STALL, STALL_MEANINGS, STALLS_SHOWN, bar, bytes_text, us_text
from warpsight.lens.vocabulary import vocabulary
from warpsight.nouns import LineCounters, Profile

BAR_WIDTH = 20


def show_report(path: Path, kernel: str | None, lines: int | None, *, everything: bool, as_json: bool) -> None:
    """Read a report (CSV by its ending) and print it; `lines` None: all of them, in the order of the source."""
    from warpsight.lens.ncu_csv import read_csv
    from warpsight.lens.ncu_report import read_report

    found = (read_csv if path.suffix.lower() == ".csv" else read_report)(path, kernel)
    document = {**document_of(found), "report": path.name}
    emit(document, as_json=as_json, render=lambda console: _render(console, found, path, lines, everything))


def _render(console: Console, profile: Profile, path: Path, lines: int | None, everything: bool) -> None:
    for line in _facts(profile, path):
        console.print(Text(line))
    _shares(console, profile, everything)
    if profile.lines and lines != 0:
        console.print()
        console.print(_lines(profile, lines), soft_wrap=False)
    _counters(console, profile, everything)
    for note in profile.notes:
        console.print(Text(f"\nnote: {note}"), soft_wrap=False)
    missing = _not_measured(profile)
    if missing:
        console.print(Text(f"\nnot measured: {missing}"), soft_wrap=False)


def _facts(profile: Profile, path: Path) -> Iterator[str]:
    counters = profile.counters
    known = f" (known as {profile.gpu})" if profile.gpu else ""
    yield f"{path.name}: kernel {profile.kernel}, {profile.total_blocks:,} blocks"
    yield f"device     {profile.device}{known}, measured"
    if "duration_us" in counters:
        clocks = f", {counters['cycles']:,} cycles" if "cycles" in counters else ""
        yield f"time       {us_text(counters['duration_us'])} us measured{clocks}"
    if profile.bound:
        yield f"           bound by {profile.bound}"
    occupancy = [f"{counters['occupancy']:g} % can be resident"] if "occupancy" in counters else []
    occupancy += [f"{counters['waves']:g} waves"] if "waves" in counters else []
    if occupancy:
        yield f"occupancy  {', '.join(occupancy)}"
    memory = [f"L1 hits {counters['l1_hit_rate']:g} %"] if "l1_hit_rate" in counters else []
    memory += [
        f"{n} {bytes_text(counters[k])}" for n, k in (("L2", "l2_bytes"), ("DRAM", "dram_bytes")) if k in counters
    ]
    if memory:
        yield f"memory     {', '.join(memory)}"


def _shares(console: Console, profile: Profile, everything: bool) -> None:
    counters = profile.counters
    busy = [(label, counters[BUSY + n], "") for n, label in BUSY_LABELS.items() if BUSY + n in counters]
    stalls = [
        (name, counters[STALL + name], text)
        for name, text in STALL_MEANINGS.items()
        if name != "selected" and (everything or counters.get(STALL + name, 0) >= 1) and STALL + name in counters
    ]
    tables = (
        ("where the time goes", "share of the measured time that each resource was taken", busy, None),
        ("what warps wait for", "share of samples", stalls, None if everything else STALLS_SHOWN),
    )
    for title, meaning, rows, most in tables:
        shown = sorted((row for row in rows if row[1] or everything), key=lambda row: -row[1])[:most]
        if not shown:
            continue
        console.print(Text(f"\n{title}", style="bold").append(f"  {meaning}", style="dim"))
        table = Table(box=None, pad_edge=False, show_header=False)
        for justify in ("left", "right", "left", "left"):
            table.add_column(justify=justify, no_wrap=True)
        plain = not console.encoding.lower().startswith("utf")
        for label, share, text in shown:
            table.add_row(f"  {label}", f"{share:.1f} %", bar(share, BAR_WIDTH, ascii_only=plain), text)
        console.print(table, soft_wrap=False)


def _lines(profile: Profile, most: int | None) -> Table:
    sampled = any("stall_samples" in line.counters for line in profile.lines)
    first = "stall_samples" if sampled else "instructions"
    rows = sorted(profile.lines, key=lambda line: -line.counters.get(first, 0))
    chosen = rows[:most] if most is not None else profile.lines
    samples = sum(line.counters.get("stall_samples", 0) for line in rows)
    instructions = sum(line.counters.get("instructions", 0) for line in rows)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("line", "stall samples", "instr.", "sectors/request", "bank conflicts"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("source", no_wrap=True, overflow="ellipsis")
    for line in chosen:
        counters = line.counters
        table.add_row(
            str(line.line),
            percent_text(counters.get("stall_samples", 0), samples) if sampled else "",
            percent_text(counters.get("instructions", 0), instructions),
            _sectors_per_request(line),
            number_text(counters.get("shared_bank_conflicts", 0), short=True)
            if "shared_wavefronts" in counters
            else "",
            Text(line.text),
        )
    if len(chosen) < len(rows):
        table.add_row("", "", "", "", "", f"{len(rows) - len(chosen)} more lines: --all-lines")
    return table


def _sectors_per_request(line: LineCounters) -> str:
    requests = sum(line.counters.get(f"global_{kind}_requests", 0) for kind in ("load", "store"))
    sectors = sum(line.counters.get(f"global_{kind}_sectors", 0) for kind in ("load", "store"))
    return f"{sectors / requests:.2f}" if requests else ""


def _counters(console: Console, profile: Profile, everything: bool) -> None:
    """The groups of a simulated profile, of the counters that the report has."""
    narrow = console.width < NARROW
    for title, prefix, names in GROUPS:
        rows = [(name, profile.counters[prefix + name]) for name in names if prefix + name in profile.counters]
        if not everything and not any(value for name, value in rows if not name.endswith("efficiency")):
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


def _not_measured(profile: Profile) -> str:
    """The names, the instruction mix as one."""
    names = [name for name in profile.not_measured if not name.startswith(MIX)]
    return ", ".join([*names, "instruction mix"] if len(names) < len(profile.not_measured) else names)
