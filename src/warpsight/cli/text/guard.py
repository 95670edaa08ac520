"""How a guard's verdicts are shown to a person. Draws only."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape

from warpsight.guard.baseline import AcceptedKernel, AcceptedProgram
from warpsight.guard.config import GuardList
from warpsight.guard.judge import GuardRow
from warpsight.guard.reports import SIMULATED, change_words, micros, moved, verdict_words

COLOURS = {"slower": "red", "wrong": "red", "new": "red", "task_changed": "red", "likely_slower": "yellow",
           "unclear": "yellow", "faster": "green", "likely_faster": "green"}  # fmt: skip


def render_check(console: Console, rows: Sequence[GuardRow], strict: bool) -> None:
    width = max(len(row.task) for row in rows)
    for row in rows:
        colour = COLOURS.get(row.status, "dim")
        times = f"{micros(row.before.time_us)} -> {micros(row.after.time_us)}" if row.before and row.after else ""
        if row.status == "unchanged":
            times = micros(row.after.time_us) if row.after else ""
        words = "  ".join(filter(None, (times, change_words(row), row.detail)))
        console.print(f"{row.task:{width}}  {row.gpu:10}  [{colour}]{row.status:13}[/] {escape(words)}")
        for one in moved(row):
            console.print(f"{'':{width}}  {'':10}  {escape(one)}", style="dim")
    failed = any(row.fails(strict) for row in rows)
    console.print(f"\n[bold {'red' if failed else 'green'}]{verdict_words(rows, strict)}[/]. {SIMULATED}")


def render_update(
    console: Console, guarded: GuardList, kept: Sequence[AcceptedKernel | AcceptedProgram], wrong: Sequence[GuardRow]
) -> None:
    for one in kept:
        findings = ", ".join(one.facts.findings[:3]) or "no findings"
        name = one.kernel.task if isinstance(one, AcceptedKernel) else one.program.label
        console.print(escape(f"{name} on {one.gpu}: right, {micros(one.facts.time_us)} simulated; {findings}"))
    for row in wrong:
        console.print(f"[red]{escape(row.path)} on {row.gpu}: {escape(row.detail)}[/]")
    if wrong:
        console.print("\n[bold red]nothing was written[/]: a baseline has only what is right")
    else:
        console.print(f"\nwrote {escape(str(guarded.baseline_file))}: commit it")
