"""What was tried: one block a kernel, with where the model looked, what it saw, what it changed, what came of it."""

from __future__ import annotations

from warpsight.report.diff import LineCode, changed, diff_table, rows_of, shares_of
from warpsight.report.findings import finding_list
from warpsight.report.html import Html, join, tag
from warpsight.report.machine import code_by_line
from warpsight.report.result import failure_words, time_words, us_of
from warpsight.report.speed import ratio_of, state_of
from warpsight.report.story import Attempt, Story, ToolLook

CONTEXT = 3
DIFF_CHARACTERS = 450_000  # of all diffs together: a page must stay light
_WORDS = 1200
_SAW = 300
_MOST_LOOKS = 8
_STATES = {
    "given": "the given kernel",
    "faster": "right, faster",
    "likely": "right, likely faster",
    "slower": "right, slower",
    "same": "right, not faster",
    "unclear": "right, not decided",
    "right": "right, not timed",
    "wrong": "not right",
    "unknown": "not checked",
}


def tried_section(story: Story) -> Html:
    """A table of all kernels, then each with its reasons and its difference."""
    room = DIFF_CHARACTERS
    blocks: list[Html] = []
    for attempt in story.attempts:
        block = _block(story, attempt, with_diff=room > 0)
        room -= len(block)
        blocks.append(block)
    return tag("section", tag("h2", "What was tried"), _table(story), blocks, id="tried")


def _table(story: Story) -> Html:
    heads = ("attempt", "kernel", "verdict", "speed", "time", "bound by", "lines")
    rows = [_table_row(story, attempt) for attempt in story.attempts]
    head = tag("thead", tag("tr", [tag("th", name, scope="col") for name in heads]))
    return tag("div", tag("table", head, tag("tbody", rows), class_="list"), class_="wide", tabindex=0)


def _table_row(story: Story, attempt: Attempt) -> Html:
    ratio, state = ratio_of(attempt), state_of(attempt)
    more, less = _moved_lines(story, attempt)
    lines = str(len(attempt.text.splitlines())) if attempt.number == 0 else f"+{more} −{less}"
    cells = (
        tag("a", str(attempt.number), href=f"#a{attempt.number}"),
        tag("code", attempt.name),
        tag("span", _STATES[state], class_=f"state {state}"),
        "" if ratio is None else f"{ratio:.3f}×",
        _time(attempt),
        attempt.profile.bound if attempt.profile else "",
        lines,
    )
    winner = story.winner
    marked = winner is not None and winner.number == attempt.number
    return tag("tr", [tag("td", cell) for cell in cells], class_="winner" if marked else None)


def _moved_lines(story: Story, attempt: Attempt) -> tuple[int, int]:
    return changed(rows_of(story.attempts[attempt.came_from].text, attempt.text, {}, {}))


def _time(attempt: Attempt) -> str:
    timing = attempt.evaluation.timing if attempt.evaluation else None
    if timing is not None and timing.samples_us:
        return f"{time_words(us_of(timing.samples_us, timing.source))} {timing.source}"
    duration = attempt.profile.counters.get("duration_us") if attempt.profile else None
    return f"{time_words(duration)} {attempt.profile.source}" if attempt.profile and duration else ""


def _block(story: Story, attempt: Attempt, *, with_diff: bool) -> Html:
    title = _title(attempt)
    inside = join(
        _origin(attempt),
        tag("blockquote", _cut(attempt.words, _WORDS)) if attempt.words.strip() else None,
        _failure(attempt),
        _found(attempt),
        _diff(story, attempt) if with_diff else tag("p", "The difference is left out, for size."),
    )
    return tag("details", tag("summary", title), inside, id=f"a{attempt.number}", class_="attempt")


def _title(attempt: Attempt) -> Html:
    ratio, state = ratio_of(attempt), state_of(attempt)
    speed = "" if ratio is None or attempt.number == 0 else f", {ratio:.3f}×"
    said = tag("span", f"{_STATES[state]}{speed}", class_=f"state {state}")
    return join(f"Attempt {attempt.number} ", tag("code", attempt.name), " ", said)


def _origin(attempt: Attempt) -> Html | None:
    """Where it looked before it wrote this, and what it saw there."""
    if attempt.step is None:
        return None
    shown = attempt.looks[-_MOST_LOOKS:]
    looks = [tag("li", _look(look)) for look in shown]
    left = len(attempt.looks) - len(shown)
    written = tag("a", f"step {attempt.step}", href=f"#{step_anchor(attempt.run_id, attempt.step)}")
    base = tag("a", f"attempt {attempt.came_from}", href=f"#a{attempt.came_from}")
    return join(
        tag("p", f"{left} earlier looks, then:") if left else None,
        tag("ul", looks, class_="looks") if looks else tag("p", "It did not look before it wrote this."),
        tag("p", "Then it changed ", base, " at ", written, ":"),
    )


def _look(look: ToolLook) -> Html:
    link = tag("a", look.tool, href=f"#{step_anchor(look.run_id, look.step)}")
    return join("looked with ", link, ": ", tag("span", _cut(look.saw, _SAW), class_="saw"))


def step_anchor(run_id: str, step: int) -> str:
    """The name of a step's place on the page: attempts of one run are told apart by the end of their ids."""
    _, dot, part = run_id.rpartition(".")
    return f"s{part}-{step}" if dot and part.isdigit() else f"s{step}"


def _failure(attempt: Attempt) -> Html | None:
    """Why a kernel is not right."""
    check = attempt.evaluation.check if attempt.evaluation else None
    if check is None or check.verdict == "right":
        return None
    return tag("p", f"{check.verdict}: {_cut(failure_words(check), _WORDS)}", class_="bad")


def _found(attempt: Attempt) -> Html | None:
    listed = finding_list(attempt.findings or (), short=True)
    return None if listed is None else join(tag("p", "What was found in it:", class_="lead"), listed)


def _diff(story: Story, attempt: Attempt) -> Html:
    if attempt.number == 0:
        anchor = "n" if story.winner is None else "g"
        code = LineCode({}, code_by_line(attempt.machine))
        rows = rows_of(attempt.text, attempt.text, {}, shares_of(attempt.profile))
        return diff_table(rows, anchor=anchor, code=code)
    base = story.attempts[attempt.came_from]
    code = LineCode(code_by_line(base.machine), code_by_line(attempt.machine))
    rows = rows_of(base.text, attempt.text, shares_of(base.profile), shares_of(attempt.profile))
    return diff_table(rows, context=CONTEXT, code=code)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}… ({len(text) - most} more characters)"
