"""Findings as text, each with the source lines of its evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from warpsight.nouns import Finding, Profile, WhatIfTime
    from warpsight.session.session import Session


def what_ifs(session: Session, kernel: str, word: str) -> list[WhatIfTime]:
    """The kernel without a cause, or without each of its findings."""
    from warpsight.tools.what_if import simulate_away

    return simulate_away(session, kernel, None if word == "each" else word)[0]


def render_findings(
    console: Console,
    head: str,
    profile: Profile,
    findings: Sequence[Finding],
    source: str,
    without: Sequence[WhatIfTime] = (),
) -> None:
    """The findings as text, each with the source lines of its evidence."""
    from rich.markup import escape

    from warpsight.cli.text.source import marked_line
    from warpsight.lens.render import NOTHING, evidence_text, gain_note, likely_words, number

    time = profile.counters.get("duration_us")
    spent = "no time: the machine code was not read"
    if time is not None:
        spent = f"{number(time)} us{likely_words(profile)}; bound by {profile.bound}"
    console.print(f"[bold]{escape(head)}[/]\n{escape(spent)}")
    for note in profile.notes:
        console.print(f"[dim]note: {escape(note)}[/]")
    if note := gain_note(profile, findings):
        console.print(f"[dim]gains are estimated: {note}[/]")
    if not findings:
        console.print(f"\n{NOTHING}")
    for index, finding in enumerate(findings, start=1):
        gained = "" if finding.estimated_gain is None else f" (about {finding.estimated_gain:.2f}x, estimated)"
        console.print(f"\n[bold]{index}. {finding.name}[/]{gained}\n  {escape(finding.message)}")
        for evidence in finding.evidence:
            console.print(f"  [dim]because[/] {escape(evidence_text(evidence))}")
        for line in dict.fromkeys(e.line for e in finding.evidence if e.line is not None):
            console.print(escape(marked_line(source, line)))
        console.print(f"  [dim]try[/] {escape(finding.suggestion)}")
        if finding.should_move:
            moves = ", ".join(f"{name} {way}" for name, way in finding.should_move.items())
            console.print(f"  [dim]then[/] {escape(moves)}")
    if without:
        console.print(f"\n[bold]What if[/] (simulated; the kernel takes {number(without[0].time_us)} us)")
    for one in without:
        console.print(f"  without {one.cause}: {number(one.without_us)} us, {one.gain:.2f}x at best")
        console.print(f"    [dim]assumes[/] {escape(one.assumes)}")
