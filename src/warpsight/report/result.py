"""The top of the page: what came of the run, in one look, with where each number comes from."""

from __future__ import annotations

from warpsight.gate.likely import chance_words
from warpsight.lens.render import number
from warpsight.nouns import HOST_CODE_NOTE, Check, Evaluation, Timing
from warpsight.report.html import Child, Html, join, tag
from warpsight.report.story import Story

OUTCOMES = {
    None: "has not ended: it goes on, or was cut off and can be resumed",
    "submitted": "the model submitted",
    "at_roofline": "ended at the roofline",
    "budget_spent": "the budget was spent",
    "gave_up": "gave up",
    "broken": "broken off",
    "stopped": "stopped, can be resumed",
}


def result_section(story: Story) -> Html:
    """Speed-up, interval, source, what was checked, certificate; or plainly that there is none."""
    timing = story.final.timing if story.final else None
    if story.final is None or timing is None or timing.ratio is None:
        return _nothing(story)
    cards = [
        _card("ratio", f"{timing.ratio:.2f}×", f"as fast as the given kernel, {timing.source}", big=True),
        _card("interval", _interval(timing), _interval_says(timing)),
        _card("time", _time(timing.samples_us, timing), f"given: {_time(timing.baseline_us, timing)}"),
        _card("right", *_checked(story.final)),
        _card("certificate", *_certificate(story)),
    ]
    return tag("section", _unsafe(story.final), tag("div", cards, class_="cards"), _cause(story), id="result")


def us_of(samples: tuple[float, ...], source: str) -> float:
    """One number for a side: at the boost clock, or the median of what was measured."""
    ordered = sorted(samples)
    middle = len(ordered) // 2
    median = ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
    return samples[0] if source == "simulated" else median


def time_words(us: float) -> str:
    """A time in the unit that it is read in."""
    for least, unit in ((1e6, "s"), (1e4, "ms")):
        if us >= least:
            return f"{us / (1e6 if unit == 's' else 1e3):.4g} {unit}"
    return f"{us:.4g} µs"


def _time(samples: tuple[float, ...], timing: Timing) -> str:
    return time_words(us_of(samples, timing.source)) if samples else "?"


def _card(name: str, value: str, says: Child, *, big: bool = False) -> Html:
    return tag("div", tag("strong", value), tag("span", says), class_="card big" if big else "card", id=f"card-{name}")


def _interval(timing: Timing) -> str:
    return "" if timing.interval is None else f"{timing.interval[0]:.2f} to {timing.interval[1]:.2f}"


def _interval_says(timing: Timing) -> str:
    span = "between boost and base clock" if timing.source == "simulated" else "99 % interval"
    if timing.likelihood is not None:
        span = "likely range when measured"
    chance = f"; {said}" if (said := chance_words(timing)) else ""
    return f"{timing.decision}, {span}, on {timing.device}{chance}"


def _checked(final: Evaluation) -> tuple[str, str]:
    runs = final.check.workloads
    sizes = {run.workload for run in runs}
    hidden = {run.workload for run in runs if run.hidden}
    return f"right on {len(sizes)} workloads", f"{len(hidden)} of them hidden from the model, {len(runs)} runs in all"


def _certificate(story: Story) -> tuple[str, Child]:
    if story.certificate_sha256 is not None:
        return story.certificate_sha256[:12], join(
            "certificate; ", tag("code", "warpsight verify"), " says what it proves and who signed it"
        )
    named = story.final.certificate if story.final else None
    if named is not None:
        return named[:12], "certificate; its file was not found beside the store"
    timing = story.final.timing if story.final else None
    if timing is not None and timing.decision == "LIKELY_FASTER":
        return "no certificate", "the kernel is likely faster, not surely: measure it on the card"
    return "no certificate", "the kernel has not passed the whole gate"


def _unsafe(final: Evaluation) -> Html | None:
    said = ["Unsafe: it ran without all protections, by the user's wish."] if final.unsafe else []
    said += [f"{HOST_CODE_NOTE[0].upper()}{HOST_CODE_NOTE[1:]}."] if final.trust == "host_code" else []
    return tag("p", " ".join(said), class_="warning", role="alert") if said else None


def _cause(story: Story) -> Html | None:
    """What the model said was slow, and what came of its predictions."""
    submission = story.run.submission
    if submission is None:
        return None
    rows = [
        tag(
            "li",
            f"predicted {p.counter} {p.way}: ",
            tag("b", p.verdict, class_=f"verdict {p.verdict}"),
            "" if p.before is None or p.after is None else f" ({number(p.before)} to {number(p.after)})",
        )
        for p in submission.predictions
    ]
    return join(
        tag("p", tag("b", "The model's claim: "), submission.cause, class_="claim") if submission.cause else None,
        tag("ul", rows, class_="predictions") if rows else None,
    )


def _nothing(story: Story) -> Html:
    going = story.run.outcome is None
    title = "No faster kernel yet" if going else "No kernel was found that is right and faster"
    said = OUTCOMES.get(story.run.outcome, story.run.outcome or "")
    why = story.run.reason
    reason = f"{said}: {why}" if why and why != said else said
    big = tag(
        "div",
        tag("strong", title),
        tag("span", reason),
        class_="card big wait" if going else "card big none",
        id="card-ratio",
    )
    return tag("section", tag("div", big, class_="cards"), _submitted_why(story), _cause(story), id="result")


def failure_words(check: Check) -> str:
    """Why a kernel is not right, by what may be told: of a hidden workload only that it failed, never what it holds."""
    bad = [run for run in check.workloads if not run.ok]
    shown = [run for run in bad if not run.hidden]
    if bad and not shown:
        return "a hidden workload failed"
    if shown:
        first = shown[0]
        count = f", {first.wrong_elements} of {first.total_elements} elements" if first.wrong_elements else ""
        return f"workload {first.workload}, {first.family} inputs: {first.reason}{count}"
    if check.faults:
        return f"{check.faults[0].kind}{'' if check.faults[0].line is None else f' at line {check.faults[0].line}'}"
    return check.reason


def _submitted_why(story: Story) -> Html | None:
    found = story.run.submitted
    if found is None:
        return None
    if found.check.verdict != "right":
        return tag("p", f"What was submitted is {found.check.verdict}: {failure_words(found.check)}")
    timing = found.timing
    if timing is None or timing.ratio is None:
        return tag("p", "What was submitted is right; it has no time.")
    return tag("p", f"What was submitted is right, {timing.decision}: {timing.ratio:.3f}×, {timing.source}.")
