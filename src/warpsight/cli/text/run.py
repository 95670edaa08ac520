"""A stored run as text: its steps, and how it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from warpsight.nouns.run import Run, Step


SHOWN_LINES = 12


COLOURS = {"system": "dim", "user": "dim", "assistant": "bold", "call": "cyan", "result": "green"}


def render_run(console: Console, run: Run, attempts: list[str], *, full: bool) -> None:
    """A run as text."""
    from rich.markup import escape

    console.print(f"[bold]{escape(run.id)}[/]: {run.task}, {escape(run.model)}, {run.device}, {run.started_at}")
    for attempt in attempts:
        console.print(f"  attempt {escape(attempt)}")
    for step in run.steps:
        render_step(console, step, full=full)
    render_ending(console, run)


def render_step(console: Console, step: Step, *, full: bool) -> None:
    from rich.markup import escape

    name = f" {step.tool}" if step.tool else ""
    console.print(f"\n[{COLOURS[step.kind]}]{step.index} {step.kind}{escape(name)}{' (error)' * step.is_error}[/]")
    for text in (step.reasoning, step.content):
        lines = text.splitlines()
        shown = lines if full else lines[:SHOWN_LINES]
        for line in shown:
            console.print(f"  {escape(line)}")
        if len(shown) < len(lines):
            console.print(f"  [dim]... {len(lines) - len(shown)} more lines; --full shows them[/]")


def render_ending(console: Console, run: Run) -> None:
    """How a run ended, with what it cost and what came of its predictions."""
    from rich.markup import escape

    from warpsight.gate.likely import interval_words
    from warpsight.lens.render import number

    reason = f": {run.reason}" if run.reason else ""
    console.print(f"\n[bold]{run.outcome or 'open'}[/]{escape(reason)}")
    tokens = run.spent.input_tokens + run.spent.output_tokens
    cost = "cost unknown" if run.spent.cost_usd is None else f"${run.spent.cost_usd:.4f}"
    console.print(f"spent: {run.spent.tool_calls} tool calls, {tokens} tokens, {run.spent.seconds:.1f} s, {cost}")
    timing = run.best.timing if run.best else None
    if timing is not None and timing.ratio is not None:
        between = "" if timing.interval is None else f", {interval_words(timing)}"
        console.print(f"best: {timing.ratio:.3f}x ({timing.source} on {escape(timing.device)}{between})")
    if run.submission is not None:
        console.print(f"claimed cause: {escape(run.submission.cause)}")
        for p in run.submission.predictions:
            moved = "" if p.before is None or p.after is None else f": {number(p.before)} to {number(p.after)}"
            console.print(f"  predicted {escape(p.counter)} {p.way}{moved}, {p.verdict}")
    if run.outcome in (None, "stopped"):
        console.print(f"[dim]go on with it: warpsight resume {escape(run.id)}[/]")
