"""A program's kernels by simulated time, its findings by what they would bring the whole, one kernel in full."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape

from warpsight.cli.output import emit
from warpsight.cli.task_argument import document_of
from warpsight.cli.text import profile as profile_text
from warpsight.cli.text.run_program import duration, lines_of
from warpsight.cli.text.time import simulated_facts
from warpsight.vgpu.gpus import find_gpu
from warpsight.vgpu.symbols import kernel_title

if TYPE_CHECKING:
    from warpsight.verbs.profile_program import ProgramProfile

MOST_FINDINGS = 12


def render_kernels(console: Console, found: ProgramProfile) -> None:
    """Launches, time, share and bound of each kernel, with its first finding; then copies."""
    _head(console, found)
    for row in found.run.kernels:
        name = escape(kernel_title(row.kernel))
        share = 100 * (row.time_us or 0.0) / found.whole_us if found.whole_us else 0.0
        size = f"{'x'.join(map(str, row.grid))} blocks of {'x'.join(map(str, row.block))}"
        if row.time_us is None:
            console.print(f"    - %  {row.launches:,} launches of {name}, {size}: no time: {escape(row.no_time)}")
            continue
        each = duration(row.time_us / row.launches)
        console.print(f"[bold]{share:5.1f} %  {name}[/]: {row.launches:,} x {each}, {size}, bound by {row.bound}")
        diagnosis = found.of(row)
        if diagnosis is not None and diagnosis.findings:
            first = diagnosis.findings[0]
            console.print(f"         {first.name}{_gain(first.estimated_gain)}: {escape(first.message)}")
    for copy in found.run.copies:
        share = 100 * copy.time_us / found.whole_us if found.whole_us else 0.0
        console.print(
            f"{share:5.1f} %  {copy.direction}: {copy.count:,} x, {copy.size_bytes / 1e6:,.3g} MB, "
            f"{duration(copy.time_us)} by data sheet"
        )


def render_findings_of(console: Console, found: ProgramProfile) -> None:
    """What to change first, for the program and not for one kernel."""
    _head(console, found)
    findings = found.findings()
    for number, one in enumerate(findings[:MOST_FINDINGS], 1):
        gain = "" if one.gain is None else f" (about {one.gain:.2f}x for the whole program, estimated)"
        where = f"{escape(kernel_title(one.kernel))}, {100 * one.share:.1f} % of the time"
        console.print(f"\n[bold]{number}. {one.finding.name}[/] in {where}{gain}\n  {escape(one.finding.message)}")
        console.print(f"  [dim]try[/] {escape(one.finding.suggestion)}")
    if not findings:
        console.print("\nNothing was found that a rule knows.")


def _head(console: Console, found: ProgramProfile) -> None:
    run = found.run
    for line in lines_of(run):
        if "simulated on" not in line and " %  " not in line and line:
            console.print(f"[dim]{escape(line)}[/]")
    if run.cut:
        console.print(
            f"[yellow]{run.cut:,} launches were cut off: what came after them worked on other data[/]", highlight=False
        )
    console.print(
        f"{escape(run.program)} on {run.gpu}: {duration(found.whole_us)} simulated, of which kernels "
        f"{duration(run.kernel_us)} and copies {duration(run.copy_us)} ({run.link}), one after the other"
    )
    if found.gap_us and found.whole_us:
        part = 100 * found.gap_us / found.whole_us
        console.print(
            f"{part:5.1f} %  launch gaps: what launches themselves take, {duration(found.gap_us)} of the kernels' time"
        )


def _gain(value: float | None) -> str:
    return "" if value is None else f" (about {value:.2f}x on this kernel)"


def show_one(found: ProgramProfile, number: int, *, lines: int | None, everything: bool, as_json: bool) -> None:
    """One kernel in full, as `warpsight profile` shows that of a task."""
    row = found.run.kernels[number]
    diagnosis, gpu = found.of(row), find_gpu(found.run.gpu)
    assert diagnosis is not None and diagnosis.occupancy is not None
    size = f"grid {row.grid}, block {row.block}, dynamic shared {row.shared_bytes} bytes"
    name = escape(kernel_title(row.kernel))
    head = (f"{found.run.program}: kernel {name}, {row.launches:,} launches", f"launch     {size}")
    facts = tuple(simulated_facts(diagnosis.profile, gpu, diagnosis.occupancy, diagnosis.roofline))
    shown = profile_text.ShownProfile(head, facts, diagnosis.findings, lines, everything)
    emit(
        document_of(diagnosis), as_json=as_json,
        render=lambda console: profile_text.render(console, diagnosis.profile, shown),
    )  # fmt: skip
