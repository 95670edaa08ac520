"""Two runs side by side: what came of each, the way there, the counters and texts of their kernels. Markup only."""

from __future__ import annotations

from warpsight.lens.render import number
from warpsight.report.diff import changed, diff_table, rows_of, shares_of
from warpsight.report.findings import counters_section
from warpsight.report.html import Html, join, tag
from warpsight.report.result import OUTCOMES, time_words, us_of
from warpsight.report.speed import best_line, ratio_of
from warpsight.report.story import Attempt, Story, model_name
from warpsight.report.svg import across, axis_below, axis_left, figure, nice_ticks, upward


def compare_body(one: Story, other: Story) -> Html:
    """Two runs: what came of each, the way there, the counters and texts of their kernels."""
    header = tag("header", tag("p", tag("a", "all runs", href="runs")), tag("h1", "Two runs"))
    kernels = (one.winner or one.given, other.winner or other.given)
    unlike = _unlike(one, other)
    if unlike:
        return join(header, tag("main", tag("p", unlike, class_="warning"), _facts(one, other), _texts(*kernels)))
    charts = tag("section", tag("h2", "On the way"), tag("div", _speeds(one, other), class_="figures"))
    one_profile, other_profile = (kernel.profile for kernel in kernels)
    names = ("first", "second")
    counters = counters_section(one_profile, other_profile, names=names) if _same_gpu(*kernels) else None
    return join(header, tag("main", _facts(one, other), charts, counters, _texts(*kernels)))


def _unlike(one: Story, other: Story) -> str:
    """Why the speeds of two runs must not be set side by side; empty when they may."""
    if one.run.task != other.run.task:
        return "They are about different tasks: their speeds are told against different kernels."
    if one.given.text != other.given.text:
        return "They began with different kernels: their speeds are told against different kernels."
    sources = {story.final.timing.source for story in (one, other) if story.final and story.final.timing}
    return "One is measured and one simulated: their speeds cannot be compared." if len(sources) > 1 else ""


def _facts(one: Story, other: Story) -> Html:
    columns = [_column(one), _column(other)]
    rows = [
        tag("tr", tag("th", name, scope="row"), tag("td", columns[0][name]), tag("td", columns[1][name]))
        for name in columns[0]
    ]
    head = tag("thead", tag("tr", tag("td", ""), tag("th", "first", scope="col"), tag("th", "second", scope="col")))
    return tag("div", tag("table", head, tag("tbody", rows), class_="list", id="facts"), class_="wide", tabindex=0)


def _column(story: Story) -> dict[str, Html | str]:
    run, timing = story.run, story.final.timing if story.final else None
    spent = run.spent
    ratio = "none" if timing is None or timing.ratio is None else f"{timing.ratio:.3f}× {timing.source}"
    time = "" if timing is None or not timing.samples_us else time_words(us_of(timing.samples_us, timing.source))
    return {
        "run": tag("a", run.id, href=f"run/{run.id}"),
        "task": run.task,
        "model": model_name(run.model),
        "device": run.device,
        "outcome": OUTCOMES.get(run.outcome, run.outcome or ""),
        "best": ratio,
        "time": time,
        "kernels tried": str(len(story.attempts) - 1),
        "tool calls": str(spent.tool_calls),
        "tokens": str(spent.input_tokens + spent.output_tokens),
        "seconds": number(round(spent.seconds, 1)),
    }


def _speeds(one: Story, other: Story) -> Html:
    """The best so far of both, over their attempts."""
    every = [ratio for story in (one, other) for a in story.attempts if (ratio := ratio_of(a)) is not None]
    count = max(len(one.attempts), len(other.attempts), 2)
    ticks = nice_ticks(max([*every, 1.0]) * 1.05)
    wide, high = across(-0.5, count - 0.5), upward(0, ticks[-1])
    drawn = [
        *axis_left(high, ticks, "speed, times the given kernel"),
        *axis_below(wide, list(range(0, count, max(1, count // 10))), "attempt", grid=False),
        best_line(one.attempts, wide, high),
        best_line(other.attempts, wide, high, "best other"),
    ]
    return figure("Best so far", "Whole line: first. Dashed: second.", drawn)


def _same_gpu(one: Attempt, other: Attempt) -> bool:
    both = (one.profile, other.profile)
    return len({(p.gpu, p.source, p.device) for p in both if p is not None}) == 1 and None not in both


def _texts(one: Attempt, other: Attempt) -> Html:
    rows = rows_of(one.text, other.text, shares_of(one.profile), shares_of(other.profile))
    heading = tag("h2", "Their kernels, from first to second")
    if changed(rows) == (0, 0):
        return tag("section", heading, tag("p", "The same text."), id="change")
    return tag("section", heading, diff_table(rows), id="change")
