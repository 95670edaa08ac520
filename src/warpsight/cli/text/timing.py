"""How a comparison, a time or a verified certificate is shown to a person. Draws only.

What must stay true: "simulated" or "measured" stands beside every time, and a missing protection beside every result.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.text import Text

from warpsight.gate.likely import chance_words, interval_words, range_words
from warpsight.gate.verify import Verified
from warpsight.nouns import HOST_CODE_NOTE, Evaluation, Timing
from warpsight.nouns.certificate import Certificate

COLOURS = {
    "FASTER": "green", "LIKELY_FASTER": "green", "SLOWER": "yellow", "SAME": "cyan", "AMBIGUOUS": "yellow",
    "REJECTED": "red",
}  # fmt: skip
REASONS = {
    "interval_too_wide": "the interval crosses the edge of the 2 % band; more samples would not settle it",
    "out_of_time": "the time for samples ended first",
    "wall_unconfirmed": "not surely so by the parent's clock",
    "not_confirmed": "not again in a fresh process",
    "waits_for_others": "its threads wait for one another, and how long is not simulated",
    "not_faster_alone": "only while the baseline ran beside the candidate's process",
    "clock_disagrees": "its own clock is not borne out by ours",
    "faster_than_roofline": "less time than moving the data takes",
    "wrong_in_timed_call": "an output of a timed call is wrong",
    "machine_code_differs": "the machine code is wrong where the PTX is right",
    "fault_in_timed_call": "it faulted while it was timed",
    "no_time": "there is no time for this kernel",
}


def micros(value: float) -> str:
    return f"{value:.3g} us" if value < 1000 else f"{value / 1000:.4g} ms"


def time_line(name: str, timing: Timing, samples: Sequence[float]) -> str:
    """One kernel's time and its spread, with where the number is from."""
    if timing.source == "simulated":
        told = f"{name}: {micros(samples[0])} simulated at the boost clock, {micros(samples[-1])} at the base clock"
        return f"{told}{likely_text(timing)}"
    low, middle, high = (float(q) for q in np.percentile(samples, [10, 50, 90]))
    return f"{name}: median {micros(middle)} measured, 10 to 90 % {micros(low)} to {micros(high)}, {len(samples)} calls"


def likely_text(timing: Timing) -> str:
    """Where the measured time of a kernel that is timed alone likely lies."""
    if timing.likely_us is None:
        return ""
    low, high = timing.likely_us
    return f"\n  likely {micros(low)} to {micros(high)} when measured (90 % of such times)"


def decision_text(timing: Timing) -> Text:
    decision = timing.decision or "AMBIGUOUS"
    text = Text.assemble((decision, f"bold {COLOURS[decision]}"))
    if timing.ratio is not None and timing.interval is not None:
        text.append(f": {timing.ratio:.3f} times as fast ({timing.source}), {interval_words(timing)}")
    if meaning := range_words(timing):
        text.append(f"\n  {meaning}")
    if chance := chance_words(timing):
        text.append(f"\n  {chance}")
    if timing.reason:
        text.append(f"\n  {timing.reason}: {REASONS.get(timing.reason, '')}")
    if timing.detail:
        text.append(f"\n  {timing.detail}")
    return text


def certificate_line(timing: Timing, file: object) -> str:
    """Where the certificate of a kernel that is handed over is, or why there is none."""
    if timing.decision == "LIKELY_FASTER":
        return "certificate: none, since the kernel is likely faster and not surely; measure it on the card"
    return f"certificate: {file}"


def render_comparison(console: Console, found: Evaluation, header: str, file: object, *, booked: bool) -> None:
    """`file` is the certificate, if there is one; `booked`: whether a ledger was kept, so that one was to be had."""
    console.print(Text(header))
    if found.check.verdict != "right" or found.timing is None:
        told = found.check.verdict.replace("_", " ")
        console.print(Text.assemble("\n", (told, "bold red"), f": {found.check.reason}"))
        console.print("`warpsight check` shows where")
        return
    timing = found.timing
    console.print(Text(f"right: {len(found.check.workloads)} runs, every element within the tolerance"))
    if timing.samples_us and timing.baseline_us:
        console.print(Text(time_line("baseline", timing, timing.baseline_us)))
        console.print(Text(time_line("candidate", timing, timing.samples_us)))
    for note in timing.notes:
        console.print(Text(f"note: {note}", style="dim"))
    if busy := [m.busy_share for m in timing.measurements]:
        shares = ", then ".join(f"{100 * share:.0f} %" for share in busy)
        console.print(Text(f"the machine's cores were {shares} busy, this measurement included", style="dim"))
    console.print()
    console.print(decision_text(timing))
    if found.unsafe:
        console.print(Text("unsafe: it ran without all protections", style="bold red"))
    if file is not None or timing.decision == "LIKELY_FASTER":
        console.print(Text(certificate_line(timing, file)), soft_wrap=True)
    elif timing.decision == "FASTER" and not booked:
        console.print("certificate: none was asked for; the same command with --ledger FOLDER writes one")


def render_verified(console: Console, certificate: Certificate | None, looked: Sequence[Verified]) -> None:
    if certificate is not None:
        t = certificate.timing
        ratio = f"{t.ratio:.3f}" if t.ratio is not None else "?"
        told = f"{certificate.task}: {ratio} times as fast, {t.source} on {t.device}, {certificate.created_at}"
        console.print(Text(f"{told}, attempt {certificate.attempt}"))
        if certificate.unsafe:
            console.print(Text("unsafe: it ran without all protections", style="bold red"))
        if "host_code" in (certificate.check.trust, t.trust):
            console.print(Text(HOST_CODE_NOTE, style="yellow"))
    for one in looked:
        mark, style = ("holds", "green") if one.ok else ("does not hold", "bold red")
        text = Text.assemble(("  " + mark, style), f"  {one.name}")
        console.print(text.append("" if one.ok or not one.detail else f": {one.detail}"))


def render_alone(console: Console, head: str, timing: Timing) -> None:
    """The time of one kernel, compared with nothing."""
    console.print(escape(head))
    if timing.samples_us:
        console.print(time_line("kernel", timing, timing.samples_us))
    for note in timing.notes:
        console.print(f"[dim]note: {escape(note)}[/]")
    if timing.decision is not None:
        console.print(decision_text(timing))
