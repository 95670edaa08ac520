"""What came of a run, for a person and as a document: the kernel, how much faster, why, and the evidence. Draws only.

What must stay true: "simulated" or "measured" stands beside every ratio, and a run that found nothing says so plainly.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from warpsight.cli.text.run import render_ending
from warpsight.cli.text.timing import certificate_line, decision_text, time_line
from warpsight.lens import find_findings
from warpsight.lens.removed import removed_findings
from warpsight.session.search import REFUSED
from warpsight.tools.compare import Move, move_line, moves

if TYPE_CHECKING:
    from rich.console import Console

    from warpsight.nouns import Finding
    from warpsight.reason.optimize import OptimizeResult

SHOWN_MOVES = 8
SHOWN_LEFT = 3


def why_faster(found: OptimizeResult) -> tuple[list[Move], list[str]]:
    """The counters that tell why, and the findings that are gone: those predicted or expected first, then the rest."""
    if found.before is None or found.after is None:
        return [], []
    before, after = find_findings(found.before), find_findings(found.after)
    gone = removed_findings(before, after, found.before, found.after)
    predictions = found.run.submission.predictions if found.run.submission else ()
    expected = [p.counter for p in predictions] + [name for finding in gone for name in finding.should_move]
    all_moves = {move.counter: move for move in moves(found.before, found.after, most=10**6)[0]}
    first = [name for name in dict.fromkeys(("duration_us", *expected)) if name in all_moves]
    rest = [] if len(first) > 1 else [name for name in all_moves if name not in first]
    return [all_moves[name] for name in (*first, *rest)][:SHOWN_MOVES], [finding.name for finding in gone]


def changed(found: OptimizeResult) -> list[str]:
    """What was changed, in the words of who changed it: a step a line where it was the search by rule."""
    said = "" if found.run.submission is None or found.final is None else found.run.submission.cause
    return [one.strip() for one in said.split("; ") if one.strip()]


def refused(found: OptimizeResult) -> list[str]:
    """Rewrites that were fast at first and that the gate then refused, with its reason."""
    said = "\n".join(step.content for step in found.run.steps if step.kind == "result" and step.tool == "rewrite")
    return list(dict.fromkeys(line.strip() for line in said.split("\n") if f": {REFUSED}" in line))


def left(found: OptimizeResult) -> list[Finding]:
    """What is still found in the kernel that is handed over, or in the given one where none is."""
    profile = found.after if found.final is not None else found.before
    return [] if profile is None else list(find_findings(profile)[:SHOWN_LEFT])


def document_of(found: OptimizeResult, kernel_file: Path | None) -> dict[str, Any]:
    """The outcome as one JSON document."""
    timing = None if found.final is None else found.final.timing
    moved, gone = why_faster(found)
    run = json.loads(found.run.model_dump_json(exclude={"job", "steps", "best", "submitted"}))
    return {
        "run": run,
        "faster": found.final is not None,
        "kernel_file": None if kernel_file is None else str(kernel_file),
        "kernel_sha256": None if found.final is None else found.final.candidate_sha256,
        "ratio": None if timing is None else timing.ratio,
        "interval": None if timing is None else timing.interval,
        "probability_faster": timing.likelihood.probability_faster if timing and timing.likelihood else None,
        "source": None if timing is None else timing.source,
        "device": None if timing is None else timing.device,
        "decision": None if timing is None else timing.decision,
        "moved": [move.model_dump() for move in moved],
        "findings_gone": gone,
        "changed": changed(found),
        "refused": refused(found),
        "findings_left": [json.loads(one.model_dump_json()) for one in left(found)],
        "certificate": None if found.final is None else found.final.certificate,
        "certificate_file": None if found.certificate_file is None else str(found.certificate_file),
        "unsafe": found.final is not None and found.final.unsafe,
    }


def render(console: Console, found: OptimizeResult, kernel_file: Path | None, page: Path) -> None:
    """The outcome as text; the kernel itself is in its file, and the whole story on its page."""
    render_ending(console, found.run)
    console.print()
    _render_result(console, found, kernel_file)
    console.print(Text(f"run: {found.run.id}"))
    console.print(Text(f"report: {page}"))


def _render_result(console: Console, found: OptimizeResult, kernel_file: Path | None) -> None:
    timing = None if found.final is None else found.final.timing
    if found.run.outcome == "stopped":
        console.print(Text("not finished: no kernel has been through the whole gate", style="bold yellow"))
        return
    if found.final is None or timing is None:
        console.print(Text("no kernel was found that is right and faster", style="bold yellow"))
        for line in refused(found):
            console.print(Text(f"  {line}"))
        _render_left(console, found)
        return
    console.print(Text.assemble("the gate: right, ", decision_text(timing)))
    if timing.samples_us and timing.baseline_us:
        console.print(Text(time_line("given", timing, timing.baseline_us)))
        console.print(Text(time_line("new", timing, timing.samples_us)))
    if steps := changed(found):
        console.print(Text("changed:"))
        for step in steps:
            console.print(Text(f"  {step}"))
    moved, gone = why_faster(found)
    if gone:
        console.print(Text(f"gone: {', '.join(gone)}"))
    if moved:
        console.print(Text("counters, given to new:"))
        for move in moved:
            console.print(Text(f"  {move_line(move)}"))
    _render_left(console, found)
    if found.final.unsafe:
        console.print(Text("unsafe: it ran without all protections", style="bold red"))
    console.print(Text(f"kernel: {kernel_file}"))
    console.print(Text(certificate_line(timing, found.certificate_file)))


def _render_left(console: Console, found: OptimizeResult) -> None:
    """What remains, and what to try next by hand or with a larger model."""
    remains = left(found)
    if not remains:
        return
    console.print(Text("left, to try by hand or with a larger model:"))
    for one in remains:
        gain = "" if one.estimated_gain is None else f" (about {one.estimated_gain:.2f}x, estimated)"
        line = next((f", line {e.line}" for e in one.evidence if e.line is not None), "")
        console.print(Text(f"  {one.name}{gain}{line}: {one.suggestion}"))
