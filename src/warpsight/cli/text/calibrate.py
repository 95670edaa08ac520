"""Whether counters agree with what was computed, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from warpsight.lens.profilers.calibration import Calibration


def render(console: Console, found: tuple[Calibration, ...]) -> None:
    """A row for each kernel: what agrees, and every counter that does not, with both numbers."""
    from rich.markup import escape
    from rich.table import Table

    for calibration in found:
        counts = [c.verdict for c in calibration.comparisons]
        agree, missing = counts.count("agrees"), counts.count("not measured")
        console.print(
            f"\n[bold]counters of {escape(calibration.device)}[/]: {agree} of {len(counts)} agree with what was "
            f"computed, {len(counts) - agree - missing} wrong, {missing} not measured"
        )
        table = Table(box=None, pad_edge=False)
        for title in ("micro-kernel", "agree", "wrong or not measured"):
            table.add_column(title, overflow="fold")
        for kernel in dict.fromkeys(c.kernel for c in calibration.comparisons):
            rows = [c for c in calibration.comparisons if c.kernel == kernel]
            good = sum(c.verdict == "agrees" for c in rows)
            bad = [
                f"{c.counter}: not measured"
                if c.counted is None
                else f"{c.counter}: counted {c.counted:g}, computed {c.computed:g}"
                for c in rows
                if c.verdict != "agrees"
            ]
            table.add_row(escape(kernel), f"{good} of {len(rows)}", escape("\n".join(bad)))
        for kernel, why in calibration.failed.items():
            table.add_row(escape(kernel), "none", escape(f"could not be counted: {why}"))
        console.print(table)
        if calibration.wrong:
            console.print(f"[red]not to be believed on this device: {', '.join(calibration.wrong)}[/]")
